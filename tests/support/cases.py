"""Small random inputs for every kernel, and a random way to cut each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

from dgsuite.kernels import KERNELS, Kernel
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import incoming
from tests.cards import CARDS

COMMUNITIES = ("leiden", "louvain")
"""Kernels of communities, whose clusters ship, so that messages are those of the cut."""

NAMES = sorted({name for name, k in KERNELS.items() if not k.obeys.ships} | {*COMMUNITIES})
"""Kernels that run on any cut, with the same messages but for those of communities."""

STABLE = tuple(name for name in NAMES if name.startswith("stable_"))
"""Kernels that recover from any state, on any graph."""

RINGS = tuple(name for name, kernel in KERNELS.items() if "ring" in kernel.needs)
"""Kernels of rings."""

TYPICAL = (
    *("all_pairs", "bc", "bfs", "bfs2d", "by", "cliques", "colouring", "hits", "hs", "mis"),
    *("phase_king", "sssp", "vc", "wcc"),
)
"""Kernels that use all of the engine between them, as `tests/dgsuite/engine/test_typical.py` shows. Tests of
what the engine alone decides try these; with other kernels they are long.
"""

Make = Callable[..., Graph]


@st.composite
def trees(draw, n: int) -> np.ndarray:
    """Parents with smaller ids of nodes 1 to n - 1."""
    reach = draw(st.sampled_from([1, 2, n]))
    return np.array([draw(st.integers(max(0, v - reach), v - 1)) for v in range(1, n)], np.int64)


@st.composite
def edges(draw, n: int, connected: bool) -> tuple[np.ndarray, np.ndarray]:
    """Ends of edges, some of them perhaps twice, or loops."""
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    more = np.array(draw(st.lists(pair, max_size=2 * n)), np.int64).reshape(-1, 2)
    src, dst = more[:, 0], more[:, 1]
    if connected:
        label = np.array(draw(st.permutations(range(n))), np.int64)
        src = np.concatenate([src, label[1:]])
        dst = np.concatenate([dst, label[draw(trees(n))]])
    return src, dst


@st.composite
def inputs(draw, name: str, max_nodes: int = 20) -> tuple[Kernel, Make]:
    """A kernel, and how to make its graph with any number of clusters or a map to them."""
    problem = draw(problems(name, max_nodes))
    return problem.kernel, problem.make


@dataclass
class Problem:
    """A kernel, a network, and how to make a graph of it with any number of clusters or a map to them."""

    kernel: Kernel
    net: nx.Graph
    make: Make
    options: dict[str, Any]

    def _repr_pretty_(self, printer, cycle):
        edges = [*self.net.edges(data=True)]
        name, n = self.kernel.name, len(self.net)
        printer.text(f"{name} with {self.options}, {n} nodes, edges {edges}")


@st.composite
def problems(draw, name: str, max_nodes: int = 20, ways: bool = False) -> Problem:
    """A kernel and a small network.

    Kernels that read edges against their directions get directed graphs, too; with `ways` all that take them.
    """
    n = draw(st.integers(1, max_nodes))
    uid = np.array(draw(st.permutations(range(1, n + 1))), np.int64)
    kind, card = KERNELS[name], CARDS[name]
    src, dst = draw(ends(n, kind.needs))
    takes = kind.pulls or (ways and (kind.both_ways or not kind.undirected))
    directed = takes and draw(st.booleans())
    weights = draw(weigh(card.weights, n, src, dst))
    if name == "bellman_ford" and directed:  # around a cycle heights add up to 0
        height = np.array(draw(st.permutations(range(n))), np.int64)
        weights = draw(st.integers(0, 3)) + height[src] - height[dst]
    net = nx.empty_graph(n, nx.DiGraph if directed else nx.Graph)
    net.add_edges_from(
        (u, v, {} if weights is None else {"weight": weights[k].item()})
        for k, (u, v) in enumerate(zip(src.tolist(), dst.tolist(), strict=True))
    )

    def make(clusters: int = 1, **more: Any) -> Graph:
        how = {"n": n, "weights": weights, "uid": uid, "directed": directed, **more}
        graph = Graph.from_edges(src, dst, clusters=clusters, **how)
        return incoming(graph) if directed and kind.pulls else graph

    net.remove_edges_from([*nx.selfloop_edges(net)])
    options = card.parameters(net, lambda values: draw(st.sampled_from(values)))
    options = {"seed": draw(st.integers(0, 5)), "faithful": draw(st.booleans()), **options}
    kernel = kind(**options)
    kernel = kernel.suited(make()) if name in (*COMMUNITIES, "random_walks") else kernel
    return Problem(kernel, net, make, options)


@st.composite
def ends(draw, n: int, needs: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Ends of edges of a graph as a kernel needs it; a few others are complete, too."""
    if "ring" in needs:
        return np.arange(n), np.arange(1, n + 1) % n
    if "complete" in needs or ("tree" not in needs and draw(st.integers(0, 9)) == 9):
        return np.triu_indices(n, 1)
    if "tree" in needs:
        label = np.arange(n)
        if draw(st.booleans()):
            label = np.array(draw(st.permutations(range(n))), np.int64)
        return label[1:], label[draw(trees(n))]
    if "connected" in needs or draw(st.booleans()):
        return draw(edges(n, "connected" in needs or draw(st.booleans())))
    pairs = np.random.default_rng(draw(st.integers(0, 99))).random((n, n))
    dense = draw(st.sampled_from([0.05, 0.15, 0.4, 0.9]))
    kept = draw(st.sampled_from(["all", "ascending", "odd sums"]))
    src, dst = np.nonzero(pairs < dense)
    keep = {"all": src >= 0, "ascending": src < dst, "odd sums": (src + dst) % 2 == 1}[kept]
    return src[keep], dst[keep]


@st.composite
def weigh(draw, kind: str, n: int, src: np.ndarray, dst: np.ndarray) -> np.ndarray | None:
    """Weights of some kind, or none."""
    low, high = np.minimum(src, dst), np.maximum(src, dst)
    if not kind or (kind != "signed" and draw(st.booleans())):
        return None
    if kind == "signed":
        apart = draw(st.sampled_from([104729, 5]))  # distinct, or many the same
        weights = (low * n + high) * 7919 % apart - draw(st.sampled_from([0, 2, 50000]))
    else:
        weights = (low * 7 + high * 3) % draw(st.integers(1, 6)) + (kind == "positive")
    return weights / 8 if kind != "whole" and draw(st.booleans()) else weights


@st.composite
def edge_lists(draw, most=15):
    """A number of nodes, and some edges with whole weights."""
    n = draw(st.integers(1, most))
    node = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(node, node, st.integers(-3, 3)), max_size=40))


@st.composite
def graphs(draw, directed=False, max_nodes=24):
    """Edges of a small random graph, and a random way to cut it."""
    n = draw(st.integers(1, max_nodes))
    src, dst = draw(edges(n, connected=False))
    hows = {"clusters": 1}, draw(cuts(n))
    return [Graph.from_edges(src, dst, n=n, directed=directed, **how) for how in hows]


@st.composite
def cuts(draw, n: int) -> dict[str, Any]:
    """A number of clusters, perhaps with a map."""
    clusters = draw(st.sampled_from([1, 2, 3, 8, n]))
    owner = st.lists(st.integers(0, clusters - 1), min_size=n, max_size=n).map(np.array)
    return {"clusters": clusters, "partition": draw(st.one_of(st.just("nodes"), owner))}


def in_turn(names, ways, always=None):
    """Cases of each name with each way. One way of each name is always tried, the next way for the next
    name; the others are long, and so are all of names that are not `always` tried.
    """
    first = [name for name in names if always is None or name in always]
    found = []
    for name, (k, way) in product(names, enumerate(ways)):
        now = name in first and (k - first.index(name)) % len(ways) == 0
        found.append(pytest.param(name, way, marks=[] if now else pytest.mark.long))
    return found


def typical(cases):
    """Cases by a kernel's name, or a tuple that begins with it; those of kernels that are not `TYPICAL` are
    long.
    """
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row, marks=[] if row[0] in TYPICAL else pytest.mark.long) for row in rows]
