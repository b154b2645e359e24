"""Eccentricities, diameter and radius by few searches (Takes and Kosters 2011, "Determining the diameter of
small world networks"; 2013, "Computing the eccentricity distribution of large graphs").

A search from a node of eccentricity e bounds that of a node d hops away: it is at least d and e - d, and at
most e + d. Searches start in turn from a node whose upper bound is the largest and from one whose lower bound
is the smallest, of several from one with the most neighbours, until bounds meet.

By blocks one cluster gathers the graph, and makes the same searches in a compiled loop. Otherwise each of
them takes a round for each level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.bridges import Searched
from dgsuite.partition.arrays.segments import put


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    eccentricity: NDArray[np.int32] = bsp.per_node(0, np.int32)  # at least
    limit: NDArray[np.int32] = bsp.initial(lambda c: c.full(c.n - 1, np.int32))  # at most
    left: NDArray[np.bool_] = bsp.per_node(True)  # nodes whose bounds are still to meet
    level: NDArray[np.int32] = bsp.per_node(0, np.int32)  # hops from where the search began
    unseen: bsp.Subset = bsp.later()  # nodes that it has not reached


@dataclass(frozen=True)
class Eccentricity(bsp.Kernel):
    """Hops from each node of a connected undirected graph to the farthest; or diameter or radius.

    Outputs ``eccentricity`` and ``limit``, int32: hops to the farthest node are at least the one and at most
    the other. Of all nodes they are the same. The largest eccentricity is the diameter, and the smallest
    limit the radius. Weights do not count.

    Parameters
    ----------
    of
        "nodes"; or "diameter" or "radius", which take fewer searches: bounds of nodes then meet only where
        that number depends on it.

    Notes
    -----
    Rounds: at most ``n * (diameter + 1)``; on social networks and the web some ten searches take a diameter.
    Where all nodes are alike, as on rings, they take n, and "bfs_many" from all nodes is faster.

    Exchanges: at most ``rounds``.

    Messages: at most ``n * arcs``: in a search a node sends once to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 4])
    >>> ds = dgsuite.run("eccentricity", graph)
    >>> ds.eccentricity.values
    array([3, 2, 2, 3, 3], dtype=int32)
    >>> int(dgsuite.run("eccentricity", graph, of="diameter").eccentricity.max())
    3
    >>> int(dgsuite.run("eccentricity", graph, of="radius").limit.min())
    2
    """

    of: Literal["nodes", "diameter", "radius"] = "nodes"

    name = "eccentricity"
    obeys = bsp.Model("edges", reduces="data")
    short_ids = True
    outputs = {
        "eccentricity": bsp.Output("hops to the farthest node, at least"),
        "limit": bsp.Output("hops to the farthest node, at most"),
    }
    state = State
    needs = ("connected",)
    prepares = ("first",)

    def program(self, net: bsp.Net) -> bsp.Program:
        diameter, radius = 0, net.n - 1  # as far as is known
        bound, highest, more = net.n - 1, True, net.n > 1
        while more:
            best = yield bsp.Round(self.nominate, bound=bound, highest=highest, opening=True)
            root = net.n - 1 - best.max % net.n
            yield bsp.Round(self.wake, root=root, opening=True)
            hops, reached = 0, True
            while reached:
                reached = (yield bsp.Round(self.visit, hops=hops + 1)).any
                hops += reached
            diameter, radius = max(diameter, hops), min(radius, hops)
            found: Any = {"hops": hops, "diameter": diameter, "radius": radius}
            left = yield bsp.Round(self.narrow, closing=True, **found)
            highest, more = not highest, left.max is not None
            bound = left.max if highest else left.min

    def nominate(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, bound: int, highest: bool
    ) -> bsp.Vote:
        """The vote is the node with most neighbours, the smallest of several, among those with a bound."""
        nodes = np.flatnonzero(s.left & ((s.limit if highest else s.eccentricity) == bound))
        return bsp.vote(max=c.degree[nodes] * np.int64(c.n) + (c.n - 1 - c.ids[nodes]))

    def wake(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, root: int) -> bsp.Known:
        s.unseen = bsp.Subset(np.ones(c.size, bool))
        own = c.local(root)
        s.unseen.remove(own)
        s.level[own] = 0
        return bsp.known(root)

    def visit(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, hops: int) -> bsp.Sent:
        nodes, _, _ = inbox.first(among=s.unseen)
        s.unseen.remove(nodes)
        put(s.level, nodes, hops)
        return bsp.broadcast(nodes), bsp.vote(any=len(nodes) > 0)

    def narrow(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, hops: int, diameter: int, radius: int
    ) -> bsp.Vote:
        """Bounds by a search; the votes are the extremes of those that have still to meet."""
        np.maximum(s.eccentricity, np.maximum(s.level, hops - s.level), out=s.eccentricity)
        np.minimum(s.limit, hops + s.level, out=s.limit)
        s.left = s.eccentricity < s.limit
        if self.of == "diameter":
            s.left &= s.limit > diameter
        elif self.of == "radius":
            s.left &= s.eccentricity < radius
        return bsp.vote(max=s.limit[s.left], min=s.eccentricity[s.left])


class BlockEccentricity(Searched, Eccentricity):
    """Hops to the farthest node, by searches of a gathered graph; see `Eccentricity` for the outputs.

    One cluster holds the graph: some 20 bytes for each edge end, and 30 for each node.

    Notes
    -----
    Rounds: exactly ``1``.

    Exchanges: exactly ``2``.

    Messages: exactly ``m + n``: the edges, and bounds of each node.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 4])
    >>> dgsuite.run("eccentricity", graph, form="block").eccentricity.values
    array([3, 2, 2, 3, 3], dtype=int32)
    """

    form = "block"
    fields = dict.fromkeys(("one", "other", "least", "most"), np.int32)
    thins = False

    def find(self, c: bsp.Cluster, head: NDArray, near: NDArray) -> tuple[bsp.Shipment, None]:
        order = np.argsort(-np.diff(head), kind="stable")
        which = ("nodes", "diameter", "radius").index(self.of)
        least, most = analytics._eccentricity.bound(head, near, order, which)
        return bsp.ship(c.partition.owner(np.arange(c.n)), least=least, most=most), None

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, usual: None) -> None:
        s.eccentricity, s.limit = inbox.shipped("least"), inbox.shipped("most")
