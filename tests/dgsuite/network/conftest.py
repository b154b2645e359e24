"""Tests of networks fail if their faults never struck."""

from __future__ import annotations

from tests.support.ledger import ledger

__all__ = ["ledger"]
