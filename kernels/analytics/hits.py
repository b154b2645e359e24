"""Hubs and authorities (Kleinberg 1999), by power iteration.

A good hub has edges to good authorities, and a good authority has edges from good hubs: the value of either
is the sum of the others' along the edges. On an undirected graph both are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.iterated import Iterated, Step


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    hub: NDArray[np.float64] = bsp.initial(lambda c: c.full(1 / c.n))
    authority: NDArray[np.float64] = bsp.initial(lambda c: c.full(1 / c.n))
    before: NDArray[np.float64] = bsp.later()  # the hubs of the iteration before


@dataclass(frozen=True)
class HITS(Iterated):
    """Hubs and authorities, of directed and undirected graphs, as in networkx.

    Outputs ``hub`` and ``authority``, float64; each adds up to 1, or is 0 on a graph without edges. The
    tolerance is for the change of the hubs, scaled so that the greatest is 1.

    Notes
    -----
    Rounds: at most `iterations`, or 1000 where only a tolerance is given.

    Messages: exactly ``rounds * 2 * arcs``: one along each edge, and one back.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [3, 3, 4], directed=True)
    >>> ds = dgsuite.run("hits", graph)
    >>> ds.authority.values.round(3)
    array([0., 0., 0., 1., 0.])
    """

    name = "hits"
    outputs = {"hub": bsp.Output("hub"), "authority": bsp.Output("authority")}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        for output in self.outputs:
            total = yield bsp.Round(self.total, closing=True, output=output)
            yield bsp.Round(self.scale, closing=True, output=output, total=total.sum)

    def step(self, power: int) -> Step:
        greatest = yield bsp.Round(self.point, self.judge, self.rate, power=power, opening=True)
        return (yield bsp.Round(self.compare, greatest=greatest.max))

    def point(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(value=s.hub)

    def judge(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, power: int) -> bsp.Broadcast:
        s.authority = self.sums(c, inbox, power, s.hub)
        return bsp.broadcast(value=s.authority, backwards=True)

    def rate(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, power: int) -> bsp.Vote:
        s.before, s.hub = s.hub, self.sums(c, inbox, power, s.authority, backwards=True)
        return bsp.vote(max=s.hub)

    def compare(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, greatest: float
    ) -> bsp.Vote | None:
        s.hub = s.hub / (greatest or 1)
        return self.moved(s.hub, s.before)

    def total(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, output: str) -> bsp.Vote:
        return bsp.vote(sum=getattr(s, output))

    def scale(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, output: str, total: float) -> None:
        setattr(s, output, getattr(s, output) / (total or 1))
