"""Check what algorithms require of a graph, where its clusters are and once per graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.thresholds import compiles
from dgsuite.partition.client.tasks import calls, submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import cluster_ranges, worker_addresses
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.data import GraphData

CHECKING = "checking the graph"

PYTHON = 100
"""Elements that NumPy takes while Python takes one."""


def check(graph: GraphData, need: str) -> None:
    """Check that a graph has a property that an algorithm requires.

    Parameters
    ----------
    need
        One of `NEEDS`.

    Raises
    ------
    InputError
        It does not. The message names a node or edge that shows it.
    """
    once(graph, need, NEEDS[need])


def once[G: GraphData](graph: G, what: str, function: Callable[[G], Any]) -> Any:
    """The result of a function of a graph, computed once. Other partitions of the graph share the cache."""
    return graph.cache.get(what, lambda: function(graph))


def of_clusters(
    graph: GraphData, function: Callable[[Cluster], Any], doing: str = CHECKING
) -> list[Any]:
    """Results of a function of every cluster, computed where the cluster is."""
    results = each_cluster(graph, function)
    if graph.client is None:
        return results
    return Watch(graph.client, doing, inputs=graph.parts).gather(results)


def each_cluster(graph: GraphData, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """As `of_clusters`, but futures if the clusters are on workers."""
    call = calls(graph.client)
    return [call(function, part, *arguments) for part in graph.parts]


def _all(graph: GraphData, problem: Callable[[Cluster], str | None]) -> None:
    """Raise `InputError` with the first problem that a function finds in a cluster."""
    for text in of_clusters(graph, problem):
        if text is not None:
            raise InputError(text)


# Connected graphs and trees: a spanning forest of each cluster, then of pairs of forests.


class Forest(NamedTuple):
    """A spanning forest of some edges of a graph.

    Attributes
    ----------
    n
        Number of nodes of the graph.
    src, dst
        Ends of the forest's edges.
    closing
        An edge that closes a cycle, or None.
    """

    n: int
    src: NDArray
    dst: NDArray
    closing: tuple[int, int] | None


def _unite(parent: NDArray, src: NDArray, dst: NDArray, kept: NDArray) -> None:
    """Union-find with path halving: marks the edges that join two trees."""
    for i in range(len(src)):
        u, v = src[i], dst[i]
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        if u != v:
            kept[i] = True
            if u < v:
                parent[v] = u
            else:
                parent[u] = v


def _span(parent: NDArray, src: NDArray, dst: NDArray) -> NDArray[np.bool_]:
    """A mask of the edges that a spanning forest keeps, whose trees so far `parent` has; it is updated."""
    kept = np.zeros(len(src), bool)
    unite = _compiled_unite() if compiles(PYTHON * len(src)) else _unite
    unite(parent, src, dst, kept)
    return kept


@cache
def _compiled_unite() -> Callable[..., None]:
    from dgsuite.base.compiling import compiled

    compiled_unite: Callable[..., None] = compiled(_unite)
    return compiled_unite


def _forest(*clusters: Cluster) -> Forest:
    """The spanning forest of the edges whose smaller end, or source, is in one of some clusters."""
    return _thinned(clusters[0].n, map(_once, clusters))


def _once(c: Cluster) -> tuple[NDArray, NDArray]:
    """The edges of a cluster; undirected ones where their smaller end is."""
    at, ends = c.edges(np.arange(c.size))
    once = slice(None) if c.directed else c.ids[at] < ends
    return c.ids[at[once]], ends[once].astype(np.int64)


def _join(a: Forest, b: Forest) -> Forest:
    """The spanning forest of the edges of two forests."""
    both = _thinned(a.n, [(a.src, a.dst), (b.src, b.dst)])
    return both._replace(closing=a.closing or b.closing or both.closing)


def _thinned(n: int, parts: Iterable[tuple[NDArray, NDArray]]) -> Forest:
    """The spanning forest of edges, which come in parts."""
    parent = np.arange(n)
    kept: list[tuple[NDArray, NDArray]] = []
    closing = None
    for src, dst in parts:
        some = _span(parent, src, dst)
        if closing is None and not some.all():
            first = int(np.argmin(some))
            closing = int(src[first]), int(dst[first])
        kept.append((src[some], dst[some]))
    src, dst = (np.concatenate(ends) for ends in zip(*kept, strict=True))
    return Forest(n, src, dst, closing)


def _trees(forest: Forest) -> NDArray[np.int64]:
    """The parent of each node in union-find; a tree's root is its smallest node."""
    parent = np.arange(forest.n)
    _span(parent, forest.src, forest.dst)
    return parent


def _stranded(forest: Forest) -> int | None:
    """A node that node 0 does not reach, or None."""
    if len(forest.src) == forest.n - 1:
        return None
    # node 0 does not reach the second root
    return int(np.flatnonzero(_trees(forest) == np.arange(forest.n))[1])


def _summary(forest: Forest) -> tuple[int | None, tuple[int, int] | None]:
    return _stranded(forest), forest.closing


def _roots(forest: Forest) -> NDArray[np.int64]:
    """The smallest node of each node's tree."""
    parent = _trees(forest)
    while not np.array_equal(above := parent[parent], parent):
        parent = above
    return parent


def _of_forest(graph: GraphData, function: Callable[[Forest], Any]) -> Any:
    """Result of a function of a spanning forest of the graph."""
    if (client := graph.client) is None:
        return function(_forest(*graph.parts))
    # a forest takes time for every node of the graph, so there is one a worker, not one a cluster
    ranges = cluster_ranges(len(graph.parts), len(worker_addresses(client)))
    forests = [submitted(client, _forest, *graph.parts[a:b]) for a, b in pairwise(ranges.tolist())]
    while len(forests) > 1:
        pairs = zip(forests[::2], forests[1::2], strict=False)
        joined = [submitted(client, _join, a, b) for a, b in pairs]
        forests = joined + forests[len(joined) * 2 :]
    of_all = submitted(client, function, *forests)
    (found,) = Watch(client, CHECKING, inputs=graph.parts).gather([of_all])
    return found


def components(graph: GraphData) -> NDArray[np.int64]:
    """The smallest node of each node's component, shape (n,); edges have no direction."""
    found: NDArray[np.int64] = _of_forest(graph, _roots)
    return found


def _shape(graph: GraphData) -> tuple[int | None, tuple[int, int] | None]:
    """A node that node 0 does not reach, and an edge that closes a cycle; None if there is none."""
    found: tuple[int | None, tuple[int, int] | None] = _of_forest(graph, _summary)
    return found


def check_connected(graph: GraphData) -> None:
    """Check that node 0 reaches all other nodes."""
    stranded, _ = _shape(graph)
    if stranded is not None:
        raise InputError(
            f"the graph is not connected: there is no path from node 0 to node {stranded}; "
            f"graph.component() is its largest component"
        )


def check_tree(graph: GraphData) -> None:
    """Check that a graph is connected and has no cycle."""
    stranded, closing = _shape(graph)
    if closing is not None:
        raise InputError(
            f"the graph is not a tree: edge ({closing[0]}, {closing[1]}) closes a cycle, so node "
            f"{closing[0]} is on one"
        )
    if stranded is not None:
        raise InputError(
            f"the graph is not a tree: there is no path from node 0 to node {stranded}"
        )


# Rings and weights.


def check_ring(graph: GraphData) -> None:
    """Check that the graph is the ring 0, 1, ..., n - 1, 0."""
    _all(graph, _off_ring)


def _off_ring(c: Cluster) -> str | None:
    at, ends = c.edges(np.arange(c.size))
    linked = np.zeros(c.size, bool)
    linked[at[ends == c.successor[at]]] = True
    wrong = np.flatnonzero(~linked | (c.degree > 2))
    if c.n > 1 and len(wrong):
        node = int(c.ids[wrong[0]])
        return f"node {node} is not on a ring: its neighbours must be the nodes before and after it"
    return None


def check_complete(graph: GraphData) -> None:
    """Check that each two nodes are neighbours."""
    _all(graph, _not_beside)


def _not_beside(c: Cluster) -> str | None:
    few = np.flatnonzero(c.degree < c.n - 1)
    if not len(few):
        return None
    node = few[0]
    return (
        f"node {c.ids[node]} has {c.degree[node]} neighbours: in a complete graph each node has the "
        f"{c.n - 1} others"
    )


def check_weights(graph: GraphData) -> None:
    """Check that no weight is negative."""
    _all(graph, _negative)


def _negative(c: Cluster) -> str | None:
    if c.weights is None or not (c.weights < 0).any():
        return None
    at, ends = c.edges(np.arange(c.size))
    i = int(np.argmax(c.weights < 0))
    return f"edge ({c.ids[at[i]]}, {ends[i]}) has the negative weight {c.weights[i]}"


NEEDS: dict[str, Callable[[GraphData], None]] = {
    "complete": check_complete,
    "connected": check_connected,
    "non-negative weights": check_weights,
    "ring": check_ring,
    "tree": check_tree,
}
"""Checks of the properties that algorithms require, by name."""


def check_graph(graph: object) -> None:
    """See that what was given as a graph is one.

    Raises
    ------
    InputError
        It is something else.
    """
    if not isinstance(graph, GraphData):
        raise InputError(
            f"graph must be a dgsuite.Graph, got {type(graph).__name__}; "
            f"make one with Graph.from_dataframe, from_networkx, from_edges, from_scipy or a reader"
        )
