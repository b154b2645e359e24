"""Maximal independent set after Luby (Lynch 1996, section 4.5; IMSuite MIS).

In each round every live node draws a number and sends it to its live neighbours. A node whose number is
less than all that it receives joins the set. Its neighbours drop out, and their neighbours remove the
links to them. When no live node has a live neighbour left, the nodes that remain join.
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
    """What the nodes of a cluster know."""

    live: bsp.Subset = bsp.initial(lambda c: bsp.Subset(c.degree > 0))  # those with live neighbours
    number: NDArray[np.float64] = bsp.per_node(0.0)  # drawn in this round
    in_mis: NDArray[np.bool_] = bsp.per_node(False)
    beaten: NDArray[np.bool_] = bsp.per_node(False)  # has a neighbour in the set
    winners: NDArray[np.int64] = bsp.no_nodes()  # nodes that join in this round


class MIS(contest.Contest):
    """Maximal independent set.

    Outputs ``in_mis``.

    Parameters
    ----------
    rng
        Generator of random numbers, see `dgsuite.kernels.tools.rng`; by default "imsuite" if faithful, else
        "counter".
    faithful
        A node that drops out sends one message per winner that beat it, as in IMSuite.

    Notes
    -----
    Rounds: at most ``n / 2 + 1``; O(log n) are expected.

    Exchanges: at most ``3 * rounds``.

    Messages: at most ``(rounds + 1) * 2 * m``: live nodes send a number in each round, and each node one
    message when it joins or drops out.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> dgsuite.run("mis", graph).in_mis.values
    array([ True, False, False,  True])
    """

    name = "mis"
    obeys = bsp.Model("edges", reduces="data")
    streams = True
    outputs = {"in_mis": bsp.Output("whether the node is in the maximal independent set")}
    fields = {"draw": np.float64}
    ranges = {"draw": bsp.values(1 << 53)}
    by_component = True
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        live = yield bsp.Round(self.draw, self.compete, self.retire, self.prune)
        while live.min is not None:
            live = yield bsp.Round(self.draw, self.compete, self.retire, self.prune)
        yield bsp.Round(self.settle, closing=True)

    def draw(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        live = s.live.members
        s.number[live] = draw = uniform(self.generator, self.seed, c.ids[live], inbox.round)
        return bsp.broadcast(live, links=s.links, draw=draw)

    def compete(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        s.winners = inbox.local_minima("draw", s.number, among=s.live)
        s.in_mis[s.winners] = True
        return bsp.broadcast(s.winners, links=s.links)

    def retire(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return self.drop_out(s, inbox.receivers(among=s.live))

    def drop_out(self, s: State, beaten: NDArray, times: NDArray | None = None) -> bsp.Broadcast:
        """Beaten nodes tell their neighbours, `times` each, that they drop out."""
        s.beaten[beaten] = True
        s.live.remove(beaten)
        s.live.remove(s.winners)
        return bsp.broadcast(beaten, links=s.links, repeat=times)

    def prune(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        nodes = s.drop_links(inbox)
        s.live.remove(nodes[s.links.degree[nodes] == 0])
        live = s.live.members
        return bsp.vote(min=c.ids[live[0]] if len(live) else None)

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.in_mis |= ~s.beaten
