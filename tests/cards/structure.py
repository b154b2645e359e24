"""Components, communities, and what small patterns nodes are in."""

from itertools import combinations

import networkx as nx
import numpy as np

from dgsuite.kernels.analytics.similarity import MEASURES
from tests.cards.card import Card, N, at, by_node, columns, rows, smallest
from tests.cards.picks import BOTH, several, weighing, weighted
from tests.support import definitions

BLOCK, BRIDGE = ("member", "block"), ("source", "target")
DRAWN = ("source", "target", "place", "hop")
NEAR = ("target", "source", "hop")
SIMILAR = ("source", "target", "similarity")
THEIRS = {
    "jaccard": nx.jaccard_coefficient,
    "adamic_adar": nx.adamic_adar_index,
    "resource_allocation": nx.resource_allocation_index,
    "preferential_attachment": nx.preferential_attachment,
}


def last(label):
    """The last node of the community of node 0."""
    return np.flatnonzero(label == 0)[-1]


def within_thirds(net, edges):
    """Without edges between nodes of different remainders by 3."""
    net.remove_edges_from([(u, v) for u, v in edges if u % 3 != v % 3])
    return net


def components(kind):
    """A card of components."""

    def oracle(net, kernel, uid):
        look = getattr(nx, f"{kind}_connected_components")
        return {"component": smallest(net, look(net.to_directed()))}

    turned = nx.Graph.to_directed if kind == "strongly" else nx.Graph.copy
    return Card(
        oracle=oracle,
        net=lambda net, edges: within_thirds(turned(net), edges),
        wrong={
            "two joined": {"component": lambda v: np.where(v == np.unique(v)[1], 0, v)},
            "one elsewhere": {"component": lambda v: at(v, 39, np.unique(v)[int(v[39] == 0)])},
            "numbered anew": {"component": lambda v: np.unique(v, return_inverse=True)[1][::-1]},
        },
    )


def bridges(net, kernel, uid):
    left = nx.restricted_view(net, [], [*nx.bridges(net)])
    return {
        **dict(zip(BRIDGE, definitions.bridged(net), strict=True)),
        "articulation": np.isin(range(len(net)), [*nx.articulation_points(net)]),
        "component": smallest(net, nx.connected_components(left)),
    }


def labels(net, pick):
    first = [None, [pick([-1, *net]) for _ in net], [-1 if v % 2 else v // 3 for v in net]]
    fixed = [None, [0], [v for v in net if pick(BOTH)]]
    found = {"iterations": pick([1, 2, 3, 4, 10]), "labels": pick(first), "fixed": pick(fixed)}
    return {**found, **weighted(net, pick)}


def spread(net, kernel, uid):
    weight = "weight" if kernel.weighted else None
    how = {"labels": kernel.labels, "fixed": kernel.fixed or ()}
    return {"label": definitions.propagated(net, kernel.iterations, weight, **how)}


def communities(name):
    """A card of communities."""

    def parameters(net, pick):
        found = {"resolution": pick([1.0, 0.2, 3.0]), "levels": pick(BOTH)}
        return {**found, "objective": pick(["modularity", "cpm"]), **weighted(net, pick)}

    theirs = nx.community.louvain_communities
    return Card(
        parameters,
        "any",
        example={"resolution": 1.0, "objective": "modularity"},
        rest=lambda net, found: {"community": smallest(net, theirs(net, seed=1))},
        wrong={
            "one alone": {"community": lambda v: at(v, last(v), last(v))},
            "named by the largest": {"community": lambda v: len(v) - 1 - v[::-1]},
            "numbered anew": {"community": lambda v: np.unique(v, return_inverse=True)[1]},
            "halves": {"community": lambda v: np.where(np.arange(len(v)) % 2, np.maximum(v, 1), v)},
            **({"by cpm": {"objective": "cpm", "resolution": 1e-4}} if name == "leiden" else {}),
        },
        false={"resolution": 0.01},
        harmless=("community none", *(("community one higher",) if name == "louvain" else ())),
    )


def plain(output, look):
    """A card of one output, which a function finds for each node."""

    def oracle(net, kernel, uid):
        found = look(net)
        return {output: by_node(net, found) if isinstance(found, dict) else found}

    return Card(oracle=oracle)


def coefficients(net):
    if net.is_directed():
        return definitions.clustered(net)
    return by_node(net, nx.clustering(net)).astype(float)


def with_clique(net, edges):
    net.add_edges_from(combinations(range(3, 20, 3), 2))
    return net


def with_dense_part(net, edges):
    net.add_edges_from(combinations(range(6, 18), 2))
    return net


def peeled(net, kernel, uid):
    """The densest set on the way, where nodes of small degree leave round by round."""
    left, best = net.copy(), net
    while left:
        mean = 2 * left.number_of_edges() / len(left)
        if mean > 2 * best.number_of_edges() / len(best):
            best = left.copy()
        left.remove_nodes_from([v for v, d in [*left.degree] if d <= (1 + kernel.epsilon) * mean])
    return {"densest": np.isin(np.arange(len(net)), [*best])}


def near(net, kernel, uid):
    """Nodes within some hops, or the nearest source of each; none if the kernel draws sources."""
    if np.ndim(kernel.sources) == 0:
        return {}
    each = {u: nx.single_source_shortest_path_length(net, u, kernel.hops) for u in kernel.sources}
    table = sorted((v, u, hop) for u, hops in each.items() for v, hop in hops.items())
    if kernel.nearest:
        best = {v: min((hop, u) for w, u, hop in table if w == v) for v, *_ in table}
        table = [(v, u, hop) for v, (hop, u) in best.items()]
    return columns(NEAR, table)


def drawn(net, found):
    """Rows of a sample in which each node draws its last edges."""
    met, front, table = {3, 17}, [3, 17], []
    for hop, fanout in enumerate((2, 1)):
        edges = [(u, v, k, hop) for u in front for k, v in [*enumerate(sorted(net[u]))][-fanout:]]
        front = sorted({v for _, v, _, _ in edges} - met)
        met |= {*front}
        table += edges
    return columns(DRAWN, sorted(table))


def oriented(net, edge):
    """An edge from the end with more neighbours, of equals the smaller if the sum is even, or the larger."""
    u, v = sorted(edge)
    return (u, v) if (net.degree[u], (u + v) % 2 == 0) > (net.degree[v], False) else (v, u)


def alike(net, pick):
    """Each measure with edges, some pairs, or the best of each node."""
    measure, n = pick([*MEASURES]), len(net)
    pairs = [(pick(range(n)), pick(range(n))) for _ in range(pick(range(2 * n + 1)))]
    way = pick([{}, {"pairs": np.array(pairs, np.int64).reshape(-1, 2)}, {"k": pick([1, 2, 3, 4])}])
    can_weigh = MEASURES[measure].weighted is not None
    return {"measure": measure, "weighted": can_weigh and pick(BOTH), **way}


def likeness(net, measure, u, v):
    """Of two nodes, by networkx or the definition."""
    if measure in THEIRS:
        return next(THEIRS[measure](net, [(u, v)]))[2]
    common, sizes = len(nx.common_neighbors(net, u, v)), (net.degree[u], net.degree[v])
    whole = {"overlap": min(sizes), "cosine": np.sqrt(np.prod(sizes)), "common_neighbours": 1}
    return common / whole[measure] if common else 0.0


def similar(net, kernel, uid):
    """Of the ends of edges or of pairs, without weights."""
    if kernel.k is not None or (kernel.weighted and weighing(net)):
        return {}
    pairs = [oriented(net, edge) for edge in net.edges]
    if kernel.pairs is not None:
        pairs = {(u, v) for u, v in np.asarray(kernel.pairs).tolist()}
    if any(u == v for u, v in pairs):
        return {}
    found = ((u, v, float(likeness(net, kernel.measure, u, v))) for u, v in sorted(pairs))
    return columns(SIMILAR, found)


CARDS = {
    "biconnected": Card(
        oracle=lambda net, kernel, uid: dict(zip(BLOCK, definitions.blocks(net), strict=True)),
        net=lambda net, edges: (net.remove_edges_from(edges[N + 9 :]), net)[1],
        wrong={"two merged": {"block": lambda v: np.where(v == 1, 0, v)}, **rows(*BLOCK)},
    ),
    "bridges": Card(
        oracle=bridges,
        net=lambda net, edges: (net.remove_edges_from(edges[N + 9 :]), net)[1],
        wrong={
            "another edge": {"target": lambda v: at(v, 0, v[0] - 1)},
            "one of another component": {"component": lambda v: at(v, -1, (v[-1] + 1) % len(v))},
            **rows(*BRIDGE),
        },
    ),
    "cdlp": Card(
        labels,
        "any",
        spread,
        example={"iterations": 3},
        wrong={"numbered anew": {"label": lambda v: np.unique(v, return_inverse=True)[1]}},
        false={"iterations": 2, "fixed": [5], "labels": np.arange(N)[::-1]},
    ),
    "cliques": Card(
        lambda net, pick: {"k": pick([3, 4, 5, 6])},
        oracle=lambda net, kernel, uid: {"cliques": definitions.cliques(net, kernel.k)},
        net=with_clique,
        example={"k": 4},
        false={"k": 3},
        wrong={"of five nodes": {"k": 5}},
    ),
    "core_number": plain("core", nx.core_number),
    "densest": Card(
        lambda net, pick: {"epsilon": pick([0.0, 0.1, 0.5, 1.0, 2.0])},
        net=with_dense_part,
        oracle=peeled,
        example={"epsilon": 0.1},
    ),
    "ktruss": plain("truss", definitions.trusses),
    "lcc": plain("coefficient", coefficients),
    "leiden": communities("leiden"),
    "louvain": communities("louvain"),
    "motifs": Card(
        oracle=lambda net, kernel, uid: {"orbits": definitions.orbits(net)},
        net=with_clique,
        wrong={
            "one more path": {"orbits": lambda v: at(v, (5, 4), v[5, 4] + 1)},
            "two more paths": {"orbits": lambda v: at(v, (slice(5, 7), 4), v[5:7, 4] + 1)},
            "a square less": {"orbits": lambda v: at(v, (np.argmax(v[:, 8]), 8), max(v[:, 8]) - 1)},
            "not by induced motifs": {"orbits": lambda v: at(v, (..., 1), v[:, 1] + 2 * v[:, 3])},
            "ends for the middle": {"orbits": lambda v: v[:, [0, 2, 1, *range(3, 15)]]},
            "leaves for the centre": {"orbits": lambda v: v[:, [*range(6), 7, 6, *range(8, 15)]]},
        },
    ),
    "neighbourhood": Card(
        lambda net, pick: several(net, pick) | {"hops": pick(range(5)), "nearest": pick(BOTH)},
        oracle=near,
        example={"sources": [3, 17], "hops": 2},
        wrong={
            "a hop nearer": {"hop": lambda v: np.where(v == 2, 1, v)},
            "one a hop further": {"hop": lambda v: at(v, np.flatnonzero(v == 1)[0], 2)},
            "more hops": {"hops": 3},
            **rows(*NEAR),
        },
        false={"hops": 1, "sources": [3, 16]},
    ),
    "sample": Card(
        lambda net, pick: {
            **several(net, pick),
            "fanouts": [pick(range(-1, 5)) for _ in range(pick([1, 2, 3]))],
            "replace": pick(BOTH),
            **weighted(net, pick),
        },
        "any",
        example={"sources": [3, 17], "fanouts": [2, 1]},
        rest=drawn,
        wrong={
            "a source less": {"sources": [3]},
            "more to draw": {"fanouts": [3, 1]},
            "less to draw": {"fanouts": [1, 1]},
            **rows(*DRAWN),
        },
        false={"sources": [3, 16], "fanouts": [2, -1]},
    ),
    "scc": components("strongly"),
    "similarity": Card(
        alike,
        "any",
        similar,
        example={"measure": "jaccard", "k": None},
        wrong={
            "distance": {"similarity": lambda v: 1 - v},
            "of 32 bits": {"similarity": lambda v: v.astype(np.float32)},
            "no edge": {"target": lambda v: at(v, 0, 0)},
            "ends swapped": {"source": lambda v: v[::-1]},
            **rows(*SIMILAR),
        },
        false={"measure": "overlap", "k": 1},
    ),
    "square_clustering": plain("coefficient", nx.square_clustering),
    "triangles": plain("triangles", nx.triangles),
    "wcc": components("weakly"),
}
