"""Minimum and maximum spanning trees, by the kernel `mst`.

Of edges that weigh the same, networkx takes the one that comes first in its order of edges. So the kernel
gets the places of edges in the order of their weights in place of the weights, of which no two are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import dgsuite
from dgsuite.faces.nx_backend.calls import PARALLEL, How, Offered, Way
from dgsuite.faces.nx_backend.graph import ConvertedGraph

OTHERS = ("prim", "boruvka", "borůvka")


def _forest(G: ConvertedGraph, weight: str | None, heaviest: bool, how: How) -> NDArray[np.int64]:
    """The edges of the spanning forest, in the order in which Kruskal's algorithm takes them."""
    if not len(G):
        return np.empty(0, np.int64)
    values = G.weight(weight)
    count = len(G.source)
    order = np.arange(count) if values is None else _sorted(values, heaviest)
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    way = Way.of(how)
    made: Any = {"duplicates": "min", "clusters": way.clusters, "client": way.client}
    graph = dgsuite.Graph.from_edges(G.source, G.target, n=len(G), weights=place, **made)
    ds = dgsuite.run("mst", graph, style=way.style, client=way.client)
    parent = ds["parent"].values.astype(np.int64)
    child = np.flatnonzero(parent >= 0)
    return order[np.sort(place[_edges(G, child, parent[child])])]


def _sorted(values: NDArray, falling: bool) -> NDArray[np.int64]:
    """The order of values, which need no negation, as not all integers have one; equal ones as they come."""
    if not falling:
        return np.argsort(values, kind="stable")
    return len(values) - 1 - np.argsort(values[::-1], kind="stable")[::-1]


def _edges(G: ConvertedGraph, one: NDArray, other: NDArray) -> NDArray[np.int64]:
    """Where the edges between some nodes are among the graph's edges."""
    keys = G.source * len(G) + G.target  # the source comes first, in an undirected graph
    order = np.argsort(keys)
    wanted = np.minimum(one, other) * len(G) + np.maximum(one, other)
    return order[np.searchsorted(keys, wanted, sorter=order)]


def _spanning_edges(
    G: ConvertedGraph, algorithm: str, weight: str | None, data: bool, heaviest: bool, how: How
) -> Iterator[tuple[Any, ...]]:
    if G.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if algorithm not in {"kruskal"}:
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    found = _forest(G, weight, heaviest, how)
    ends = [G.of(G.source[found]), G.of(G.target[found])]
    if not data:
        return zip(*ends, strict=True)
    edge_data = G.data()
    return zip(*ends, [edge_data[i] if edge_data else {} for i in found.tolist()], strict=True)


def _edges_of(name: str, heaviest: bool) -> Offered:
    def function(
        G: ConvertedGraph,
        algorithm: str,
        weight: str | None,
        keys: bool,
        data: bool,
        ignore_nan: bool,
        **how: Any,
    ) -> Iterator[tuple[Any, ...]]:
        """Edges of a spanning tree, or forest, of the least or the most weight."""
        return _spanning_edges(G, algorithm, weight, data, heaviest, how)

    return Offered(function, name)


def _tree_of(name: str, heaviest: bool) -> Offered:
    def function(
        G: ConvertedGraph, weight: str | None, algorithm: str, ignore_nan: bool, **how: Any
    ) -> nx.Graph:
        """A spanning tree, or forest, of the least or the most weight."""
        tree = G.kind()
        tree.graph.update(G.graph_data)
        data = G.node_data
        tree.add_nodes_from(G.nodes if data is None else zip(G.nodes, data, strict=True))
        tree.add_edges_from(_spanning_edges(G, algorithm, weight, True, heaviest, how))
        return tree

    return Offered(function, name)


minimum_spanning_edges = _edges_of("minimum_spanning_edges", heaviest=False)
maximum_spanning_edges = _edges_of("maximum_spanning_edges", heaviest=True)
minimum_spanning_tree = _tree_of("minimum_spanning_tree", heaviest=False)
maximum_spanning_tree = _tree_of("maximum_spanning_tree", heaviest=True)


@minimum_spanning_edges.unless
@maximum_spanning_edges.unless
@minimum_spanning_tree.unless
@maximum_spanning_tree.unless
def _(G: Any, algorithm: str, data: Any = True, **_: Any) -> str | None:
    if G.is_multigraph():
        return PARALLEL
    if algorithm in OTHERS:
        return f"algorithm {algorithm!r}: edges are those of Kruskal's algorithm, in its order"
    return None if isinstance(data, bool) else f"data must be True or False, not {data!r}"
