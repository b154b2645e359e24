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

USUAL, COMPONENT, CUT, BRIDGE = range(4)
"""Kinds of findings: the component of most nodes; a node and another component; a node; ends of an edge."""

OWN = -1
"""Usual where more nodes are alone than in any one component."""


class Searched(bsp.Kernel):
    """Base of what one cluster finds by searches of the edges that matter.

    Phases of subclasses: ``solve`` searches what all clusters have left, and tells the clusters of nodes
    what was found of them; ``settle`` takes that.
    """

    obeys = bsp.Model("clusters", None)
    short_ids = True
    broadcasts = False

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.gather, "solve", "settle")

    def gather(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Shipment:
        """Ship the edges that matter; an edge is one of the cluster that has its smaller end."""
        names = c.ids.astype(np.int32)
        row, other = analytics._bridges.owned(c.indptr, c.indices, names)
        one = names[row]
        if len(row) > 2 * c.size:  # of fewer most are in the certificate
            others, ends = slots_of(c, other)
            names = np.append(names, others.astype(np.int32))
            one, other = names[analytics._bridges.certificate(row, ends, len(names))]
        return bsp.ship(np.full(len(one), SOLVER), one=one, other=other)


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

    Messages: at most ``m + 4 * n``: edges that matter; to each cluster, in which component most nodes are;
    for each other node its component; and for each node whether it is a cut node, and a bridge.

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

    def solve(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Each cluster hears of the usual component once, and of the nodes that are in others."""
        if c.index != SOLVER:
            return bsp.ship(np.empty(0, np.int64), kind=0, node=0, value=0)
        tree = analytics._bridges.search(inbox.shipped("one"), inbox.shipped("other"), c.n)
        component, cut, child = analytics._bridges.parts(*tree)
        size = np.bincount(component, minlength=1)
        usual = OWN if size.max() <= np.count_nonzero(size == 1) else size.argmax()
        moved = np.flatnonzero(component != (np.arange(c.n) if usual == OWN else usual))
        cuts, count = np.flatnonzero(cut), c.partition.clusters
        source, target = np.sort([child, tree[1][child]], axis=0)
        node = np.concatenate([np.zeros(count, np.int32), moved, cuts, source])
        value = np.concatenate([np.full(count, usual), component[moved], cuts, target])
        kinds = [USUAL, COMPONENT, CUT, BRIDGE]
        kind = np.repeat(kinds, [count, len(moved), len(cuts), len(source)])
        to = np.append(np.arange(count), c.partition.owner(node[count:]))
        return bsp.ship(to, kind=kind, node=node, value=value)

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        kind, nodes, values = (inbox.shipped(name) for name in ("kind", "node", "value"))
        if values[0] != OWN:
            s.component[:] = values[0]
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

    Messages: at most ``m + 3 * n``: edges that matter; to each cluster, which component is the largest; and
    the rows of nodes that are in others.

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

    def solve(self, c: bsp.Cluster, s: BlockState, inbox: bsp.Inbox) -> bsp.Shipment:
        """Each cluster hears of the largest component once, and of the nodes that are also in others."""
        if c.index != SOLVER:
            return bsp.ship(np.empty(0, np.int64), node=0, block=0)
        tree = analytics._bridges.search(inbox.shipped("one"), inbox.shipped("other"), c.n)
        nodes, block, least = analytics._bridges.blocks(*tree)
        place = np.empty(len(least), np.int32)
        place[np.lexsort(least.T[::-1])] = np.arange(len(least))
        block = place[block]
        usual = np.bincount(block, minlength=1).argmax()
        named = np.zeros(c.n, bool)
        named[nodes[block != usual]] = True
        some, count = np.flatnonzero(named[nodes]), c.partition.clusters
        to = np.append(np.arange(count), c.partition.owner(nodes[some]))
        node = np.append(np.zeros(count, np.int32), nodes[some])
        block = np.append(np.full(count, usual), block[some])
        return bsp.ship(to, node=node, block=block)

    def settle(self, c: bsp.Cluster, s: BlockState, inbox: bsp.Inbox) -> None:
        usual, *_ = inbox.shipped("block")
        member, block = inbox.shipped("node")[1:], inbox.shipped("block")[1:]
        order = np.lexsort((block, member))
        member, block = member[order], block[order]
        others = c.degree > 0
        others[rows(c, member)] = False
        rest = c.ids[others].astype(np.int32)
        at = np.searchsorted(rest, member)
        s.member = np.insert(rest, at, member)
        s.block = np.insert(np.full(len(rest), usual), at, block)
