"""Kernels are the textbook's programs of nodes, phase by phase: the same messages, and the same states."""

from dataclasses import replace

import networkx as nx
import pytest

from tests.support.node_by_node import assert_node_by_node
from tests.support.node_programs import PROGRAMS
from tests.support.small_graphs import Case, connected, families, suited, told

RANDOM = [nx.gnp_random_graph(14, p, seed=s) for s, p in enumerate((0.1, 0.2, 0.4))]
TREES = [nx.random_labeled_tree(n, seed=n) for n in (9, 12, 30)]

BEYOND = {"benor": {"model": "crash"}, "floodset": {"opt": False, "early": False}, "floodmax": {}}
"""Parameters that the programs do not have."""


def cases(name, nets):
    """A kernel on those of the networks that it can run on."""
    for number, net in enumerate(suited(name, nets)):
        yield Case(name, net, number)


def compare(name, nets):
    for case in cases(name, nets):
        with told(case):
            kernel = replace(case.make(), **BEYOND.get(name, {}))
            assert_node_by_node(PROGRAMS[name], kernel, case.graph())


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_families_of_graphs(name):
    compare(name, [*families(), *RANDOM, *TREES])


@pytest.mark.parametrize("n", [1, 2, 3, *(pytest.param(n, marks=pytest.mark.long) for n in (4, 5))])
@pytest.mark.parametrize("name", PROGRAMS)
def test_on_all_small_graphs(name, n):
    compare(name, connected(n))


def test_a_program_that_is_another_is_noticed():
    class Greedy(PROGRAMS["bf"]):
        def relax(self, v):
            if v.inbox:
                v.distance = max(v.said("distance"))
                return v.to_all(distance=v.distance + 1)

    case = Case("bf", nx.path_graph(4), 0)
    with pytest.raises(AssertionError, match="relax"):
        assert_node_by_node(Greedy, case.make(), case.graph())
