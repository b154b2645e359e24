"""Breadth-first search, level by level (Graph500 kernel 2).

A node that is reached tells its neighbours; a node that gets its first message takes the sender with the
smallest id as its parent. The engine searches from the side that costs less: from the frontier
(top-down), or from the nodes that have not been reached, which stop at the first neighbour in the
frontier (bottom-up; Beamer, Asanovic and Patterson 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.partition.arrays.segments import put


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    level: NDArray[np.int32]
    parent: bsp.NodeIds
    unseen: bsp.Subset  # nodes with an edge to them that have not been reached


@dataclass(frozen=True)
class BreadthFirst(bsp.Kernel):
    """A breadth-first tree, on a directed graph along the edges' directions.

    Outputs ``level`` and ``parent``, both -1 where there is no way (``parent`` is an empty text where
    labels are texts); the root is its own parent. Weights do not count: `sssp` has weighted distances.

    Parameters
    ----------
    root
        Node to start from.
    direction
        "optimising", or "top-down" in every round.
    cutoff
        Nodes more hops away are not reached; by default all are that there is a way to.

    Notes
    -----
    Rounds: at most ``hops + 1``: one for each level, and one that reaches no new node; at most `cutoff`, if
    it is given.

    Exchanges: at most ``rounds + 1``.

    Messages: at most ``arcs``: a node sends once to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("bfs", graph, root=1)
    >>> ds.level.values
    array([1, 0, 1, 2], dtype=int32)
    >>> ds.parent.values
    array([1, 1, 1, 2], dtype=int32)
    >>> dgsuite.run("bfs", graph, root=1, cutoff=1).level.values
    array([ 1,  0,  1, -1], dtype=int32)
    """

    root: bsp.Node = bsp.FIRST
    direction: Literal["optimising", "top-down"] = "optimising"
    cutoff: int | None = None

    name = "bfs"
    obeys = bsp.Model("edges", reduces="control")
    streams = True
    outputs = {
        "level": bsp.Output("hops from the root, -1 where unreached", from_root=True),
        "parent": bsp.Output("parent in the tree, {none} where unreached", nodes=True),
    }

    undirected = False
    pulls = True
    prepares = ("first",)
    notes = {
        "examined": "adjacency entries looked at",
        "bottom_up": "nodes that looked for a neighbour in the frontier themselves",
    }
    by_cut = ("examined", "bottom_up")
    allowed = {"cutoff": (0, np.inf)}

    def program(self, net: bsp.Net) -> bsp.Program:
        if self.cutoff == 0:
            return
        yield from bsp.until_quiet(self.visit, after=bsp.Round(self.wake, self.visit))

    def start(self, c: bsp.Cluster) -> State:
        root = c.local(self.root)
        unseen = np.diff(c.senders[0]) > 0
        unseen[root] = False
        level, parent = c.full(-1, np.int32), c.full(-1, bsp.node_dtype(c))
        level[root], parent[root] = 0, self.root
        return State.of(c, level=level, parent=parent, unseen=bsp.Subset(unseen))

    def wake(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Known:
        return bsp.known(self.root)

    def visit(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        nodes, parent, note = inbox.first(among=s.unseen, top_down=self.direction == "top-down")
        put(s.level, nodes, inbox.round + 1)
        put(s.parent, nodes, parent)
        s.unseen.remove(nodes)
        if inbox.round + 1 == self.cutoff:
            return bsp.vote(any=False), note
        # a node with one neighbour was reached from there, and reaches no other
        return bsp.broadcast(nodes), bsp.vote(any=not c.leaves(nodes)), note
