"""Distances and shortest paths, by the kernels `bfs`, `sssp` and `bellman_ford`."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from math import ceil, inf
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import NegativeCycle
from dgsuite.faces.nx_backend.calls import LOOPS, How, Offered, run, type_in_networkx
from dgsuite.faces.nx_backend.graph import ConvertedGraph

Nodes = Collection[Hashable]

PAIRS = type_in_networkx("single_target_shortest_path_length", nx.empty_graph(1), 0) is not dict
"""Whether networkx gives hops to a node as pairs, as before 3.5."""


def _check(G: ConvertedGraph, node: Hashable, said: str, error: type = nx.NodeNotFound) -> None:
    """See that a node is in the graph; else networkx's error says so."""
    if node not in G:
        raise error(said)


def most_hops(G: ConvertedGraph, cutoff: float | None) -> int:
    """Hops that paths up to a cutoff have at most; networkx goes on as long as there are fewer."""
    return len(G) if cutoff is None else ceil(max(0, min(cutoff, len(G))))


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
    """A tree of shortest paths from a node, which networkx calls as the caller does.

    Attributes
    ----------
    reached
        Numbers of the nodes that paths lead to, by distance; the first is the root's.
    distance
        Their distances: Python's numbers, as networkx adds them up.
    """

    def __init__(
        self, G: ConvertedGraph, root: Hashable, distance: NDArray, parent: NDArray, cutoff: float
    ) -> None:
        self.reached = _nearest(G.number[root], np.where(parent >= 0, distance, -1), cutoff)
        self.distance = [0, *distance[self.reached[1:]].tolist()]
        self._nodes, self._parent = [root, *G.of(self.reached[1:])], parent

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
    G: ConvertedGraph, root: Hashable, cutoff: float, how: How, reverse: bool = False
) -> Tree:
    """A tree of paths of the fewest hops."""
    more: dict[str, Any] = {"cutoff": int(max(cutoff, 0))} if cutoff < len(G) else {}
    ds = run("bfs", G, how, any_weight=True, reverse=reverse, root=G.number[root], **more)
    return Tree(G, root, ds["level"].values, ds["parent"].values, cutoff)


def _dijkstra(
    G: ConvertedGraph, source: Hashable, cutoff: float | None, weight: str | None, how: How
) -> Tree:
    """A tree of shortest paths."""
    if source not in G.number:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    most = inf if cutoff is None else cutoff
    if weight is None:  # every edge is 1 long
        return _search(G, source, most, how)
    values = G.lengths(weight)
    ds = run("sssp", G, how, weight=weight, root=G.number[source])
    distance = _exact(ds["distance"].values, values)
    return Tree(G, source, distance, ds["parent"].values, most)


def _exact(distance: NDArray[np.float64], lengths: NDArray | None) -> NDArray:
    """Distances as networkx adds them up: integers where lengths are, and -1 where there is no way."""
    if lengths is None or lengths.dtype.kind == "i":
        return np.where(np.isfinite(distance), distance, -1).astype(np.int64)
    return distance


def _nearest_source(
    G: ConvertedGraph, sources: Nodes, weight: str | None, how: How
) -> tuple[NDArray, NDArray[np.int64]]:
    """The distance of each node from the nearest of some sources, and the number of that one, or -1."""
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        _check(G, source, f"Node {source} not found in graph")
    values = G.lengths(weight)
    numbers = list(dict.fromkeys(G.number[source] for source in sources))
    ds = run("sssp", G, how, weight=weight, sources=numbers)
    return _exact(ds["distance"].values, values), ds["source"].values


@Offered
def multi_source_dijkstra_path_length(
    G: ConvertedGraph, sources: Nodes, cutoff: float | None, weight: str | None, **how: Any
) -> dict[Hashable, Any]:
    """Distances from the nearest of some nodes."""
    distance, source = _nearest_source(G, sources, weight, how)
    near = source >= 0
    if cutoff is not None:
        near &= (distance <= cutoff) | (source == np.arange(len(G)))
    numbers = np.flatnonzero(near)
    numbers = numbers[np.argsort(distance[numbers], kind="stable")]
    found = dict(zip(G.of(numbers), distance[numbers].tolist(), strict=True))
    # networkx has the integer 0 at the sources, whatever the weights
    return {**found, **dict.fromkeys(filter(found.__contains__, sources), 0)}


@Offered
def voronoi_cells(
    G: ConvertedGraph, center_nodes: Nodes, weight: str | None, **how: Any
) -> dict[Hashable, set[Hashable]]:
    """The nodes that are nearest to each of some nodes; of several that are as near, to any of them."""
    _, source = _nearest_source(G, center_nodes, weight, how)
    cells: dict[Hashable, set[Hashable]] = {}
    for node, center in zip(G.nodes, source.tolist(), strict=True):
        if center >= 0:
            cells.setdefault(G.nodes[center], set()).add(node)
    if (source < 0).any():
        cells["unreachable"] = set(G.of(source < 0))
    return cells


def _bellman_ford(
    G: ConvertedGraph, sources: Collection[int], weight: str | None, how: How
) -> tuple[NDArray[np.bool_], NDArray]:
    """Which nodes paths from some lead to, and their distances, where weights may be negative.

    Raises
    ------
    networkx.NetworkXUnbounded
        Paths lead to a negative cycle.
    """
    values = G.weight(weight)
    if values is not None and (values[G.source == G.target] < 0).any():
        raise NotImplementedError(LOOPS)
    try:
        ds = run("bellman_ford", G, how, weight=weight, sources=sources)
    except NegativeCycle as error:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from error
    return ds["parent"].values >= 0, _exact(ds["distance"].values, values)


@Offered
def negative_edge_cycle(G: ConvertedGraph, weight: str | None, heuristic: bool, **how: Any) -> bool:
    """Whether the edges of a cycle are negative in all."""
    if not G.number_of_edges():
        return False
    try:
        _bellman_ford(G, range(len(G)), weight, how)
    except nx.NetworkXUnbounded:
        return True
    return False


@Offered
def single_source_shortest_path_length(
    G: ConvertedGraph, source: Hashable, cutoff: float | None, **how: Any
) -> dict[Hashable, int]:
    """Hops from a node."""
    _check(G, source, f"Source {source} is not in G")
    return _search(G, source, most_hops(G, cutoff), how).lengths()


@Offered
def single_target_shortest_path_length(
    G: ConvertedGraph, target: Hashable, cutoff: float | None, **how: Any
) -> Any:
    """Hops to a node."""
    _check(G, target, f"Target {target} is not in G")
    found = _search(G, target, most_hops(G, cutoff), how, reverse=True).lengths()
    return iter(found.items()) if PAIRS else found


@Offered
def single_source_shortest_path(
    G: ConvertedGraph, source: Hashable, cutoff: float | None, **how: Any
) -> dict[Hashable, list[Hashable]]:
    """A path of the fewest hops to each node."""
    _check(G, source, f"Source {source} not in G")
    return _search(G, source, most_hops(G, cutoff), how).paths()


@Offered
def single_target_shortest_path(
    G: ConvertedGraph, target: Hashable, cutoff: float | None, **how: Any
) -> dict[Hashable, list[Hashable]]:
    """A path of the fewest hops from each node."""
    _check(G, target, f"Target {target} not in G")
    return _search(G, target, most_hops(G, cutoff), how, reverse=True).paths(reverse=True)


@Offered
def descendants(G: ConvertedGraph, source: Hashable, **how: Any) -> set[Hashable]:
    """Nodes that can be reached from a node, without that node."""
    return _reached(G, source, how, reverse=False)


@Offered
def ancestors(G: ConvertedGraph, source: Hashable, **how: Any) -> set[Hashable]:
    """Nodes from which a node can be reached, without that node."""
    return _reached(G, source, how, reverse=True)


def _reached(G: ConvertedGraph, source: Hashable, how: How, reverse: bool) -> set[Hashable]:
    if source not in G.number:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return set(G.of(_search(G, source, inf, how, reverse).reached[1:]))


@Offered
def descendants_at_distance(
    G: ConvertedGraph, source: Hashable, distance: int, **how: Any
) -> set[Hashable]:
    """Nodes at a number of hops from a node."""
    _check(G, source, f"The node {source} is not in the graph.", nx.NetworkXError)
    lengths = _search(G, source, inf, how).lengths()
    return {node for node, hops in lengths.items() if hops == distance}


@Offered
def single_source_dijkstra_path_length(
    G: ConvertedGraph, source: Hashable, cutoff: float | None, weight: str | None, **how: Any
) -> dict[Hashable, Any]:
    """Distances from a node."""
    return _dijkstra(G, source, cutoff, weight, how).lengths()


@Offered
def single_source_bellman_ford_path_length(
    G: ConvertedGraph, source: Hashable, weight: str | None, **how: Any
) -> dict[Hashable, Any]:
    """Distances from a node; weights may be negative."""
    values = G.weight(weight)
    if values is None or (values >= 0).all():
        return _dijkstra(G, source, None, weight, how).lengths()
    _check(G, source, f"Source {source} not in G")
    reached, distance = _bellman_ford(G, [G.number[source]], weight, how)
    found = dict(zip(G.of(reached), distance[reached].tolist(), strict=True))
    return {**found, source: 0}  # networkx has the integer


@Offered
def single_source_dijkstra_path(
    G: ConvertedGraph, source: Hashable, cutoff: float | None, weight: str | None, **how: Any
) -> dict[Hashable, list[Hashable]]:
    """A shortest path to each node."""
    return _dijkstra(G, source, cutoff, weight, how).paths()


@Offered
def single_source_dijkstra(
    G: ConvertedGraph,
    source: Hashable,
    target: Hashable,
    cutoff: float | None,
    weight: str | None,
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
    G: ConvertedGraph, source: Hashable, target: Hashable, weight: str | None, **how: Any
) -> Any:
    """Distance from a node to another."""
    _check(G, source, f"Node {source} not found in graph")
    lengths = _dijkstra(G, source, None, weight, how).lengths()
    if target not in lengths:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return lengths[target]
