"""Slow Dask's diagnostic clocks in clusters of our own.

Every event loop of Dask ticks 50 times a second, and two profilers sample it 100 times a second: four idle
workers use a seventh of a core, 64 more than two cores.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import dask

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


@cache
def slow_clocks() -> None:
    """Slow the clocks that still have Dask's intervals, unless ``dgsuite.transports.quiet`` is False."""
    if setting("dgsuite.transports.quiet"):
        dask.config.update_defaults(CLOCKS)
