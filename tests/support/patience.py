"""How long tests wait for what takes a moment at rest."""

PATIENCE = 600
"""Seconds after which a test gives up. Where 20 other processes run, too, a command may take minutes."""
