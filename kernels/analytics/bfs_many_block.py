"""Searches from many sources by blocks: each cluster searches from all of a batch, each to its end.

What comes nearer at the border goes to the other clusters for all sources of the batch at once. So a batch
takes about as many rounds as one search (`dgsuite.kernels.analytics.searches_block`), not one for each
level of the deepest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.nearness import (
    WORD,
    AllPairs,
    BreadthFirstMany,
    Closeness,
    Harmonic,
    Levels,
    ManySearches,
    State,
)
from dgsuite.kernels.tools import blocks, sources


@dataclass(frozen=True)
class BlockSearches(ManySearches):
    """The program of searches by blocks."""

    obeys = bsp.Model("edges", None, "control")
    form = "block"
    short_ids = True
    fields = {"source": np.uint8, "offer": np.int32}
    pulls = False

    def program(self, net: bsp.Net) -> bsp.Program:
        chosen = self.chosen(net.n)
        for first in range(0, len(chosen), WORD):
            reply = yield bsp.Round(self.wake, batch=chosen[first : first + WORD])
            if reply.any:
                yield from bsp.until_quiet(self.search)
            yield bsp.Round(self.add_up, closing=True, first=first)

    def wake(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, batch: NDArray) -> bsp.Sent:
        at, which = sources.own(c, batch)
        s.hops = np.full((len(batch), c.size), -1, np.int32)
        s.hops[which, at] = 0
        return self.spread(c, s, which, at)

    def search(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        source, nodes, offer = inbox["source"].astype(np.int64), inbox.node, inbox["offer"]
        pair = source * c.size + nodes
        order = np.lexsort((offer, pair))
        best = order[np.flatnonzero(np.diff(pair[order], prepend=-1))]
        source, nodes, offer = source[best], nodes[best], offer[best]
        known = s.hops[source, nodes]
        nearer = (known < 0) | (offer < known)
        source, nodes = source[nearer], nodes[nearer]
        s.hops[source, nodes] = offer[nearer]
        return self.spread(c, s, source, nodes)

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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
        assert isinstance(s, Levels)
        s.level[:, first : first + hops.shape[1]] = hops


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
