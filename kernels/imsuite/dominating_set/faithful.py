"""What IMSuite's dominatingSet does otherwise than the textbook.

A node knows all nodes within two hops and reads which of them live, where the textbook kernel sends messages.
These reads are counted here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.dominating_set import textbook

Counted = tuple[bsp.Broadcast, bsp.Extra]
"""What nodes send, and what they read for it."""


@dataclass(eq=False)
class State(textbook.State):
    """What the nodes of a cluster know. Node `near[i]` is within two hops of node `around[i]`."""

    around: NDArray[np.int64] = bsp.rows()
    near: NDArray[np.int64] = bsp.rows()
    within_two: NDArray[np.int64] = bsp.per_node()  # other nodes within two hops
    live_within_two: NDArray[np.int64] = bsp.per_node()  # those of them that live


class FaithfulDominatingSet(textbook.DominatingSet, faithful_to=textbook.DominatingSet):
    """An independent dominating set; see `DominatingSet`."""

    obeys = bsp.Model("nodes", None, "control")
    state = State
    fields = {**textbook.DominatingSet.fields, "near": np.int32}
    ranges = {**textbook.DominatingSet.ranges, "near": bsp.nodes}

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.introduce, self.look_around, opening=True)
        yield from super().program(net)

    def introduce(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """Each node sends each neighbour a list of its neighbours."""
        at, ends = c.edges(np.arange(c.size))
        which, near = c.edges(at)
        return bsp.unicast(ends[which], at[which], near=near)

    def look_around(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        at, ends = c.edges(np.arange(c.size))
        near = np.concatenate([ends, inbox["near"]])
        nodes = np.concatenate([at, inbox.node])
        apart = near != c.ids[nodes]
        s.around, s.near = np.unique(np.stack([nodes[apart], near[apart]]), axis=1)
        s.within_two = np.bincount(s.around, minlength=c.size)
        s.live_within_two = s.within_two.copy()

    def tell_span(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> Counted:
        """Each live node reads all nodes within two hops, and those of them that live once more."""
        if len(inbox):
            np.subtract.at(s.live_within_two, inbox.node, 1)
        live = s.live.members
        reads = s.within_two[live].sum() + s.live_within_two[live].sum()
        return super().tell_span(c, s, inbox), bsp.extra(reads)

    def activate(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> Counted:
        return super().activate(c, s, inbox), bsp.extra(c.degree[s.live.members].sum())

    def become_candidate(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> Counted:
        reads = self.reads_of_support(s, inbox)
        return super().become_candidate(c, s, inbox), bsp.extra(reads)

    def reads_of_support(self, s: State, inbox: bsp.Inbox) -> int:
        """Each live node reads the support of its live neighbours; a new maximum it reads twice."""
        node, support = inbox.node, inbox["support"]
        look = s.live.mask[node]
        node, support = node[look], support[look].astype(np.int64)
        # messages come by receiver, so a receiver's first message exceeds all before it
        key = (node.astype(np.int64) << 32) + support
        larger = np.diff(np.maximum.accumulate(key), prepend=0) > 0
        return len(node) + int(np.count_nonzero(larger & (support > 0)))

    def cover(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> Counted:
        """Each node reads which live neighbours are candidates, then how far they are covered."""
        return super().cover(c, s, inbox), bsp.extra(2 * s.links.degree[s.live.members].sum())

    def offer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return super().offer(c, s, inbox)._replace(links=None)

    def decide(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return super().decide(c, s, inbox)._replace(links=None)

    def prune(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox
    ) -> tuple[bsp.Vote, bsp.Extra, bsp.Unicast]:
        """Live nodes read all their neighbours twice; those that drop out tell all within two hops."""
        mine = np.isin(s.around, s.retired)
        notice = bsp.unicast(s.near[mine].astype(np.int64), s.around[mine])
        reads = bsp.extra(2 * c.degree[s.live.members].sum())
        return super().prune(c, s, inbox), reads, notice
