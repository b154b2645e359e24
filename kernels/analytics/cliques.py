"""Cliques of any size, by lists of neighbours of higher rank (Chiba and Nishizeki 1985; Danisch, Balalau and
Sozio 2018, "Listing k-cliques in sparse real-world graphs").

As in `dgsuite.kernels.analytics.triangles`, nodes are ranked by degree, then id, and share the lists of their
neighbours of higher rank. A clique is found once, at its node of lowest rank: it is a smaller clique among
the node's neighbours of higher rank, of which it has all lists. There is one loop for each node of the
clique but the last two, which are counted together, 64 and more at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.triangles import ranked


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    cliques: NDArray[np.int64] = bsp.per_node(0)
    lengths: NDArray[np.int64] = bsp.later()  # of their lists
    above: NDArray[np.int32] = bsp.later()  # neighbours of higher rank, list by list


@dataclass(frozen=True)
class Cliques(bsp.Kernel):
    """How many cliques of `k` nodes each node is in; the sum is `k` times their number.

    Outputs ``cliques``. A clique is a set of nodes of which every two are neighbours. Cliques of 3 nodes are
    triangles, for which the kernel `triangles` is faster. Time grows with the number of cliques of
    ``k - 2`` nodes.

    Parameters
    ----------
    k
        Nodes of a clique, from 3 on.

    Notes
    -----
    Rounds: exactly ``1``.

    Messages: at most ``5 * m``: a node sends its degree, then a list, to each neighbour, and a number to
    those of higher rank.

    Examples
    --------
    Two cliques of four nodes that share three:

    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 0, 0, 1, 1, 1, 2, 2], [1, 2, 3, 4, 2, 3, 4, 3, 4])
    >>> dgsuite.run("cliques", graph, k=4).cliques.values
    array([2, 2, 2, 1, 1])
    """

    k: int = 4

    name = "cliques"
    short_ids = True
    outputs = {"cliques": bsp.Output("cliques that the node is in")}
    fields = {"degree": np.int32, "neighbour": np.int32, "count": np.int64}
    ranges = {"degree": bsp.nodes, "neighbour": bsp.nodes}
    refuses = bsp.no_faults(bsp.SHARES_LISTS)
    state = State
    along_edges = True

    def check(self, c: bsp.Cluster) -> str | None:
        return None if self.k >= 3 else f"k must be at least 3, got {self.k}"

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.weigh, self.point, self.find, self.add)

    def weigh(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(degree=c.degree)

    def point(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share:
        s.lengths, entries, _ = ranked(c, inbox)
        s.above = c.indices[entries]
        nodes = np.flatnonzero(s.lengths)
        return bsp.share(nodes, s.lengths[nodes], neighbour=s.above)

    def find(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        s.cliques, theirs = count_cliques(s.lengths, s.above, inbox.shared("neighbour"), self.k)
        told = np.flatnonzero(theirs)
        row = np.repeat(np.arange(c.size), s.lengths)
        return bsp.unicast(s.above[told], row[told], combine="sum", count=theirs[told])

    def add(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.cliques += inbox.totals("count")


def count_cliques(
    lengths: NDArray, above: NDArray, lists: bsp.Shared, k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cliques of which a cluster's nodes have the lowest rank: by node, and by neighbour of higher rank.

    Parameters
    ----------
    lengths, above
        By node how many neighbours have a higher rank, and these, node by node.
    lists
        Lists of the neighbours of these; they may have more items than those of higher rank.
    """
    from dgsuite.kernels.analytics import _cliques

    heads = np.concatenate([[0], np.cumsum(lengths)])
    mine, theirs = np.zeros(len(lengths), np.int64), np.zeros(len(above), np.int64)
    _cliques.count(heads, above, *lists, k, mine, theirs)
    return mine, theirs
