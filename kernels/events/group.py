"""Event-driven kernels of a complete graph, whose nodes are the members of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.events.kernel import EventKernel, Events, EventState
from dgsuite.kernels.tools.rng import uniform


def ranks(c: bsp.Cluster) -> NDArray[np.int64]:
    """The number of each node in its group, from 0: in order of node ids."""
    row = np.repeat(np.arange(c.size), c.degree)
    return np.bincount(row[c.indices < c.ids[row]], minlength=c.size)


def per_member(fill: Any = 0, dtype: DTypeLike = np.int64) -> Any:
    """Declare a field of a state: by node and member of its group."""
    return bsp.initial(lambda c: np.full((c.size, c.degree.max(initial=0) + 1), fill, dtype))


@dataclass(eq=False)
class GroupState(EventState):
    """What the members of groups know."""

    rank: NDArray[np.int64] = bsp.initial(ranks)


@dataclass(frozen=True)
class GroupKernel(EventKernel):
    """A kernel of a complete graph; on copies of one, each is a group by itself."""

    by_component = True
    needs = ("complete",)

    def member(self, c: bsp.Cluster, s: Any, e: Events) -> NDArray[np.int64]:
        """The rank of the sender of each message."""
        slot = c.entries(e.node, e.src) - c.indptr[e.node]
        return slot + (slot >= s.rank[e.node])

    def majority(
        self, c: bsp.Cluster, votes: NDArray[np.bool_], nodes: NDArray
    ) -> NDArray[np.bool_]:
        """Whether each of some nodes has votes of more than half of its group."""
        return 2 * votes[nodes].sum(axis=1) > c.degree[nodes] + 1

    def draw(self, c: bsp.Cluster, e: Events, least: int, most: int) -> NDArray[np.int64]:
        """A number of ticks for each node that acts, from `least` to `most`, all alike."""
        luck = uniform("counter", self.seed, c.ids[e.node], e.tick)
        return least + (luck * (most - least + 1)).astype(np.int64)

    def own(self, given: Sequence[int] | None, s: Any) -> NDArray[np.int64]:
        """What is given for each member, or else its rank."""
        return s.rank.copy() if given is None else np.asarray(given, np.int64)[s.rank]


def wrong_inputs(given: Sequence[int] | None, c: bsp.Cluster) -> str | None:
    """What is wrong with what is given for each member, if anything."""
    if given is None or not c.size:
        return None
    values = np.asarray(given)
    fits = values.dtype.kind in "iu" and values.shape == (c.degree.max(initial=0) + 1,)
    if not fits or (values < 0).any():
        return f"inputs must be whole numbers from 0, one for each of {c.degree.max(initial=0) + 1} nodes"
    return None
