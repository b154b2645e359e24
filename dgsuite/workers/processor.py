"""How a run's tasks use the processors of their host.

Each is bound to one, and garbage is collected in full at the end alone.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from distributed.comm import get_address_host

NEVER = 2**31 - 1
"""Collections of the young after which garbage is collected in full, so that it is not."""

_collecting = threading.Lock()
_thresholds: list[int] = []
"""Of each task that puts full collections off, what it found."""


class LocalRank(NamedTuple):
    """A task among those of its run on one host.

    Attributes
    ----------
    rank
        Which of them it is.
    size
        How many there are.
    processors
        Those that they may use; none where the system does not say.
    """

    rank: int
    size: int
    processors: Sequence[int]

    @classmethod
    def of(cls, places: Sequence[str], rank: int) -> LocalRank:
        """The local rank of a task, given the worker addresses of all tasks of its run."""
        hosts = [get_address_host(place) for place in places]
        here = [r for r, host in enumerate(hosts) if host == hosts[rank]]
        known = hasattr(os, "sched_getaffinity")
        return cls(here.index(rank), len(here), sorted(os.sched_getaffinity(0)) if known else [])

    @property
    def is_oversubscribed(self) -> bool:
        """Whether there are more tasks than processors."""
        return 0 < len(self.processors) < self.size

    @property
    def is_even(self) -> bool:
        """Whether each processor gets as many tasks, or at most one."""
        return bool(self.processors) and not (
            self.is_oversubscribed and self.size % len(self.processors)
        )


@contextmanager
def bound(local: LocalRank, run: str) -> Iterator[bool]:
    """Bind the calling thread to a processor, as mpirun does, where each gets as many threads.

    The tasks of a run wake each other all the time, and the system tends to put a task that is woken on the
    processor of the one that woke it. The processors depend on the run, so that several runs on one host do
    not all use the first few.

    Yields
    ------
    Whether it has the processor to itself.
    """
    allowed = local.processors
    if local.size == 1 or not local.is_even:
        yield False
        return
    os.sched_setaffinity(0, {allowed[(int(run, 16) + local.rank) % len(allowed)]})
    try:
        yield not local.is_oversubscribed
    finally:
        os.sched_setaffinity(0, allowed)


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
