"""networkx's functions with and without the backend.

python benchmarks/networkx_backend.py [--nodes 1000,10000,100000]

Random graphs with five times as many edges as nodes, in this process. "first" includes the conversion of the
graph, "again" uses what the first call has kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import common
import networkx as nx

CALLS: dict[str, Callable[..., Any]] = {
    "pagerank": nx.pagerank,
    "betweenness_centrality, k=10": lambda G, **b: nx.betweenness_centrality(G, 10, seed=1, **b),
    "number_connected_components": nx.number_connected_components,
    "triangles": nx.triangles,
    "clustering": nx.clustering,
    "core_number": nx.core_number,
    "single_source_shortest_path_length": lambda G, **b: nx.single_source_shortest_path_length(
        G, 0, **b
    ),
    "single_source_shortest_path": lambda G, **b: nx.single_source_shortest_path(G, 0, **b),
    "single_source_dijkstra_path_length": lambda G, **b: nx.single_source_dijkstra_path_length(
        G, 0, **b
    ),
    "minimum_spanning_edges": lambda G, **b: list(nx.minimum_spanning_edges(G, data=False, **b)),
    "maximal_independent_set": lambda G, **b: nx.maximal_independent_set(G, seed=1, **b),
}


def seconds(call: Callable[..., Any], graph: nx.Graph, **backend: Any) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call(graph, **backend)
    return time.perf_counter() - start


def rows(n: int) -> Iterator[tuple[str, float, float, float]]:
    """Name, time of networkx, of the first call of the backend, and of the next."""
    graph = nx.gnm_random_graph(n, 5 * n, seed=1)
    for i, (u, v) in enumerate(graph.edges):
        graph.edges[u, v]["weight"] = 1 + i * 7919 % 100
    for name, call in CALLS.items():
        own = min(seconds(call, graph) for _ in range(2))
        graph.__networkx_cache__.clear()
        call(nx.path_graph(20), backend="dgsuite")  # imports
        first = seconds(call, graph, backend="dgsuite")  # may compile
        again = min(seconds(call, graph, backend="dgsuite") for _ in range(2))
        graph.__networkx_cache__.clear()
        first = min(first, seconds(call, graph, backend="dgsuite"))
        yield name, own, first, again


def main(arguments: Sequence[str] | None = None) -> None:
    options = common.Options(__file__, __doc__)
    options.size("--nodes", "1000,10000,100000", "100")
    nx.config.warnings_to_ignore.add("cache")
    with options.recorded(arguments) as given:
        for n in map(int, given.nodes.split(",")):
            for name, *times in rows(n):
                for what, seconds in zip(("networkx", "first", "again"), times, strict=True):
                    common.record(what, 1e3 * seconds, "ms", function=name, nodes=n)


if __name__ == "__main__":
    main()
