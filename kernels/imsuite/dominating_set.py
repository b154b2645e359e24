"""Independent dominating set by span (after Jia, Rajaraman and Suel 2002; IMSuite dominatingSet).

A node's span is the number of live nodes that it would cover. Those whose span, rounded to a power
of two, is the largest within two hops are active; each becomes a candidate with a probability that
falls with the crowding around it. Candidates whose nodes are not covered too often offer themselves,
and of neighbours that do the one with the larger id joins. It and its neighbours drop out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.base import (
    Broadcast,
    Inbox,
    Kernel,
    Net,
    Output,
    Program,
    Round,
    State,
    Vote,
    broadcast,
    extra,
    unicast,
    vote,
)
from kernels.rng import Numbers, chosen, uniform
from partition.cluster import Cluster, Links, NodeSet


@dataclass(frozen=True)
class DominatingSet(Kernel):
    """A set without neighbours in it such that every other node has a neighbour in it.

    Outputs ``in_ds``.

    Parameters
    ----------
    rng
        Where random numbers come from, see `kernels.rng`; by default "imsuite" if faithful, else
        "counter".
    faithful
        Count the reads of the original, where each node looks at all nodes within two hops and at
        some of its neighbours twice.
    """

    rng: Numbers | None = None

    name = "ds"
    outputs = {"in_ds": Output("whether the node is in the dominating set")}
    fields = {
        "span": np.int8,
        "support": np.int32,
        "cover": np.int64,
        "sender": np.int32,
        "near": np.int32,
    }

    def program(self, net: Net) -> Program:
        iteration = Round(
            self.tell_span,
            self.relay,
            self.activate,
            self.support,
            self.become_candidate,
            self.cover,
            self.offer,
            self.decide,
            self.retire,
            self.prune,
        )
        before = (self.introduce, self.look_around) if self.faithful else ()
        live = yield Round(*before, *iteration.phases)
        while live.any:
            live = yield iteration

    def start(self, c: Cluster) -> State:
        none = np.empty(0, np.int64)
        return State(
            links=Links(c),
            live=NodeSet(c.full(True, bool)),
            in_ds=c.zeros(bool),
            span=c.zeros(np.int8),
            crowd=c.zeros(np.int32),
            is_active=c.zeros(bool),
            candidates=NodeSet(c.zeros(bool)),
            offering=none,
            winners=none,
            retired=none,
            draws=c.zeros(),
        )

    def tell_span(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Broadcast, Any]:
        live = s.live.nodes
        s.span[live] = np.frexp(s.links.degree[live] + 1)[1] - 1
        reads = self.reads_around(s, live, inbox) if self.faithful else None
        return broadcast(live, span=s.span[live]), reads

    def relay(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        nodes, span = inbox.max("span")
        alive = s.live.mask[nodes]
        span[alive] = np.maximum(span[alive], s.span[nodes[alive]])
        return broadcast(nodes, span=span)

    def activate(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Broadcast, Any]:
        nodes, span = inbox.max("span", among=s.live)
        s.is_active[s.live.nodes] = True
        s.is_active[nodes] = s.span[nodes] >= span
        active = s.live.nodes[s.is_active[s.live.nodes]]
        reads = extra(c.degree[s.live.nodes].sum()) if self.faithful else None
        return broadcast(active, links=s.links), reads

    def support(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        live = s.live.nodes
        s.crowd[live] = s.is_active[live]
        nodes, active, _ = inbox.count(among=s.live)
        s.crowd[nodes] += active
        return broadcast(live, links=s.links, support=s.crowd[live])

    def become_candidate(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Broadcast, Any]:
        reads = self.reads_of_support(s, inbox) if self.faithful else None
        nodes, support = inbox.max("support", among=s.live)
        crowd = s.crowd.copy()
        crowd[nodes] = np.maximum(crowd[nodes], support)
        active = s.live.nodes[s.is_active[s.live.nodes]]
        rng = chosen(self.rng, self.faithful)
        draw = inbox.round if rng == "counter" else s.draws[active]
        s.draws[active] += 1
        lucky = uniform(rng, self.seed, c.ids[active], draw) <= 1 / crowd[active]
        mask = c.zeros(bool)
        mask[active[lucky]] = True
        s.candidates = NodeSet(mask)
        nodes = s.candidates.nodes
        return broadcast(nodes, links=s.links), reads

    def cover(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Broadcast, Any]:
        live = s.live.nodes
        s.cover = s.candidates.mask.astype(np.int64)
        nodes, candidates, _ = inbox.count(among=s.live)
        s.cover[nodes] += candidates
        # each reads its live neighbours' candidacy, then their cover
        reads = extra(2 * s.links.degree[live].sum()) if self.faithful else None
        return broadcast(live, links=s.links, cover=s.cover[live]), reads

    def offer(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        nodes, cover = inbox.sum("cover", among=s.candidates)
        s.cover[nodes] += cover
        nodes = s.candidates.nodes
        s.offering = nodes[s.cover[nodes] <= 3 * (s.links.degree[nodes] + 1)]
        return self.tell(c, s, s.offering, sender=c.ids[s.offering])

    def decide(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        mask = c.zeros(bool)
        mask[s.offering] = True
        nodes, rival = inbox.max("sender", among=NodeSet(mask))
        mask[nodes] = c.ids[nodes] > rival
        s.winners = np.flatnonzero(mask)
        s.in_ds[s.winners] = True
        return self.tell(c, s, s.winners)

    def retire(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        s.retired = np.union1d(inbox.receivers(among=s.live), s.winners)
        s.live.remove(s.retired)
        return broadcast(s.retired, links=s.links)

    def prune(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Any, ...]:
        nodes, gone, gone_remote = inbox.count(among=s.live)
        # those who still live look at all their neighbours twice
        reads = extra(2 * c.degree[s.live.nodes].sum()) if self.faithful else None
        s.links.drop(nodes, gone, gone_remote, inbox.edges(nodes))
        notice = self.tell_around(s) if self.faithful else None
        return vote(any=s.live.count), reads, notice

    def tell(self, c: Cluster, s: State, nodes: np.ndarray, **fields: Any) -> Broadcast:
        """Tell the live neighbours; the original tells all."""
        return broadcast(nodes, links=None if self.faithful else s.links, **fields)

    # What only the original does: it knows all nodes within two hops, and asks which of them live.

    def introduce(self, c: Cluster, s: State, inbox: Inbox) -> Any:
        nodes = np.arange(c.size)
        at, ends = c.edges(nodes)
        which, near = c.edges(at)
        return unicast(ends[which], at[which], near=near)

    def look_around(self, c: Cluster, s: State, inbox: Inbox) -> Vote:
        at, ends = c.edges(np.arange(c.size))
        near = np.concatenate([ends, inbox["near"]])
        nodes = np.concatenate([at, inbox.node])
        apart = near != c.ids[nodes]
        s.around, s.near = np.unique(np.stack([nodes[apart], near[apart]]), axis=1)
        s.within_two = np.bincount(s.around, minlength=c.size)
        s.live_within_two = s.within_two.copy()
        return vote()

    def reads_around(self, s: State, live: np.ndarray, inbox: Inbox) -> Any:
        """Each live node looks at all within two hops, and again at those of them that live."""
        if len(inbox):
            np.subtract.at(s.live_within_two, inbox.node, 1)
        return extra(s.within_two[live].sum() + s.live_within_two[live].sum())

    def tell_around(self, s: State) -> Any:
        """Those who dropped out tell all within two hops."""
        mine = np.isin(s.around, s.retired)
        return unicast(s.near[mine].astype(np.int64), s.around[mine])

    def reads_of_support(self, s: State, inbox: Inbox) -> Any:
        """Each live node reads its live neighbours' support, one that beats all before it twice."""
        node, support = inbox.node, inbox["support"]
        look = s.live.mask[node]
        node, support = node[look], support[look].astype(np.int64)
        # messages come by receiver, so a receiver's first message beats all of those before it
        key = (node.astype(np.int64) << 32) + support
        best = np.maximum.accumulate(key)
        better = np.diff(best, prepend=0) > 0
        better &= support > 0
        return extra(len(node) + np.count_nonzero(better))
