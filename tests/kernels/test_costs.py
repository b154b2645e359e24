"""What docstrings say of rounds and messages holds on random graphs."""

from __future__ import annotations

import dataclasses

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite.core.running.bounds import BOUND, bounds
from dgsuite.core.running.bounds import letters as known_letters
from dgsuite.core.running.catalogue import costs
from dgsuite.kernels import KERNELS
from tests.support import cases
from tests.support.examples import examples

UNBOUNDED = {
    "rounds": {"bc", "by", "ds", "leiden", "louvain", "random_walks", "scc", "sssp", "wcc"}
    | {"benor", "gossip", "token_ring", "trial_colouring", *cases.STABLE}
    | {"edge_betweenness", "eigenvector", "hits", "katz", "pagerank"},
    "messages": {"bc", "bfs2d", "by", "edge_betweenness", "leiden", "louvain", "random_walks"},
}
"""Kernels whose docstring names no number that holds for every graph."""


def letters(kernel, graph, ds):
    """The values of the letters."""
    hops = dict(nx.all_pairs_shortest_path_length(graph.to_networkx()))
    diameter = max(max(found.values()) for found in hops.values())
    known = known_letters(kernel, graph.n, graph.m, graph.directed)
    if known.get("iterations", 0) is None:
        known["iterations"] = diameter + 1
    found = {
        "diameter": diameter,
        "hops": max(hops[ds.attrs.get("root", 0)].values()),
        "rounds": ds.sizes["round"],
    }
    return found | known  # a parameter may have the name of one of these


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_docstrings_say_what_runs_take(name):
    said = costs(KERNELS[name])
    assert said.keys() == {"Rounds", "Messages"}
    for what, sentence in said.items():
        assert sentence.endswith(".")
        bounded = BOUND.match(sentence) is not None
        assert bounded == (name not in UNBOUNDED[what.lower()])


@pytest.mark.parametrize("name", cases.NAMES)
@given(data=st.data())
@examples(3)
def test_runs_take_what_docstrings_say(name, data):
    kernel, make = data.draw(cases.inputs(name))
    if kernel._forms is not None:
        kernel = dataclasses.replace(kernel, faithful=False)
    graph = make()
    try:
        ds = dgsuite.run(kernel, graph, style="serial")
    except dgsuite.RunError:
        return  # values that do not converge
    counts = {"Rounds": ds.sizes["round"], "Messages": int(ds.messages.sum())}
    numbers = bounds(kernel, graph.n, graph.m, graph.directed)
    for what, sentence in costs(KERNELS[name]).items():
        number = numbers[what][1]
        assert number is None or counts[what] <= number, f"{what}: {sentence}"
        if found := BOUND.match(sentence):
            bound = eval(found[2], {}, letters(kernel, graph, ds))
            assert counts[what] <= bound, f"{what}: {sentence}"
            if found[1] == "exactly":
                assert counts[what] == bound, f"{what}: {sentence}"
