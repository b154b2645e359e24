"""Distances between all nodes, by the kernels `closeness`, `harmonic`, `all_pairs`, `bfs_many` and
`eccentricity`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from dgsuite.faces.nx_backend.calls import How, Offered, of_networkx, run, values
from dgsuite.faces.nx_backend.graph import ConvertedGraph
from dgsuite.faces.nx_backend.paths import lengths_of, most_hops

BATCH = 512
"""Sources whose distances are held at a time."""


@Offered
def closeness_centrality(G: ConvertedGraph, wf_improved: bool, **how: Any) -> dict[Hashable, float]:
    """How near all others are to each node."""
    return G.by_node(values("closeness", G, how, "closeness", wf_improved=bool(wf_improved)))


@Offered
def harmonic_centrality(G: ConvertedGraph, nbunch: Any, **how: Any) -> dict[Hashable, float]:
    """Sum, over all others, of 1 divided by their distance to a node."""
    chosen = G.chosen(nbunch)
    found = G.by_node(values("harmonic", G, how, "harmonic"))
    # networkx has the integer 0 where there is no other, and the order of a set
    return {node: found[node] or 0 for node in set(chosen)}


@Offered
def all_pairs_shortest_path_length(
    G: ConvertedGraph, cutoff: float | None, **how: Any
) -> Iterator[tuple[Hashable, dict[Hashable, int]]]:
    """Hops from each node to each that it reaches."""
    most = most_hops(G, cutoff) if len(G) else 0
    for first in range(0, len(G), BATCH):
        sources = np.arange(first, min(first + BATCH, len(G)))
        ds = run("all_pairs", G, how, any_weight=True, sources=sources)
        for number, level in zip(sources.tolist(), ds["level"].values.T, strict=True):
            yield G.nodes[number], lengths_of(G, number, level, most)


def _eccentricity(G: ConvertedGraph, how: How, nodes: Any = None) -> dict[Hashable, int]:
    """Hops from each of some nodes to the farthest, in a graph with nodes.

    Raises
    ------
    networkx.NetworkXError
        One of them does not reach all others.
    """
    chosen = G.chosen(nodes)
    ds = run("bfs_many", G, how, any_weight=True, reverse=True, sources=len(G))
    found, reached = G.by_node(ds["eccentricity"].values), G.by_node(ds["reached"].values)
    if any(reached[node] + 1 < len(G) for node in chosen):
        raise _apart(G)
    return {node: found[node] for node in chosen}


def _apart(G: ConvertedGraph) -> nx.NetworkXError:
    kind = "digraph is not strongly" if G.directed else "graph is not"
    return nx.NetworkXError(f"Found infinite path length because the {kind} connected")


@Offered
def eccentricity(G: ConvertedGraph, v: Any, **how: Any) -> Any:
    """Hops from each node to the farthest."""
    if not len(G):
        return of_networkx("eccentricity", G.kind(), v)
    found = _eccentricity(G, how, v)
    return found[v] if v in G else found


def _offered(name: str, what: str, answer: Callable[[dict[Hashable, int]], Any]) -> Offered:
    """A function of networkx that follows from the eccentricities of all nodes."""

    def function(G: ConvertedGraph, **how: Any) -> Any:
        return of_networkx(name, G.kind()) if not len(G) else answer(_eccentricity(G, how))

    return Offered(function, name, what)


def _where(found: dict[Hashable, int], extreme: Callable[..., int]) -> list[Hashable]:
    hops = extreme(found.values())
    return [node for node, far in found.items() if far == hops]


def _extreme(name: str, what: str, bound: str, extreme: Callable[..., int]) -> Offered:
    """The largest or smallest eccentricity: in undirected graphs few searches bound those of all nodes."""

    def function(G: ConvertedGraph, **how: Any) -> int:
        if not len(G):
            return of_networkx(name, G.kind())  # type: ignore[no-any-return]
        if G.directed:
            return extreme(_eccentricity(G, how).values())
        if values("wcc", G, how, "component").any():
            raise _apart(G)
        return extreme(values("eccentricity", G, how, bound, of=name).tolist())

    return Offered(function, name, what)


diameter = _extreme("diameter", "The largest eccentricity.", "eccentricity", max)
radius = _extreme("radius", "The smallest eccentricity.", "limit", min)
periphery = _offered(
    "periphery", "Nodes of the largest eccentricity.", lambda far: _where(far, max)
)
center = _offered("center", "Nodes of the smallest eccentricity.", lambda far: _where(far, min))


@Offered
def average_shortest_path_length(G: ConvertedGraph, method: str | None, **how: Any) -> float:
    """Mean number of hops between two nodes."""
    n = len(G)
    if not n:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if n == 1:
        return 0
    ds = run("bfs_many", G, how, any_weight=True, sources=n)
    if (ds["reached"].values + 1 < n).any():
        kind = "strongly connected" if G.directed else "connected"
        raise nx.NetworkXError(f"Graph is not {kind}.")
    return int(ds["distance"].values.sum()) / (n * (n - 1))


@average_shortest_path_length.unless
def _(method: Any, **_: Any) -> str | None:
    return None if method in (None, "unweighted") else "distances are hops, without weights"
