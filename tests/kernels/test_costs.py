"""What docstrings say of rounds and messages holds on random graphs."""

from __future__ import annotations

import dataclasses
import re
from math import ceil, log2

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
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

EXCHANGES = ("beta", "dst", "hs", "mst")
"""Kernels whose docstring names the synchronous rounds of the textbook as well."""


BOUND = re.compile(r"(at most|exactly) ``([^`]+)``(?![^:;,.])")
"""A sentence that says how many there are, in the letters of docs/kernels.md."""


def log_star(x):
    """How often the binary logarithm is taken until 1 or less is left."""
    return 0 if x <= 1 else 1 + log_star(log2(x))


def started(kernel, n):
    """Where a kernel with sources starts."""
    if hasattr(kernel, "chosen"):
        return kernel.chosen(n)
    return [kernel.root] if kernel.sources is None else kernel.sources


def letters(kernel, graph, ds):
    """The values of the letters."""
    n, m = graph.n, graph.m
    hops = dict(nx.all_pairs_shortest_path_length(graph.to_networkx()))
    diameter = max(max(found.values()) for found in hops.values())
    known = {"n": n, "m": m, "arcs": m if graph.directed else 2 * m}
    known |= {"ceil": ceil, "max": max, "min": min, "log2": log2, "log_star": log_star}
    known |= {"diameter": diameter, "hops": max(hops[ds.attrs.get("root", 0)].values())}
    known["rounds"] = ds.sizes["round"]
    own = {field.name: getattr(kernel, field.name) for field in dataclasses.fields(kernel)}
    if {"sources", "samples"} & own.keys():
        own["sources"] = own["samples"] = len(started(kernel, n))
    if own.get("f", 0) is None:
        own["f"] = kernel.failing(n)
    if "pairs" in own:
        own["p"] = 0 if kernel.pairs is None else len(kernel.pairs)
    if own.get("iterations", 0) is None:
        own["iterations"] = diameter + 1
    return known | own  # a parameter may have the name of one of these


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_docstrings_say_what_runs_take(name):
    said = costs(KERNELS[name])
    several = {"Exchanges"} if name in EXCHANGES else set()
    assert said.keys() == {"Rounds", "Messages"} | several
    for what, sentence in said.items():
        assert sentence.endswith(".")
        bounded = BOUND.match(sentence) is not None
        assert bounded == (name not in UNBOUNDED.get(what.lower(), ()))


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
    counts["Exchanges"] = ds.attrs["exchanges"]
    for what, sentence in costs(KERNELS[name]).items():
        if found := BOUND.match(sentence):
            bound = eval(found[2], {}, letters(kernel, graph, ds))
            assert counts[what] <= bound, f"{what}: {sentence}"
            if found[1] == "exactly":
                assert counts[what] == bound, f"{what}: {sentence}"
        elif found := re.match(r"at most `(\w+)`", sentence):
            bound = getattr(kernel, found[1])
            assert bound is None or counts[what] <= bound, f"{what}: {sentence}"
