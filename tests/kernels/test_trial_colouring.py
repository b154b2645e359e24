"""Colouring by random trials."""

from __future__ import annotations

from math import log

import networkx as nx
import numpy as np

import dgsuite
from dgsuite import Network
from dgsuite.partition.graph.graph import Graph
from tests.support.valid import judged

NETS = {
    "star": nx.star_graph(60),
    "path": nx.path_graph(200),
    "complete": nx.complete_graph(40),
    "bipartite": nx.complete_bipartite_graph(20, 60),
    "random": nx.gnp_random_graph(150, 0.05, seed=2),
}


def colour(graph, **how):
    """The result, and what the rule says of it."""
    return judged("trial_colouring", graph, **how)


def test_a_node_that_tries_keeps_its_colour_one_time_in_four():
    """As the docstring proves; so rounds are as few as it says. Over 20 seeds of each graph."""
    for name, net in NETS.items():
        graph, tries, kept, rounds = Graph.from_networkx(net), 0, 0, []
        for seed in range(20):
            ds, report = colour(graph, seed=seed)
            assert report.ok, str(report)
            kept += graph.n
            tries += int((ds.settled + 1).sum())
            rounds.append(ds.sizes["round"])
        assert kept / tries > 0.25, name
        assert np.mean(rounds) < log(graph.n) / log(4 / 3) + 5, name


def test_every_colour_of_the_palette_is_tried_as_often():
    """A node with three neighbours, which it does not meet in the first round."""
    graph = Graph.from_networkx(nx.star_graph(3))
    found = [colour(graph, seed=seed)[0] for seed in range(400)]
    first = [int(ds.colour[0]) for ds in found if ds.settled[0] == 0]
    count = np.bincount(first, minlength=4)
    alone = np.array([1 / 8, 1 / 8, 1, 1]) * 100  # colours 0 and 1 are those of leaves, too
    assert (np.abs(count - alone) < 4 * np.sqrt(100)).all()


def test_nodes_that_have_not_crashed_differ():
    graph = Graph.from_networkx(NETS["random"])
    for seed in range(10):
        ds, report = colour(graph, seed=seed, network=Network(crashes=0.2))
        assert (ds.crashed >= 0).any()
        assert (ds.terminated, report.ok) == (1, True), str(report)


def test_where_messages_are_lost_neighbours_may_take_the_same_colour():
    graph = Graph.from_networkx(NETS["random"])
    found = [colour(graph, seed=seed, network=Network(loss=0.05)) for seed in range(5)]
    assert all(ds.terminated for ds, _ in found)
    assert any("no neighbour of colour" in str(report) for _, report in found)


def test_a_colour_that_is_none_is_ignored():
    """A node that lies keeps a colour beyond all palettes; the others colour themselves."""
    network = Network(byzantine=dgsuite.Byzantine([0], lambda sent: {"colour": sent.src * 0 + 99}))
    ds, _ = colour(Graph.from_networkx(nx.complete_graph(4)), network=network)
    assert len({*ds.colour.values[1:].tolist()}) == 3
