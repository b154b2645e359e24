"""Breadth-first search on a grid of blocks (Buluc and Madduri 2011, algorithm 3), top-down.

A level has two exchanges, each among some sqrt(p) clusters. *Expand*: the frontier goes to the clusters of
its column, which hold its edges. *Fold*: the nodes that they find go to their owners, in the same row. Of
several parents the one with the smallest id wins: the tree is that of `dgsuite.kernels.analytics.bfs`. With
one column it is the one-dimensional search, in which the frontier goes to all clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.bfs import BreadthFirst
from dgsuite.partition.clusters.cluster import Block

BITMAP = -1
"""Stands before a frontier that is a bitmap, not a list."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What a cluster knows of its nodes, and of the targets of its block's edges."""

    level: NDArray[np.int32]
    parent: NDArray[np.int32]
    front: NDArray[np.int64]  # nodes that were reached in the round before
    sent: NDArray[np.bool_]  # targets that have been found


@dataclass(frozen=True)
class GridSearch(bsp.Kernel):
    """A breadth-first tree, by a grid of clusters: see `dgsuite.partition.clusters.grid.arrange`.

    Outputs ``level`` and ``parent``, both -1 where there is no way; the root is its own parent.

    Parameters
    ----------
    root
        Node to start from.

    Notes
    -----
    Rounds: at most ``hops + 1``: one for each level, and one that reaches no new node.

    Messages: the frontier, as a list or a bitmap, to each cluster of its column, and each node found to its
    owner. They depend on the grid.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.partition import arrange
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=4)
    >>> dgsuite.run("bfs2d", arrange(graph), root=1).level.values
    array([1, 0, 1, 2], dtype=int32)
    """

    root: bsp.Node = bsp.FIRST

    name = "bfs2d"
    obeys = bsp.Model("clusters", None, "control")
    short_ids = True
    outputs = BreadthFirst.outputs
    fields = {"word": np.int32, "node": np.int32, "parent": np.int32}
    notes = {
        "frontier": "nodes at the level",
        "examined": "adjacency entries looked at",
        "expand_bytes": "bytes of the frontier to other clusters",
        "fold_bytes": "bytes of what was found, to other clusters",
    }
    by_cut = ("expand_bytes", "fold_bytes")

    def check(self, c: bsp.Cluster) -> str | None:
        wrong = "the graph has no grid: make one with dgsuite.partition.arrange(graph)"
        return wrong if c.block is None else None

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.expand, self.fold, self.merge)

    def start(self, c: bsp.Cluster) -> State:
        root, targets = c.local(self.root), block_of(c).targets
        level, parent = c.full(-1, np.int32), c.full(-1, np.int32)
        level[root], parent[root] = 0, self.root
        return State.of(c, level=level, parent=parent, front=root, sent=np.zeros(targets, bool))

    def expand(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        if not len(s.front):
            return None, bsp.Note({})
        words = _encode(s.front, c.size)
        to = block_of(c).in_column
        far = int(np.count_nonzero(to != c.index))
        note = bsp.Note({"frontier": len(s.front), "expand_bytes": far * words.nbytes})
        return bsp.ship(np.repeat(to, len(words)), word=np.tile(words, len(to))), note

    def fold(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        block, origin, words = block_of(c), inbox.origin, inbox.shipped("word")
        if not len(words):
            return None, bsp.Note({})
        heads = np.flatnonzero(np.diff(origin, prepend=-1))
        sources, names = [], []
        for a, b in zip(heads, np.append(heads[1:], len(origin)), strict=True):
            k = int(origin[a])
            first = int(c.partition.offsets[k])
            nodes = _decode(words[a:b], int(c.partition.offsets[k + 1]) - first)
            sources.append(block.bases[k // block.columns] + nodes)
            names.append(first + nodes)
        front = np.concatenate(sources), np.concatenate(names).astype(np.int32)
        rows = block.indptr, block.indices
        found, parent, examined = analytics._bfs_grid.scan(*rows, *front, s.sent)
        node = block.first + found
        owner = c.partition.owner(node)
        far = int(np.count_nonzero(owner != c.index))
        note = bsp.Note({"examined": int(examined), "fold_bytes": 8 * far})
        return bsp.ship(owner, node=node, parent=parent), note

    def merge(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        told, depth = (inbox.shipped("node"), inbox.shipped("parent")), inbox.round + 1
        s.front = analytics._bfs_grid.adopt(*told, c.first, depth, s.level, s.parent)
        return bsp.vote(any=len(s.front))


def block_of(c: bsp.Cluster) -> Block:
    """The cluster's block, which `GridSearch.check` has made sure of."""
    assert c.block is not None
    return c.block


def _encode(nodes: NDArray, size: int) -> NDArray[np.int32]:
    """Nodes of a cluster as a list or a bitmap, whichever is smaller."""
    if len(nodes) <= -(-size // 32):
        return nodes.astype(np.int32)
    bitmap = bsp.Subset(None, nodes, size=-(-size // 32) * 32).bitmap
    return np.concatenate([np.array([BITMAP], np.int32), bitmap.view(np.int32)])


def _decode(words: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    """The nodes, ascending."""
    if words[0] != BITMAP:
        return words.astype(np.int64)
    return bsp.Subset.decode(words[1:].view(np.uint8), np.zeros(size, bool)).members
