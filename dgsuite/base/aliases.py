"""Names of networkx's functions that stand for kernels. Nothing here takes time to import."""

from __future__ import annotations

from collections.abc import Collection

from dgsuite.base.errors import InputError, hint

ALIASES = {
    "all_pairs_shortest_path_length": "all_pairs",
    "articulation_points": "bridges",
    "betweenness_centrality": "bc",
    "bfs_tree": "bfs",
    "biconnected_components": "biconnected",
    "closeness_centrality": "closeness",
    "connected_components": "wcc",
    "dominating_set": "ds",
    "edge_betweenness_centrality": "edge_betweenness",
    "eigenvector_centrality": "eigenvector",
    "greedy_color": "colouring",
    "harmonic_centrality": "harmonic",
    "katz_centrality": "katz",
    "leiden_communities": "leiden",
    "louvain_communities": "louvain",
    "maximal_independent_set": "mis",
    "maximal_matching": "matching",
    "minimum_spanning_tree": "mst",
    "multi_source_dijkstra_path_length": "sssp",
    "single_source_bellman_ford_path_length": "bellman_ford",
    "single_source_dijkstra": "sssp",
    "single_source_dijkstra_path": "sssp",
    "single_source_dijkstra_path_length": "sssp",
    "single_source_shortest_path": "bfs",
    "single_source_shortest_path_length": "bfs",
    "strongly_connected_components": "scc",
    "topological_generations": "topological",
    "voronoi_cells": "sssp",
    "weakly_connected_components": "wcc",
}
"""Functions whose answer is an output of a kernel of another name: `dgsuite.run` takes these names, too."""


def kernel_of(name: object, kernels: Collection[str]) -> str:
    """The kernel that a name stands for: a kernel's own name, or that of a function of networkx.

    Parameters
    ----------
    kernels
        Names of all kernels.

    Raises
    ------
    InputError
        It stands for none: the message names what is closest.
    """
    small = name.lower() if isinstance(name, str) else ""
    found = small if small in kernels else ALIASES.get(small)
    if found is None:
        raise InputError(unknown_kernel(name, kernels))
    return found


def unknown_kernel(name: object, kernels: Collection[str]) -> str:
    """Error message for a name that stands for no kernel."""
    known = sorted(kernels)
    near = hint(name, [*known, *ALIASES])
    return f"unknown kernel {name!r}; {near}One of: {', '.join(known)}"
