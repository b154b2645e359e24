"""Runs that go on from an earlier result find what a run from the start does."""

from functools import partial
from itertools import product

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import InputError, genval
from dgsuite.core.running import since
from dgsuite.kernels import SINCE
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import in_turn

SAME = {
    "bfs": ("level", "parent"),
    "core_number": ("core",),
    "katz": (),
    "pagerank": (),
    "sssp": ("distance",),
    "wcc": ("component",),
}
"""Outputs that have the bits of a run from the start."""

UNDIRECTED = ("core_number",)

CLOSE = {"tolerance": 1e-12}
EXACT = {"katz": {"alpha": 0.01, **CLOSE}, "pagerank": {"damping": 0.4, **CLOSE}}
"""Parameters with which few iterations come near to the exact values."""


def differing(name, found, expected):
    """Outputs that are not those of a run from the start."""
    alike = np.array_equal if SAME[name] else partial(np.allclose, atol=1e-10)
    names = SAME[name] or SINCE[name].outputs
    return [each for each in names if not alike(found[each], expected[each])]


@given(st.data())
@pytest.mark.parametrize("name", sorted(SINCE))
def test_outputs_are_those_from_the_start(name, data):
    n, k = data.draw(st.integers(1, 24)), data.draw(st.integers(1, 5))
    rows = [data.draw(st.integers(1, 40)), *data.draw(st.lists(st.integers(0, 9), max_size=2))]
    luck = np.random.default_rng(data.draw(st.integers(0, 999)))
    kind = data.draw(st.sampled_from(["none", "whole", "real"]))
    labelled = data.draw(st.booleans())
    names = luck.permutation(100) if labelled else np.arange(100)

    def table(m, most):
        ends = names[luck.integers(0, most, (2, m))]
        found = {"source": ends[0], "target": ends[1]}
        if kind != "none":
            found["weight"] = luck.integers(0, 4, m) if kind == "whole" else luck.random(m)
        return pd.DataFrame(found)

    directed = name not in UNDIRECTED and data.draw(st.booleans())
    nested = name == "wcc" and kind != "none" and data.draw(st.booleans())
    how = {"directed": directed, "duplicates": "max" if nested else "min", "clusters": k}
    how |= {"relabel": True, "nodes": names[:n]} if labelled else {"n": n}
    if not labelled and data.draw(st.booleans()):
        how["partition"] = luck.integers(0, k, n)
    graph = Graph.from_edges(table(rows[0], n), **how)
    parameters = {**EXACT.get(name, {})}
    if name in ("bfs", "sssp"):
        parameters["root"] = int(names[luck.integers(0, n)])
    if nested:
        parameters["thresholds"] = [2, 3, 1] if kind == "whole" else [0.7, 0.4, 0.2]
    steps = [(graph, dgsuite.run(name, graph, **parameters))]
    for m in rows[1:]:
        graph = graph.with_edges(table(m, n + 5))
        expected = dgsuite.run(name, graph, **parameters)
        other = graph if graph.partition.order is not None else graph.repartition(k % 3 + 1)
        for _, before in steps:
            for seen in (graph, other):
                found = dgsuite.run(name, seen, since=before, **parameters)
                assert not differing(name, found, expected)
        assert genval.validate(name, graph, found).ok
        steps.append((graph, found))


STYLES = ("clocked", "finish_async")


def growing(client, **how):
    """A graph on the workers, and what it becomes."""
    luck = np.random.default_rng(4)
    how = {"duplicates": "min", "clusters": 4, **how}
    graph = Graph.from_edges(*luck.integers(0, 300, (2, 400)), **how).persist(client)
    return graph, graph.with_edges(*luck.integers(0, 310, (2, 30)))


def test_weights_that_fell_or_were_rounded_are_refused():
    graph = Graph.from_edges(["a", "b"], ["b", "c"], weights=[0.9, 0.5], relabel=True)
    before = dgsuite.run("wcc", graph, thresholds=[0.9])
    lower = graph.with_edges(["b"], ["a"], weights=[0.4])
    with pytest.raises(InputError, match=r"edge \('a', 'b'\) weighs 0.4, and 0.9 in"):
        dgsuite.run("wcc", lower, thresholds=[0.9], since=before)
    still = graph.with_edges(["c", "c"], ["b", "a"], weights=[0.3, 0.95])
    found = dgsuite.run("wcc", still, thresholds=[0.9], since=before)
    assert found.component.values.T.tolist() == [["a", "a", "a"]]
    single = Graph.from_edges([0], [1], weights=np.array([0.9], np.float32))
    wide = single.with_edges([1], [2], weights=[0.123456789])
    before = dgsuite.run("wcc", single, thresholds=[0.9])
    with pytest.raises(InputError, match="dtype float64, and in the run that since is of float32"):
        dgsuite.run("wcc", wide, thresholds=[0.9], since=before)


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "way"), in_turn(sorted(SINCE), [*product(STYLES, range(3))]))
def test_on_workers(client, name, way):
    style, how = way[0], ({}, {"partition": "hash"}, {"directed": name not in UNDIRECTED})[way[1]]
    graph, grown = growing(client, **how)
    before = dgsuite.run(name, graph, style=style, **EXACT.get(name, {}))
    found = dgsuite.run(name, grown, style=style, since=before, **EXACT.get(name, {}))
    alone = dgsuite.run(name, grown.compute(), style="serial", since=before, **EXACT.get(name, {}))
    expected = dgsuite.run(name, grown, style="serial", **EXACT.get(name, {}))
    assert not differing(name, found, expected)
    for each in (*SINCE[name].outputs, "messages", "round"):
        assert np.array_equal(found[each], alone[each])


@pytest.mark.few(2)
@pytest.mark.parametrize("name", sorted(SINCE))
def test_outputs_stay_on_the_workers(client, name, monkeypatch):
    """Those of a graph without labels do not pass through this process."""
    graph, grown = growing(client)
    with dask.config.set({"dgsuite.gather-limit": "0 B"}):
        before = dgsuite.run(name, graph, style="clocked", **EXACT.get(name, {}))
        monkeypatch.setattr(since, "here", None)
        found = dgsuite.run(name, grown, style="clocked", since=before, **EXACT.get(name, {}))
    expected = dgsuite.run(name, grown, style="serial", **EXACT.get(name, {}))
    assert not differing(name, found, expected)


def test_a_session_goes_on(client):
    graph = Graph.from_edges([0, 2], [1, 3]).persist(client)
    before = dgsuite.run("wcc", graph)
    with graph.with_edges([1], [2]).session(client) as session:
        assert session.run("wcc", since=before).component.values.tolist() == [0, 0, 0, 0]


def test_the_cost_is_by_what_changed():
    """No message but along new edges, where they change nothing; a path that a new edge shortens."""
    n = 200
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n), clusters=4)
    for name in ("bfs", "sssp"):
        before = dgsuite.run(name, graph)
        assert dgsuite.run(name, graph, since=before).messages.sum() == 0
        found = dgsuite.run(name, graph.with_edges([n - 3], [n - 1]), since=before)
        assert found.messages.sum() == 2
        assert (found.since_edges, found.since) == (1, before.graph)
    before = dgsuite.run("core_number", graph)
    assert dgsuite.run("core_number", graph, since=before).messages.sum() == 0
    found = dgsuite.run("core_number", graph.with_edges([3], [n]), since=before)
    assert found.messages.sum() == 2 + 1
    before = dgsuite.run("wcc", graph)
    assert dgsuite.run("wcc", graph.with_edges([3], [150]), since=before).messages.sum() == 2
    assert dgsuite.run("wcc", graph.with_edges([3], [n]), since=before).messages.sum() == 2 + 4


@given(st.integers(0, 9999), st.integers(1, 6))
def test_core_numbers_rise_by_several(seed, clusters):
    """New edges make a clique of nodes that were in no core, or in several."""
    luck = np.random.default_rng(seed)
    ends, owner = luck.integers(0, 60, (2, 90)), luck.integers(0, clusters, 60)
    how = {"duplicates": "min", "partition": owner, "clusters": clusters}
    graph = Graph.from_edges(*ends, n=60, **how)
    before = dgsuite.run("core_number", graph)
    for size in (5, 9):
        ends = np.stack(np.triu_indices(size, 1))
        graph = graph.with_edges(*luck.permutation(64)[:size][ends])
        found = dgsuite.run("core_number", graph, since=before)
        expected = dgsuite.run("core_number", graph)
        assert np.array_equal(found.core, expected.core)
        assert found.messages.sum() <= found.sizes["round"] * 4 * graph.m
        before = found


def test_pagerank_takes_fewer_iterations():
    luck = np.random.default_rng(2)
    graph = Graph.from_edges(*luck.integers(0, 500, (2, 2000)), duplicates="min")
    before, grown = dgsuite.run("pagerank", graph), graph.with_edges([1], [2])
    found = dgsuite.run("pagerank", grown, since=before)
    expected = dgsuite.run("pagerank", grown)
    assert found.sizes["round"] < expected.sizes["round"]
    assert np.abs(found["rank"] - expected["rank"]).sum() < 2 * 1e-6 * 0.85 / 0.15


def test_a_saved_result(tmp_path):
    graph = Graph.from_edges(["a", "c"], ["b", "d"], relabel=True)
    dgsuite.save(dgsuite.run("wcc", graph), tmp_path / "before.nc")
    grown = graph.with_edges(["e"], ["b"]).with_nodes(["f"])
    found = dgsuite.run("wcc", grown, since=dgsuite.open(tmp_path / "before.nc"))
    assert found.component.values.tolist() == ["a", "a", "c", "c", "a", "f"]


def test_weights_that_fall_and_rise():
    graph = Graph.from_edges([0, 1], [1, 2], weights=[4, 4], duplicates="sum")
    before = {name: dgsuite.run(name, graph) for name in ("sssp", "wcc", "bfs")}
    shorter, longer = (graph.with_edges([1], [2], weights=[w]) for w in (-3, 1))
    assert dgsuite.run("sssp", shorter, since=before["sssp"]).distance.values.tolist() == [0, 4, 5]
    with pytest.raises(InputError, match=r"edge \(1, 2\) weighs 5, and 4 in the run"):
        dgsuite.run("sssp", longer, since=before["sssp"])
    for name in ("wcc", "bfs"):
        assert not differing(name, dgsuite.run(name, longer, since=before[name]), before[name])


@pytest.mark.parametrize(
    ("name", "how", "message"),
    [
        ("scc", {}, "'scc' cannot go on from an earlier .*; these can, by their names: bfs, core"),
        (dgsuite.kernels.KERNELS["bfs"], {}, "'bfs' cannot go on"),
        ("bfs", {"form": "block"}, "has no form="),
        ("bfs", {"checkpoint": "folder"}, "has no folder"),
        ("bfs", {"cutoff": 3}, "has no cutoff="),
        ("bfs", {"root": 1}, "is of a run with root=0, and this one has root=1"),
        ("sssp", {}, "must be a whole result of dgsuite.run"),
        ("bfs", {"since": 5}, "since must be a dataset"),
        ("pagerank", {"iterations": 5}, "iterations counts from the start"),
    ],
)
def test_what_cannot_go_on_is_one_error(name, how, message):
    graph = Graph.from_edges([0, 1], [1, 2])
    before = dgsuite.run("pagerank" if name == "pagerank" else "bfs", graph)
    with pytest.raises(InputError, match=message):
        dgsuite.run(name, graph.with_edges([2], [0]), **{"since": before, **how})


def test_another_graph():
    graph, other = (Graph.from_edges([0, 1], [1, 2]) for _ in range(2))
    for wrong in (other, graph.with_edges([0], [2]), other.with_edges([0], [2])):
        before = dgsuite.run("wcc", wrong)
        with pytest.raises(InputError, match=r"3 nodes and \d edges from which this one has not g"):
            dgsuite.run("wcc", graph, since=before)


def test_parameters_of_the_earlier_run_that_the_later_has_not():
    graph = Graph.from_edges([0, 1], [1, 2], weights=[1.0, 2.0])
    before = dgsuite.run("bfs", graph, cutoff=1), dgsuite.run("wcc", graph, thresholds=[1.5])
    for name, ds in zip(("bfs", "wcc"), before, strict=True):
        with pytest.raises(InputError, match=r"since is of a run with (cutoff=1|thresholds=)"):
            dgsuite.run(name, graph, since=ds)
