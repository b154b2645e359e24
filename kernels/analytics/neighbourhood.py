"""What lies within some hops of some nodes, by breadth-first searches with a limit, all at once.

A node that a source reaches for the first time tells its neighbours so. Either each source has a search of
its own (Then et al. 2014, The More the Merrier), or all together have one, and a node belongs to the source
that reaches it first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.pairs import pair_key
from dgsuite.kernels import bsp
from dgsuite.kernels.tools import sources
from dgsuite.partition.arrays.segments import distinct


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know, and the rows of the result, by ascending target and source."""

    chosen: NDArray[np.int64]  # sources, ascending
    front: NDArray[np.int64]  # nodes that a source has just reached
    by: NDArray[np.int64]  # number of that source
    pair: NDArray[np.int64]  # of nodes and sources that reach them, as one number; ascending
    unseen: bsp.Subset = bsp.node_set()  # with `nearest`, nodes that no source has reached
    target: bsp.NodeIds = bsp.later()
    source: bsp.NodeIds = bsp.later()
    hop: NDArray[np.int32] = bsp.initial(lambda _: np.empty(0, np.int32))


@dataclass(frozen=True)
class Neighbourhood(bsp.Kernel):
    """The nodes within some hops of some nodes; `Graph.neighbourhood` makes a graph of them.

    Outputs ``target``, ``source`` and ``hop``, a table by ascending target and source: a row for each node
    and each source that is at most so many hops away from it, itself at hop 0. With `nearest` a node has one
    row, with the source that is nearest, of several the smallest node.

    On a directed graph ways lead from sources along the edges. Weights do not count.

    Parameters
    ----------
    sources
        Nodes to start from: a list of different ones, or how many to draw; by default all.
    hops
        Most hops from a source, from 0 on.
    nearest
        Whether a node has a row for its nearest source alone.

    Notes
    -----
    Rounds: at most ``hops``: one for each, until no source reaches another node.

    Messages: at most ``arcs * (1 if nearest else sources)``: a node tells each neighbour of each source once.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("neighbourhood", graph, sources=[0, 3], hops=1)
    >>> print(dgsuite.to_dataframe(ds).compute())
       target  source  hop
    0       0       0    0
    1       1       0    1
    2       2       0    1
    3       2       3    1
    4       3       3    0
    """

    sources: int | Sequence[bsp.Node] | None = None
    hops: int = 1
    nearest: bool = False

    name = "neighbourhood"
    streams = True
    outputs = {
        "target": bsp.Output("node near the source", dims=("pair",), nodes=True),
        "source": bsp.Output("node to start from", dims=("pair",), nodes=True),
        "hop": bsp.Output("hops from the source", dims=("pair",)),
    }
    numbered = ("pair",)
    fields = {"by": np.int64}
    ranges = {"by": bsp.nodes}
    state = State
    undirected = False
    refuses = {"recovery": bsp.KEEPS_LISTS}

    @property
    def bounds(self) -> dict[str, bsp.Bounds]:  # type: ignore[override]
        """The sources by their numbers."""
        return {"by": lambda n: (0, len(self.chosen(n)) - 1)}

    def check(self, c: bsp.Cluster) -> str | None:
        if self.hops < 0:
            return f"hops must be at least 0, got {self.hops}"
        return sources.wrong(self.sources, c.n, some=True)

    def chosen(self, n: int) -> NDArray[np.int64]:
        """The sources, as node ids."""
        return sources.chosen(self.sources, n, self.seed)

    def program(self, net: bsp.Net) -> bsp.Program:
        for hop in range(1, self.hops + 1):
            reply = yield bsp.Round(self.tell, self.visit, hop=hop)
            if not reply.any:
                return

    def start(self, c: bsp.Cluster) -> State:
        chosen = np.sort(self.chosen(c.n))
        at = c.partition.position(chosen) - c.first
        mine = np.flatnonzero((at >= 0) & (at < c.size))
        s = State.of(c, chosen=chosen, front=at[mine], by=mine, pair=np.empty(0, np.int64))
        self.reach(c, s, 0)
        return s

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast | bsp.Unicast:
        if self.nearest:
            return bsp.broadcast(s.front, by=s.by)
        at, neighbours = c.edges(s.front)
        return bsp.unicast(neighbours, s.front[at], by=s.by[at])

    def visit(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, hop: int) -> bsp.Vote:
        if self.nearest:
            s.front, s.by = inbox.min("by", among=s.unseen)
        else:
            pair = distinct(pair_key(inbox.node, inbox["by"], len(s.chosen)))
            at = np.searchsorted(s.pair, pair)
            known = at < len(s.pair)
            known[known] = s.pair[at[known]] == pair[known]
            s.front, s.by = np.divmod(pair[~known], len(s.chosen))
        self.reach(c, s, hop)
        return bsp.vote(any=len(s.front) > 0)

    def reach(self, c: bsp.Cluster, s: State, hop: int) -> None:
        """Sources have reached the nodes of the front."""
        if self.nearest:
            s.unseen.remove(s.front)
        pair = np.append(s.pair, pair_key(s.front, s.by, len(s.chosen)))
        order = np.argsort(pair, kind="stable")
        s.pair = pair[order]
        s.hop = np.append(s.hop, np.full(len(s.front), hop, np.int32))[order]
        row, by = np.divmod(s.pair, len(s.chosen))
        kind = bsp.node_dtype(c)
        s.target, s.source = c.ids[row].astype(kind), s.chosen[by].astype(kind)
