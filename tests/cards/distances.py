"""Searches, paths, and what is counted along them."""

import networkx as nx
import numpy as np

from tests.cards.card import Card, N, at, at_round, by_node, columns, hops_from, parents, rows
from tests.cards.picks import BOTH, root, several, some, weighted
from tests.support.definitions import predecessors

PARENTS = {
    "own parent": {"parent": lambda v: at(v, 5, 5)},
    "root's parent": {"parent": lambda v: at(v, 0, 1)},
    "a child as parent": {"parent": lambda v: at(v, v[-1], len(v) - 1)},
}


def distinct(net, edges):
    """The network with weights of which no two are the same."""
    weights = np.random.default_rng(7).permutation(len(net.edges)) + 3
    nx.set_edge_attributes(net, dict(zip(net.edges, weights.tolist(), strict=True)), "weight")
    return net


def hops(output):
    """An oracle of hops from the root."""

    def oracle(net, kernel, uid):
        most, infinity = getattr(kernel, "cutoff", None), getattr(kernel, "infinity", -1)
        return {output: hops_from(net, kernel.root, most, infinity)}

    return oracle


def lengths(net, kernel, uid):
    """Lengths of shortest paths from the nearest source."""
    starts = [kernel.root] if kernel.sources is None else kernel.sources
    each = [nx.single_source_bellman_ford_path_length(net, u) for u in starts]
    return {"distance": np.min([by_node(net, found, np.inf) for found in each], axis=0)}


def starts(net, pick):
    """A root, or some sources."""
    return pick([root(net, pick), {"sources": some(net, pick)}])


def beyond(output):
    """Changes of nodes before the root, of which there are many right ones."""
    return f"{output} last higher", f"{output} most lower"


def first_edges(net, found):
    """A tree of shortest paths from node 0."""
    ways = nx.single_source_dijkstra_path(net, 0)
    return {"parent": by_node(net, {v: [0, *way][-2] for v, way in ways.items()})}


def sources(net, kernel):
    """The nodes that searches start from; none if the kernel draws them."""
    if kernel.sources is None or np.array_equal(kernel.sources, len(net)):
        return [*net]
    return [] if np.ndim(kernel.sources) == 0 else [*kernel.sources]


def all_pairs(net, kernel, uid):
    found = [hops_from(net, u) for u in sources(net, kernel)]
    return {"level": np.array(found).T} if found else {}


def bfs_many(net, kernel, uid):
    starts = sources(net, kernel)
    if not starts:
        return {}
    far = np.maximum(all_pairs(net, kernel, uid)["level"], 0)
    found = {"distance": far.sum(1), "eccentricity": far.max(1), "reached": (far > 0).sum(1)}
    return {**found, "source": np.isin([*net], starts)}


def nearness(name):
    """A card of a centrality by distances."""

    def oracle(net, kernel, uid):
        if kernel.samples not in (None, len(net)):
            return {}
        how = {"wf_improved": kernel.wf_improved} if name == "closeness" else {}
        return {name: by_node(net, getattr(nx, f"{name}_centrality")(net, **how))}

    def parameters(net, pick):
        improved = {"wf_improved": pick(BOTH)} if name == "closeness" else {}
        return {"samples": pick([None, *range(1, len(net) + 1)]), **improved}

    normalised = {"normalised": {name: lambda v: v / v.sum()}}
    rounded = {"of 32 bits": {name: lambda v: v.astype(np.float32)}}
    return Card(parameters, oracle=oracle, wrong=normalised | rounded)


def through(net, kernel, what=""):
    """Betweenness by a function of networkx, or the one of its name for some sources."""
    weight, name = "weight" if kernel.weighted else None, f"{what}betweenness_centrality"
    if kernel.sources is None:
        return getattr(nx, name)(net, None, False, weight)
    return getattr(nx, f"{name}_subset")(net, kernel.sources, [*net], weight=weight)


def edge_betweenness(net, kernel, uid):
    found = through(net, kernel, "edge_")
    ends = found if net.is_directed() else map(sorted, found)
    table = sorted((*edge, value) for edge, value in zip(ends, found.values(), strict=True))
    return columns(OVER, table)


def paths(net, pick):
    forms, batches = ["replicated", "partitioned"], [None, 1, 3]
    more = {"sources": pick([None, some(net, pick)]), "batch": pick(batches)}
    return {"graph_form": pick(forms), **more, **weighted(net, pick)}


def dr(net, kernel, uid):
    cost = dict(nx.all_pairs_dijkstra_path_length(net))
    return {"cost": np.array([by_node(net, cost[u]) for u in range(len(net))])}


def next_hops(net, found):
    ways = dict(nx.all_pairs_dijkstra_path(net))
    return {"next_hop": np.array([[[u, *ways[u][v]][:3][-1] for v in net] for u in net])}


def without_nine(net, found):
    """Distances and next hops to node 0 after node 9 has crashed."""
    left = nx.restricted_view(net, [9], [])
    near = nx.single_source_shortest_path_length(left, 0)
    ways = {"distance": by_node(net, near, 16), "next_hop": by_node(net, predecessors(left, 0), -1)}
    return {**ways, "crashed": at_round(9, 3), "infinity": 16}


def hyperball(net, found):
    far = np.array([hops_from(net, v) for v in range(N)])
    return {
        "reached": (far > 0).sum(1),
        "distance": far.sum(1),
        "harmonic": by_node(net, nx.harmonic_centrality(net)),
        "closeness": by_node(net, nx.closeness_centrality(net)),
    }


LITTLE = {"a little higher", "a little lower", "of three digits"}
OVER = ("source", "target", "betweenness")
ROOT = {"root": 0}
TREE = {"example": ROOT, "wrong": PARENTS}
LENGTHS = {"net": distinct, "oracle": lengths, "rest": first_edges, "weights": "any", **TREE}
SEARCH = {
    "oracle": hops("level"),
    "rest": lambda net, found: {"parent": parents(net, otherwise=0)},
    "harmless": beyond("parent"),
    **TREE,
}
THREE = {"sources": [3, 17, 20]}

CARDS = {
    "all_pairs": Card(
        several,
        oracle=all_pairs,
        example=THREE,
        rest=lambda net, found: {"source": np.array(THREE["sources"])},
        wrong={
            "columns swapped": {"level": lambda v: v[:, ::-1]},
            "one column for all": {"level": lambda v: np.repeat(v[:, :1], 3, 1)},
            "other sources": {"source": lambda v: v + 1},
        },
    ),
    "bc": Card(
        lambda net, pick: {**paths(net, pick), "deal": pick(["block", "cyclic"])},
        "positive",
        lambda net, kernel, uid: {"betweenness": by_node(net, through(net, kernel))},
        wrong={"normalised": {"betweenness": lambda v: v * 2 / (N - 1) / (N - 2)}},
    ),
    "bellman_ford": Card(starts, **LENGTHS),
    "bf": Card(root, oracle=hops("distance"), example=ROOT),
    "bfs": Card(
        lambda net, pick: {
            **root(net, pick),
            "direction": pick(["optimising", "top-down"]),
            "cutoff": pick([None, 0, 1, 2, 3, 4]),
        },
        **SEARCH,
    ),
    "bfs2d": Card(root, **SEARCH),
    "bfs_many": Card(
        several,
        oracle=bfs_many,
        example=THREE,
        wrong={
            "other sources": {"source": lambda v: np.roll(v, 1)},
            "a source less": {"source": lambda v: at(v, 3, False)},
        },
    ),
    "closeness": nearness("closeness"),
    "distance_vector": Card(
        lambda net, pick: {
            **root(net, pick),
            "infinity": pick([16, 3, 1]),
            "timeout": pick([1, 2, 3]),
            "split": pick(["none", "horizon", "poisoned"]),
            "least": pick([0, 9]),
        },
        oracle=lambda net, kernel, uid: (
            hops("distance")(net, kernel, uid) if kernel.infinity >= len(net) else {}
        ),
        example=ROOT,
        rest=without_nine,
        wrong={
            "no way": {"distance": lambda v: at(v * 0 + 16, 0, 0)},
            "no crash": {"crashed": lambda v: v * 0 - 1},
            "a node that has crashed": {"crashed": lambda v: at(v, 0, 3)},
        },
        false={"infinity": 2, "root": 7},
        harmless=("distance most higher", "distance most lower", *beyond("next_hop")),
    ),
    "dr": Card(
        weights="any",
        net=distinct,
        oracle=dr,
        rest=next_hops,
        wrong={
            "both ways cheaper": {"cost": lambda v: at(at(v, (3, 9), 1), (9, 3), 1)},
            "not free at home": {"cost": lambda v: at(v, (3, 3), 1)},
            "away from home": {"next_hop": lambda v: at(v, (3, 3), v[3, 4])},
            "own next hop": {"next_hop": lambda v: at(v, (3, 9), 3)},
            "straight there": {"next_hop": lambda v: v * 0 + np.arange(len(v))},
            "rows for columns": {"next_hop": lambda v: v.T},
        },
    ),
    "dst": Card(
        root,
        oracle=hops("distance"),
        example=ROOT,
        rest=lambda net, found: {"parent": parents(net)},
        wrong={**PARENTS, "all the root's": {"parent": lambda v: at(v * 0, 0, -1)}},
        harmless=beyond("parent"),
    ),
    "eccentricity": Card(
        lambda net, pick: {"of": pick(["nodes", "diameter", "radius"])},
        oracle=lambda net, kernel, uid: (
            dict.fromkeys(("eccentricity", "limit"), by_node(net, nx.eccentricity(net)))
            if kernel.of == "nodes"
            else {}
        ),
        wrong={
            kind: dict.fromkeys(("eccentricity", "limit"), change)
            for kind, change in {
                "both farther": lambda v: v + 1,
                "one farther": lambda v: at(v, 5, v[5] + 1),
                "both nearer": lambda v: v - 1,
                "all as far": lambda v: v * 0 + v.max(),
            }.items()
        },
    ),
    "edge_betweenness": Card(
        paths,
        "positive",
        edge_betweenness,
        rest=lambda net, found: {"start": np.ones(N, bool)},
        wrong={
            "normalised": {"betweenness": lambda v: v * 2 / (N * (N - 1))},
            "all a little more": {"betweenness": lambda v: v * (1 + 1e-6)},
            **rows(*OVER),
        },
    ),
    "harmonic": nearness("harmonic"),
    "hyperball": Card(
        lambda net, pick: {"log2m": pick(range(4, 9))},
        example={"log2m": 8},
        rest=hyperball,
        harmless=tuple(f"harmonic {kind}" for kind in sorted(LITTLE)),
        wrong={
            "not improved": {"closeness": lambda v: 1 / v},
            "harmonic as one hop more": {"harmonic": lambda v: at(v, 0, 40)},
        },
    ),
    "sssp": Card(
        lambda net, pick: {**starts(net, pick), "delta": pick([None, 0.5, 1.0, 2.5, float("inf")])},
        **LENGTHS,
    ),
}
