"""Bridges and biconnected components.

Bridges, cut nodes and components without bridges: each cluster with many edges leaves out those that change
none of them, and one cluster searches what all have left.

In a depth-first search every edge joins a node and one above it (Hopcroft and Tarjan 1973, "Algorithm 447").
Of its edges a cluster keeps the tree of a search, and of each node the edge that leads highest: two for each
node at most. Whatever node or edge is taken away, these fall into the same parts as all edges do: a part of
the tree is tied to what is above it by the highest of its edges, if at all. So they can stand for all edges
(a certificate, as of Eppstein, Galil, Italiano and Nissenzweig 1997, "Sparsification").

Biconnected components: the blocks of which a graph is made, which meet in cut nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.levels import rows, slots_of

SOLVER = 0
"""The cluster that searches what all have left."""

COMPONENT, CUT, BRIDGE = 0, 1, 2
"""Kinds of findings: a node and its component; a node; both ends of an edge."""


class Searched(bsp.Kernel):
    """Base of what one cluster finds by searches of the edges that matter.

    Methods of subclasses: ``find`` searches the edges that all clusters have left, and returns what it tells
    of nodes, and ``usual``: what holds of those of which it tells nothing. The phase ``settle`` takes both.

    Attributes
    ----------
    thins
        Whether the edges of a certificate can stand for all.
    """

    obeys = bsp.Model("clusters", None, "data")
    short_ids = True
    broadcasts = False
    thins = True

    def program(self, net: bsp.Net) -> bsp.Program:
        found = yield bsp.Round(self.gather, self.solve)
        yield bsp.Round("settle", usual=found.max, closing=True)

    def gather(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Shipment:
        """Ship the edges that matter; an edge is one of the cluster that has its smaller end."""
        names = c.ids.astype(np.int32)
        row, other = analytics._bridges.owned(c.indptr, c.indices, names)
        one = names[row]
        if self.thins and len(row) > 2 * c.size:  # of fewer most are in the certificate
            others, ends = slots_of(c, other)
            names = np.append(names, others.astype(np.int32))
            one, other = names[certificate(row, ends, len(names))]
        return bsp.ship(np.full(len(one), SOLVER), one=one, other=other)

    def solve(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Sent:
        """One cluster makes a graph of what all have left, and searches it."""
        if c.index != SOLVER:
            return None
        edges = inbox.shipped("one"), inbox.shipped("other")
        sent, usual = self.find(c, *analytics._bridges.adjacency(*edges, c.n))
        return sent, bsp.vote(max=usual)

    def find(self, c: bsp.Cluster, head: NDArray, near: NDArray) -> tuple[bsp.Shipment, int | None]:
        raise NotImplementedError


def certificate(one: NDArray, other: NDArray, size: int) -> NDArray[np.int32]:
    """Edges that fall into the same parts as all edges, whatever node or edge is taken away: both ends."""
    loops = analytics._bridges
    order, parent, number, high = loops.search(*loops.adjacency(one, other, size))
    lower, below = np.flatnonzero(parent >= 0), np.flatnonzero(high < number)
    return np.stack([np.append(lower, below), np.append(parent[lower], order[high[below]])])


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know, and the rows of the result."""

    source: NDArray[np.int32] = bsp.later()
    target: NDArray[np.int32] = bsp.later()
    articulation: NDArray[np.bool_] = bsp.per_node(False)
    component: NDArray[np.int32] = bsp.initial(lambda c: c.ids.astype(np.int32))


class Bridges(Searched):
    """Bridges and cut nodes: the edges and nodes without which a graph falls into more parts.

    Outputs ``source`` and ``target``, a table with a row for each bridge, ascending, with its smaller node
    first; ``articulation``, whether a node is a cut node (an articulation point); and ``component``, the
    smallest node of the 2-edge-connected component: of the part that the node is in once all bridges are
    taken away.

    One cluster holds the edges that matter, at most two for each node of each cluster and for each of its
    neighbours elsewhere, and some 100 bytes for each node of the graph.

    Notes
    -----
    Rounds: exactly ``1``.

    Exchanges: at most ``2``.

    Messages: at most ``m + 3 * n``: edges that matter; the component of each node that is not in the largest;
    cut nodes; and bridges.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3])
    >>> ds = dgsuite.run("bridges", graph)
    >>> ds.source.values, ds.target.values
    (array([2], dtype=int32), array([3], dtype=int32))
    >>> ds.articulation.values.nonzero()[0], ds.component.values
    (array([2, 3]), array([0, 0, 0, 3, 3, 3], dtype=int32))
    """

    name = "bridges"
    outputs = {
        "source": bsp.Output("smaller node of the bridge", dims=("pair",), nodes=True),
        "target": bsp.Output("larger node of the bridge", dims=("pair",), nodes=True),
        "articulation": bsp.Output("whether the node is a cut node"),
        "component": bsp.Output("smallest node of the 2-edge-connected component", nodes=True),
    }
    numbered = ("pair",)
    fields = {"kind": np.int8, **dict.fromkeys(("one", "other", "node", "value"), np.int32)}
    state = State

    def find(self, c: bsp.Cluster, head: NDArray, near: NDArray) -> tuple[bsp.Shipment, int | None]:
        tree = analytics._bridges.search(head, near)
        nodes, block, least, component = analytics._bridges.parts(*tree)
        source, target = least[np.bincount(block) == 2].T
        cuts = np.flatnonzero(np.bincount(nodes) > 1)
        size = np.bincount(component, minlength=1)
        usual = int(size.argmax()) if size.max() > np.count_nonzero(size == 1) else None
        moved = np.flatnonzero(component != (np.arange(c.n) if usual is None else usual))
        nodes = np.concatenate([moved, cuts, source])
        values = np.concatenate([component[moved], cuts, target])
        kind = np.repeat([COMPONENT, CUT, BRIDGE], [len(moved), len(cuts), len(source)])
        return bsp.ship(c.partition.owner(nodes), kind=kind, node=nodes, value=values), usual

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, usual: int | None) -> None:
        """Nodes of which nothing is told are in the usual component, or alone in theirs."""
        kind, nodes, values = (inbox.shipped(name) for name in ("kind", "node", "value"))
        if usual is not None:
            s.component[:] = usual
        row = rows(c, nodes)
        s.component[row[kind == COMPONENT]] = values[kind == COMPONENT]
        s.articulation[row[kind == CUT]] = True
        source, target = nodes[kind == BRIDGE], values[kind == BRIDGE]
        order = np.lexsort((target, source))
        s.source, s.target = source[order], target[order]


@dataclass(eq=False)
class BlockState(bsp.ClusterState):
    """The rows of the result."""

    member: NDArray[np.int32] = bsp.later()
    block: NDArray[np.int32] = bsp.later()


class Biconnected(Searched):
    """Biconnected components: largest parts that stay connected without any one of their nodes.

    Two edges are in the same component if a cycle goes through both, so a bridge is a component of its own.
    Outputs ``member`` and ``block``, a table with a row for each node of each component, ascending: a node
    and the number of the component. A cut node has several rows, a node without neighbours none. An edge is
    in the one component that both its ends are in. Components are numbered from 0 in the order of their
    smallest nodes, and of the next smallest where these are the same.

    Of memory see `Bridges`.

    Notes
    -----
    Rounds: exactly ``1``.

    Exchanges: at most ``2``.

    Messages: at most ``m + 2 * n``: edges that matter, and the rows of nodes that are not in the largest
    component alone.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("biconnected", graph)
    >>> print(dgsuite.to_dataframe(ds).compute())
       member  block
    0       0      0
    1       1      0
    2       2      0
    3       2      1
    4       3      1
    """

    name = "biconnected"
    outputs = {
        "member": bsp.Output("node of the component", dims=("pair",), nodes=True),
        "block": bsp.Output("number of the component", dims=("pair",)),
    }
    numbered = ("pair",)
    fields = {"one": np.int32, "other": np.int32, "node": np.int32, "block": np.int32}
    state = BlockState

    def find(self, c: bsp.Cluster, head: NDArray, near: NDArray) -> tuple[bsp.Shipment, int | None]:
        tree = analytics._bridges.search(head, near)
        nodes, block, least, _ = analytics._bridges.parts(*tree)
        place = np.empty(len(least), np.int32)
        place[np.lexsort(least.T[::-1])] = np.arange(len(least))
        block = place[block]
        usual = int(np.bincount(block, minlength=1).argmax())
        named = np.bincount(nodes[block != usual], minlength=c.n) > 0
        some = np.flatnonzero(named[nodes])
        to = c.partition.owner(nodes[some])
        return bsp.ship(to, node=nodes[some], block=block[some]), usual

    def settle(self, c: bsp.Cluster, s: BlockState, inbox: bsp.Inbox, usual: int) -> None:
        """Nodes of which nothing is told are in the largest component alone."""
        member, block = inbox.shipped("node"), inbox.shipped("block")
        others = c.degree > 0
        others[rows(c, member)] = False
        member = np.append(member, c.ids[others].astype(np.int32))
        block = np.append(block, np.full(np.count_nonzero(others), usual, np.int32))
        order = np.lexsort((block, member))
        s.member, s.block = member[order], block[order]
