"""How long tests wait for what takes a moment at rest."""

from __future__ import annotations

PATIENCE = 600
"""Seconds after which a test gives up. Where 20 other processes run, too, a command may take minutes."""
