"""All small graphs, families of graphs, and kernels on them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from functools import cache, lru_cache
from itertools import permutations, product
from random import Random
from typing import NamedTuple

import networkx as nx
import numpy as np

from dgsuite import genval
from dgsuite.core.parameters import make_kernel
from dgsuite.genval.validation import VALIDATORS
from dgsuite.kernels import KERNELS, Kernel
from dgsuite.partition.clusters.grid import arrange
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import both_ways, incoming
from tests.cards import CARDS

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
    others = [triangles, apart, nx.empty_graph(5), loops, nx.Graph([(0, 0)])]
    some = [nx.path_graph(9), nx.cycle_graph(8), nx.star_graph(9), grid]
    return [*some, nx.barbell_graph(4, 2), *others]


def typical(kernel):
    """A kernel on a small world of 40 nodes, or on a tree, ring or complete graph where it needs one."""
    small = nx.connected_watts_strogatz_graph(40, 6, 0.3, seed=1)
    return Case(kernel, suited(kernel, [small, nx.random_labeled_tree(40, seed=1)])[0], 1)


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


class Results(dict):
    """Outputs; parameters are attributes as well, as in a dataset."""


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
        uid = np.random.default_rng(self.number).permutation(n) + 1
        how = {"weights": self.weights, "uid": uid, "directed": self.net.is_directed()}
        graph = Graph.from_edges(*ends, n=n, clusters=clusters, **how)
        if self.kernel == "bfs2d":
            return arrange(graph)
        if not (graph.directed and seen):
            return graph
        kind = KERNELS[self.kernel]
        return both_ways(graph) if kind.both_ways else incoming(graph) if kind.pulls else graph

    @property
    def weights(self):
        """By edge; some are the same."""
        if not (CARDS[self.kernel].weights and self.number % 2):
            return None
        return np.array([(7 * min(e) + 3 * max(e) + self.number) % 5 + 1 for e in self.net.edges])

    @property
    def plain(self):
        """The network without loops, with its weights."""
        net = self.net.copy()
        if self.weights is not None:
            by_edge = dict(zip(net.edges, self.weights.tolist(), strict=True))
            nx.set_edge_attributes(net, by_edge, "weight")
        net.remove_edges_from([*nx.selfloop_edges(net)])
        return net

    def make(self) -> Kernel:
        """The kernel, with parameters that vary with the number."""
        pick = Random(f"{self.kernel} {self.number}").choice
        options = {**CARDS[self.kernel].parameters(self.plain, pick)}
        if self.faithful:
            options["faithful"] = True
        if isinstance(options.get("sources"), int):
            options["sources"] = [*range(options["sources"])]
        return make_kernel(self.kernel, self.graph(), None, options)

    def assert_right(self, outputs, kernel):
        """Outputs obey the kernel's rule, and are the only right ones where there are such."""
        graph = self.graph(seen=False)
        known = {name: value for name, value in asdict(kernel).items() if value is not None}
        results = Results(known | {str(name): np.asarray(outputs[name]) for name in outputs})
        results.attrs = known
        asked = VALIDATORS[self.kernel]
        name, dimensions = next(iter(asked.outputs.items()))
        if asked.columns is not None and results[name].ndim > dimensions:
            results[asked.columns] = np.arange(results[name].shape[1])
        if self.kernel == "all_pairs" and kernel.sources is not None:
            results["source"] = np.array(kernel.sources)
        report = genval.validate(self.kernel, graph, results)
        assert report.ok, str(report)
        assert_only(self.plain, kernel, np.concatenate([c.uid for c in graph.parts]), outputs)


def assert_only(net, kernel, uid, outputs):
    """Outputs are the only right ones, as far as a kernel's card says which these are."""
    for name, expected in CARDS[kernel.name].oracle(net, kernel, uid).items():
        np.testing.assert_allclose(np.asarray(outputs[name]), expected, rtol=1e-9, err_msg=name)


@contextmanager
def told(case, *more):
    """Failures name the case."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{case}{''.join(f', {what}' for what in more)}")
        raise
