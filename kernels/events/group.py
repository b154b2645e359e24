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


class GroupKernel(EventKernel):
    """A kernel of a complete graph; on copies of one, each is a group by itself."""

    by_component = True
    needs = ("complete",)

    def member(self, c: bsp.Cluster, s: Any, e: Events) -> NDArray[np.int64]:
        """The rank of the sender of each message."""
        slot = c.entries(e.node, e.src) - c.indptr[e.node]
        return slot + (slot >= s.rank[e.node])

    def node_of(self, c: bsp.Cluster, s: Any, nodes: NDArray, member: NDArray) -> NDArray:
        """The node ids of members, each another one of a node's group."""
        return c.indices[c.indptr[nodes] + member - (member > s.rank[nodes])]

    def others(self, c: bsp.Cluster, s: Any, nodes: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """All other members of the groups of some nodes: the node, and the node id and rank of each."""
        at, to = c.edges(nodes)
        slot = np.arange(len(at)) - np.searchsorted(at, at)
        return nodes[at], to, slot + (slot >= s.rank[nodes[at]])

    def count_anew(self, s: Any, votes: NDArray[np.bool_], nodes: NDArray) -> None:
        """Forget the votes that some nodes have, but for their own."""
        votes[nodes] = False
        votes[nodes, s.rank[nodes]] = True

    def majority(
        self, c: bsp.Cluster, votes: NDArray[np.bool_], nodes: NDArray
    ) -> NDArray[np.bool_]:
        """Whether each of some nodes has votes of more than half of its group."""
        return 2 * votes[nodes].sum(axis=1) > c.degree[nodes] + 1

    def draw(self, c: bsp.Cluster, e: Events, least: int, most: int) -> NDArray[np.int64]:
        """A number of ticks for each node that acts, from `least` to `most`, all alike."""
        luck = uniform("counter", self.seed, c.ids[e.node], e.tick)
        return least + (luck * (most - least + 1)).astype(np.int64)


@dataclass(eq=False)
class ConsensusState(GroupState):
    """What the members of groups know that are to decide."""

    input: NDArray[np.int64] = bsp.per_node(0)
    decision: NDArray[np.int64] = bsp.per_node(-1)


@dataclass(frozen=True)
class Consensus(GroupKernel):
    """A kernel whose nodes decide on the input of one of them."""

    inputs: Sequence[int] | None = None

    outputs = {
        "decision": bsp.Output("what the node decided"),
        "input": bsp.Output("what the node held at first"),
    }

    def check(self, c: bsp.Cluster) -> str | None:
        if (wrong := super().check(c)) or self.inputs is None or not c.size:
            return wrong
        values, size = np.asarray(self.inputs), c.degree.max(initial=0) + 1
        if values.dtype.kind not in "iu" or values.shape != (size,) or (values < 0).any():
            return f"inputs must be whole numbers from 0, one for each of {size} nodes"
        return None

    def start(self, c: bsp.Cluster) -> Any:
        s: Any = self.state.of(c)
        s.input = (
            s.rank.copy() if self.inputs is None else np.asarray(self.inputs, np.int64)[s.rank]
        )
        return s
