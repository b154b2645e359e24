"""Maximal independent set after Luby (Lynch 1996, section 4.5; IMSuite MIS).

In each round every live node draws a number and tells its live neighbours. Whoever drew less than
all of them joins the set and tells them; they drop out and tell theirs, who strike them off. When no
live node has a live neighbour left, those that remain join.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    vote,
)
from kernels.rng import Numbers, chosen, uniform
from partition.cluster import Cluster, Links, NodeSet


@dataclass(frozen=True)
class MIS(Kernel):
    """Maximal independent set.

    Outputs ``in_mis``.

    Parameters
    ----------
    rng
        Where random numbers come from, see `kernels.rng`; by default "imsuite" if faithful, else
        "counter".
    faithful
        Send what the original sends: a node that drops out says so once for each winner that beat
        it.
    """

    rng: Numbers | None = None

    name = "mis"
    outputs = {"in_mis": Output("whether the node is in the maximal independent set")}
    fields = {"draw": np.float64}

    def program(self, net: Net) -> Program:
        iteration = Round(self.draw, self.compete, self.retire, self.prune)
        live = yield iteration
        while live.min is not None:
            live = yield iteration
        yield Round(self.settle, closing=True)

    def start(self, c: Cluster) -> State:
        links = Links(c)
        return State(
            links=links,
            live=NodeSet(links.degree > 0),
            value=c.zeros(float),
            in_mis=c.zeros(bool),
            beaten=c.zeros(bool),
            winners=np.empty(0, np.int64),
        )

    def draw(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        live = s.live.nodes
        s.value[live] = draw = uniform(
            chosen(self.rng, self.faithful), self.seed, c.ids[live], inbox.round
        )
        return broadcast(live, links=s.links, draw=draw)

    def compete(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        s.winners = inbox.local_minima("draw", s.value, among=s.live)
        s.in_mis[s.winners] = True
        return broadcast(s.winners, links=s.links)

    def retire(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        times = None
        if self.faithful:
            beaten, times, _ = inbox.count(among=s.live)
        else:
            beaten = inbox.receivers(among=s.live)
        s.beaten[beaten] = True
        s.live.remove(beaten)
        s.live.remove(s.winners)
        return broadcast(beaten, links=s.links, repeat=times)

    def prune(self, c: Cluster, s: State, inbox: Inbox) -> Vote:
        nodes, gone, gone_remote = inbox.count(among=s.live)
        s.links.drop(nodes, gone, gone_remote, inbox.edges(nodes))
        s.live.remove(nodes[s.links.degree[nodes] == 0])
        live = s.live.nodes
        return vote(min=c.ids[live[0]] if len(live) else None)

    def settle(self, c: Cluster, s: State, inbox: Inbox) -> None:
        s.in_mis |= ~s.beaten
