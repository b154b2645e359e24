"""How long tests wait for what takes a moment at rest."""

import time

PATIENCE = 600
"""Seconds after which a test gives up. Where 20 other processes run, too, a command may take minutes."""


def until(condition):
    """Wait until something is so; what it is then."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, condition
        time.sleep(0.02)
    return found
