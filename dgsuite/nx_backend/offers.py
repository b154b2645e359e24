"""Which functions of networkx are offered, and where they are. Nothing here takes time to import."""

from __future__ import annotations

_OFFERS = {
    "centrality": ("betweenness_centrality", "pagerank"),
    "components": (
        "connected_components",
        "is_connected",
        "is_weakly_connected",
        "node_connected_component",
        "number_connected_components",
        "number_weakly_connected_components",
        "weakly_connected_components",
    ),
    "neighbourhoods": (
        "average_clustering",
        "clustering",
        "core_number",
        "transitivity",
        "triangles",
    ),
    "paths": (
        "ancestors",
        "descendants",
        "descendants_at_distance",
        "dijkstra_path_length",
        "single_source_bellman_ford_path_length",
        "single_source_dijkstra",
        "single_source_dijkstra_path",
        "single_source_dijkstra_path_length",
        "single_source_shortest_path",
        "single_source_shortest_path_length",
        "single_target_shortest_path",
        "single_target_shortest_path_length",
    ),
    "sets": ("maximal_independent_set",),
    "trees": (
        "maximum_spanning_edges",
        "maximum_spanning_tree",
        "minimum_spanning_edges",
        "minimum_spanning_tree",
    ),
}

HOMES = {name: home for home, names in _OFFERS.items() for name in names}
"""The module of each function that is offered."""
