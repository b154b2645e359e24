"""Rumours by calls to random neighbours."""

from __future__ import annotations

from math import log, log2

import numpy as np
import pytest

import dgsuite
from dgsuite.partition.graph.graph import Graph

SEEDS = range(20)


def spread(graph, **parameters):
    return dgsuite.run("gossip", graph, style="serial", **parameters)


def complete(n):
    return Graph.from_edges(*np.triu_indices(n, 1), n=n, clusters=1)


def star(leaves):
    return Graph.from_edges(np.zeros(leaves, np.int64), np.arange(1, leaves + 1), clusters=2)


@pytest.mark.parametrize("n", [64, 256])
def test_rounds_on_complete_graphs_are_those_of_the_theorems(n):
    """Pittel 1987: log2(n) + ln(n) + O(1) by pushes. Karp et al. 2000: log3(n) + O(log log n) by both."""
    graph = complete(n)
    pushes, both = (
        [spread(graph, mode=mode, seed=seed).sizes["round"] for seed in SEEDS]
        for mode in ("push", "push-pull")
    )
    assert abs(np.mean(pushes) - log2(n) - log(n)) < 2
    assert log2(n) <= min(pushes) <= max(pushes) < log2(n) + log(n) + 6
    assert abs(np.mean(both) - log(n, 3) - log(log(n))) < 2
    assert log(n, 3) <= min(both) <= max(both) < log(n, 3) + log(log(n)) + 3


@pytest.mark.parametrize(("mode", "factor"), [("push", 2), ("push-pull", None)])
def test_pushes_at_most_double_those_who_know(mode, factor):
    informed = spread(complete(100), mode=mode).informed.values
    known = np.cumsum(np.bincount(informed))
    grows = (known[1:] / known[:-1]).max()
    assert grows <= 2 if factor else grows > 2


@pytest.mark.parametrize("root", [0, 5])
def test_a_star_takes_one_pull_of_each_leaf(root):
    """All leaves call the centre in each round; it knows the rumour at first, or after one round."""
    graph = star(30)
    informed = spread(graph, root=root, mode="push-pull").informed.values
    assert informed[0] == (root != 0)
    assert set(informed[[v for v in range(1, 31) if v != root]]) == {1 if root == 0 else 2}


def test_messages_are_calls_and_answers():
    ds = spread(star(30), mode="pull")
    assert ds.messages.values.tolist() == [60]
    ds = spread(star(30), mode="push")
    knew = np.searchsorted(np.sort(ds.informed.values), np.arange(ds.sizes["round"]), "right")
    np.testing.assert_array_equal(ds.messages, knew)


def test_every_neighbour_is_called_as_often():
    graph = star(4)
    found = [spread(graph, mode="push", seed=s).informed.values for s in range(200)]
    first = [np.flatnonzero(informed == 1)[0] for informed in found]
    calls = np.bincount(first, minlength=5)
    assert calls[0] == 0
    assert (np.abs(calls[1:] - 50) < 4 * np.sqrt(200 * 0.25 * 0.75)).all()
