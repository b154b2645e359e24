"""A small graph for each kernel, and a right result on it, as its card says."""

import networkx as nx
import numpy as np

from dgsuite import InputError, genval
from dgsuite.genval.validation import VALIDATORS
from dgsuite.kernels import KERNELS
from dgsuite.partition.graph.graph import Graph
from tests.cards import CARDS
from tests.cards.card import UID, N


def network(kernel):
    """A graph for a kernel, with its networkx form."""
    rng, needs = np.random.default_rng(5), KERNELS[kernel].needs
    edges = [(v, int(rng.integers(0, v))) for v in range(1, N)]
    if "ring" in needs:
        edges = [(i, (i + 1) % N) for i in range(N)]
    elif "tree" not in needs:
        edges += [(int(u), int(v)) for u, v in rng.integers(0, N, (60, 2)) if u != v]
    graph = nx.complete_graph(N) if "complete" in needs else nx.empty_graph(N)
    graph.add_edges_from(edges)
    return CARDS[kernel].net(graph, edges)


def mine(kernel, clusters):
    return Graph.from_networkx(network(kernel), uid=UID, clusters=clusters)


def reference(kernel):
    """A right answer by networkx or a few lines of Python, and the parameters that it depends on."""
    card, net = CARDS[kernel], network(kernel)
    found = card.oracle(net, KERNELS[kernel](**card.example), UID)
    return {**card.example, **found, **card.rest(net, found)}


def judged(kernel, graph, right):
    """By kind, the report on each corruption of a right result; None where it is no input of the rule."""
    for kind, wrong in CARDS[kernel].corruptions(right, VALIDATORS[kernel].outputs):
        try:
            yield kind, genval.validate(kernel, graph, {**right, **wrong})
        except InputError:
            yield kind, None
