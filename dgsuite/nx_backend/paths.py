"""Distances and shortest paths, by the kernels `bfs` and `sssp`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import inf
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.nx_backend.calls import CALLABLE, Offered, run
from dgsuite.nx_backend.graph import ConvertedGraph


def _nearest(root: int, distance: NDArray, cutoff: float) -> NDArray[np.int64]:
    """Numbers of the nodes whose distance is from 0 to the cutoff, by distance; the root first, always."""
    near = np.flatnonzero((distance >= 0) & (distance <= cutoff))
    near = near[np.argsort(distance[near], kind="stable")]
    return np.concatenate([[root], near[near != root]])


def lengths_of(G: ConvertedGraph, root: int, level: NDArray, cutoff: float) -> dict[Hashable, int]:
    """Hops to each node that is reached, which has no level of -1."""
    near = _nearest(root, level, cutoff)
    return dict(zip(G.of(near), level[near].tolist(), strict=True))


class Tree:
    """A tree of shortest paths from a node.

    Attributes
    ----------
    reached
        Numbers of the nodes that paths lead to, by distance; the first is the root's.
    distance
        Their distances: Python's numbers, as networkx adds them up.
    """

    def __init__(
        self, G: ConvertedGraph, root: int, distance: NDArray, parent: NDArray, cutoff: float | None
    ) -> None:
        self.reached = _nearest(
            root, np.where(parent >= 0, distance, -1), inf if cutoff is None else cutoff
        )
        self.distance = [0, *distance[self.reached[1:]].tolist()]
        self._nodes, self._parent = G.of(self.reached), parent

    def lengths(self) -> dict[Hashable, Any]:
        """Distance of each node that is reached."""
        return dict(zip(self._nodes, self.distance, strict=True))

    def paths(self, *, reverse: bool = False) -> dict[Hashable, list[Hashable]]:
        """A shortest path to each node that is reached; with `reverse`, from it."""
        found: dict[int, list[Hashable]] = {}
        node = dict(zip(self.reached.tolist(), self._nodes, strict=True))
        root = int(self.reached[0])
        found[root] = [node[root]]
        parent = dict(zip(node, self._parent[self.reached].tolist(), strict=True))
        for end in node:
            steps = []
            while end not in found:  # edges of length 0 may put a parent after its child
                steps.append(end)
                end = parent[end]
            for step in reversed(steps):
                path = found[parent[step]]
                found[step] = [node[step], *path] if reverse else [*path, node[step]]
        return {node[number]: found[number] for number in node}


def _search(
    G: ConvertedGraph,
    root: Hashable,
    cutoff: float | None,
    how: Mapping[str, Any],
    reverse: bool = False,
) -> Tree:
    """A tree of paths of the fewest hops."""
    number = G.number[root]
    ds = run("bfs", G, how, any_weight=True, reverse=reverse, root=number)
    return Tree(G, number, ds["level"].values, ds["parent"].values, cutoff)


def _dijkstra(
    G: ConvertedGraph,
    source: Hashable,
    cutoff: float | None,
    weight: str | None,
    how: Mapping[str, Any],
) -> Tree:
    """A tree of shortest paths."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if weight is None:  # every edge is 1 long
        return _search(G, source, cutoff, how)
    values = G.weight(weight)
    if values is not None and (values < 0).any():
        raise NotImplementedError(f"an edge has a negative {weight}")
    number = G.number[source]
    ds = run("sssp", G, how, weight=weight, root=number)
    distance = ds["distance"].values
    if values is None or values.dtype.kind == "i":
        distance = np.where(np.isfinite(distance), distance, -1).astype(np.int64)
    return Tree(G, number, distance, ds["parent"].values, cutoff)


@Offered
def single_source_shortest_path_length(
    G: ConvertedGraph, source: Hashable, cutoff: float | None = None, **how: Any
) -> dict[Hashable, int]:
    """Hops from a node."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return _search(G, source, cutoff, how).lengths()


@Offered
def single_target_shortest_path_length(
    G: ConvertedGraph, target: Hashable, cutoff: float | None = None, **how: Any
) -> dict[Hashable, int]:
    """Hops to a node."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return _search(G, target, cutoff, how, reverse=True).lengths()


@Offered
def single_source_shortest_path(
    G: ConvertedGraph, source: Hashable, cutoff: float | None = None, **how: Any
) -> dict[Hashable, list[Hashable]]:
    """A path of the fewest hops to each node."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return _search(G, source, cutoff, how).paths()


@Offered
def single_target_shortest_path(
    G: ConvertedGraph, target: Hashable, cutoff: float | None = None, **how: Any
) -> dict[Hashable, list[Hashable]]:
    """A path of the fewest hops from each node."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} not in G")
    return _search(G, target, cutoff, how, reverse=True).paths(reverse=True)


@Offered
def descendants(G: ConvertedGraph, source: Hashable, **how: Any) -> set[Hashable]:
    """Nodes that can be reached from a node, without that node."""
    return _reached(G, source, how, reverse=False)


@Offered
def ancestors(G: ConvertedGraph, source: Hashable, **how: Any) -> set[Hashable]:
    """Nodes from which a node can be reached, without that node."""
    return _reached(G, source, how, reverse=True)


def _reached(
    G: ConvertedGraph, source: Hashable, how: Mapping[str, Any], reverse: bool
) -> set[Hashable]:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return set(G.of(_search(G, source, None, how, reverse).reached[1:]))


@Offered
def descendants_at_distance(
    G: ConvertedGraph, source: Hashable, distance: int, **how: Any
) -> set[Hashable]:
    """Nodes at a number of hops from a node."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    lengths = _search(G, source, None, how).lengths()
    return {node for node, hops in lengths.items() if hops == distance}


@Offered
def single_source_dijkstra_path_length(
    G: ConvertedGraph,
    source: Hashable,
    cutoff: float | None = None,
    weight: str | None = "weight",
    **how: Any,
) -> dict[Hashable, Any]:
    """Distances from a node."""
    return _dijkstra(G, source, cutoff, weight, how).lengths()


@Offered
def single_source_bellman_ford_path_length(
    G: ConvertedGraph, source: Hashable, weight: str | None = "weight", **how: Any
) -> dict[Hashable, Any]:
    """Distances from a node; none of the weights may be negative."""
    return _dijkstra(G, source, None, weight, how).lengths()


@Offered
def single_source_dijkstra_path(
    G: ConvertedGraph,
    source: Hashable,
    cutoff: float | None = None,
    weight: str | None = "weight",
    **how: Any,
) -> dict[Hashable, list[Hashable]]:
    """A shortest path to each node."""
    return _dijkstra(G, source, cutoff, weight, how).paths()


@Offered
def single_source_dijkstra(
    G: ConvertedGraph,
    source: Hashable,
    target: Hashable = None,
    cutoff: float | None = None,
    weight: str | None = "weight",
    **how: Any,
) -> tuple[Any, Any]:
    """Distances and shortest paths, to each node or to one."""
    tree = _dijkstra(G, source, cutoff, weight, how)
    lengths, paths = tree.lengths(), tree.paths()
    if target is None:
        return lengths, paths
    if target not in lengths:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return lengths[target], paths[target]


@Offered
def dijkstra_path_length(
    G: ConvertedGraph,
    source: Hashable,
    target: Hashable,
    weight: str | None = "weight",
    **how: Any,
) -> Any:
    """Distance from a node to another."""
    lengths = _dijkstra(G, source, None, weight, how).lengths()
    if target not in lengths:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return lengths[target]


@single_source_dijkstra_path_length.unless
@single_source_bellman_ford_path_length.unless
@single_source_dijkstra_path.unless
@single_source_dijkstra.unless
@dijkstra_path_length.unless
def _(weight: Any, **_: Any) -> str | None:
    return CALLABLE if callable(weight) else None
