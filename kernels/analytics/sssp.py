"""Shortest paths by delta-stepping (Meyer and Sanders 2003; Graph500 kernel 3).

Nodes wait in buckets by their distance, each as wide as delta. The first bucket that is not empty is
emptied: its nodes send offers over light edges, no heavier than delta, each time their distance falls;
when all are settled, over heavy edges, once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

import kernels.base as bsp
from partition.segments import distinct, expand
from partition.weights import spread

if TYPE_CHECKING:
    from partition.graph import Graph

FACTOR = 8
"""The fastest on Kronecker graphs, and nearly so on grids: smaller deltas make more rounds, larger ones
more messages."""

LAST = 2.0**62
"""The last bucket, which also holds all nodes that are farther away."""

WHOLE = 2.0**53
"""Whole numbers below it are exact in float64, and so are their sums that are below it."""

LARGEST = float(np.finfo(np.float64).max)


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    distance: NDArray[np.float64]
    parent: NDArray[np.int32]
    weights: NDArray[np.float64]
    limit: float  # distances below it are exact
    waiting: NDArray[np.int64]  # nodes that have not sent their distance
    settled: NDArray[np.int64] = (
        bsp.no_nodes()
    )  # nodes of the bucket that have sent over light edges


@dataclass(frozen=True)
class ShortestPaths(bsp.Kernel):
    """Distances from a root and a tree of shortest paths.

    Outputs ``distance``, infinite where there is no way, and ``parent``, -1 there; the root is its own
    parent. Edges weigh 1 where the graph has no weights.

    Parameters
    ----------
    root
        Node to start from.
    delta
        Width of a bucket, above 0. With infinity all nodes share one, as in Bellman and Ford's algorithm.
        By default it is chosen by the graph, see `suited`; the dataset's parameters say what it is.
    """

    root: bsp.Node = bsp.FIRST
    delta: float | None = None

    name = "sssp"
    outputs = {
        "distance": bsp.Output("length of the shortest path from the root"),
        "parent": bsp.Output("node before it on the path, {none} where unreached", nodes=True),
    }
    fields = {"distance": np.float64}
    needs = ("non-negative weights",)
    undirected = False

    def check(self, c: bsp.Cluster) -> str | None:
        if wrong := bsp.no_node("root", self.root, c.n):
            return wrong
        if not self.width > 0:
            return f"delta must be above 0, got {self.delta}"
        return None

    def suited(self, graph: Graph) -> Self:
        """With a delta, if it has none: `FACTOR` times the mean weight, divided by the mean number of
        neighbours, but no less than the smallest weight; infinite where all edges weigh the same. (Of
        weights above 0. The mean is that of `partition.weights`, the same for every cut.)
        """
        if self.delta is not None:
            return self
        weights = spread(graph)
        if weights.least >= weights.most:
            return replace(self, delta=np.inf)
        neighbours = sum(graph.entries) / graph.n
        return replace(self, delta=max(FACTOR * weights.mean / neighbours, weights.least))

    @property
    def width(self) -> float:
        """Width of a bucket."""
        return np.inf if self.delta is None else self.delta

    def program(self, net: bsp.Net) -> bsp.Program:
        bucket = 0
        while True:
            yield from bsp.until_quiet(self.light, self.relax, bucket=bucket)
            left = yield bsp.Round(self.heavy, self.relax, closing=True, bucket=bucket)
            if left.min is None:
                return
            bucket = max(bucket, left.min)

    def start(self, c: bsp.Cluster) -> State:
        root = c.local(self.root)
        distance, parent = c.full(np.inf), c.full(-1, np.int32)
        distance[root], parent[root] = 0, self.root
        weights = np.ones(len(c.indices)) if c.weights is None else c.weights
        return State.of(
            c,
            distance=distance,
            parent=parent,
            weights=weights.astype(np.float64),
            limit=LARGEST if weights.dtype.kind == "f" else WHOLE,
            waiting=root,
        )

    def light(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, bucket: int) -> bsp.Unicast:
        here = self.buckets(s, s.waiting) <= bucket
        nodes, s.waiting = s.waiting[here], s.waiting[~here]
        s.settled = distinct(np.append(s.settled, nodes))
        return self.tell(c, s, nodes, light=True)

    def heavy(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes, s.settled = s.settled, s.settled[:0]
        far = nodes[s.distance[nodes] >= s.limit]
        if len(far):
            most = "be below 2^53 to be exact" if s.limit == WHOLE else "fit a float64"
            raise OverflowError(
                f"the distance of node {c.ids[far[0]]} must {most}; divide the weights by a common factor"
            )
        return self.tell(c, s, nodes, light=False)

    def relax(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, bucket: int) -> bsp.Vote:
        nodes, least = inbox.min("distance")
        better = least < s.distance[nodes]
        s.distance[nodes[better]] = least[better]
        # of those that offered the least the one with the smallest id: messages come by sender
        node, source = inbox.node, inbox.src
        best = np.isin(node, nodes[better]) & (inbox["distance"] == s.distance[node])
        winners, first = np.unique(node[best], return_index=True)
        s.parent[winners] = source[best][first]
        s.waiting = distinct(np.append(s.waiting, winners))
        buckets = self.buckets(s, s.waiting)
        low = int(buckets.min()) if len(buckets) else None
        return bsp.vote(any=low is not None and low <= bucket, min=low)

    def buckets(self, s: State, nodes: NDArray) -> NDArray[np.int64]:
        """The bucket of each of some nodes."""
        distance = s.distance[nodes]
        np.minimum(distance, LAST * self.width, out=distance)
        return (distance // self.width).astype(np.int64)

    def tell(self, c: bsp.Cluster, s: State, nodes: NDArray, light: bool) -> bsp.Unicast:
        """Nodes offer their neighbours a path over light edges, or over heavy ones."""
        at, entry = expand(c.indptr, nodes)
        chosen = (s.weights[entry] <= self.width) == light
        at, entry = at[chosen], entry[chosen]
        with np.errstate(over="ignore"):
            distance = s.distance[nodes[at]] + s.weights[entry]
        # infinity is kept for nodes that are out of reach
        np.minimum(distance, LARGEST, out=distance)
        return bsp.unicast(c.indices[entry].astype(np.int64), nodes[at], distance=distance)
