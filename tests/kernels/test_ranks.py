"""Ranks are networkx's, and the same bits for every cut; weights count where the graph has some."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import Weighted
from dgsuite.partition.graph.graph import Graph
from tests.support.valid import valid

TOLERANCE = 1e-10


@st.composite
def networks(draw):
    """Disconnected graphs, single nodes, stars, with weights, some of them 0."""
    n, directed = draw(st.integers(1, 25)), draw(st.booleans())
    if draw(st.integers(0, 5)):
        net = nx.gnp_random_graph(n, draw(st.sampled_from([0.03, 0.1, 0.3])), n, directed)
    else:
        net = nx.star_graph(n)
        net = nx.DiGraph(net.edges) if directed and n > 1 else net
    most = draw(st.integers(1, 4))
    for u, v in net.edges:
        net[u][v]["weight"] = (u * 7 + v * 3) % most / 4
    return net


def on_cuts(kernel, net, output, owner, **parameters):
    """An output on several cuts, which agree to the last bit and are valid."""
    found = []
    for cut in ({"clusters": 1}, {"clusters": 4}, {"partition": owner}):
        graph = Graph.from_networkx(net, **cut)
        ds = valid(kernel, graph, **parameters)
        found.append((ds[output].values, ds.sizes["round"], ds.messages.values))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
    return found[0][0]


@given(networks(), st.data())
def test_pagerank_is_networkxs(net, data):
    n, weighted = len(net), data.draw(st.booleans())
    damping = data.draw(st.sampled_from([0.3, 0.85, 0.9]))
    wanted = data.draw(st.one_of(st.none(), st.lists(st.sampled_from([0.0, 1.0, 0.1]), min_size=n,
                                                     max_size=n).filter(any)))  # fmt: skip
    right = nx.pagerank(
        net,
        damping,
        personalization=None if wanted is None else dict(enumerate(wanted)),
        tol=TOLERANCE / n,
        max_iter=9999,
        weight="weight" if weighted else None,
    )
    owner = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    parameters = {"damping": damping, "weighted": weighted, "tolerance": TOLERANCE}
    if wanted is not None and data.draw(st.booleans()):
        wanted = {v: wanted[v] for v in net if wanted[v]}
    rank = on_cuts("pagerank", net, "rank", owner, personalisation=wanted, iterations=9999,
                   **parameters)  # fmt: skip
    np.testing.assert_allclose(rank, [right[v] for v in range(n)], rtol=0, atol=1e-12)


def hubs(net, weight, tolerance):
    """Hubs and authorities by matrices, as often as needed."""
    matrix = nx.to_numpy_array(net, sorted(net), weight=weight)
    hub, moved = np.full(len(net), 1 / len(net)), 1.0
    while moved >= tolerance:
        authority = hub @ matrix
        new = matrix @ authority
        new = new / (new.max() or 1)
        hub, moved = new, np.abs(new - hub).sum()
    return {"hub": hub / (hub.sum() or 1), "authority": authority / (authority.sum() or 1)}


@given(networks(), st.sampled_from(["eigenvector", "katz", "hits"]), st.data())
def test_centralities_are_networkxs(net, kernel, data):
    n, weighted = len(net), data.draw(st.booleans())
    owner = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    parameters = {"weighted": weighted, "tolerance": 1e-4, "iterations": 9999}
    close = {"weight": "weight" if weighted else None, "tol": 1e-4 / n, "max_iter": 9999}
    if kernel == "hits":
        right = hubs(net, close["weight"], 1e-4)
    elif kernel == "katz":
        parameters |= {"alpha": 0.02, "normalised": data.draw(st.booleans()), "beta": 2.0}
        options = {"alpha": 0.02, "normalized": parameters["normalised"], "beta": 2.0}
        found = nx.katz_centrality(net, **close, **options)
        right = {"centrality": [found[v] for v in range(n)]}
    else:
        found = nx.eigenvector_centrality(net, **close)
        right = {"centrality": [found[v] for v in range(n)]}
    for name, values in right.items():
        found = on_cuts(kernel, net, name, owner, **parameters)
        np.testing.assert_allclose(found, values, rtol=1e-12, atol=1e-12)


def test_iterations_that_do_not_end():
    """PageRank without damping walks to and fro; Katz centrality grows without limit."""
    graph = Graph.from_networkx(nx.star_graph(4))
    for kernel, parameters, message in (
        ("pagerank", {"damping": 1.0}, "after 1000 iterations values still change by"),
        ("katz", {"alpha": 0.6}, "after 1000 iterations values still change by"),
        ("katz", {"alpha": 5.0}, "alpha=5.0 must be less than 1 over the largest eigenvalue"),
    ):
        with pytest.raises(dgsuite.RunError, match=message):
            dgsuite.run(kernel, graph, style="serial", **parameters)
    fixed = dgsuite.run("pagerank", graph, style="serial", damping=1.0, iterations=2)
    np.testing.assert_allclose(fixed["rank"], 0.2, rtol=1e-15)
    for wrong in ({"alpha": 0}, {"alpha": np.inf}, {"beta": -1.0}):
        with pytest.raises(dgsuite.InputError, match="must be above 0"):
            dgsuite.run("katz", graph, style="serial", **wrong)


def test_pagerank_by_the_rules_of_benchmarks():
    """Graphalytics' fixed number of iterations; GAP's sinks, which lose what they hold."""
    graph, how = Graph.from_edges([0, 0, 1], [1, 2, 2], n=4, directed=True), {"style": "serial"}
    x = np.full(4, 0.25)
    for number in (1, 2, 3):
        along = np.array([0, x[0] / 2, x[0] / 2 + x[1], 0])
        kept = 0.05 + 0.8 * along
        x = kept + 0.8 * (x[2] + x[3]) / 4
        ds = dgsuite.run("pagerank", graph, damping=0.8, iterations=number, **how)
        np.testing.assert_allclose(ds["rank"], x, rtol=1e-15)
        assert ds.sizes["round"] == number
        if number == 1:
            lost = dgsuite.run("pagerank", graph, damping=0.8, iterations=1, sinks="lost", **how)
            np.testing.assert_allclose(lost["rank"], kept, rtol=1e-15)
    for end in ({"tolerance": 0.01}, {"tolerance": 0.01, "iterations": 100}, {}):
        rounds = dgsuite.run("pagerank", graph, **how, **end).sizes["round"]
        assert 3 < rounds < (12 if end else 100)
    one = dgsuite.run("pagerank", graph, tolerance=1e-9, iterations=1, **how)
    assert one.sizes["round"] == 1


def test_pagerank_of_labelled_nodes():
    graph = Graph.from_networkx(nx.path_graph(["a", ("b", 1), "c"]))
    ds = dgsuite.run("pagerank", graph, style="serial", personalisation={("b", 1): 2, "c": 1})
    array = dgsuite.run("pagerank", graph, style="serial", personalisation=np.array([0, 2, 1]))
    np.testing.assert_array_equal(ds["rank"], array["rank"])
    for found in (ds, array):
        assert genval.validate("pagerank", graph, found).ok
    wrong = ds.assign(rank=("node", array["rank"][::-1].values))
    assert not genval.validate("pagerank", graph, wrong).ok


NAMES = sorted(name for name, kernel in KERNELS.items() if issubclass(kernel, Weighted))
MORE = {"katz": {"alpha": 0.01}}
FRAME = pd.DataFrame({"payer": [0, 0, 1, 2, 3, 4, 4, 5], "payee": [1, 2, 2, 3, 4, 5, 0, 3]})
FRAME["amount"] = [1.0, 8.0, 2.0, 50.0, 7.0, 2.0, 60.0, 5.0]


def graph(weight=None, clusters=2):
    return Graph.from_dataframe(FRAME, "payer", "payee", weight=weight, clusters=clusters)


def found(ds):
    return np.concatenate([ds[name].values for name in KERNELS[ds.attrs["kernel"]].outputs])


@pytest.mark.few(5)
@pytest.mark.parametrize("name", NAMES)
def test_weights_count_where_there_are_some(name):
    how = {"style": "serial", **MORE.get(name, {})}
    weighted, plain = graph("amount"), graph()
    by_default = dgsuite.run(name, weighted, **how)
    told = dgsuite.run(name, weighted, weighted=True, **how)
    without = dgsuite.run(name, weighted, weighted=False, **how)
    assert [ds.attrs["weighted"] for ds in (by_default, told, without)] == [1, 1, 0]
    np.testing.assert_array_equal(found(by_default), found(told))
    assert (found(by_default) != found(without)).any()
    for choice in (None, True, False):  # there are none to count
        ds = dgsuite.run(name, plain, weighted=choice, **how)
        assert ds.attrs["weighted"] == 0
        np.testing.assert_array_equal(found(ds), found(without))
    for ds in (by_default, without):
        assert genval.validate(name, weighted, ds).ok


@pytest.mark.parametrize("name", NAMES)
def test_the_rule_follows_what_the_run_did(name):
    """Outputs are wrong if the run is said to have done the other."""
    weighted = graph("amount")
    ds = dgsuite.run(name, weighted, style="serial", **MORE.get(name, {}))
    assert not genval.validate(name, weighted, ds.assign_attrs(weighted=0)).ok
    outputs = {output: ds[output].values for output in KERNELS[name].outputs} | MORE.get(name, {})
    assert genval.validate(name, weighted, outputs).ok  # by default where the graph has weights


def test_what_counted_is_in_the_file(tmp_path):
    ds = dgsuite.run("pagerank", graph("amount"), style="serial")
    dgsuite.save(ds, tmp_path / "ranks.nc")
    assert dgsuite.open(tmp_path / "ranks.nc").attrs["weighted"] == 1
