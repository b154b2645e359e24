"""All small graphs, families of graphs, and what is right on them by networkx or a few lines of Python."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from functools import cache, lru_cache
from itertools import permutations, product
from typing import NamedTuple

import networkx as nx
import numpy as np

from dgsuite import genval
from dgsuite.core.parameters import make_kernel
from dgsuite.kernels import KERNELS, Kernel
from dgsuite.kernels.analytics.similarity import MEASURES
from dgsuite.partition.clusters.grid import arrange
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import both_ways, incoming
from tests.support.cases import DAEMONS, RANKS
from tests.support.definitions import (
    blocks,
    bridged,
    cliques,
    clustered,
    committees,
    orbits,
    predecessors,
    propagated,
    trusses,
)

WEIGHTED = (
    *RANKS,
    *("bc", "bellman_ford", "cdlp", "dr", "edge_betweenness", "fastrp", "leiden", "louvain", "mst"),
    *("sample", "similarity", "sssp", "alpha", "beta"),
)
"""Kernels that use weights."""

BY_CUT = tuple(name for name, kernel in KERNELS.items() if kernel.obeys.ships)
"""Kernels whose messages depend on the cut."""

FORMS = sorted(
    (name, faithful)
    for name, kernel in KERNELS.items()
    for faithful in ([False, True] if kernel._forms else [False])
)
"""Kernels by name, textbook's and faithful forms."""

DIRECTED = sorted(name for name, k in KERNELS.items() if k.both_ways or not k.undirected)
"""Kernels that take directed graphs."""


@cache
def connected(n):
    """All connected graphs of 1 to 7 nodes, up to isomorphism."""
    return [net for net in nx.graph_atlas_g() if len(net) == n and nx.is_connected(net)]


@cache
def directed(n):
    """All directed graphs of some nodes, up to isomorphism."""
    pairs, found = [*permutations(range(n), 2)], {}
    for chosen in product([False, True], repeat=len(pairs)):
        edges = [pair for pair, there in zip(pairs, chosen, strict=True) if there]
        forms = (sorted((p[u], p[v]) for u, v in edges) for p in permutations(range(n)))
        found.setdefault(tuple(min(forms)), edges)
    nets = [nx.empty_graph(n, nx.DiGraph) for _ in found]
    for net, edges in zip(nets, found.values(), strict=True):
        net.add_edges_from(edges)
    return nets


@cache
def families():
    """A graph of each family, of some ten nodes."""
    triangles = nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3))
    apart = nx.empty_graph(13)
    apart.add_edges_from((2 * u + 1, 2 * v + 1) for u, v in triangles.edges)
    loops = nx.star_graph(5)
    loops.add_edges_from([*zip(loops, loops, strict=True)])
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4))
    several = [triangles, apart, nx.empty_graph(5), loops, nx.Graph([(0, 0)])]
    return [
        nx.path_graph(9),
        nx.cycle_graph(8),
        nx.star_graph(9),
        grid,
        nx.barbell_graph(4, 2),
        *several,
    ]


def in_one_piece(net):
    """Whether a network is connected, whichever way its edges go."""
    return nx.is_weakly_connected(net) if net.is_directed() else nx.is_connected(net)


def suited(kernel, nets):
    """Those graphs that a kernel can run on; rings or complete ones where it needs these."""
    needs = KERNELS[kernel].needs
    if "ring" in needs:
        return [nx.cycle_graph(n) for n in sorted({*map(len, nets)})]
    if "complete" in needs:
        return [nx.complete_graph(n) for n in sorted({*map(len, nets)})]
    looks = {"tree": nx.is_tree, "connected": in_one_piece}
    return [net for net in nets if all(looks[need](net) for need in looks.keys() & {*needs})]


class Case(NamedTuple):
    """A kernel and a network, with a number that varies parameters, identifiers and weights."""

    kernel: str
    net: nx.Graph
    number: int
    faithful: bool = False

    def __str__(self):
        form = ", faithful" if self.faithful else ""
        return f"{self.kernel}{form}, number {self.number}, {len(self.net)} nodes, edges {self.net.edges}"

    @lru_cache(8)  # noqa: B019 (few, and for a moment)
    def graph(self, clusters=1, seen=True):
        """The network as a graph, as the kernel looks at it."""
        n, ends = len(self.net), np.array([*self.net.edges], np.int64).reshape(-1, 2).T
        graph = Graph.from_edges(
            *ends,
            n=n,
            weights=self.weights if self.kernel in WEIGHTED and self.number % 2 else None,
            uid=np.random.default_rng(self.number).permutation(n) + 1,
            directed=self.net.is_directed(),
            clusters=clusters,
        )
        if self.kernel == "bfs2d":
            return arrange(graph)
        if not (graph.directed and seen):
            return graph
        kind = KERNELS[self.kernel]
        return both_ways(graph) if kind.both_ways else incoming(graph) if kind.pulls else graph

    @property
    def weights(self):
        """By edge; some are the same."""
        return np.array([(7 * min(e) + 3 * max(e) + self.number) % 5 + 1 for e in self.net.edges])

    def make(self) -> Kernel:
        """The kernel, with parameters that vary with the number."""
        turn, last = self.number % 4, len(self.net) - 1
        weighted = {"weighted": bool(self.number % 2)}
        few = {"iterations": 1 + turn, **weighted}
        root = {"root": last if turn % 2 else 0}
        paths = {"graph_form": ("replicated", "partitioned")[turn // 2], **weighted}
        daemon = DAEMONS[self.number % len(DAEMONS)]
        law = (2, "uniform", "geometric", "weight" if self.net.edges else 0)[turn]
        options = {
            "alpha": {"rounds": 1 + turn, "delay": law},
            "beta": {**root, "rounds": 1 + turn, "delay": law},
            "bc": paths,
            "bf": root,
            "bfs": {
                **root,
                "direction": ("optimising", "top-down")[turn // 2],
                "cutoff": (None, 2, 0, 1)[turn],
            },
            "bfs2d": root,
            "cdlp": {"iterations": 1 + turn, **weighted, **self.known(turn)},
            "densest": {"epsilon": (0.0, 0.1, 0.5, 2.0)[turn]},
            "cliques": {"k": 3 + turn},
            "dijkstra_scholten": {**root, "work": 1 + turn},
            "distance_vector": {**root, "split": ("none", "horizon", "poisoned", "none")[turn]},
            "dst": root,
            "echo": {**root, "value": ("degree", "uid")[turn // 2]},
            "edge_betweenness": paths,
            "eigenvector": few,
            "floodmax": {"iterations": (None, len(self.net))[turn // 2], "opt": bool(turn % 2)},
            "floodset": {"f": len(self.net), "inputs": 1 + turn, "opt": turn == 2},
            "gossip": {**root, "mode": ("push", "pull", "push-pull", "push-pull")[turn]},
            "hits": few,
            "katz": few,
            "kc": {"k": 1 + turn},
            "leiden": {"objective": ("modularity", "cpm")[turn // 2], **weighted},
            "louvain": weighted,
            "pagerank": few,
            "fastrp": {"dimensions": 1 + turn, "normalise": turn < 2, **weighted},
            "neighbourhood": {"hops": turn, "nearest": self.number % 3 == 0},
            "push_sum": {"tolerance": 0.1 ** (1 + turn)},
            "random_walks": {"length": 3, "p": 1.0 if self.net.is_directed() else 0.5},
            "sample": {
                "sources": [last],
                "fanouts": (1, 2, -1)[: 1 + turn],
                "replace": self.number % 3 == 0,
                **weighted,
            },
            "similarity": self.similarity(),
            "snapshot": {**root, "after": turn, "inputs": 10 * turn},
            "sssp": {**root, "delta": (None, 1.0, 2.5, np.inf)[turn]},
            "benor": {"model": ("crash", "byzantine")[turn // 2]},
            "stable_bfs": {**root, "daemon": daemon},
            "stable_colouring": {"daemon": daemon, "faults": {4: 0.5}},
            "stable_matching": {"daemon": daemon},
            "stable_mis": {"daemon": daemon},
            "token_ring": {"daemon": ("synchronous", "distributed", "central")[turn % 3]},
            "vc": {"root": 0, "parents": self.parents()},
        }.get(self.kernel, {})
        if self.faithful:
            options |= {"faithful": True}
        return make_kernel(self.kernel, self.graph(), None, options)

    def known(self, turn):
        """In some turns, labels of every second node, and the first, which keeps it."""
        if turn % 4 < 2:
            return {}
        nodes = np.arange(len(self.net))
        return {"labels": np.where(nodes % 2, -1, nodes // 3), "fixed": [0]}

    def similarity(self):
        """Each measure with edges, pairs and the best in turn."""
        measure = [*MEASURES][self.number % 7]
        n = len(self.net)
        far = np.stack([np.arange(n), np.arange(n)[::-1]], axis=1)
        way = ({}, {"pairs": far}, {"k": 2})[self.number % 3]
        weighted = bool(self.number % 2) and MEASURES[measure].weighted is not None
        return {"measure": measure, "weighted": weighted, **way}

    def parents(self):
        """Of each node on the way from node 0, where the network is a tree."""
        above = predecessors(self.net, 0) if len(self.net) else {}
        return [above.get(v, 0) for v in range(len(self.net))]

    def assert_right(self, outputs, kernel):
        """Outputs obey the kernel's rule, and are networkx's where it has them."""
        graph = self.graph(seen=False)
        facts = {name: value for name, value in asdict(kernel).items() if value is not None}
        report = genval.validate(
            self.kernel, graph, {**facts, **{name: outputs[name] for name in kernel.outputs}}
        )
        assert report.ok, str(report)
        uid = np.concatenate([c.uid for c in graph.parts])
        for name, expected in right(self, kernel, uid).items():
            found = np.asarray(outputs[name])
            np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=name)


@contextmanager
def told(case, *more):
    """Failures name the case."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{case}{''.join(f', {what}' for what in more)}")
        raise


def by_node(net, found, otherwise=0):
    """Values of a dictionary, for each node."""
    return np.array([found.get(v, otherwise) for v in range(len(net))])


def smallest(parts):
    """For each node the smallest of its part."""
    return {v: min(part) for part in parts for v in part}


def right(case, kernel, uid):
    """The only right outputs, of kernels that have some by networkx or by a definition."""
    net = nx.create_empty_copy(case.net)  # without loops
    edges = zip(case.net.edges, case.weights.tolist(), strict=True)
    net.add_edges_from((u, v, {"weight": w}) for (u, v), w in edges if u != v)
    name, weight = case.kernel, "weight" if case.number % 2 else None
    if name in ("bf", "bfs", "bfs2d", "dijkstra_scholten", "dst", "stable_bfs"):
        most = getattr(kernel, "cutoff", None)
        hops = nx.single_source_shortest_path_length(net, kernel.root, cutoff=most)
        return {"level" if "bfs" in name else "distance": by_node(net, hops, -1)}
    if name == "distance_vector":
        hops = nx.single_source_shortest_path_length(net, kernel.root)
        return {"distance": by_node(net, hops, kernel.infinity)}
    if name in ("bellman_ford", "sssp"):
        found = nx.single_source_dijkstra_path_length(net, kernel.root, weight=weight)
        return {"distance": by_node(net, found, np.inf)}
    if name == "all_pairs":
        hops = dict(nx.all_pairs_shortest_path_length(net))
        return {"level": np.array([by_node(net, hops[u], -1) for u in range(len(net))]).T}
    if name == "dr":
        cost = dict(nx.all_pairs_dijkstra_path_length(net, weight=weight or 1))
        return {"cost": np.array([by_node(net, cost[u]) for u in range(len(net))])}
    if name == "bc":
        return {"betweenness": by_node(net, nx.betweenness_centrality(net, None, False, weight))}
    if name == "topological" and nx.is_directed_acyclic_graph(net):
        found = {v: k for k, some in enumerate(nx.topological_generations(net)) for v in some}
        return {"generation": by_node(net, found), "cycle": np.full(len(net), -1)}
    if name == "bipartite" and nx.is_bipartite(net):
        least = smallest(nx.weakly_connected_components(net.to_directed()))
        hops = dict(nx.all_pairs_shortest_path_length(net.to_undirected()))
        return {"colour": np.array([hops[v][least[v]] % 2 for v in range(len(net))])}
    if name == "edge_betweenness":
        found = nx.edge_betweenness_centrality(net, None, False, weight)
        ends = found if net.is_directed() else map(sorted, found)
        rows = sorted((*edge, value) for edge, value in zip(ends, found.values(), strict=True))
        columns = ("source", "target", "betweenness")
        return dict(zip(columns, np.array(rows).reshape(-1, 3).T, strict=True))
    if name in ("closeness", "harmonic"):
        return {name: by_node(net, getattr(nx, f"{name}_centrality")(net))}
    if name in ("scc", "wcc"):
        kind = "strongly" if name == "scc" else "weakly"
        look = getattr(nx, f"{kind}_connected_components")
        return {"component": by_node(net, smallest(look(net.to_directed())))}
    if name == "lcc":
        found = clustered(net) if net.is_directed() else by_node(net, nx.clustering(net))
        return {"coefficient": found}
    if name == "cdlp":
        how = {"labels": kernel.labels, "fixed": kernel.fixed or ()}
        weight = "weight" if kernel.weighted else None
        return {"label": propagated(net, kernel.iterations, weight, **how)}
    if name == "kc" and not case.faithful:
        return {"committee": committees(net, uid, kernel.k)}
    if name in ("dp", "hs", "lcr"):
        return {"leader": np.full(len(net), uid.max())}
    if name == "bridges":
        parts = smallest(nx.connected_components(nx.restricted_view(net, [], [*nx.bridges(net)])))
        return {
            **dict(zip(("source", "target"), bridged(net), strict=True)),
            "articulation": np.isin(np.arange(len(net)), [*nx.articulation_points(net)]),
            "component": by_node(net, parts),
        }
    if name == "biconnected":
        return dict(zip(("member", "block"), blocks(net), strict=True))
    if name == "cliques":
        return {"cliques": cliques(net, kernel.k)}
    if name == "motifs":
        return {"orbits": orbits(net)}
    plain = {
        "core_number": ("core", nx.core_number),
        "eccentricity": ("eccentricity", nx.eccentricity),
        "ktruss": ("truss", lambda net: dict(enumerate(trusses(net)))),
        "square_clustering": ("coefficient", nx.square_clustering),
        "triangles": ("triangles", nx.triangles),
    }
    if name in plain:
        output, look = plain[name]
        return {output: by_node(net, look(net))}
    return {}
