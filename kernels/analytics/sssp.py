"""Shortest paths by delta-stepping (Meyer and Sanders 2003; Graph500 kernel 3).

Nodes wait in buckets by their distance, each as wide as delta. The first bucket that is not empty is
emptied: its nodes tell their neighbours their distance, each time it falls. Light and heavy edges are not
told apart (as in the GAP benchmark suite: Beamer, Asanovic and Patterson 2015): where buckets are narrow,
few distances fall twice.

With several sources all of them begin at distance 0, and the nearest one is the root of the tree that a node
is in (Erwig 2000, "The graph Voronoi diagram with applications"). The root above each node of a forest is
found by pointer jumping (JaJa 1992, An Introduction to Parallel Algorithms, section 2.2): a node asks the
ancestor that it knows for that one's, so its way doubles each time.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.trouble import WHOLE
from dgsuite.kernels.tools import sources
from dgsuite.partition.arrays.segments import SORTED_FRACTION, put
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.measures import spread

FACTOR = 4
"""The fastest on Kronecker graphs, as are 2 and 8 nearly: smaller deltas make more rounds, larger ones more
messages."""

LAST = 2.0**62
"""Nodes that are at least so many buckets away are all in the last one."""

LARGEST = float(np.finfo(np.float64).max)


class Climbing(bsp.Kernel):
    """A kernel whose nodes have a ``parent``, -1 for none, and look for their roots, which are their own.

    Its state has an array ``top`` as well, int64: an ancestor, or -1 - root where the root is known. So has a
    message: a field ``top``.
    """

    def climb(self, n: int) -> Generator[bsp.Round | bsp.Finish, bsp.Reply, bool]:
        """Find the roots; after so many rounds that nodes have none whose ancestors are on a cycle."""
        reply = yield bsp.Round(self.stand, opening=True)
        for _ in range(n.bit_length()):
            if not reply.any:
                return False
            reply = yield bsp.Round(self.ask, self.answer, self.take)
        return bool(reply.any)

    def stand(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Vote:
        s.top = np.where(s.parent == c.ids, -1 - c.ids, s.parent)
        return bsp.vote(any=s.top >= 0)

    def ask(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes = np.flatnonzero(s.top >= 0)
        return bsp.unicast(s.top[nodes], nodes)

    def answer(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Unicast:
        return bsp.unicast(inbox.src, inbox.node, top=s.top[inbox.node])

    def take(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Vote:
        s.top[inbox.node] = inbox["top"]
        return bsp.vote(any=s.top >= 0)


@dataclass(eq=False)
class Paths(bsp.ClusterState):
    """What the nodes of a cluster know of the paths that lead to them."""

    distance: NDArray[np.float64]
    parent: bsp.NodeIds


@dataclass(eq=False)
class State(Paths):
    """What the nodes of a cluster know."""

    # nodes that were first reached in a later bucket, in no order; some have come nearer since
    far: NDArray[np.int64]
    top: NDArray[np.int64] = bsp.later()  # of several sources: see `Climbing`
    source: bsp.NodeIds = bsp.later()


@dataclass(frozen=True)
class ShortestPaths(bsp.Kernel):
    """Distances from a root and a tree of shortest paths, or from the nearest of several sources.

    Outputs ``distance``, infinite where there is no way, and ``parent``, -1 there, or an empty text where
    labels are texts; the root is its own parent.
    With `sources` each of them is, and there is a third output, ``source``: the nearest of them.
    Weights are lengths; edges are 1 long where the graph has none.

    Parameters
    ----------
    root
        Node to start from.
    delta
        Width of a bucket, above 0. With infinity all nodes share one, as in Bellman and Ford's algorithm.
        By default it is chosen by the graph, see `with_delta`; the dataset's parameters say what it is.
    sources
        Different nodes to start from, all at distance 0; the first of them is then the root. Of several that
        are as near, ``source`` is that of the path that `parent` is on.

    Notes
    -----
    Rounds: one or more for each bucket; where `delta` is infinite, one for each hop of the longest shortest
    path and one more. With sources, as many more as the longest path in the tree has binary digits.

    Exchanges: at most ``2 * rounds``.

    Messages: at most ``rounds * 2 * arcs``; about ``arcs`` where buckets are narrow.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[1, 1, 5])
    >>> ds = dgsuite.run("sssp", graph)
    >>> ds.distance.values
    array([0., 1., 2.])
    >>> ds.parent.values
    array([0, 0, 1], dtype=int32)

    The nearer one of two sources:

    >>> ds = dgsuite.run("sssp", graph, sources=[0, 2])
    >>> ds.distance.values, ds.source.values
    (array([0., 1., 0.]), array([0, 0, 2], dtype=int32))
    """

    root: bsp.Node = bsp.FIRST
    delta: float | None = None
    sources: Sequence[bsp.Node] | None = None

    name = "sssp"
    obeys = bsp.Model("edges", reduces="data")
    streams = True
    outputs = {
        "distance": bsp.Output("length of the shortest path from the root", from_root=True),
        "parent": bsp.Output("node before it on the path, {none} where unreached", nodes=True),
    }
    fields = {"distance": np.float64}
    needs = ("non-negative weights",)
    weighs = True
    undirected = False
    pulls = True
    prepares = ("nearer",)

    def check(self, c: bsp.Cluster) -> str | None:
        if not self.width > 0:
            return f"delta must be above 0, got {self.delta}"
        return sources.wrong(self.sources, c.n, some=True)

    def suited(self, graph: Graph) -> ShortestPaths:  # type: ignore[override]
        """With a delta; and the kernel for several sources, where there are some."""
        if self.sources is None:
            return self.with_delta(graph)
        return NearestSource(**started(self)).with_delta(graph)

    def with_delta(self, graph: Graph) -> Self:
        """With a delta, if it has none: `FACTOR` times the mean weight, divided by the mean number of
        neighbours, but no less than the smallest weight; infinite where all edges weigh the same. (Of
        weights above 0. The mean is that of `dgsuite.partition.graph.measures`, the same for every cut.)
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
        least: float | None = 0.0
        while least is not None:
            end = self.end(least)
            yield bsp.Round(self.empty, least=least, end=end, opening=True)
            least = 0.0
            while least is not None and least < end:
                least = (yield bsp.Round(self.relax, end=end)).min
        yield bsp.Round(self.verify, closing=True)

    def end(self, distance: float) -> float:
        """Where the bucket of a distance ends."""
        if distance >= LAST * self.width:
            return np.inf
        return max((distance // self.width + 1) * self.width, float(np.nextafter(distance, np.inf)))

    def start(self, c: bsp.Cluster) -> State:
        distance, parent, starts = begun(self, c)
        return State.of(c, distance=distance, parent=parent, far=starts)

    def empty(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, least: float, end: float
    ) -> bsp.Broadcast:
        """Nodes of a bucket, from `least` to below `end`, tell their distance."""
        distance = s.distance[s.far]
        near = (distance >= least) & (distance < end)
        due, s.far = s.far[near], s.far[distance >= end]
        if SORTED_FRACTION * len(due) > c.size:
            due = np.flatnonzero((s.distance >= least) & (s.distance < end))
        else:
            due.sort()
        return bsp.broadcast(due, distance=s.distance[due])

    def relax(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, end: float) -> bsp.Sent:
        """Nodes that come nearer tell so, or wait; the vote is the least distance told, else that waits."""
        nodes, offer, source = inbox.nearer("distance")
        known = s.distance[nodes]
        nearer = offer < known  # all but those where paths start
        if not nearer.all():
            nodes, offer, source, known = (some[nearer] for some in (nodes, offer, source, known))
        put(s.distance, nodes, offer)
        put(s.parent, nodes, source)
        near = offer < end
        s.far = np.append(s.far, nodes[~near & (known == np.inf)])  # the others are in it
        if near.any():
            due = nodes[near]
            return bsp.broadcast(due, distance=offer[near]), bsp.vote(min=offer[near])
        distance = s.distance[s.far]
        return bsp.vote(min=distance[distance >= end])

    def verify(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        check_distances(c, s.distance)


def started(kernel: bsp.Kernel) -> dict[str, Any]:
    """The parameters of a kernel with sources, of which the first is the root."""
    values = {field.name: getattr(kernel, field.name) for field in fields(kernel)}
    first = {"root": int(values["sources"][0])} if len(values["sources"]) else {}
    return values | first


def begun(kernel: Any, c: bsp.Cluster) -> tuple[NDArray[np.float64], bsp.NodeIds, NDArray]:
    """First distances and parents of a cluster's nodes, and those of them where paths start, ascending: the
    sources of a kernel, else its root.
    """
    given = [kernel.root] if kernel.sources is None else kernel.sources
    own = np.sort(sources.own(c, sources.chosen(given, c.n, kernel.seed))[0])
    distance, parent = c.full(np.inf), c.full(-1, bsp.node_dtype(c))
    distance[own], parent[own] = 0, c.ids[own]
    return distance, parent, own


def check_distances(c: bsp.Cluster, distance: NDArray[np.float64]) -> None:
    """See that distances are exact where weights are whole, and finite where there is a way.

    Raises
    ------
    OverflowError
        One is not.
    """
    exact = c.weights is None or c.weights.dtype.kind == "f"
    limit = LARGEST if exact else WHOLE
    far = np.flatnonzero((distance >= limit) & (distance < np.inf))
    if len(far):
        most = "fit a float64" if exact else "be below 2^53 to be exact"
        raise OverflowError(
            f"the distance of node {c.ids[far[0]]} must {most}; divide the weights by a common factor"
        )


class Nearest(Climbing):
    """Looks for the sources, after paths have been found."""

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        yield from self.climb(net.n)
        yield bsp.Round(self.name_source, closing=True)

    def name_source(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> None:
        s.source = np.where(s.parent < 0, -1, -1 - s.top).astype(s.parent.dtype)


@dataclass(frozen=True)
class NearestSource(Nearest, ShortestPaths):
    """Shortest paths from several sources; see `ShortestPaths`."""

    obeys = bsp.Model("nodes", reduces="data")
    outputs = {
        **ShortestPaths.outputs,
        "source": bsp.Output("nearest of the sources, {none} where unreached", nodes=True),
    }
    fields = {**ShortestPaths.fields, "top": np.int64}
