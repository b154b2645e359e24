"""Comm backends for Dask, found by entry point: any Dask program can use them by their scheme."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

import dask

from dgsuite.base import capabilities
from dgsuite.partition.client.settings import setting

CLOCKS: dict[str, Any] = {
    "distributed": {
        "admin": {
            "tick": {"interval": "2s", "cycle": "10s", "limit": "5s"},
            "system-monitor": {"interval": "5s"},
        },
        "worker": {
            "memory": {"monitor-interval": "1s"},
            "profile": {"interval": "2s", "cycle": "20s"},
        },
    }
}
"""Intervals at which a loop measures its delay, its process and its memory, and samples its profile."""


def fastest() -> str:
    """The scheme for workers of one host: shared memory where it can be had, else Dask's TCP.

    Examples
    --------
    >>> from dgsuite.core.transports import fastest
    >>> fastest() in ("mpb", "tcp")  # for LocalCluster(protocol=fastest())
    True
    """
    there = capabilities.has("memory files") and capabilities.has("passed files")
    return "mpb" if there and _is_installed() else "tcp"


@cache
def _is_installed() -> bool:
    """Whether Dask finds the scheme of shared memory."""
    return "mpb" in entry_points(group="distributed.comm.backends").names


@cache
def slow_clocks() -> None:
    """Slow the clocks that still have Dask's intervals, unless ``dgsuite.transports.quiet`` is False.

    Every event loop of Dask ticks 50 times a second, and two profilers sample it 100 times a second: four
    idle workers use a seventh of a core, 64 more than two cores.
    """
    if setting("dgsuite.transports.quiet"):
        dask.config.update_defaults(CLOCKS)
