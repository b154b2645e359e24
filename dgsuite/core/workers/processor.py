"""Which processors of a host the tasks of a run use."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from distributed.comm import get_address_host

from dgsuite.base import capabilities


def own_processors() -> frozenset[int]:
    """Those that the calling thread may use; none where the system does not say."""
    return frozenset(os.sched_getaffinity(0) if capabilities.has("affinity") else ())


def of_host(
    places: Sequence[str], rank: int, allowed: Mapping[int, frozenset[int]]
) -> tuple[int, list[frozenset[int]]]:
    """Which of the tasks of its host a task is, and the processors that each of those may use.

    Parameters
    ----------
    places
        Worker addresses of all tasks of the run.
    allowed
        The processors that each of them may use, by rank; none where the system does not say.
    """
    hosts = [get_address_host(place) for place in places]
    here = [r for r, host in enumerate(hosts) if host == hosts[rank]]
    return here.index(rank), [allowed[r] for r in here]


@contextmanager
def bound(number: int, allowed: Sequence[frozenset[int]], run: str) -> Iterator[bool]:
    """Bind the calling thread to a processor, as mpirun does, where each gets as many threads.

    The tasks of a run wake each other all the time, and the system tends to put a task that is woken on the
    processor of the one that woke it. The processors depend on the run, so that several runs on one host do
    not all use the first few. Tasks that have processors of their own stay there.

    Parameters
    ----------
    number, allowed
        Of the task and of all tasks of its host: see `of_host`.

    Yields
    ------
    Whether it has a processor to itself.
    """
    size, processors = len(allowed), sorted(frozenset().union(*allowed))
    # SLURM or another launcher may have bound them
    are_apart = all(allowed) and sum(map(len, allowed)) == len(processors)
    are_alike = len({*allowed}) == 1 and bool(processors)
    is_even = are_alike and (size <= len(processors) or size % len(processors) == 0)
    if size == 1 or are_apart or not is_even:
        yield size > 1 and are_apart
        return
    os.sched_setaffinity(0, {processors[(int(run, 16) + number) % len(processors)]})
    try:
        yield size <= len(processors)
    finally:
        os.sched_setaffinity(0, processors)
