"""Components with at most one record of a source are those of Kruskal's way with the edges passed over."""

from __future__ import annotations

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import InputError, genval
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import in_turn

GRAPH = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[0.9, 0.7, 0.8])


def linked(n, edges, sources, least=None):
    """The smallest node of each node's component, by sets of Python."""
    groups = [{node} for node in range(n)]
    for u, v, weight in sorted(edges, key=lambda edge: (-edge[2], *edge[:2])):
        one, other = groups[u], groups[v]
        if one is other or (least is not None and weight < least):
            continue
        if {sources[node] for node in one}.isdisjoint(sources[node] for node in other):
            one |= other
            for node in other:
                groups[node] = one
    return [min(group) for group in groups]


@given(st.data())
def test_components_are_those_of_the_best_links(data):
    n, k = data.draw(st.integers(2, 24)), data.draw(st.integers(1, 5))
    luck = np.random.default_rng(data.draw(st.integers(0, 999)))
    pairs = np.unique(np.sort(luck.integers(0, n, (data.draw(st.integers(1, 60)), 2))), axis=0)
    src, dst = pairs[pairs[:, 0] < pairs[:, 1]].T
    weights = luck.integers(0, data.draw(st.sampled_from([2, 9])), len(src))
    if data.draw(st.booleans()):
        weights = weights / 8
    sources = luck.integers(0, data.draw(st.sampled_from([2, 4, n])), n)
    how = {"clusters": k, "n": n, "weights": weights}
    if data.draw(st.booleans()):
        how["partition"] = luck.integers(0, k, n)
    turned = luck.random(len(src)) < 0.5
    graph = Graph.from_edges(np.where(turned, dst, src), np.where(turned, src, dst), **how)
    edges = [*zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True)]
    found = dgsuite.run("wcc", graph, single=sources, check=True)
    assert found.component.values.tolist() == linked(n, edges, sources)
    thresholds = (np.array([5, 1, 7, 0]) / (1 if weights.dtype.kind == "i" else 8)).tolist()
    found = dgsuite.run("wcc", graph, single=sources, thresholds=thresholds, check=True)
    assert found.component.dims == ("node", "threshold")
    for column, least in zip(found.component.values.T, thresholds, strict=True):
        assert column.tolist() == linked(n, edges, sources, least)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("style", "partition"), in_turn(["clocked", "finish_async"], ["nodes", "hash"])
)
def test_on_workers(client, style, partition):
    graph = genval.graph("er", 300, m=500, weights=True, clusters=4, partition=partition)
    sources = np.arange(300) % 5
    alone = dgsuite.run("wcc", graph, style="serial", single=sources, thresholds=[50, 20])
    found = dgsuite.run(
        "wcc", graph, style=style, client=client, single=sources, thresholds=[50, 20]
    )
    np.testing.assert_array_equal(found.component, alone.component)
    np.testing.assert_array_equal(found.messages, alone.messages)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("where", "way"),
    in_turn(
        ["here", "workers", "stays"],
        [("nodes", False, True), ("hash", False, False), ("nodes", True, False)],
    ),
)
def test_tables_have_the_pairs_within_components(client, where, way):
    partition, directed, single = way
    luck = np.random.default_rng(2)
    frame = pd.DataFrame(luck.integers(0, 60, (150, 2)), columns=["source", "target"])
    frame = frame.astype(str).assign(weight=luck.integers(0, 8, 150) / 8)
    how = {"clusters": 3, "partition": partition, "duplicates": "max", "directed": directed}
    how |= {} if where == "here" else {"client": client}
    with dask.config.set({"dgsuite.gather-limit": "0 B" if where == "stays" else "4 MiB"}):
        graph = Graph.from_dataframe(frame, weight="weight", **how)
        own = {"single": np.arange(graph.n) % 4} if single else {}
        ds = dgsuite.run("wcc", graph, thresholds=[0.5, 0.25], **own)
        found = dgsuite.pairs(graph, ds, 0.25).compute()
        table = dgsuite.components(graph, ds, 0.25).compute()
    label = dict(zip(ds.node.values, ds.component.sel(threshold=0.25).values, strict=True))
    edges = graph.to_networkx().edges(data="weight")
    counting = [(u, v, w) for u, v, w in edges if w >= 0.25]
    rows = {
        (*((u, v) if directed else sorted((u, v))), w, label[u])
        for u, v, w in counting
        if label[u] == label[v]
    }
    assert single == (len(rows) < len(counting))
    assert {*found.itertuples(index=False, name=None)} == rows
    assert len(found) == len(rows)
    groups = found.groupby("component")["weight"].agg(["size", "min"])
    assert table["edges"][groups.index].tolist() == groups["size"].tolist()
    assert table["weakest"][groups.index].tolist() == groups["min"].tolist()
    assert table["edges"].sum() == len(rows)


def test_pairs_of_a_graph_without_weights():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4])
    found = dgsuite.pairs(graph, dgsuite.run("wcc", graph)).compute()
    assert found.to_dict("list") == {
        "source": [0, 1, 3],
        "target": [1, 2, 4],
        "component": [0, 0, 3],
    }


@pytest.mark.parametrize("kind", ["list", "text", "category", "arrow", "index"])
def test_kinds_of_columns(kind):
    plain = ["a", "b", "a", "b"]
    sources = {
        "list": plain,
        "text": pd.Series(plain, dtype="string"),
        "category": pd.Series(plain, dtype="category"),
        "arrow": pytest.importorskip("pyarrow").array(plain),
        "index": np.array([0, 1, 0, 1]),
    }[kind]
    assert dgsuite.run("wcc", GRAPH, single=sources).component.values.tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize(
    ("graph", "single", "message"),
    [
        (GRAPH, ["a", "b"], r"single must have a source for each of 4 nodes, got shape \(2,\)"),
        (GRAPH, ["a", None, "b", "a"], "single: 1 of 4 rows have no value"),
        (GRAPH, "file", "single must be a sequence"),
        (Graph.from_edges([0], [1]), [0, 1], "the graph has none"),
        (Graph.from_edges([0], [1], weights=[1], directed=True), [0, 1], "undirected graph"),
    ],
)
def test_what_are_no_sources_is_refused(graph, single, message):
    with pytest.raises(InputError, match=message):
        dgsuite.run("wcc", graph, single=single)


def test_a_run_does_not_go_on_with_sources():
    found = dgsuite.run("wcc", GRAPH, single=[0, 1, 0, 1])
    with pytest.raises(InputError, match="has no single="):
        dgsuite.run("wcc", GRAPH, single=[0, 1, 0, 1], since=found)
    with pytest.raises(InputError, match=r"a run with single=\[0, 1, 0, 1\], and this one has"):
        dgsuite.run("wcc", GRAPH, since=found)


def test_a_validator_refuses_them():
    found = dgsuite.run("wcc", GRAPH, single=[0, 1, 0, 1])
    with pytest.raises(InputError, match="of a run with single="):
        genval.validate("wcc", GRAPH, found)
