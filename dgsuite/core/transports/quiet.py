"""Slow Dask's diagnostic clocks in clusters of our own, and of workers whose tasks share a processor.

Every event loop of Dask ticks 50 times a second, and two profilers sample it 100 times a second: four idle
workers use a seventh of a core, 64 more than two cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import dask

from dgsuite.partition.client.settings import setting

if TYPE_CHECKING:
    from distributed import Worker

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

PACED = "tick", "profile"
"""Periodic callbacks of a worker that are called less often while tasks share a processor."""

SLOW = 500.0
"""Milliseconds between two of these calls."""

_own: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
"""Milliseconds of each clock before it was slowed."""


@cache
def slow_clocks() -> None:
    """Slow the clocks that still have Dask's intervals, unless ``dgsuite.transports.quiet`` is False."""
    if setting("dgsuite.transports.quiet"):
        dask.config.update_defaults(CLOCKS)


@contextmanager
def slowed(worker: Worker) -> Iterator[None]:
    """Slow the clocks of a worker, unless ``dgsuite.transports.quiet`` is False. Thread-safe.

    They get their own intervals back at the end, or at the end of another task that did the same. Relies on
    `Worker.periodic_callbacks` and on the attribute `callback_time` of Tornado's callbacks; seen in
    distributed 2026.1 to 2026.8.
    """
    names = PACED if setting("dgsuite.transports.quiet") else ()
    clocks = [
        worker.periodic_callbacks[name] for name in names if name in worker.periodic_callbacks
    ]
    for clock in clocks:
        clock.callback_time = max(_own.setdefault(clock, clock.callback_time), SLOW)
    try:
        yield
    finally:
        for clock in clocks:
            clock.callback_time = _own[clock]
