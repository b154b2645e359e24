"""Independent dominating set, greedy by span with a contest between neighbours (IMSuite dominatingSet).

The span of a node is the number of live nodes that it would cover. Nodes whose span, rounded to a power
of two, is the largest within two hops are active. Each becomes a candidate with a probability of one in
its crowd, the largest number of active nodes that can cover a node near it. A candidate whose nodes are
not covered too often offers itself, and joins if no neighbour with a larger id does. It and its
neighbours drop out.

Spans and candidates are those of Jia, Rajaraman and Suel (2002, "An efficient distributed algorithm for
constructing small dominating sets"), whose sets are within a logarithm of the smallest. That is not so here:
there the crowd is a median, covered nodes may still join, and nobody contends with neighbours. Here no two
neighbours join, so that the set is a maximal independent one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite import contest
from dgsuite.kernels.tools.rng import uniform


@dataclass(eq=False)
class State(contest.State):
    """What the nodes of a cluster know; those that are neither in the set nor covered are live."""

    in_ds: NDArray[np.bool_] = bsp.per_node(False)
    span: NDArray[np.int8] = bsp.per_node(0, np.int8)  # as a power of two
    active: NDArray[np.bool_] = bsp.per_node(False)  # has the largest span around
    crowd: NDArray[np.int32] = bsp.per_node(0, np.int32)  # active nodes that can cover this one
    draws: NDArray[np.int64] = bsp.per_node()  # random numbers drawn so far
    candidates: bsp.Subset = bsp.node_set(False)
    cover: NDArray[np.int64] = bsp.per_node()  # candidates that can cover this node
    offering: NDArray[np.int64] = bsp.no_nodes()  # candidates that are not crowded out
    winners: NDArray[np.int64] = bsp.no_nodes()  # nodes that join in this round
    retired: NDArray[np.int64] = bsp.no_nodes()  # nodes that drop out in this round


class DominatingSet(contest.Contest):
    """A set without neighbours in it such that every other node has a neighbour in it.

    Such a set is maximal independent, and may be much larger than the smallest dominating set: of two hubs
    that are neighbours, with 30 leaves each, it has one hub and the leaves of the other, 31 nodes where the
    two hubs would do. Outputs ``in_ds``.

    Parameters
    ----------
    rng
        Generator of random numbers, see `dgsuite.kernels.tools.rng`; by default "imsuite" if faithful, else
        "counter".
    faithful
        Learn all nodes within two hops first, and count the reads of IMSuite's program, where a node
        looks at all of these, and at some neighbours twice.

    Notes
    -----
    Rounds: mostly few; no bound is known. The largest spans within two hops fall as nodes drop out.

    Exchanges: at most ``9 * rounds``.

    Messages: at most ``rounds * 18 * m``: nine times in a round, some nodes send to their neighbours.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> dgsuite.run("ds", graph).in_ds.values
    array([ True, False, False,  True])
    """

    name = "ds"
    obeys = bsp.Model("edges", reduces="control")
    streams = True
    short_ids = True
    outputs = {"in_ds": bsp.Output("whether the node is in the dominating set")}
    fields = {"span": np.int8, "support": np.int32, "cover": np.int64, "sender": np.int32}
    ranges = {
        "span": int.bit_length,
        "support": bsp.counts,
        "cover": bsp.counts,
        "sender": bsp.nodes,
    }
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(
            *(self.tell_span, self.relay, self.activate, self.support, self.become_candidate),
            *(self.cover, self.offer, self.decide, self.retire, self.prune),
        )

    def tell_span(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        live = s.live.members
        s.span[live] = np.frexp(s.links.degree[live] + 1)[1] - 1
        return bsp.broadcast(live, span=s.span[live])

    def relay(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        nodes, span = inbox.max("span")
        alive = s.live.mask[nodes]
        span[alive] = np.maximum(span[alive], s.span[nodes[alive]])
        return bsp.broadcast(nodes, span=span)

    def activate(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        nodes, span = inbox.max("span", among=s.live)
        live = s.live.members
        s.active[live] = True
        s.active[nodes] = s.span[nodes] >= span
        return bsp.broadcast(live[s.active[live]], links=s.links)

    def support(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        live = s.live.members
        s.crowd[live] = s.active[live]
        nodes, active, _ = inbox.count(among=s.live)
        s.crowd[nodes] += active
        return bsp.broadcast(live, links=s.links, support=s.crowd[live])

    def become_candidate(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        nodes, support = inbox.max("support", among=s.live)
        crowd = s.crowd.copy()
        crowd[nodes] = np.maximum(crowd[nodes], support)
        active = s.live.members[s.active[s.live.members]]
        draw = inbox.round if self.generator == "counter" else s.draws[active]
        s.draws[active] += 1
        lucky = uniform(self.generator, self.seed, c.ids[active], draw) <= 1 / crowd[active]
        s.candidates = bsp.Subset(None, active[lucky], size=c.size)
        return bsp.broadcast(s.candidates.members, links=s.links)

    def cover(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        s.cover = s.candidates.mask.astype(np.int64)
        nodes, candidates, _ = inbox.count(among=s.live)
        s.cover[nodes] += candidates
        live = s.live.members
        return bsp.broadcast(live, links=s.links, cover=s.cover[live])

    def offer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        nodes, cover = inbox.sum("cover", among=s.candidates)
        s.cover[nodes] += cover
        nodes = s.candidates.members
        s.offering = nodes[s.cover[nodes] <= 3 * (s.links.degree[nodes] + 1)]
        return bsp.broadcast(s.offering, links=s.links, sender=c.ids[s.offering])

    def decide(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        offering = bsp.Subset(None, s.offering, size=c.size)
        nodes, rival = inbox.max("sender", among=offering)
        s.winners = np.setdiff1d(s.offering, nodes[c.ids[nodes] < rival], assume_unique=True)
        s.in_ds[s.winners] = True
        return bsp.broadcast(s.winners, links=s.links)

    def retire(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        s.retired = np.union1d(inbox.receivers(among=s.live), s.winners)
        s.live.remove(s.retired)
        return bsp.broadcast(s.retired, links=s.links)

    def prune(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        s.drop_links(inbox)
        return bsp.vote(any=s.live.count)
