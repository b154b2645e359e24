"""Connected components: a search for the largest one, then hooking and shortcutting for the rest.

Most edges of most graphs are in one component. A breadth-first search from the node with the most neighbours
finds it, or as much of it as a few rounds reach, and looks at few of its edges (Slota, Rajamanickam and
Madduri 2014). The nodes left over hold a label each, a smaller node of their component, which points to a
parent. In every round a node learns the labels of its neighbours; it hooks its parent, and itself, to the
smallest; and it takes its parent's label for its own, which halves the way to the root (Zhang, Azad and Hu
2020, FastSV). So a chain takes as many rounds as its length has digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.partition.graph.graph import Graph


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    unseen: bsp.Subset  # nodes with neighbours that the search has not reached
    component: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())  # label, and parent
    frontier: NDArray[np.int64] = bsp.no_nodes()  # nodes that the search reached last
    live: bsp.Subset = bsp.later()  # nodes that hook
    heard: NDArray[np.int64] = bsp.later()  # least label of a node and its neighbours
    before: NDArray[np.int64] = bsp.later()  # labels of live nodes as the round began
    news: NDArray[np.int64] = bsp.no_nodes()  # nodes with a new label


@dataclass(frozen=True)
class Components(bsp.Kernel):
    """Connected components; of a directed graph the weakly connected ones.

    Output ``component``: the smallest node of the component. With `thresholds` it has a column for each, and
    a dimension ``threshold`` with these as coordinates.

    Parameters
    ----------
    thresholds
        Find the components of the edges whose weight is at least the threshold, for each of some different
        numbers, in one run. Each column has the bits that a run without thresholds has on a graph of these
        edges. On a directed graph each direction has its weight, and one that counts is enough. Such a run
        is one by blocks, so rounds and all counts depend on the cut.
    single
        The source of each node, such as the file that a record comes from, in the order of node ids: a
        component then has at most one node of a source. Edges are taken by falling weight, as float64, and
        of equal weight by their smaller node, then by the other; one that would join two nodes of a source is
        passed over (constrained single linkage). Not on directed graphs. The edges of a component come
        together in one place, and take time by how many nodes the components there get.

    Notes
    -----
    Rounds: ``log2(n) + 1`` at most for the search, and mostly fewer than that for the rest.

    Messages: at most ``rounds * 2 * (m + n) + 2 * m``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 3], [1, 2, 4])
    >>> dgsuite.run("wcc", graph).component.values
    array([0, 0, 0, 3, 3])

    Pairs of records with scores, and components at two thresholds:

    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[0.9, 0.7, 0.8])
    >>> found = dgsuite.run("wcc", graph, thresholds=[0.8, 0.7]).component
    >>> found.sel(threshold=0.8).values, found.sel(threshold=0.7).values
    (array([0, 0, 2, 2]), array([0, 0, 0, 0]))
    """

    thresholds: Sequence[float] | None = None
    single: Sequence[Any] | None = None

    name = "wcc"
    obeys = bsp.Model("nodes", reduces="data")
    streams = True
    outputs = {"component": bsp.Output("smallest node of the component", nodes=True)}
    fields = {"label": np.int64}
    ranges = {"label": bsp.nodes}
    prepares = ("first",)
    both_ways = True

    def suited(self, graph: Graph) -> bsp.Kernel:  # type: ignore[override]
        """The kernel for thresholds or for sources, where there are some."""
        given = self.seed, self.faithful, self.thresholds
        if self.single is not None:
            return analytics.wcc_nested.SingleNested(*given, self.single).suited(graph)  # type: ignore[no-any-return]
        if self.thresholds is not None:
            return analytics.wcc_nested.NestedComponents(*given).suited(graph)  # type: ignore[no-any-return]
        return self

    def program(self, net: bsp.Net) -> bsp.Program:
        best = yield bsp.Round(self.nominate, opening=True)
        degree, behind = divmod(best.max, net.n)
        if not degree:
            return
        least = root = net.n - 1 - behind
        yield bsp.Round(self.wake, root=root, opening=True)
        for _ in range(net.n.bit_length()):
            reply = yield bsp.Round(self.visit)
            least = least if reply.min is None else min(least, reply.min)
            if not reply.any:
                break
        left = yield bsp.Round(self.fuse, least=least, closing=True)
        if left.any:
            phases = self.tell, self.hook, self.answer, self.shorten
            least = (yield from bsp.until_quiet(*phases, least=least)).min
        yield bsp.Round(self.settle, least=least, closing=True)

    def start(self, c: bsp.Cluster) -> State:
        return State.of(c, unseen=bsp.Subset(c.degree > 0))

    # The search.

    def nominate(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        return bsp.vote(max=c.degree * np.int64(c.n) + (c.n - 1 - c.ids))

    def wake(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, root: int) -> bsp.Known:
        s.unseen.remove(c.local(root))
        return bsp.known(root)

    def visit(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        s.frontier, _, _ = inbox.first(among=s.unseen)
        s.unseen.remove(s.frontier)
        least = int(c.ids[s.frontier[0]]) if len(s.frontier) else None
        return bsp.broadcast(s.frontier), bsp.vote(any=not c.leaves(s.frontier), min=least)

    # The rest: what the search reached is one tree, whose root is its smallest node.

    def fuse(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, least: int) -> bsp.Vote:
        s.component[s.frontier] = least
        live = s.unseen.mask.copy()
        live[s.frontier] = live[c.local(least)] = True
        s.live, s.heard = bsp.Subset(live), s.component.copy()
        s.news = s.live.members
        return bsp.vote(any=s.unseen.count > 0)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(s.news, label=s.component[s.news])

    def hook(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes, label = inbox.min("label", among=s.live)
        s.heard[nodes] = np.minimum(s.heard[nodes], label)
        live = s.live.members
        s.before = parent = s.component[live]
        s.component[live] = label = np.minimum(parent, s.heard[live])
        asks = parent != c.ids[live]
        return bsp.unicast(parent[asks], live[asks], label=label[asks])

    def answer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes, label = inbox.min("label")
        s.component[nodes] = np.minimum(s.component[nodes], label)
        return bsp.unicast(inbox.src, inbox.node, label=s.component[inbox.node])

    def shorten(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, least: int) -> bsp.Vote:
        nodes = inbox.node
        s.component[nodes] = np.minimum(s.component[nodes], inbox["label"])
        live = s.live.members
        s.news = live[s.component[live] < s.before]
        return bsp.vote(any=len(s.news) > 0, min=s.component[c.local(least)])

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, least: int) -> None:
        s.component[(c.degree > 0) & ~s.unseen.mask] = least
