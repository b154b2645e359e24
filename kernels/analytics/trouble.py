"""Errors of the shortest paths from a source, by the codes that compiled loops return."""

from __future__ import annotations

MANY, LOST = 1, 2
TROUBLE = {
    MANY: "there are more than 1e308 shortest paths from node {}",
    LOST: "a path from node {} is as long with its last edge as without: weights differ too much",
}
"""What can be wrong with the paths from a source."""
