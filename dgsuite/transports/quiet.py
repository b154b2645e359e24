"""Dask's own clocks, slowed where these transports are used: a cluster at rest leaves the processor alone.

Every loop of Dask's ticks 50 times a second, and twice 100 times looks what it is doing, for diagnostics:
on four idle workers that takes a seventh of a core. A transport that does not wake up for nothing
is of no use beside that.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import dask

from partition.client.settings import setting

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
"""How often a loop looks how late it is, at its process, at its memory, and at what it does."""


@cache
def slow_clocks() -> None:
    """Slow the clocks that still have Dask's intervals, unless ``dgsuite.transports.quiet`` is False."""
    if setting("dgsuite.transports.quiet"):
        dask.config.update_defaults(CLOCKS)
