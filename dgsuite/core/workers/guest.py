"""What a task of a run changes in the process of its worker, all of which is undone at its end."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Self
from weakref import WeakKeyDictionary

from distributed import Worker

from dgsuite.core.workers.processor import LocalRank, bound
from dgsuite.partition.client.settings import setting

NEVER = 2**31 - 1
"""Collections of the young after which garbage is collected in full, so that it is not."""

PACED = "tick", "profile"
"""Periodic callbacks of a worker that are called less often while tasks share a processor."""

SLOW = 500.0
"""Milliseconds between two of these calls."""

_collecting = threading.Lock()
_thresholds: list[int] = []
"""Of each task that puts full collections off, what it found."""

_own: WeakKeyDictionary[object, float] = WeakKeyDictionary()
"""Milliseconds of each clock before it was slowed."""


class Guest(ExitStack):
    """A task on a worker. Until it ends, the worker's process collects no garbage in full."""

    def __enter__(self) -> Self:
        super().__enter__()
        self.enter_context(no_full_collections())
        return self

    def settle(self, worker: Worker, local: LocalRank, run: str, binds: bool) -> bool:
        """Bind the calling thread to a processor, and slow the worker's clocks where tasks share one.

        Returns
        -------
        Whether the thread is bound, and has the processor to itself.
        """
        if local.is_oversubscribed:
            self.enter_context(slowed(worker))
        return binds and self.enter_context(bound(local, run))


@contextmanager
def no_full_collections() -> Iterator[None]:
    """Put off full collections of garbage until the end of the last task of this process that does: one takes
    70 ms, and a run's sites wait for it. Thread-safe.
    """
    with _collecting:
        new, young, full = gc.get_threshold()
        _thresholds.append(full)
        gc.set_threshold(new, young, NEVER)
    try:
        yield
    finally:
        with _collecting:
            full = _thresholds.pop()
            if not _thresholds:  # the first one is the process's own
                gc.set_threshold(new, young, full)


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
