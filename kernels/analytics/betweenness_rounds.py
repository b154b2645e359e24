"""Betweenness centrality on a graph that stays in its clusters, in rounds over batches of sources.

Searches of a batch go side by side. A cluster holds a cell for each source and each of its nodes and their
successors elsewhere, its ghosts: what paths to ghosts its own nodes find is folded there and sent on
to the owners once a round. Without weights the searches are breadth first. With weights all distances are
found first, as by Bellman and Ford, then paths are counted from node to node as soon as all
edges before have been. Then dependencies come back, level by level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.extremes import amounts
from dgsuite.kernels.analytics.trouble import MANY, TROUBLE, limit
from dgsuite.kernels.tools import sources
from dgsuite.kernels.tools.exact import Sums
from dgsuite.partition.arrays.segments import distinct

CELLS = 1 << 20
"""Nodes times sources of a batch, at most; a cell takes some 50 bytes."""


def centrality(sums: Sums, directed: bool) -> NDArray[np.float64]:
    """Betweenness from dependencies: on an undirected graph every path was found from both ends."""
    return sums.value * (1.0 if directed else 0.5)


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What a cluster knows. A *slot* is one of its nodes or a ghost; a *cell* is a slot and a source of the
    batch: slot * width + source.
    """

    indptr: NDArray[np.uint32] = bsp.later()  # of the whole graph, where it is replicated
    slots: NDArray[np.int64] = bsp.later()  # per entry of the adjacency, its end
    weights: NDArray[np.float64] = bsp.later()  # per entry
    home: NDArray[np.int64] = bsp.later()  # per ghost, the cluster that owns it
    there: NDArray[np.int64] = bsp.later()  # per ghost, its slot in that cluster
    readers: NDArray[np.int64] = bsp.later()  # per node, where its readers begin in the next two
    peers: NDArray[np.int64] = bsp.later()  # clusters that have the node as a ghost
    their: NDArray[np.int64] = bsp.later()  # its slots there
    sums: Sums = bsp.later()  # dependencies so far
    sources: NDArray[np.int64] = bsp.later()
    width: int = bsp.later()  # sources of a batch
    first: int = bsp.later()  # sources of all batches so far
    origins: NDArray[np.int64] = bsp.later()  # cells of this cluster's sources
    distance: NDArray[np.float64] = bsp.later()  # per cell
    paths: NDArray[np.float64] = bsp.later()  # per cell, shortest paths from the source
    share: NDArray[np.float64] = bsp.later()  # per cell, dependency per path
    fresh: NDArray[np.bool_] = bsp.later()  # per cell, whether it is in the next front
    need: NDArray[np.int32] = bsp.later()  # per cell, edges of paths that have not been counted
    front: NDArray[np.int64] = bsp.later()  # room for the cells of the next front
    found: NDArray[np.int64] = bsp.later()  # room for the cells that a phase finds
    waiting: int = bsp.later()  # cells that are in the next front whatever arrives
    levels: list[NDArray[np.int64]] = bsp.later()  # fronts of this batch


@dataclass(frozen=True)
class Partitioned(bsp.Weighted):
    """The phases of the partitioned form."""

    sources: int | Sequence[bsp.Node] | None = None
    batch: int | None = None

    by_edge: ClassVar[bool] = False
    """Whether `State.sums` are of the paths over each edge, instead of those through each node."""

    def chosen(self, n: int) -> NDArray[np.int64]:
        """The sources, as node ids."""
        return sources.chosen(self.sources, n, self.seed)

    def width(self, n: int) -> int:
        """Sources of a batch."""
        return min(self.batch or max(CELLS // n, 1), max(len(self.chosen(n)), 1))

    def in_rounds(self, net: bsp.Net) -> bsp.Program:
        """The program: clusters learn which nodes are ghosts where, then search batch after batch."""
        yield bsp.Round(self.subscribe, self.link, opening=True)
        for _ in range(0, len(self.chosen(net.n)), self.width(net.n)):
            yield bsp.Round(self.begin, opening=True)
            levels = 0
            while (yield bsp.Round(self.offer)).any:
                levels += 1
            if self.weighted:
                yield bsp.Round(self.spread, self.tally, self.expect, closing=True)
                levels = 0
                while (yield bsp.Round(self.advance)).any:
                    levels += 1
            last = 0 if self.by_edge else 1  # no path leads through its source
            for level in range(levels - 1, last - 1, -1):
                yield bsp.Round(self.depend, level=level)

    def subscribe(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        offsets = c.partition.offsets
        position = c.partition.position(c.indices)
        here = c.index_in(position)
        ghosts = distinct(position[here < 0])
        s.slots = np.where(here < 0, c.size + np.searchsorted(ghosts, position), here)
        s.weights = amounts(c.weights if self.weighted else None, len(c.indices))
        s.home = np.searchsorted(offsets, ghosts, side="right") - 1
        s.there = ghosts - offsets[s.home]
        return bsp.ship(s.home, key=s.there, other=c.size + np.arange(len(ghosts)))

    def link(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        node = inbox.shipped("key")
        order = np.argsort(node, kind="stable")
        s.readers = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=c.size))])
        s.peers, s.their = inbox.origin[order], inbox.shipped("other")[order]
        s.sums = Sums.zeros(len(c.indices) if self.by_edge else c.size)
        s.sources, s.width = self.chosen(c.n), self.width(c.n)
        s.first = 0
        cells = (c.size + len(s.there)) * s.width
        s.distance, s.paths, s.share = np.empty((3, cells))
        s.fresh, s.need = np.zeros(cells, bool), np.zeros(cells if self.weighted else 0, np.int32)
        s.front, s.found = np.empty((2, cells), np.int64)

    def begin(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        batch = s.sources[s.first : s.first + s.width]
        s.first += s.width
        s.distance[:], s.paths[:], s.share[:] = np.inf, 0.0, 0.0
        at, column = sources.own(c, batch)
        s.origins = at * s.width + column
        s.distance[s.origins], s.paths[s.origins] = 0.0, 1.0
        s.levels = []
        self._wait(s, s.origins)

    def offer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        key = inbox.shipped("key")
        # hops are known from the number of the round
        reach = inbox.shipped("reach") if self.weighted else np.full(len(key), float(len(s.levels)))
        told, cells = (key, reach, inbox.shipped("paths")), (s.distance, s.paths, s.fresh)
        size = analytics._betweenness_rounds.take_offers(*told, *cells, s.front, s.waiting)
        front = s.front[:size].copy()
        s.fresh[front] = False
        if not self.weighted:
            s.levels.append(front)
        rows = c.indptr, s.slots, s.weights, s.width
        count, scanned = analytics._betweenness_rounds.offer(*rows, front, *cells, s.found)
        abroad = self._sort(c, s, count)
        s.fresh[abroad] = False
        to, key = self._owners(c, s, abroad)
        fields = {"key": key, "paths": s.paths[abroad]}
        if self.weighted:
            fields["reach"] = s.distance[abroad]
        # the front, not what was found: a ghost that was found may have a path already where it is at home
        return bsp.ship(to, **fields), bsp.vote(any=size), bsp.Note({"scanned": scanned})

    def spread(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        reached = self._reached(c, s)
        to, key, which = self._publish(s, reached)
        return bsp.ship(to, key=key, reach=s.distance[reached][which])

    def tally(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        s.distance[inbox.shipped("key")] = inbox.shipped("reach")
        s.paths[:], s.need[:] = 0.0, 0
        rows, cells = (c.indptr, s.slots, s.weights), (self._reached(c, s), s.distance, s.need)
        wrong, where = analytics._betweenness_rounds.tally(*rows, limit(c.weights), s.width, *cells)
        if wrong:
            raise OverflowError(TROUBLE[wrong].format(self._source(s, where)))
        own = c.size * s.width
        abroad = own + np.flatnonzero(s.need[own:])
        to, key = self._owners(c, s, abroad)
        sent = bsp.ship(to, key=key, other=s.need[abroad])
        s.need[own:] = 0
        return sent

    def expect(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        np.add.at(s.need, inbox.shipped("key"), inbox.shipped("other").astype(np.int32))
        s.paths[s.origins] = 1.0
        self._wait(s, s.origins)

    def advance(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        told = (inbox.shipped(name) for name in ("key", "paths", "other"))
        cells = s.paths, s.need
        size = analytics._betweenness_rounds.take_paths(*told, *cells, s.front, s.waiting)
        front = s.front[:size].copy()
        s.levels.append(front)
        rows = c.indptr, s.slots, s.weights, s.width, c.size, front
        count = analytics._betweenness_rounds.advance(*rows, s.distance, *cells, s.found)
        abroad = self._sort(c, s, count)
        to, key = self._owners(c, s, abroad)
        sent = bsp.ship(to, key=key, paths=s.paths[abroad], other=-s.need[abroad])
        s.paths[abroad], s.need[abroad] = 0.0, 0
        return sent, bsp.vote(any=size)

    def depend(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, level: int) -> bsp.Shipment:
        s.share[inbox.shipped("key")] = inbox.shipped("paths")
        cells = s.levels[level]
        if len(many := cells[np.isinf(s.paths[cells])]):
            raise OverflowError(TROUBLE[MANY].format(self._source(s, many[0])))
        rows, values = (c.indptr, s.slots, s.weights, s.width), (s.distance, s.paths, s.share)
        analytics._betweenness_rounds.depend(*rows, cells, *values, self.by_edge, *s.sums)
        to, key, which = self._publish(s, cells)
        return bsp.ship(to, key=key, paths=s.share[cells][which])

    def _wait(self, s: State, cells: NDArray) -> None:
        """Cells that are in the next front whatever arrives."""
        s.waiting = len(cells)
        s.front[: s.waiting] = cells

    def _sort(self, c: bsp.Cluster, s: State, count: int) -> NDArray:
        """Of the cells found, own ones wait for the next phase; those of ghosts are returned."""
        found = s.found[:count]
        own = found < c.size * s.width
        self._wait(s, found[own])
        return found[~own]

    def _reached(self, c: bsp.Cluster, s: State) -> NDArray:
        """Own cells with a distance."""
        return np.flatnonzero(np.isfinite(s.distance[: c.size * s.width]))

    def _source(self, s: State, cell: int) -> int:
        """The node that the search of a cell of this batch started from."""
        return int(s.sources[s.first - s.width + cell % s.width])

    def _owners(self, c: bsp.Cluster, s: State, ghosts: NDArray) -> tuple[NDArray, NDArray]:
        """The clusters that own some cells of ghosts, and the cells there."""
        slot, column = np.divmod(ghosts, s.width)
        slot -= c.size
        return s.home[slot], s.there[slot] * s.width + column

    def _publish(self, s: State, cells: NDArray) -> Any:
        """Where some own cells are ghosts; see `analytics._betweenness_rounds.publish`."""
        return analytics._betweenness_rounds.publish(cells, s.width, s.readers, s.peers, s.their)
