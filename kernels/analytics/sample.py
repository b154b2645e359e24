"""Samples of neighbourhoods, by fan-outs (Hamilton, Ying and Leskovec 2017, Inductive representation learning
on large graphs, algorithm 2), as loaders of graph neural networks take them.

The sources draw some of their edges. Nodes at the other ends that are met for the first time draw some of
theirs, and so on, hop by hop. A node draws once, with random numbers that depend on the seed, the hop and the
node.

Without replacement and weights, a node's edges are shuffled as far as needed (Fisher and Yates; Knuth, The
Art of Computer Programming, volume 2, algorithm 3.4.2P). With weights each edge gets an exponential time, and
the first are drawn (Efraimidis and Spirakis 2006, Weighted random sampling with a reservoir).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.mixing import key
from dgsuite.kernels import bsp
from dgsuite.kernels.tools import sources
from dgsuite.partition.arrays.segments import lent, ranges

ALL = -1
"""A fan-out that takes all edges."""

HEAVIEST = 2.0**900
"""Largest weight, of which sums are finite."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know, and the rows of the result."""

    front: NDArray[np.int64]  # nodes that are to draw
    unseen: NDArray[np.bool_] = bsp.per_node(True)
    drawers: NDArray[np.int64] = bsp.no_nodes()  # nodes that have drawn, hop by hop
    counts: NDArray[np.int64] = bsp.no_nodes()  # edges that each of these has drawn
    drawn_in: NDArray[np.int16] = bsp.initial(
        lambda _: np.empty(0, np.int16)
    )  # hop of each of these
    source: NDArray[np.int32] = bsp.later()
    target: NDArray[np.int32] = bsp.initial(lambda _: np.empty(0, np.int32))
    place: NDArray[np.int32] = bsp.initial(lambda _: np.empty(0, np.int32))
    hop: NDArray[np.int16] = bsp.later()


@dataclass(frozen=True)
class Sample(bsp.Kernel):
    """Edges drawn around some nodes, hop by hop; `dgsuite.Graph.sample` makes blocks of them.

    Outputs ``source``, ``target``, ``place`` and ``hop``, a table with a row for each edge that was drawn, by
    ascending source: the node that drew it; the node at its other end; its place among the edges of the
    source, which ascend by target, from 0; and the hop, from 0 for edges of the `sources`. The edges of a
    source are in the order in which they were drawn.

    On a directed graph nodes draw from the edges that leave them.

    Parameters
    ----------
    sources
        Nodes to start from: a list of different ones, or how many to draw; by default all.
    fanouts
        For each hop, how many edges a node draws, or -1 for all of them. A node with fewer edges takes all,
        unless it draws with replacement.
    replace
        Whether a node may draw an edge several times.
    weighted
        Whether nodes draw in proportion to the weights of edges, which must not be negative; an edge of
        weight 0 is not drawn. Without replacement each next edge is drawn so from those left.

    Notes
    -----
    Rounds: exactly ``len(fanouts)``.

    Messages: at most ``max(arcs, n * max(fanouts))``: one for each edge drawn, but for those of the last hop.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("sample", graph, sources=[3], fanouts=(2, 2))
    >>> print(dgsuite.to_dataframe(ds).compute())
       source  target  place  hop
    0       2       0      0    1
    1       2       1      1    1
    2       3       2      0    0
    """

    sources: int | Sequence[bsp.Node] | None = None
    fanouts: Sequence[int] = (15, 10)
    replace: bool = False
    weighted: bool = False

    name = "sample"
    streams = True
    short_ids = True
    outputs = {
        "source": bsp.Output("node that drew the edge", dims=("pair",), nodes=True),
        "target": bsp.Output("node at the other end", dims=("pair",), nodes=True),
        "place": bsp.Output("number of the edge among those of the source", dims=("pair",)),
        "hop": bsp.Output("hop of the draw, from 0", dims=("pair",)),
    }
    numbered = ("pair",)
    refuses = {"recovery": bsp.KEEPS_LISTS}
    state = State
    undirected = False

    def check(self, c: bsp.Cluster) -> str | None:
        if not len(self.fanouts):
            return "fanouts must name at least one hop"
        for fanout in self.fanouts:
            if not isinstance(fanout, int | np.integer) or not ALL <= fanout < 1 << 31:
                return f"fanouts must be whole numbers from 0, or -1 for all edges, got {fanout!r}"
        if self.weighted and c.weights is not None and len(c.weights):
            least, most = c.weights.min(), c.weights.max()
            if least < 0 or most > HEAVIEST:
                wrong = least if least < 0 else most
                return f"weights must be from 0 to 2^900 to draw by them, got {wrong}"
        return sources.wrong(self.sources, c.n, some=True)

    def chosen(self, n: int) -> NDArray[np.int64]:
        """The sources, as node ids."""
        return sources.chosen(self.sources, n, self.seed)

    def program(self, net: bsp.Net) -> bsp.Program:
        for hop in range(len(self.fanouts)):
            yield bsp.Round(self.draw, hop=hop)

    def start(self, c: bsp.Cluster) -> State:
        at = c.partition.position(self.chosen(c.n)) - c.first
        return State.of(c, front=np.sort(at[(at >= 0) & (at < c.size)]))

    def draw(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, hop: int) -> bsp.Unicast | None:
        from dgsuite.kernels.analytics import _sample

        if hop:
            met = inbox.receivers()
            s.front = met[s.unseen[met]]
        s.unseen[s.front] = False
        weights = c.weights if self.weighted and c.weights is not None else lent(np.empty(0))
        how = key(self.seed, hop)[0], int(self.fanouts[hop]), self.replace
        rows = c.indptr, c.indices, weights, s.front, c.ids
        counts, place, target = _sample.draw(*rows, *how)
        s.drawers, s.counts = np.append(s.drawers, s.front), np.append(s.counts, counts)
        s.drawn_in = np.append(s.drawn_in, np.full(len(counts), hop, np.int16))
        s.target, s.place = np.append(s.target, target), np.append(s.place, place)
        if hop + 1 < len(self.fanouts):
            return bsp.unicast(target, np.repeat(s.front, counts))
        self.sort(c, s)
        return None

    def sort(self, c: bsp.Cluster, s: State) -> None:
        """Order the rows by their source."""
        order = np.argsort(s.drawers)
        first, counts = np.cumsum(s.counts) - s.counts, s.counts[order]
        _, entry = ranges(first[order], counts)
        s.target, s.place = s.target[entry], s.place[entry]
        s.source = np.repeat(c.ids[s.drawers[order]].astype(np.int32), counts)
        s.hop = np.repeat(s.drawn_in[order], counts)
