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

OFFERS: dict[str, dict[Worth, tuple[str, ...]]] = {
    "centrality": {
        EACH: ("betweenness_centrality", "edge_betweenness_centrality"),
        MANY: ("eigenvector_centrality", "katz_centrality"),
        SOME: ("hits", "pagerank"),
    },
    "components": {
        SOME: ("articulation_points", "biconnected_components", "bridges", "has_bridges"),
        PASS: (
            *("color", "is_bipartite", "is_directed_acyclic_graph", "node_connected_component"),
            *("connected_components", "is_connected", "number_connected_components"),
            *("strongly_connected_components", "is_strongly_connected"),
            *("number_strongly_connected_components", "number_weakly_connected_components"),
            *("weakly_connected_components", "is_weakly_connected"),
        ),
        LEVELS: ("leiden_communities",),
    },
    "distances": {
        EACH: (
            *("all_pairs_shortest_path_length", "average_shortest_path_length"),
            *("center", "diameter", "eccentricity", "periphery", "radius"),
            *("closeness_centrality", "harmonic_centrality"),
        )
    },
    "links": {SOME: ("adamic_adar_index", "jaccard_coefficient", "resource_allocation_index")},
    "neighbourhoods": {
        MANY: (
            *("average_clustering", "clustering", "square_clustering"),
            *("transitivity", "triangles"),
        ),
        SOME: ("core_number",),
    },
    "paths": {
        PASS: (
            *("ancestors", "descendants", "descendants_at_distance"),
            *("single_source_shortest_path", "single_source_shortest_path_length"),
            *("single_target_shortest_path", "single_target_shortest_path_length"),
        ),
        LONG: (
            *("dijkstra_path_length", "multi_source_dijkstra_path_length", "negative_edge_cycle"),
            *("single_source_bellman_ford_path_length", "single_source_dijkstra"),
            *("single_source_dijkstra_path", "single_source_dijkstra_path_length"),
            "voronoi_cells",
        ),
    },
    "independent": {PASS: ("greedy_color", "maximal_matching"), SOME: ("maximal_independent_set",)},
    "trees": {
        LONG: (
            *("maximum_spanning_edges", "maximum_spanning_tree"),
            *("minimum_spanning_edges", "minimum_spanning_tree"),
        )
    },
}
"""By module, and by when they are worth it."""

MAKERS = ("from_pandas_edgelist", "from_scipy_sparse_array")
"""Functions that make graphs, of the module ``constructors``: for ``backend_priority.generators``."""

ANSWERS = {
    name: home for home, by_worth in OFFERS.items() for names in by_worth.values() for name in names
}
"""The module of each function that a kernel answers."""

EXPORTS = ("to_numpy_array", "to_pandas_edgelist", "to_scipy_sparse_array")
"""Functions that make something else of a graph."""

HOMES = ANSWERS | dict.fromkeys((*MAKERS, *EXPORTS), "constructors")
"""The module of each function."""

WORTH = {
    name: worth
    for by_worth in OFFERS.values()
    for worth, names in by_worth.items()
    for name in names
}
WORTH |= dict.fromkeys(EXPORTS, Worth(inf, inf))
"""When each function is worth it."""
