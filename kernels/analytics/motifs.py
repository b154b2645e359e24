"""Cliques and motifs.

Cliques of any size, by lists of neighbours of higher rank (Chiba and Nishizeki 1985; Danisch, Balalau and
Sozio 2018, "Listing k-cliques in sparse real-world graphs").

As in `dgsuite.kernels.analytics.triangles`, nodes are ranked by degree, then id, and share the lists of their
neighbours of higher rank. A clique is found once, at its node of lowest rank: it is a smaller clique among
the node's neighbours of higher rank, of which it has all lists. There is one loop for each node of the
clique but the last two, which are counted together, 64 and more at a time.

Motifs of up to four nodes, from a few counts at each node and equations between the rest (Hocevar and
Demsar 2014, "A combinatorial approach to graphlet counting").

A motif is a connected graph, and an *orbit* a place in it: nodes that can be swapped are in the same. It is
easier to count where a motif occurs if there may be more edges between its nodes. Of that count those are
taken off that occur in motifs with more edges, which have been counted before, each as often as it holds the
smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.triangles import SharesNeighbours, ranked, sums, two_hops


@dataclass(eq=False)
class CliqueState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    cliques: NDArray[np.int64] = bsp.per_node(0)
    lengths: NDArray[np.int64] = bsp.per_node(0)  # of their lists
    above: NDArray[np.int32] = bsp.later()  # neighbours of higher rank, list by list


@dataclass(frozen=True)
class Cliques(SharesNeighbours):
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

    Exchanges: at most ``3``.

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
    outputs = {"cliques": bsp.Output("cliques that the node is in")}
    fields = {"degree": np.int32, "neighbour": np.int32, "count": np.int64}
    ranges = {"degree": bsp.nodes, "neighbour": bsp.nodes}
    state = CliqueState
    allowed = {"k": (3, np.inf)}

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.weigh, self.point, self.find, self.add)

    def weigh(self, c: bsp.Cluster, s: CliqueState, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(degree=c.degree)

    def point(self, c: bsp.Cluster, s: CliqueState, inbox: bsp.Inbox) -> bsp.Share:
        nodes, lengths, s.above, *_ = ranked(c, inbox)
        s.lengths[nodes] = lengths
        return bsp.share(nodes, lengths, neighbour=s.above)

    def find(self, c: bsp.Cluster, s: CliqueState, inbox: bsp.Inbox) -> bsp.Unicast:
        s.cliques, theirs = count_cliques(s.lengths, s.above, inbox.shared("neighbour"), self.k)
        told = np.flatnonzero(theirs)
        row = np.repeat(np.arange(c.size), s.lengths)
        return bsp.unicast(s.above[told], row[told], combine="sum", count=theirs[told])

    def add(self, c: bsp.Cluster, s: CliqueState, inbox: bsp.Inbox) -> None:
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
    heads = np.concatenate([[0], np.cumsum(lengths)])
    mine, theirs = np.zeros(len(lengths), np.int64), np.zeros(len(above), np.int64)
    analytics._motifs.cliques(heads, above, *lists, k, mine, theirs)
    return mine, theirs


HOLDS = {
    13: {14: 3},
    12: {14: 3},
    11: {13: 2, 14: 3},
    10: {12: 2, 13: 2, 14: 6},
    9: {12: 2, 14: 3},
    8: {12: 1, 13: 1, 14: 3},
    7: {11: 1, 13: 1, 14: 1},
    6: {9: 1, 10: 1, 12: 2, 13: 1, 14: 3},
    5: {8: 2, 10: 1, 11: 2, 12: 2, 13: 4, 14: 6},
    4: {8: 2, 9: 2, 10: 1, 12: 4, 13: 2, 14: 6},
    2: {3: 1},
    1: {3: 2},
}
"""By orbit: how often a node is in it, as part of a motif with more edges in which it has another orbit."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    orbits: NDArray[np.int64] = bsp.initial(lambda c: np.zeros((c.size, 15), np.int64))
    lists: bsp.Shared = bsp.later()  # the neighbours of neighbours
    joint: NDArray[np.int64] = bsp.later()  # triangles of each entry of the adjacency
    squares: NDArray[np.int64] = bsp.later()
    cliques: NDArray[np.int64] = bsp.later()


class Motifs(SharesNeighbours):
    """How often each node is in each place of a connected motif of two, three or four nodes.

    Outputs ``orbits``, shape (n, 15): by node and orbit, in the usual numbers (Przulj 2007, "Biological
    network comparison using graphlet degree distribution"). A motif occurs where nodes have exactly its
    edges between them.

    - 0: an end of an edge.
    - 1, 2: the ends, and the middle, of a path of three nodes. 3: a triangle.
    - 4, 5: the ends, and the inner nodes, of a path of four. 6, 7: the leaves, and the centre, of a star.
    - 8: a cycle of four nodes.
    - 9, 10, 11: of a triangle with a tail the tail, the two other nodes, and the one that has the tail.
    - 12, 13: of four nodes with five edges those with two, and those with three.
    - 14: four nodes with all edges.

    The sum over all nodes is the number of motifs times the nodes that a motif has in the orbit: two in
    orbits 0, 1, 4, 5, 10, 12 and 13, three in 3 and 6, four in 8 and 14, one in 2, 7, 9 and 11.

    A worker holds the lists of its nodes and of their neighbours. Time grows with the sum of squares of
    degrees.

    Notes
    -----
    Rounds: exactly ``1``.

    Exchanges: at most ``2``.

    Messages: at most ``4 * m``: a node sends its list, then four numbers, to each neighbour.

    Examples
    --------
    A triangle with a tail:

    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("motifs", graph).orbits.values
    array([[2, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
           [2, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
           [3, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
           [1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]])
    """

    name = "motifs"
    outputs = {"orbits": bsp.Output("places in motifs that the node has", dims=("node", "orbit"))}
    numbered = ("orbit",)
    fields = {
        "neighbour": np.int32,
        **dict.fromkeys(("near", "triangles", "opposite", "cliques"), np.int64),
    }
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.introduce, self.tell, self.place)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """Each neighbour hears of the node's neighbours and triangles, and of what both have in common."""
        s.lists = inbox.shared("neighbour")
        s.joint, s.squares = two_hops(c, s.lists)
        opposite = np.zeros_like(s.joint)
        analytics._motifs.opposite(c.indptr, c.indices, *s.lists, s.joint, opposite)
        row, theirs = np.repeat(np.arange(c.size), c.degree), self._degrees(c, s)
        mine = c.degree[row]
        higher = (theirs > mine) | ((theirs == mine) & (c.indices > c.ids[row]))
        cliques = np.zeros(len(c.indices), np.int64)
        lengths = np.bincount(row[higher], minlength=c.size)
        s.cliques, cliques[higher] = count_cliques(lengths, c.indices[higher], s.lists, 4)
        told = {"near": sums(c, theirs - 1)[row], "triangles": sums(c, s.joint)[row] // 2}
        told |= {"opposite": opposite, "cliques": cliques}
        return bsp.unicast(c.indices, row, combine="sum", **told)

    def place(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        told = (inbox.totals(name) for name in ("near", "triangles", "opposite", "cliques"))
        near, theirs, opposite, cliques = told
        joint, more, d = s.joint, self._degrees(c, s) - 1, c.degree.astype(np.int64)
        ends, triangles = sums(c, more), sums(c, joint) // 2
        orbits = [
            d,
            ends,
            d * (d - 1) // 2,
            triangles,
            near - d * (d - 1) - 2 * triangles,
            (d - 1) * ends - 2 * triangles,
            sums(c, more * (more - 1) // 2),
            d * (d - 1) * (d - 2) // 6,
            s.squares,
            theirs - 2 * triangles,
            sums(c, joint * (more - 1)),
            triangles * (d - 2),
            opposite // 2,
            sums(c, joint * (joint - 1) // 2),
            s.cliques + cliques,
        ]
        s.orbits[:] = np.stack(orbits, axis=1)
        for orbit, holds in HOLDS.items():
            for larger, times in holds.items():
                s.orbits[:, orbit] -= times * s.orbits[:, larger]

    def _degrees(self, c: bsp.Cluster, s: State) -> NDArray[np.int64]:
        """Of the neighbour at each entry of the adjacency."""
        return (s.lists.ends - s.lists.starts)[c.indices]
