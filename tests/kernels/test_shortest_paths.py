"""Shortest paths from several sources, and with negative weights, are networkx's."""

from __future__ import annotations

import re
import warnings
from contextlib import nullcontext

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.base.errors import InputError, NegativeCycle, RunError
from dgsuite.kernels import FORMS, KERNELS
from tests.support.definitions import cut, networks
from tests.support.valid import valid


@pytest.mark.parametrize("form", ["iterative", "block"])
def test_sources_are_labels_and_the_same_on_any_cut(form):
    edges = nx.path_graph(70).edges
    names = np.array([f"v{i:02}" for i in range(70)])
    found = []
    for clusters in (1, 3, 8):
        graph = dgsuite.Graph.from_edges(*names[np.array(edges)].T, relabel=True, clusters=clusters)
        ds = valid("sssp", graph, sources=["v69", "v10", "v40"], form=form)
        found.append(ds[["distance", "parent", "source"]])
        wrong = ds.assign(source=ds.source.copy(data=np.roll(ds.source, 1)))
        assert not genval.validate("sssp", graph, wrong).ok
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])
    near = found[0].source.sel(node=["v00", "v24", "v26", "v54", "v55", "v69"])
    assert near.values.tolist() == ["v10", "v10", "v40", "v40", "v69", "v69"]


@pytest.mark.parametrize("kernel", ["sssp", "bellman_ford"])
@pytest.mark.parametrize(
    ("sources", "message"),
    [([], "at least one node"), ([1, 1], "different nodes"), ([9], "not a node"), (2, "sources")],
)
def test_wrong_sources(kernel, sources, message):
    graph = genval.graph("ring", 9, client=None)
    for form in ("iterative", "block") if kernel == "sssp" else ("iterative",):
        with pytest.raises(InputError, match=message):
            dgsuite.run(kernel, graph, style="serial", sources=sources, form=form)


@given(st.data(), st.integers(0, 3), st.booleans())
def test_negative_weights(data, least, real):
    net = data.draw(networks(True))
    for u, v in net.edges:
        net[u][v]["weight"] = ((u * 5 + v * 11) % 9 - least) / (4 if real else 1)
    graph, root = cut(net, data.draw), data.draw(st.sampled_from(sorted(net)))
    if data.draw(st.booleans()):
        with nullcontext() if not nx.negative_edge_cycle(net) else pytest.raises(NegativeCycle):
            assert (valid("bellman_ford", graph, sources=[*net]).distance <= 0).all()
    try:
        right = nx.single_source_bellman_ford_path_length(net, root)
    except nx.NetworkXUnbounded:
        with pytest.raises(NegativeCycle, match=r"the cycle .* is of negative length") as caught:
            dgsuite.run("bellman_ford", graph, root=root, style="serial")
        named = str(caught.value).partition("the cycle ")[2].partition(" is of")[0]
        cycle = [*map(int, named.split(" -> "))]
        assert cycle[0] == cycle[-1]
        assert nx.path_weight(net, cycle, "weight") < 0
    else:
        found = valid("bellman_ford", graph, root=root).distance.values
        assert found.tolist() == [right.get(v, np.inf) for v in net]


def test_a_long_cycle_is_found_early_and_named_in_part():
    n = 3000
    node = np.arange(n)
    weights = np.where(node == n - 1, -1, 0)
    graph = dgsuite.Graph.from_edges(
        node, (node + 1) % n, weights=weights, directed=True, clusters=3
    )
    with pytest.raises(
        NegativeCycle, match=r"the cycle \.\.\. -> 2980 -> .* -> 2999 -> 0 is of neg"
    ):
        dgsuite.run("bellman_ford", graph, sources=node, style="serial")


def test_a_negative_edge_of_an_undirected_graph_is_a_cycle():
    graph = dgsuite.Graph.from_edges([0, 1], [1, 2], weights=[1, -1])
    with pytest.raises(NegativeCycle, match=r"the cycle (1 -> 2 -> 1|2 -> 1 -> 2) is"):
        dgsuite.run("bellman_ford", graph)
    with pytest.raises(InputError, match="negative weight"):
        dgsuite.run("sssp", graph)


def test_many_rounds_without_a_cycle():
    n = 100
    up = np.arange(n - 1)
    graph = dgsuite.Graph.from_edges(up, up + 1, weights=-1 - up % 3, directed=True, clusters=4)
    ds = valid("bellman_ford", graph)
    np.testing.assert_array_equal(ds.distance, np.concatenate([[0], np.cumsum(-1 - up % 3)]))


@pytest.mark.parametrize(
    ("weight", "message"), [(-(2**52), "be below 2.53 to be exact"), (-1.5e308, "fit a float64")]
)
def test_distances_that_are_not_exact_are_errors(weight, message):
    graph = dgsuite.Graph.from_edges([0, 1], [1, 2], weights=[weight, weight], directed=True)
    with pytest.raises(RunError, match=f"the distance of node 2 must {message}"):
        dgsuite.run("bellman_ford", graph, style="serial")


@pytest.mark.parametrize("kernel", ["bfs", "bf", "sssp", "bellman_ford"])
@pytest.mark.parametrize("form", ["iterative", "block"])
def test_a_search_that_reaches_its_root_alone_says_so(kernel, form):
    """If nobody chose the root, and not where it reaches others or was asked to go nowhere."""
    if kernel not in FORMS[form]:
        return
    graph = dgsuite.Graph.from_edges([1, 2], [2, 0], directed=True)
    message = f"kernel '{kernel}': only the root, 0, is reached, since no edge leaves it; root="
    if KERNELS[kernel].undirected:
        graph = dgsuite.Graph.from_edges([1, 2], [2, 3])
    with pytest.warns(UserWarning, match=re.escape(message)):
        dgsuite.run(kernel, graph, form=form)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dgsuite.run(kernel, graph, form=form, root=0)
        dgsuite.run(kernel, dgsuite.Graph.from_edges([0], [1]), form=form)
        dgsuite.run(kernel, dgsuite.Graph.from_edges([], [], n=1), form=form)
        if kernel == "bfs" and form == "iterative":
            dgsuite.run(kernel, graph, cutoff=0)
            path = dgsuite.Graph.from_edges([0], [1])
            dgsuite.run(kernel, path, network=dgsuite.Network(crashes={0: 0}))
