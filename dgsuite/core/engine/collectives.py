"""Collectives: all workers of a run get the contributions of all, combined (an allreduce).

A collective is a generator that every worker runs. It yields a `Move`, which says what to send and from
which workers to receive, and is sent what was received; in the end it returns all contributions combined.
It uses no sockets: a mesh drives one generator and transfers its messages (`dgsuite.core.exchange.mesh`), a
test drives those of all workers in one process (`tests/dgsuite/workers/test_collectives.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_ALL_TO_ALL = 3
"""Workers up to which each sends its vote to all others, together with its parcels."""


class Move(NamedTuple):
    """What a worker does next: send all of this, then wait for one message of each of those."""

    sends: Mapping[int, Any]
    """By receiver, what it gets."""
    hears: Sequence[int]
    """The senders."""


Combine = Callable[[Sequence[Any]], Any]
"""Makes one contribution of several; it must be associative and commutative."""

Collective = Generator[Move, Sequence[Any], Any]
"""Yields moves, is sent what each of `Move.hears` has sent, and returns what all have contributed."""


def tree(rank: int, size: int, mine: Any, combine: Combine) -> Collective:
    """Contributions go up a tree to worker 0, which combines them, and the result comes down.

    There are 2 (size - 1) messages in all, the fewest that there can be; where workers share processors,
    their number decides. A worker has as many children as let it send 2 ceil(log2 size) messages, so the
    tree is flat: two levels below the root up to 241 workers.
    """
    above, children = _relatives(rank, size)
    if children:
        mine = combine([mine, *(yield Move({}, children))])
    if above:
        (mine,) = yield Move(dict.fromkeys(above, mine), above)
    if children:
        yield Move(dict.fromkeys(children, mine), [])
    return mine


def partners(rank: int, size: int) -> set[int]:
    """The workers that a worker exchanges messages with in a collective."""
    above, children = _relatives(rank, size)
    return {*above, *children}


def _relatives(rank: int, size: int) -> tuple[range, range]:
    """The parent of a worker in the tree, if it has one, and its children."""
    fan_out = max(1, 2 * (size - 1).bit_length() - 1)
    first, parent = fan_out * rank + 1, (rank - 1) // fan_out
    return range(max(parent, 0), parent + 1), range(first, min(first + fan_out, size))


class Contribution(NamedTuple):
    """What a worker contributes to the end of a phase; or several together."""

    vote: Any
    due: NDArray[np.uint32] | None = None
    """For each worker, how many parcels are on their way to it; None if no worker gets one."""

    @classmethod
    def of(cls, vote: Any, receivers: Iterable[int], size: int) -> Contribution:
        """That of a worker that sends parcels to some others."""
        to = [*receivers]
        if not to:
            return cls(vote)
        due = np.zeros(size, np.uint32)
        due[to] = 1
        return cls(vote, due)

    def expected(self, rank: int) -> int:
        """How many parcels a worker gets."""
        return 0 if self.due is None else int(self.due[rank])

    @staticmethod
    def combining(votes: Combine) -> Combine:
        """What combines contributions, given what combines votes."""

        def combine(said: Sequence[Contribution]) -> Contribution:
            dues = [each.due for each in said if each.due is not None]
            due = reduce(np.add, dues) if dues else None
            return Contribution(votes([each.vote for each in said]), due)

        return combine
