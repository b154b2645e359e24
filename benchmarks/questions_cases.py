"""The questions of `benchmarks/questions.py`: kernels, graphs, and the libraries that they are beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import questions_peers as peers


class Case(NamedTuple):
    """A kernel on a graph, what it is compared with, and how much it may take of the time of that."""

    graph: str
    kernel: str
    peers: dict[str, peers.Prepare] = {}
    answer: Callable[[Any, Any], Any] | None = None
    """What of our dataset, and the graph, is compared."""
    options: dict[str, Any] = {}
    starts: int = 0
    """How many nodes to start from."""
    method: bool = False
    """Whether it is a method of the graph, which takes the nodes to start from."""
    near: float = 0.0
    """Most difference of answers, absolute and relative."""
    rounds: float | None = None
    call: float | None = None
    over: str | None = None
    """The peer that the bounds are for; by default the fastest."""
    score: str | None = None
    """What the answer is, if it is to be told, and the greater the better."""
    behind: float | None = None
    """How much less than that of the peer our score may be."""


def of_communities(ds: Any, graph: Any) -> float:
    return peers.modularity(graph, ds.community)


def of_bridges(ds: Any, graph: Any) -> np.ndarray:
    return np.sort(ds.source.values.astype(np.int64) * graph.n + ds.target.values)


def of_blocks(ds: Any, graph: Any) -> list[int]:
    return [int(ds.block.max()) + 1, ds.sizes["pair"]]


def of_motifs(ds: Any, graph: Any) -> np.ndarray:
    orbit, times = np.transpose(peers.ORBITS)
    return ds.orbits.values.sum(axis=0)[orbit] / times


def density(ds: Any, graph: Any) -> float:
    return float((ds.degrees_left / ds.nodes_left).max() / 2)


def ordered(ds: Any, graph: Any) -> int:
    """Nodes that have a generation."""
    return int((ds.generation >= 0).sum())


LEIDEN = {"leidenalg": peers.leiden_leidenalg, "igraph": peers.leiden_igraph}
LOUVAIN = {"igraph": peers.louvain_igraph, "networkit": peers.louvain_networkit}
JACCARD = {"networkit": peers.jaccard_networkit, "igraph": peers.jaccard_igraph}
MODULARITY: dict[str, Any] = {"near": 0.05, "score": "modularity", "behind": 0.005}
DIAMETER: dict[str, Any] = {
    "answer": lambda ds, graph: ds.eccentricity.values.max(),
    "options": {"of": "diameter"},
}
BLOCKS = {"igraph": peers.biconnected_igraph, "networkit": peers.biconnected_networkit}
DISTANCE: dict[str, Any] = {"answer": lambda ds, graph: ds.distance.values}


def communities_of(graph: str) -> list[Case]:
    return [
        Case(*(graph, "leiden", LEIDEN, of_communities), **MODULARITY, call=0.5, over="leidenalg"),
        Case(*(graph, "louvain", LOUVAIN, of_communities), **MODULARITY),
    ]


PARTS: dict[str, list[Case]] = {
    "communities": [*communities_of("planted partition"), *communities_of("like LFR")],
    "similarity": [
        Case(
            *("random", "similarity", JACCARD, lambda ds, graph: np.sort(ds.similarity.values)),
            near=1e-9,
            rounds=0.5,
        ),
        Case("random", "similarity", options={"k": 10}),
    ],
    "samples": [
        Case("random", "sample", options={"fanouts": (15, 10)}, starts=10_000),
        Case("random", "sample", options={"fanouts": (15, 10)}, starts=10_000, method=True),
        Case("random", "neighbourhood", options={"hops": 2}, starts=100),
        Case("random", "neighbourhood", options={"hops": 2}, starts=100, method=True),
        Case("random", "random_walks", options={"length": 20}),
        Case("random", "random_walks", options={"length": 20, "p": 0.5, "q": 2.0}),
        Case("random", "fastrp"),
    ],
    "distances": [
        Case(
            *("random", "hyperball", {"networkit": peers.balls_networkit}),
            lambda ds, graph: ds.neighbourhood.values[-1],
            near=0.3,
        ),
        *(
            Case(graph, "eccentricity", {"networkit": peers.diameter_networkit}, **DIAMETER, call=1)
            for graph in ("web", "road")
        ),
        *(
            Case(
                *(graph, "eccentricity"),
                {"networkit": peers.diameter_networkit, "igraph": peers.diameter_igraph},
                **DIAMETER,
            )
            for graph in ("small web", "small road")
        ),
        Case(
            *("small web", "eccentricity", {"igraph": peers.eccentricity_igraph}),
            lambda ds, graph: ds.eccentricity.values,
        ),
        Case(
            *("random, weights", "sssp", {"scipy": peers.nearest_scipy}),
            **DISTANCE,
            starts=100,
            call=1,
        ),
        Case(
            *("negative", "bellman_ford", {"igraph": peers.negative_igraph}),
            **DISTANCE,
            starts=1,
            call=1,
        ),
        Case(
            *("small negative", "bellman_ford"),
            {"igraph": peers.negative_igraph, "scipy": peers.negative_scipy},
            **DISTANCE,
            starts=1,
        ),
    ],
    "structure": [
        *(
            case
            for graph in ("Kronecker", "road")
            for case in (
                Case(graph, "bridges", {"igraph": peers.bridges_igraph}, of_bridges, call=1),
                Case(graph, "biconnected", BLOCKS, of_blocks, call=1),
            )
        ),
        Case("Kronecker", "densest"),
        Case("random", "square_clustering"),
        Case("random", "motifs"),
        Case("web", "cliques", options={"k": 4}),
        Case(
            *("small web", "cliques", {"igraph": peers.cliques_igraph}),
            lambda ds, graph: int(ds.cliques.sum()) // 4,
            {"k": 4},
            rounds=1,
        ),
        Case(
            *("small random", "motifs", {"igraph": peers.motifs_igraph}, of_motifs),
            rounds=1,
        ),
        Case(
            *("small random", "edge_betweenness", {"igraph": peers.edges_between_igraph}),
            lambda ds, graph: ds.betweenness.values,
            near=1e-6,
            rounds=1,
        ),
        Case(
            *("small random", "densest", {"networkx": peers.densest_networkx}, density),
            near=0.55,  # both find at least about half of the most
            score="density",
        ),
        Case(
            *("small random", "square_clustering", {"networkx": peers.squares_networkx}),
            lambda ds, graph: ds.coefficient.values,
            near=1e-9,
        ),
        Case("acyclic", "topological", {"igraph": peers.topological_igraph}, ordered),
        Case(
            *("small acyclic", "topological"),
            {"igraph": peers.topological_igraph, "networkx": peers.topological_networkx},
            ordered,
        ),
    ],
}
"""Cases by part; those of the same graph follow one another."""
