"""Larger networks for each kernel, with parameters that its card draws."""

import random

import networkx as nx
import numpy as np

from dgsuite.kernels import KERNELS
from dgsuite.partition import arrange
from dgsuite.partition.graph.graph import Graph
from tests.cards import CARDS

NETS = {
    "path": nx.path_graph,
    "star": lambda n: nx.star_graph(n - 1),
    "random tree": lambda n: nx.random_labeled_tree(n, seed=n),
    "grid": lambda n: nx.convert_node_labels_to_integers(nx.grid_2d_graph(10, n // 10)),
    "small world": lambda n: nx.connected_watts_strogatz_graph(n, 6, 0.3, seed=n),
    "complete": lambda n: nx.complete_graph(min(n, 60)),
    "ring": nx.cycle_graph,
}
FITTING = {"ring": ["ring"], "complete": ["complete"], "tree": [*NETS][:3]}
"""Networks for kernels that need such ones."""


def fitting(name):
    """Names of the networks that a kernel runs on."""
    return next((FITTING[need] for need in KERNELS[name].needs if need in FITTING), [*NETS])


def problem(name, net, seed, clusters=1):
    """A kernel and its graph."""
    dice, kind, card = random.Random(seed), KERNELS[name], CARDS[name]
    src, dst = np.array(net.edges).T
    weights = None
    if card.weights:
        weights = np.array([dice.randint(1, 9) for _ in src])
        for (u, v), weight in zip(net.edges, weights.tolist(), strict=True):
            net.edges[u, v]["weight"] = weight
    options = card.parameters(net, lambda values: dice.choice([*values]))
    uid = np.random.default_rng(seed).permutation(len(net)) + 1
    graph = Graph.from_edges(src, dst, n=len(net), weights=weights, uid=uid, clusters=clusters)
    graph = arrange(graph) if name == "bfs2d" else graph
    return kind(**{"seed": seed, **options}).suited(graph), graph


def typical(name):
    """A kernel and its graph of some 40 nodes in four clusters."""
    net = "small world" if "small world" in fitting(name) else fitting(name)[-1]
    return problem(name, NETS[net](40), 1, 4)
