"""Minimum spanning trees by blocks: each cluster's fragments first, and then those that reach across borders.

A cluster joins fragments along their lightest edges (Boruvka 1926) for as long as these are its own: such
an edge is in the tree, whatever other clusters have (the cut property; Tarjan 1983, chapter 6). What is
left is a graph of few fragments. Each round all of them choose their lightest edge, hook to the fragment
behind it, and learn the name of their new tree. In the end each tree is walked from its smallest node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.spanning_tree.state import keys
from dgsuite.kernels.imsuite.spanning_tree.textbook import SpanningTree

EDGE, HOOK = 0, 1
"""Kinds of messages of a choice: to the ends of the edge, and to the fragment behind it."""


@dataclass(eq=False)
class Edges:
    """Edges that lead from a cluster's fragments to others, at each end that the cluster has."""

    own: NDArray[np.int64]  # fragment
    other: NDArray[np.int64]  # fragment of this cluster, or -1
    entry: NDArray[np.int64]  # of the adjacency, for an edge across the border
    key: NDArray[np.int64]
    inner: NDArray[np.int64]
    outer: NDArray[np.int64]
    behind: NDArray[np.int64]  # name of the other end's tree

    def only(self, kept: NDArray) -> Edges:
        """Some of them."""
        return Edges(**{name: values[kept] for name, values in vars(self).items()})

    def lightest(self, group: NDArray, groups: int) -> NDArray[np.int64]:
        """The lightest edge of each group that has one."""
        from dgsuite.kernels.imsuite.spanning_tree import _blocks

        best = np.empty(groups, np.int64)
        low, high = np.minimum(self.inner, self.outer), np.maximum(self.inner, self.outer)
        _blocks.lightest(group, self.key, low, high, best)
        return best[best >= 0]


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What a cluster knows of its nodes, and of its fragments: arrays by node, and by fragment."""

    parent: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    seen: NDArray[np.bool_] = bsp.per_node(False)  # by the walk
    fragment: NDArray[np.int64] = bsp.later()  # of each node
    top: NDArray[np.int64] = bsp.later()  # first node of each fragment
    name: NDArray[np.int64] = bsp.later()  # of the tree that it belongs to: the id of a first node
    fresh: NDArray[np.bool_] = bsp.later()  # whether the name is new
    up: NDArray[np.int64] = bsp.later()  # of a fragment that a tree is named by: the name to come
    edge: NDArray[np.int64] = bsp.later()  # ends of the edge that it chose, shape (2, fragments)
    edges: Edges = bsp.later()
    tree: tuple[NDArray, NDArray] = bsp.later()  # nodes and ids of the other ends of tree edges
    rows: tuple[NDArray, NDArray] = bsp.later()  # tree edges within the cluster, as CSR
    out: tuple[NDArray, NDArray] = bsp.later()  # those across the border, ascending by node


class BlockSpanningTree(bsp.Kernel):
    """Minimum spanning forest, of each cluster first; see `SpanningTree` for the order of equal edges.

    The forest is that of the iterative form. Outputs ``parent``, -1 at the roots, which are here the
    smallest nodes of their trees.

    Notes
    -----
    Rounds: about three times ``log2`` of the number of fragments that clusters leave, and one for each time
    that a way from a root crosses a border.

    Messages: about ``rounds`` for each fragment and each edge across the border.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[5, 1, 2])
    >>> dgsuite.run("mst", graph, form="block").parent.values
    array([-1,  2,  0], dtype=int32)
    """

    name = "mst"
    obeys = bsp.Model("nodes", None, "control")
    weighs = True
    form = "block"
    outputs = SpanningTree.outputs
    fields = {"kind": np.int8, **dict.fromkeys(("key", "inner", "outer", "name"), np.int64)}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        left = yield bsp.Round(self.contract, opening=True)
        while left.any:
            left = yield bsp.Round(self.tell, self.offer, self.choose, self.hook)
            if left.any:
                yield from bsp.until_quiet(self.ask, self.answer, self.rise, closing=True)
                yield bsp.Round(self.inquire, self.answer, self.rename, closing=True)
        yield bsp.Round(self.gather, self.crown, self.plant)
        yield from bsp.until_quiet(self.grow)

    # Within the cluster.

    def contract(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        from dgsuite.kernels.imsuite.spanning_tree import _blocks

        root, chosen, key = np.arange(c.size), np.zeros(len(c.indices), np.bool_), keys(c)
        rows, entry = _blocks.contract(
            c.indptr, c.indices, c.positions, c.first, c.ids, key, root, chosen
        )
        first = root == np.arange(c.size)
        s.top, s.fragment = np.flatnonzero(first), (np.cumsum(first) - 1)[root]
        s.name = c.ids[s.top]
        s.fresh = np.ones(len(s.top), np.bool_)
        other = c.index_in(c.positions[entry])
        within = other >= 0
        two = np.where(within, s.fragment[other], -1)
        inner, outer = c.ids[rows], c.indices[entry].astype(np.int64)
        # an edge within the cluster is there once for each end
        s.edges = Edges(
            own=np.append(s.fragment[rows], two[within]),
            other=np.append(two, s.fragment[rows[within]]),
            entry=np.append(entry, np.full(within.sum(), -1)),
            key=np.append(key[entry], key[entry[within]]),
            inner=np.append(inner, outer[within]),
            outer=np.append(outer, inner[within]),
            behind=np.full(len(rows) + within.sum(), -1),
        )
        held = np.flatnonzero(chosen)
        at, end = np.repeat(np.arange(c.size), c.degree)[held], c.positions[held] - c.first
        s.tree = np.append(at, end), c.ids[np.append(end, at)]
        return bsp.vote(any=len(rows) > 0)

    # Between fragments.

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """Fragments with new names say so across the border."""
        told = np.flatnonzero((s.edges.other < 0) & s.fresh[s.edges.own])
        nodes = c.partition.position(s.edges.inner[told]) - c.first
        name = s.name[s.edges.own[told]]
        return bsp.unicast(s.edges.outer[told], nodes, name=name)

    def offer(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox
    ) -> bsp.Vote | tuple[bsp.Unicast, bsp.Vote]:
        """The cluster's lightest edge of each tree goes to the fragment that the tree is named by."""
        e = s.edges
        within = e.other >= 0
        e.behind[within] = s.name[e.other[within]]
        across = np.flatnonzero(~within)
        at = c.entries(inbox.node, inbox.src)
        order = np.argsort(e.entry[across], kind="stable")
        found = np.searchsorted(e.entry[across], at, sorter=order)
        there = found < len(across)
        found = across[order[found[there]]]
        named = e.entry[found] == at[there]  # others are edges that were dropped at this end
        e.behind[found[named]] = inbox["name"][there][named]
        e = s.edges = e.only(e.behind != s.name[e.own])
        s.fresh[:] = False
        s.up, s.edge = c.ids[s.top], np.full((2, len(s.top)), -1)
        if not len(e.own):
            return bsp.vote(any=False)
        of_fragment = e.lightest(e.own, len(s.top))
        names, tree = np.unique(s.name[e.own[of_fragment]], return_inverse=True)
        some = e.only(of_fragment)
        e = some.only(some.lightest(tree, len(names)))
        sent = bsp.unicast(
            s.name[e.own], s.top[e.own], key=e.key, inner=e.inner, outer=e.outer, name=e.behind
        )
        return sent, bsp.vote(any=True)

    def choose(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """A tree's lightest edge: its ends hear of it, and the fragment that names the tree behind it."""
        inner, outer = inbox["inner"], inbox["outer"]
        low, high = np.minimum(inner, outer), np.maximum(inner, outer)
        order = np.lexsort((high, low, inbox["key"], inbox.node))
        best = order[np.flatnonzero(np.diff(inbox.node[order], prepend=-1))]
        node, behind = inbox.node[best], inbox["name"][best]
        mine = s.fragment[node]
        s.up[mine], s.edge[:, mine] = behind, (low[best], high[best])
        kind = np.repeat([EDGE, EDGE, HOOK], len(node))
        return bsp.unicast(
            np.concatenate([inner[best], outer[best], behind]),
            np.tile(node, 3),
            kind=kind,
            inner=np.tile(inner[best], 3),
            outer=np.tile(outer[best], 3),
        )

    def hook(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        """Of two that chose the same edge the one with the smaller name is the root."""
        kind, inner, outer = inbox["kind"], inbox["inner"], inbox["outer"]
        edge = kind == EDGE
        node = inbox.node[edge]
        mine = c.ids[node]
        ends = np.where(inner[edge] == mine, outer[edge], inner[edge])
        # two may have chosen it
        _, once = np.unique(node * np.int64(c.n) + ends, return_index=True)
        s.tree = np.append(s.tree[0], node[once]), np.append(s.tree[1], ends[once])
        hooked = ~edge
        at = s.fragment[inbox.node[hooked]]
        same = s.edge[0, at] == np.minimum(inner[hooked], outer[hooked])
        same &= s.edge[1, at] == np.maximum(inner[hooked], outer[hooked])
        same &= c.ids[s.top[at]] < inbox.src[hooked]
        s.up[at[same]] = c.ids[s.top[at[same]]]

    def ask(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """Ways to the roots become half as long."""
        hangs = np.flatnonzero(s.up != c.ids[s.top])
        return bsp.unicast(s.up[hangs], s.top[hangs])

    def answer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        return bsp.unicast(inbox.src, inbox.node, name=s.up[s.fragment[inbox.node]])

    def rise(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        at = s.fragment[inbox.node]
        higher = s.up[at] != inbox["name"]
        s.up[at] = inbox["name"]
        return bsp.vote(any=bool(higher.any()))

    def inquire(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """One fragment of each tree asks for its new name."""
        names, one = np.unique(s.name, return_index=True)
        return bsp.unicast(names, s.top[one])

    def rename(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        old = s.name[s.fragment[inbox.node]]
        order = np.argsort(old)
        name = inbox["name"][order][np.searchsorted(old[order], s.name)]
        s.fresh = name != s.name
        s.name = name

    # The trees.

    def gather(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """The smallest node of each tree is its root."""
        return bsp.unicast(s.name, s.top, combine="min", inner=c.ids[s.top])

    def crown(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes, least = inbox.min("inner")
        return bsp.unicast(least, nodes)

    def plant(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        from dgsuite.kernels.imsuite.spanning_tree import _blocks

        at, ends = s.tree
        where = c.index_in(c.partition.position(ends))
        within = where >= 0
        s.rows = _blocks.rows(at[within], where[within], c.size)
        order = np.argsort(at[~within], kind="stable")
        s.out = at[~within][order], ends[~within][order]
        return self.spread(c, s, inbox.receivers())

    def grow(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
        new = ~s.seen[inbox.node]
        nodes = inbox.node[new]
        s.parent[nodes] = inbox.src[new]
        sent = self.spread(c, s, nodes)
        return sent, bsp.vote(any=len(sent.dst) > 0)

    def spread(self, c: bsp.Cluster, s: State, nodes: NDArray) -> bsp.Unicast:
        """Walk on from nodes that have been reached, and go across the border."""
        from dgsuite.kernels.imsuite.spanning_tree import _blocks

        reached = np.empty(c.size, np.int64)
        count = _blocks.walk(*s.rows, nodes, s.seen, s.parent, c.ids, reached)
        at, ends = s.out
        if not count or not len(at):
            return bsp.unicast(ends[:0], at[:0])
        fresh = c.full(False)
        fresh[reached[:count]] = True
        crosses = fresh[at] & (s.parent[at] != ends)
        return bsp.unicast(ends[crosses], at[crosses])
