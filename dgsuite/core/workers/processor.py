"""Which processors of a host the tasks of a run use."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from distributed.comm import get_address_host

from dgsuite.base import capabilities


class LocalRank(NamedTuple):
    """A task among those of its run on one host.

    Attributes
    ----------
    rank
        Which of them it is.
    allowed
        The processors that each of them may use; none where the system does not say.
    """

    rank: int
    allowed: Sequence[frozenset[int]]

    @classmethod
    def of(
        cls, places: Sequence[str], rank: int, allowed: Mapping[int, frozenset[int]]
    ) -> LocalRank:
        """The local rank of a task.

        Parameters
        ----------
        places
            Worker addresses of all tasks of its run.
        allowed
            The processors that each of them may use, by rank.
        """
        hosts = [get_address_host(place) for place in places]
        here = [r for r, host in enumerate(hosts) if host == hosts[rank]]
        return cls(here.index(rank), [allowed[r] for r in here])

    @property
    def size(self) -> int:
        """How many tasks there are."""
        return len(self.allowed)

    @property
    def processors(self) -> list[int]:
        """Those that any of them may use."""
        return sorted(frozenset().union(*self.allowed))

    @property
    def is_oversubscribed(self) -> bool:
        """Whether there are more tasks than processors."""
        return 0 < len(self.processors) < self.size

    @property
    def is_even(self) -> bool:
        """Whether all may use the same processors, and each of these gets as many tasks, or at most one."""
        return (
            len({*self.allowed}) == 1
            and bool(self.processors)
            and not (self.is_oversubscribed and self.size % len(self.processors))
        )

    @property
    def is_apart(self) -> bool:
        """Whether each has processors of its own, as where SLURM or another launcher has bound them."""
        return all(self.allowed) and sum(map(len, self.allowed)) == len(self.processors)


def own_processors() -> frozenset[int]:
    """Those that the calling thread may use; none where the system does not say."""
    return frozenset(os.sched_getaffinity(0) if capabilities.has("affinity") else ())


@contextmanager
def bound(local: LocalRank, run: str) -> Iterator[bool]:
    """Bind the calling thread to a processor, as mpirun does, where each gets as many threads.

    The tasks of a run wake each other all the time, and the system tends to put a task that is woken on the
    processor of the one that woke it. The processors depend on the run, so that several runs on one host do
    not all use the first few. Tasks that have processors of their own stay there.

    Yields
    ------
    Whether it has a processor to itself.
    """
    allowed = local.processors
    if local.size == 1 or local.is_apart or not local.is_even:
        yield local.size > 1 and local.is_apart
        return
    os.sched_setaffinity(0, {allowed[(int(run, 16) + local.rank) % len(allowed)]})
    try:
        yield not local.is_oversubscribed
    finally:
        os.sched_setaffinity(0, allowed)
