"""Averages by calls to random neighbours."""

from __future__ import annotations

from math import fsum, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.partition.graph.graph import Graph


def average(graph, **parameters):
    return dgsuite.run("push_sum", graph, style="serial", **parameters)


def complete(n):
    return Graph.from_edges(*np.triu_indices(n, 1), n=n, clusters=1)


@given(st.lists(st.integers(-(2**20), 2**20), min_size=2, max_size=12), st.integers(0, 9))
def test_halves_of_whole_numbers_lose_nothing(inputs, seed):
    """For 20 rounds their bits fit a float, so that masses add up exactly."""
    ds = average(complete(len(inputs)), inputs=inputs, seed=seed, tolerance=0.0, iterations=20)
    assert fsum(ds.mass.values) == sum(inputs)
    assert fsum(ds.weight.values) == len(inputs)


@pytest.mark.parametrize("n", [64, 256])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_rounds_on_complete_graphs_are_logarithmic(n, tolerance):
    graph = complete(n)
    inputs = np.arange(n) % 2
    for seed in range(10):
        ds = average(graph, inputs=inputs, seed=seed, tolerance=tolerance)
        assert ds.sizes["round"] <= 2 * (log2(n) + log2(1 / tolerance))
        assert (np.abs(ds.average - 0.5) <= tolerance).all()
        assert (ds.messages == n).all()


def test_nodes_far_from_others_get_there():
    """A leaf of a star is called seldom, so that its mass and weight become very small."""
    graph = Graph.from_edges(np.zeros(40, np.int64), np.arange(1, 41), clusters=2)
    ds = average(graph, tolerance=1e-3)
    assert genval.validate("push_sum", graph, ds).ok
    assert ds.sizes["round"] < 1000
    assert ds.weight.values.min() < 1e-6


def test_inputs_that_the_dataset_does_not_list():
    graph = Graph.from_edges(np.arange(5000), np.arange(1, 5001))
    ds = average(graph, inputs=np.arange(5001) % 5, iterations=3)
    assert genval.validate("push_sum", graph, ds).ok
    ds.mass[9] += 0.01
    assert not genval.validate("push_sum", graph, ds).ok
