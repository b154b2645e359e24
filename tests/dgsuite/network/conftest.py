"""Tests of networks fail if their faults never struck."""

from tests.support.ledger import ledger

__all__ = ["ledger"]
