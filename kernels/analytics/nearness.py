"""Distances from many sources, and centralities by distances.

Breadth-first searches from many sources at once (Then et al., The More the Merrier, VLDB 2014).

Each source of a batch is a bit of a word. A node keeps the word of the sources that have reached it, and
sends it whenever more have; a round takes all searches of the batch one level further. Nodes that get
messages take the union of their senders' words, or, where most nodes send, look at their neighbours until
no source is missing, those with most neighbours first: most sources have reached these.

How near others are to a node: closeness (Wasserman and Faust 1994) and harmonic centrality (Marchiori and
Latora 2000), by searches from many sources at once.

Distances are hops of paths that lead to the node, as networkx has them. From a sample of the nodes both are
estimates (Eppstein and Wang 2001).

By blocks, each cluster searches from all sources of a batch, each to its end. What comes nearer at the border
goes to the other clusters for all sources of the batch at once. So a batch takes about as many rounds as one
search (`dgsuite.kernels.analytics.searches_block`), not one for each level of the deepest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.tools import blocks, sources
from dgsuite.partition.arrays.segments import distinct

WORD = 64
"""Sources of a batch."""

LOOK = 2
"""Nodes read from all neighbours in phases with more than one message per `LOOK` edge ends."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    source: NDArray[np.bool_]
    total: NDArray  # sum over the sources that reach the node
    reached: NDArray[np.int64] = bsp.per_node(0)  # sources that reach the node, other than itself
    eccentricity: NDArray[np.int32] = bsp.per_node(0, np.int32)  # levels to the farthest of these
    seen: NDArray[np.uint64] = bsp.per_node(0, np.uint64)  # sources of the batch that reach it
    every: np.uint64 = bsp.later()  # all sources of the batch
    waiting: bsp.Subset = bsp.later()  # nodes with an edge to them, not reached by all of the batch
    # by blocks: from each source of the batch, -1 if unreached
    hops: NDArray[np.int32] = bsp.later()
    level: NDArray[np.int32] = bsp.later()  # per node and source, where it is an output
    closeness: NDArray[np.float64] = bsp.later()
    harmonic: NDArray[np.float64] = bsp.later()

    @property
    def distance(self) -> NDArray:
        """The total, where sources add their distance."""
        return self.total


class ManySearches(bsp.Kernel):
    """The program of searches from the `chosen` sources, which add `gain` to a node's total."""

    obeys = bsp.Model("edges", reduces="data")
    fields = {"word": np.uint64}
    refuses = bsp.no_faults(bsp.READS_LATEST)
    state = State
    undirected = False
    pulls = True

    def chosen(self, n: int) -> NDArray[np.int64]:
        """The sources, as node ids."""
        raise NotImplementedError

    def gain(self, depth: Any) -> Any:
        """What a source `depth` levels away adds to a node's total."""
        return depth

    def program(self, net: bsp.Net) -> bsp.Program:
        chosen = self.chosen(net.n)
        for first in range(0, len(chosen), WORD):
            if first:
                yield bsp.Round(self.forget, opening=True)
            batch = chosen[first : first + WORD]
            sent, depth = (yield bsp.Round(self.begin, opening=True, batch=batch)), 0
            while depth == 0 or sent.sum:
                depth += 1
                sent = yield bsp.Round(self.visit, depth=depth, first=first, reach=sent.sum)

    def start(self, c: bsp.Cluster) -> State:
        source = np.isin(c.ids, self.chosen(c.n))
        return State.of(c, source=source, total=c.zeros(type(self.gain(1))))

    def forget(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        nodes = np.flatnonzero(s.seen)
        s.seen[:] = 0
        return bsp.broadcast(nodes, word=s.seen[nodes])

    def begin(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, batch: NDArray) -> bsp.Sent:
        at, which = sources.own(c, batch)
        s.seen[at] = np.uint64(1) << which.astype(np.uint64)
        s.every = np.uint64(2 ** len(batch) - 1)
        s.waiting = bsp.Subset((np.diff(c.senders[0]) > 0) & (s.seen != s.every))
        return self.tell(c, s, np.sort(at))

    def visit(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, depth: int, first: int, reach: int
    ) -> bsp.Sent:
        fresh, gained = np.empty(s.waiting.count, np.int64), np.empty(s.waiting.count, np.uint64)
        state = (s.seen, s.total, s.reached, s.eccentricity, fresh, gained)
        found = 0
        if LOOK * reach * c.size > len(c.indices) * c.n:
            rows = inbox.receivers(s.waiting)
            if len(rows):
                how = (rows, s.every, depth, self.gain(depth))
                found = analytics._bfs_many.look(*inbox.latest("word"), *how, *state)
        else:
            rows, words = inbox.reduce("or", "word", s.waiting)
            found = analytics._bfs_many.take(rows, words, depth, self.gain(depth), *state)
        fresh = fresh[:found]
        self.note(s, fresh, gained[:found], first, depth)
        s.waiting.remove(fresh[s.seen[fresh] == s.every])
        return self.tell(c, s, fresh)

    def note(self, s: State, nodes: NDArray, words: NDArray, first: int, depth: int) -> None:
        """Nodes that sources have reached at a depth; a bit of a word is a source, from number `first` on."""

    def tell(self, c: bsp.Cluster, s: State, nodes: NDArray) -> bsp.Sent:
        """Nodes tell their neighbours what they have seen; the vote is the number of messages."""
        reach = c.degree[nodes].sum(dtype=np.int64)
        return bsp.broadcast(nodes, word=s.seen[nodes]), bsp.vote(sum=int(reach))


class BreadthFirstMany(sources.FromSources, ManySearches):
    """Distances from many sources in hops, summed up for each node; of directed graphs, too.

    Outputs ``distance``, the sum of the distances from all sources that reach the node, ``reached``, how many
    other sources reach it, and ``eccentricity``, the greatest of these distances: int64, int64 and int32.
    Weights do not count.

    Parameters
    ----------
    sources
        Nodes to start from: a list of different ones, or how many to draw; by default 64, or all where
        there are fewer. 64 are searched from at a time.

    Notes
    -----
    Rounds: at most ``ceil(sources / 64) * (diameter + 1)``: 64 searches at a time, a level of each in a
    round.

    Exchanges: at most ``rounds + ceil(sources / 64)``.

    Messages: at most ``sources * arcs``: a node tells each neighbour of each source at most once.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("bfs_many", graph, sources=[0, 3])
    >>> ds.distance.values
    array([2, 3, 2, 2])
    >>> ds.eccentricity.values
    array([2, 2, 1, 2], dtype=int32)
    """

    name = "bfs_many"
    outputs = {
        "distance": bsp.Output("sum of the hops from the sources that reach the node"),
        "reached": bsp.Output("number of other sources that reach the node"),
        "eccentricity": bsp.Output("most hops from a source that reaches the node"),
        "source": bsp.Output("whether searches start here"),
    }

    def chosen(self, n: int) -> NDArray[np.int64]:
        return sources.chosen(min(WORD, n) if self.sources is None else self.sources, n, self.seed)


class AllPairs(sources.FromSources, ManySearches):
    """Distances in hops from all nodes to all, or from some; of directed graphs, too.

    Output ``level``, int32, by node and source: hops from the source, -1 where there is no way. It takes 4
    bytes for each pair. Weights do not count: `dr` has the costs of weighted ways.

    Parameters
    ----------
    sources
        Nodes to start from: a list of different ones, or how many to draw; by default all.

    Notes
    -----
    Rounds: at most ``ceil(sources / 64) * (diameter + 1)``: 64 searches at a time, a level of each in a
    round.

    Exchanges: at most ``rounds + ceil(sources / 64)``.

    Messages: at most ``sources * arcs``: a node tells each neighbour of each source at most once.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("all_pairs", graph).level.values
    array([[0, 1, 1, 2],
           [1, 0, 1, 2],
           [1, 1, 0, 1],
           [2, 2, 1, 0]], dtype=int32)
    """

    name = "all_pairs"
    outputs = {
        "level": bsp.Output("hops from the source, -1 if unreached", dims=("node", "source"))
    }

    def axis(self, dim: str, n: int) -> NDArray[np.int64]:
        return self.chosen(n)

    def start(self, c: bsp.Cluster) -> State:
        s = super().start(c)
        s.level = np.where(c.ids[:, None] == self.chosen(c.n), np.int32(0), np.int32(-1))
        return s

    def note(self, s: State, nodes: NDArray, words: NDArray, first: int, depth: int) -> None:
        analytics._bfs_many.fill(s.level, nodes, words, first, depth)


COUNTS = bsp.Output("whether distances from the node count")


@dataclass(frozen=True)
class Centrality(ManySearches):
    """A centrality that is worked out from the totals of all searches."""

    samples: int | None = None

    def check(self, c: bsp.Cluster) -> str | None:
        wrong = sources.wrong(self.samples, c.n)
        return wrong and wrong.replace("sources", "samples")

    def chosen(self, n: int) -> NDArray[np.int64]:
        return sources.chosen(self.samples, n, self.seed)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        yield bsp.Round("finish", closing=True)

    def others(self, n: int, s: State) -> NDArray[np.int64]:
        """Sources other than each node."""
        return len(self.chosen(n)) - s.source.astype(np.int64)


@dataclass(frozen=True)
class Closeness(Centrality):
    """Closeness centrality, of directed and undirected graphs.

    Output ``closeness``, float64, from 0 to 1: of a node that r others reach, r divided by the sum of their
    distances; times r / (n - 1), so that few near nodes of a small component count less. 0 where none does.
    Distances are hops: weights do not count.

    Parameters
    ----------
    samples
        How many random nodes to take the distances from, which gives an estimate; by default all.
    wf_improved
        Whether to multiply by the share of the nodes that reach the node (Wasserman and Faust).

    Notes
    -----
    Rounds: at most ``ceil(samples / 64) * (diameter + 1)``: 64 searches at a time, a level of each in a
    round.

    Exchanges: at most ``rounds + ceil(samples / 64)``.

    Messages: at most ``samples * arcs``: a node tells each neighbour of each sample at most once.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("closeness", graph).closeness.round(3).values
    array([0.75, 0.75, 1.  , 0.6 ])
    """

    wf_improved: bool = True

    name = "closeness"
    outputs = {"closeness": bsp.Output("closeness centrality"), "source": COUNTS}

    def finish(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        near = s.reached.astype(np.float64)
        s.closeness = np.divide(near, s.distance, out=c.zeros(np.float64), where=near > 0)
        if self.wf_improved:
            s.closeness *= near / np.maximum(self.others(c.n, s), 1)


class Harmonic(Centrality):
    """Harmonic centrality, of directed and undirected graphs.

    Output ``harmonic``, float64: the sum, over the other nodes that reach the node, of 1 divided by their
    distance in hops: weights do not count.

    Parameters
    ----------
    samples
        How many random nodes to take the distances from; the sum is then an estimate: that of the sampled
        nodes times n - 1, divided by the number of those that are not the node. By default all.

    Notes
    -----
    Rounds: at most ``ceil(samples / 64) * (diameter + 1)``: 64 searches at a time, a level of each in a
    round.

    Exchanges: at most ``rounds + ceil(samples / 64)``.

    Messages: at most ``samples * arcs``: a node tells each neighbour of each sample at most once.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("harmonic", graph).harmonic.values
    array([2.5, 2.5, 3. , 2. ])
    """

    name = "harmonic"
    outputs = {"harmonic": bsp.Output("harmonic centrality"), "source": COUNTS}

    def gain(self, depth: Any) -> Any:
        return 1 / depth

    def finish(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.harmonic = s.total * ((c.n - 1) / np.maximum(self.others(c.n, s), 1))


class BlockSearches(ManySearches):
    """The program of searches by blocks."""

    obeys = bsp.Model("edges", None, "control")
    form = "block"
    short_ids = True
    fields = {"source": np.uint8, "offer": np.int32}
    broadcasts = pulls = False

    def program(self, net: bsp.Net) -> bsp.Program:
        chosen = self.chosen(net.n)
        for first in range(0, len(chosen), WORD):
            wake = bsp.Round(self.wake, batch=chosen[first : first + WORD])
            yield from bsp.until_quiet(self.search, after=wake)
            yield bsp.Round(self.add_up, closing=True, first=first)

    def wake(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, batch: NDArray) -> bsp.Sent:
        at, which = sources.own(c, batch)
        s.hops = np.full((len(batch), c.size), -1, np.int32)
        s.hops[which, at] = 0
        return self.spread(c, s, which, at)

    def search(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        source, nodes, offer = inbox["source"].astype(np.int64), inbox.node, inbox["offer"]
        known = s.hops[source, nodes]
        nearer = np.flatnonzero((known < 0) | (offer < known))
        nearer = nearer[np.argsort(-offer[nearer])]  # the least is put last, and stays
        source, nodes = source[nearer], nodes[nearer]
        s.hops[source, nodes] = offer[nearer]
        pairs = np.divmod(distinct(source * c.size + nodes), c.size)
        return self.spread(c, s, *pairs)

    def spread(self, c: bsp.Cluster, s: State, source: NDArray, seeds: NDArray) -> bsp.Sent:
        """Go on from nodes that have come nearer to a source, and tell the ends of edges that cross the
        border.
        """
        if not len(seeds):
            return bsp.vote(any=False)
        hops = s.hops[source, seeds]
        order = np.lexsort((hops, source))
        source, seeds, hops = source[order], seeds[order], hops[order]
        bounds = np.append(np.flatnonzero(np.diff(source, prepend=-1)), len(source))
        parent, queue, reached = (np.empty(c.size, kind) for kind in (np.int32, np.int64, np.int64))
        told = []
        for first, last in pairwise(bounds):
            k, level = source[first], s.hops[source[first]]
            count = analytics._blocks.search(
                *(c.indptr, c.positions, c.first, c.ids, level, parent),
                *(seeds[first:last], hops[first:last], queue, reached),
            )
            nodes, _, ends = blocks.crossing(c, reached[:count])
            told.append((ends, nodes, np.full(len(ends), k, np.uint8), level[nodes] + 1))
        ends, nodes, which, offer = (np.concatenate(each) for each in zip(*told, strict=True))
        return bsp.unicast(ends, nodes, source=which, offer=offer), bsp.vote(any=len(ends) > 0)

    def add_up(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: int) -> None:
        """What the sources of a batch add to the totals of the nodes, by rising distance."""
        by_node = np.ascontiguousarray(s.hops.T)
        self.keep(s, by_node, first)
        if s.total.dtype.kind == "f":  # whose sums depend on the order
            by_node.sort(axis=1)
        gain = self.gain(np.arange(1, by_node.max(initial=0) + 1))
        analytics._bfs_many.add_up(by_node, gain, s.total, s.reached, s.eccentricity)

    def keep(self, s: State, hops: NDArray, first: int) -> None:
        """Keep the hops from the sources of a batch, shape (nodes, sources), the first of number `first`."""


class BlockMany(BreadthFirstMany, BlockSearches):
    """Distances from many sources, of each cluster to their end; see `BreadthFirstMany` for the outputs.

    Notes
    -----
    Rounds: for each 64 sources, ``k + 1`` or ``k + 2``, where k is that of `BlockSearch`, the most of them.

    Messages: at most ``rounds * 64 * arcs``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("bfs_many", graph, form="block", sources=[0, 3]).distance.values
    array([2, 3, 2, 2])
    """


class BlockAllPairs(AllPairs, BlockSearches):
    """Distances from all nodes, of each cluster to their end; see `AllPairs` for the outputs.

    Notes
    -----
    Rounds: for each 64 sources, ``k + 1`` or ``k + 2``, where k is that of `BlockSearch`, the most of them.

    Messages: at most ``rounds * 64 * arcs``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("all_pairs", graph, form="block", sources=[3]).level.values.T
    array([[2, 2, 1, 0]], dtype=int32)
    """

    def keep(self, s: State, hops: NDArray, first: int) -> None:
        s.level[:, first : first + hops.shape[1]] = hops


class BlockCloseness(Closeness, BlockSearches):
    """Closeness centrality by searches in each cluster to their end; see `Closeness` for the output.

    Notes
    -----
    Rounds: for each 64 samples, ``k + 1`` or ``k + 2``, where k is that of `BlockSearch`, the most of them.

    Messages: at most ``rounds * 64 * arcs``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("closeness", graph, form="block").closeness.round(3).values
    array([0.75, 0.75, 1.  , 0.6 ])
    """


class BlockHarmonic(Harmonic, BlockSearches):
    """Harmonic centrality by searches in each cluster to their end; see `Harmonic` for the output.

    Notes
    -----
    Rounds: for each 64 samples, ``k + 1`` or ``k + 2``, where k is that of `BlockSearch`, the most of them.

    Messages: at most ``rounds * 64 * arcs``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("harmonic", graph, form="block").harmonic.values
    array([2.5, 2.5, 3. , 2. ])
    """
