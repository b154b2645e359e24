"""What lies around some nodes: neighbourhoods, and samples of them.

What lies within some hops of some nodes, by breadth-first searches with a limit, all at once.

A node that a source reaches for the first time tells its neighbours so. Either each source has a search of
its own (Then et al. 2014, The More the Merrier), or all together have one, and a node belongs to the source
that reaches it first.

Samples of neighbourhoods, by fan-outs (Hamilton, Ying and Leskovec 2017, Inductive representation learning
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
from dgsuite.base.pairs import pair_key
from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.tools import sources
from dgsuite.partition.arrays.segments import distinct, lent, ranges


@dataclass(eq=False)
class NearState(bsp.ClusterState):
    """What the nodes of a cluster know, and the rows of the result, by ascending target and source."""

    chosen: NDArray[np.int64]  # sources, ascending
    front: NDArray[np.int64]  # nodes that a source has just reached
    by: NDArray[np.int64]  # number of that source
    pair: NDArray[np.int64]  # of nodes and sources that reach them, as one number; ascending
    unseen: bsp.Subset = bsp.node_set()  # with `nearest`, nodes that no source has reached
    target: bsp.NodeIds = bsp.later()
    source: bsp.NodeIds = bsp.later()
    hop: NDArray[np.int32] = bsp.rows(lambda _: np.empty(0, np.int32))


@dataclass(frozen=True)
class Neighbourhood(sources.FromSources):
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

    Exchanges: at most ``rounds``.

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

    hops: int = 1
    nearest: bool = False

    name = "neighbourhood"
    obeys = bsp.Model("edges", None, "control")
    streams = True
    outputs = {
        "target": bsp.Output("node near the source", dims=("pair",), nodes=True),
        "source": bsp.Output("node to start from", dims=("pair",), nodes=True),
        "hop": bsp.Output("hops from the source", dims=("pair",)),
    }
    numbered = ("pair",)
    fields = {"by": np.int64}
    ranges = {"by": bsp.nodes}
    state = NearState
    undirected = False
    refuses = {"recovery": bsp.KEEPS_LISTS}
    allowed = {"hops": (0, np.inf)}

    @property
    def bounds(self) -> dict[str, bsp.Bounds]:  # type: ignore[override]
        """The sources by their numbers."""
        return {"by": lambda n: (0, len(self.chosen(n)) - 1)}

    def program(self, net: bsp.Net) -> bsp.Program:
        for hop in range(1, self.hops + 1):
            reply = yield bsp.Round(self.tell, self.visit, hop=hop)
            if not reply.any:
                return

    def start(self, c: bsp.Cluster) -> NearState:
        chosen = np.sort(self.chosen(c.n))
        front, by = sources.own(c, chosen)
        s = NearState.of(c, chosen=chosen, front=front, by=by, pair=np.empty(0, np.int64))
        self.reach(c, s, 0)
        return s

    def tell(self, c: bsp.Cluster, s: NearState, inbox: bsp.Inbox) -> bsp.Broadcast | bsp.Unicast:
        if self.nearest:
            return bsp.broadcast(s.front, by=s.by)
        at, neighbours = c.edges(s.front)
        return bsp.unicast(neighbours, s.front[at], by=s.by[at])

    def visit(self, c: bsp.Cluster, s: NearState, inbox: bsp.Inbox, hop: int) -> bsp.Vote:
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

    def reach(self, c: bsp.Cluster, s: NearState, hop: int) -> None:
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


ALL = -1
"""A fan-out that takes all edges."""

HEAVIEST = 2.0**900
"""Largest weight, of which sums are finite."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know, and the rows of the result."""

    front: NDArray[np.int64]  # nodes that are to draw
    unseen: NDArray[np.bool_] = bsp.per_node(True)
    drawers: NDArray[np.int64] = bsp.rows()  # nodes that have drawn, hop by hop
    counts: NDArray[np.int64] = bsp.rows()  # edges that each of these has drawn
    drawn_in: NDArray[np.int16] = bsp.rows(lambda _: np.empty(0, np.int16))  # hop of each of these
    source: NDArray[np.int32] = bsp.later()
    target: NDArray[np.int32] = bsp.rows(lambda _: np.empty(0, np.int32))
    place: NDArray[np.int32] = bsp.rows(lambda _: np.empty(0, np.int32))
    hop: NDArray[np.int16] = bsp.later()


@dataclass(frozen=True)
class Sample(sources.FromSources):
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

    Exchanges: at most ``rounds``.

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

    fanouts: Sequence[int] = (15, 10)
    replace: bool = False
    weighted: bool = False

    name = "sample"
    obeys = bsp.Model("edges", None)
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
        return super().check(c)

    def program(self, net: bsp.Net) -> bsp.Program:
        for hop in range(len(self.fanouts)):
            yield bsp.Round(self.draw, hop=hop)

    def start(self, c: bsp.Cluster) -> State:
        return State.of(c, front=np.sort(sources.own(c, self.chosen(c.n))[0]))

    def draw(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, hop: int) -> bsp.Unicast | None:
        if hop:
            met = inbox.receivers()
            s.front = met[s.unseen[met]]
        s.unseen[s.front] = False
        weights = c.weights if self.weighted and c.weights is not None else lent(np.empty(0))
        how = key(self.seed, hop)[0], int(self.fanouts[hop]), self.replace
        rows = c.indptr, c.indices, weights, s.front, c.ids
        counts, place, target = analytics._sample.draw(*rows, *how)
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
