"""Which functions of networkx are offered, where they are, and when they are worth it.

Nothing here takes time to import.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple


class Worth(NamedTuple):
    """Nodes and edges together from which dgsuite is faster than networkx (benchmarks/networkx_backend.py).

    Attributes
    ----------
    first
        For a graph that must be converted.
    again
        For one that has been.
    start
        For all calls of a process together, before dgsuite answers for the first time: its imports take
        half a second.
    """

    first: float
    again: float
    start: float = 500_000


PASS = Worth(inf, 10_000)
"""networkx looks at each edge once, which takes no longer than conversion."""

MANY = Worth(3_000, 1_000)
"""networkx looks at each edge many times."""

EACH = Worth(3_000, 1_000, 10_000)
"""networkx searches from each node, or from `k` of them."""

SEARCHED = 1_500_000
"""`Worth.start` of searches from `k` nodes, times `k`."""

SOME = Worth(60_000, 20_000)
"""In between."""

LEVELS = Worth(6_000, 6_000)
"""dgsuite takes many rounds for a level. Before networkx 3.7, which lacks the function, all are worth it."""

LONG = Worth(300_000, 100_000)
"""dgsuite takes many rounds, and is faster on large graphs alone."""

OFFERS: dict[str, dict[str, Worth]] = {
    "centrality": {
        "betweenness_centrality": EACH,
        "edge_betweenness_centrality": EACH,
        "eigenvector_centrality": MANY,
        "hits": SOME,
        "katz_centrality": MANY,
        "pagerank": SOME,
    },
    "components": {
        "articulation_points": SOME,
        "biconnected_components": SOME,
        "bridges": SOME,
        "color": PASS,
        "connected_components": PASS,
        "has_bridges": SOME,
        "is_bipartite": PASS,
        "is_connected": PASS,
        "is_directed_acyclic_graph": PASS,
        "is_strongly_connected": PASS,
        "is_weakly_connected": PASS,
        "leiden_communities": LEVELS,
        "node_connected_component": PASS,
        "number_connected_components": PASS,
        "number_strongly_connected_components": PASS,
        "number_weakly_connected_components": PASS,
        "strongly_connected_components": PASS,
        "weakly_connected_components": PASS,
    },
    "distances": {
        "all_pairs_shortest_path_length": EACH,
        "average_shortest_path_length": EACH,
        "center": EACH,
        "closeness_centrality": EACH,
        "diameter": EACH,
        "eccentricity": EACH,
        "harmonic_centrality": EACH,
        "periphery": EACH,
        "radius": EACH,
    },
    "links": {
        "adamic_adar_index": SOME,
        "jaccard_coefficient": SOME,
        "resource_allocation_index": SOME,
    },
    "neighbourhoods": {
        "average_clustering": MANY,
        "clustering": MANY,
        "core_number": SOME,
        "square_clustering": MANY,
        "transitivity": MANY,
        "triangles": MANY,
    },
    "paths": {
        "ancestors": PASS,
        "descendants": PASS,
        "descendants_at_distance": PASS,
        "dijkstra_path_length": LONG,
        "multi_source_dijkstra_path_length": LONG,
        "negative_edge_cycle": LONG,
        "single_source_bellman_ford_path_length": LONG,
        "single_source_dijkstra": LONG,
        "single_source_dijkstra_path": LONG,
        "single_source_dijkstra_path_length": LONG,
        "single_source_shortest_path": PASS,
        "single_source_shortest_path_length": PASS,
        "single_target_shortest_path": PASS,
        "single_target_shortest_path_length": PASS,
        "voronoi_cells": LONG,
    },
    "independent": {
        "greedy_color": PASS,
        "maximal_independent_set": SOME,
        "maximal_matching": PASS,
    },
    "trees": {
        "maximum_spanning_edges": LONG,
        "maximum_spanning_tree": LONG,
        "minimum_spanning_edges": LONG,
        "minimum_spanning_tree": LONG,
    },
}
"""By module."""

MAKERS = ("from_pandas_edgelist", "from_scipy_sparse_array")
"""Functions that make graphs, of the module ``constructors``: for ``backend_priority.generators``."""

ANSWERS = {name: home for home, names in OFFERS.items() for name in names}
"""The module of each function that a kernel answers."""

EXPORTS = ("to_numpy_array", "to_pandas_edgelist", "to_scipy_sparse_array")
"""Functions that make something else of a graph."""

HOMES = ANSWERS | dict.fromkeys((*MAKERS, *EXPORTS), "constructors")
"""The module of each function."""

WORTH = {name: worth for names in OFFERS.values() for name, worth in names.items()}
WORTH |= dict.fromkeys(EXPORTS, Worth(inf, inf))
"""When each function is worth it."""
