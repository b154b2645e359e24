"""Check what algorithms require of a graph, where its clusters are and once per graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.client.tasks import calls, submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import cluster_ranges, worker_addresses
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.construction.build import id_dtype
from dgsuite.partition.graph.data import GraphData

CHECKING = "checking the graph"


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
    graph: GraphData, function: Callable[..., Any], doing: str = CHECKING, *arguments: Any
) -> list[Any]:
    """Results of a function of every cluster, computed where the cluster is."""
    results = each_cluster(graph, function, *arguments)
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


# Connected graphs and trees: the components of some clusters' edges, then of pairs of those.


def _connected(n: int, src: NDArray, dst: NDArray) -> NDArray:
    """The smallest node of each node's component, shape (n,), given edges without directions."""
    root: NDArray = np.arange(n, dtype=id_dtype(n))
    while len(src):
        # trees of nodes: the root of each joins the tree of the smallest root that an edge leads to
        u, v = root[src], root[dst]
        np.minimum.at(root, np.maximum(u, v), np.minimum(u, v))
        while not np.array_equal(above := root[root], root):
            root = above
        apart = root[src] != root[dst]
        src, dst = src[apart], dst[apart]
    return root


def _of_edges(*clusters: Cluster) -> NDArray:
    """The smallest node of each node's component by the edges of some clusters."""
    n = clusters[0].n
    src = np.concatenate([np.repeat(c.ids, c.degree) for c in clusters])
    return _connected(n, src, np.concatenate([c.indices for c in clusters]))


def _join(one: NDArray, other: NDArray) -> NDArray:
    """The components of two sets of edges together."""
    nodes = np.arange(len(one))
    return _connected(len(one), np.append(nodes, nodes), np.append(one, other))


def components(graph: GraphData) -> NDArray:
    """The smallest node of each node's component, shape (n,); edges have no direction."""
    if (client := graph.client) is None:
        return _of_edges(*graph.parts)
    # components take time for every node of the graph, so they are found once a worker, not once a cluster
    ranges = cluster_ranges(len(graph.parts), len(worker_addresses(client)))
    found = [submitted(client, _of_edges, *graph.parts[a:b]) for a, b in pairwise(ranges.tolist())]
    while len(found) > 1:
        pairs = zip(found[::2], found[1::2], strict=False)
        joined = [submitted(client, _join, a, b) for a, b in pairs]
        found = joined + found[len(joined) * 2 :]
    (roots,) = Watch(client, CHECKING, inputs=graph.parts).gather(found)
    return roots


def check_connected(graph: GraphData) -> None:
    """Check that node 0 reaches all other nodes."""
    apart = np.flatnonzero(components(graph))
    if len(apart):
        raise InputError(
            f"the graph is not connected: there is no path from node 0 to node {apart[0]}; "
            f"graph.component() is its largest component"
        )


def check_tree(graph: GraphData) -> None:
    """Check that a graph is connected and has no cycle."""
    found = components(graph)
    trees = len(np.unique(found))
    if graph.m > graph.n - trees:
        raise InputError(
            f"the graph is not a tree: it has a cycle, since {graph.m} edges join its {graph.n} nodes into "
            f"{trees} components"
        )
    if trees > 1:
        raise InputError(
            f"the graph is not a tree: there is no path from node 0 to node {np.flatnonzero(found)[0]}"
        )


# Rings and weights.


def _off_ring(c: Cluster) -> str | None:
    """What is wrong where the graph is not the ring 0, 1, ..., n - 1, 0."""
    at, ends = c.edges(np.arange(c.size))
    linked = np.zeros(c.size, bool)
    linked[at[ends == c.successor[at]]] = True
    wrong = np.flatnonzero(~linked | (c.degree > 2))
    if c.n > 1 and len(wrong):
        node = int(c.ids[wrong[0]])
        return f"node {node} is not on a ring: its neighbours must be the nodes before and after it"
    return None


def _not_beside(c: Cluster) -> str | None:
    """What is wrong where two nodes are no neighbours."""
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
    "complete": partial(_all, problem=_not_beside),
    "connected": check_connected,
    "non-negative weights": check_weights,
    "ring": partial(_all, problem=_off_ring),
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
