"""Graphs made of dataframes, Parquet, CSV, Delta and bags."""

from __future__ import annotations

import re
import sys

import dask.bag as db
import networkx as nx
import numpy as np
import pandas as pd
import pytest

from dgsuite import Graph, InputError
from dgsuite.base.extras import pip_install
from dgsuite.partition.sources import tables
from tests.support.graphs import same

RNG = np.random.default_rng(24)
ENDS = RNG.integers(0, 50, (2, 400))
NAMES = np.array([f"user {i:02}" for i in range(50)], object)
FRAME = pd.DataFrame(
    {"from": NAMES[ENDS[0]], "to": NAMES[ENDS[1]], "cost": RNG.integers(-9, 9, 400)}
)


def alike(graph, expected):
    """Two graphs have the same labels, edges and weights."""
    assert graph.labels == expected.labels
    same(graph, expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Graph.from_dataframe(FRAME), "no column 'source'; there are: from, to, cost"),
        (lambda: Graph.from_dataframe(FRAME, "from", "to", "w"), "no column 'w'"),
        (lambda: Graph.from_dataframe([(0, 1)]), "must be a DataFrame .* got list"),
        (lambda: Graph.from_parquet("none.parquet"), "no such file"),
        (lambda: Graph.from_csv("none.csv"), "no such file"),
    ],
)
def test_what_is_no_table_of_edges(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_parquet_in_parts(tmp_path, client, monkeypatch):
    expected = Graph.from_dataframe(FRAME, *FRAME)
    folder = tmp_path / "edges"
    for year, some in enumerate((FRAME[:134], FRAME[134:268], FRAME[268:])):
        (folder / f"year={year}").mkdir(parents=True)
        some.to_parquet(folder / f"year={year}" / "part.parquet", row_group_size=20)
    (folder / "_SUCCESS").write_text("")
    (folder / "notes.txt").write_text("")
    smallest = min(file.stat().st_size for file in folder.rglob("*.parquet"))
    paths = (folder, f"{folder}/year=*/part.parquet", f"file://{folder}")
    # groups of rows, files, all files
    for (size, tasks), own in zip(((1, 21), (smallest, 3), (1 << 20, 1)), paths, strict=True):
        monkeypatch.setattr("dgsuite.partition.sources.tables.PIECE", size)
        assert [len(tables.parquet(path, tuple(FRAME))) for path in paths] == [tasks] * 3
        graph = Graph.from_parquet(own, *FRAME, client=client)
        assert not graph.local
        alike(graph, expected)
    years = Graph.from_parquet(folder, "from", "to", "year", client=client)
    assert sorted(set(years.to_scipy().data.tolist())) == [0, 1, 2]


def test_delta(tmp_path, client, monkeypatch):
    deltalake = pytest.importorskip("deltalake")
    path = tmp_path / "edges"
    dated = FRAME.assign(year=FRAME.cost % 3)
    for mode, some in (("error", dated[:200]), ("append", dated[200:])):
        deltalake.write_deltalake(path, some, mode=mode, partition_by=["year"])
    for version, rows in ((None, FRAME), (0, FRAME[:200])):
        graph = Graph.from_delta(path, *FRAME, version=version, client=client)
        alike(graph, Graph.from_dataframe(rows, *FRAME))
    years = Graph.from_delta(path, "from", "to", "year", client=client)
    same(years, Graph.from_dataframe(dated, "from", "to", "year"))
    nothing, ends = tmp_path / "empty", {"source": "int64", "target": "int64"}
    empty = pd.DataFrame({"source": [], "target": [], "cost": []}).astype(ends)
    deltalake.write_deltalake(nothing, empty)
    for wrong, how, message in (
        (path, {}, "no column 'source'; there are: from, to, cost, year"),
        (tmp_path / "none", {}, "none: not a Delta table"),
        (nothing, {}, "a graph needs at least one node"),
        (nothing, {"relabel": False}, "a graph needs at least one node"),
    ):
        with pytest.raises(InputError, match=message):
            Graph.from_delta(wrong, **how)
    alone = Graph.from_delta(nothing, n=3, weight="cost", client=client)
    assert (alone.n, alone.m, alone.weight_dtype) == (3, 0, np.float64)
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(InputError, match=re.escape(pip_install("delta"))):
        Graph.from_delta(path)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_adjacency_of_networkx_is_a_bag(kind, client):
    net = nx.gnp_random_graph(20, 0.1, seed=1, directed=kind is nx.DiGraph)
    net = nx.relabel_nodes(net, {v: (v % 3, v) for v in net})  # some without neighbours
    for weight in (None, {"weight": 2.5}):
        if weight:
            nx.set_edge_attributes(net, 2.5, "weight")
        near = [(v, dict.fromkeys(net[v], 2.5) if weight else list(net[v])) for v in net]
        bag = db.from_sequence(near, npartitions=3)
        graph = Graph.from_bag(bag, "adjacency", directed=net.is_directed(), client=client)
        found = graph.to_networkx()
        assert {v: dict(found[v]) for v in found} == {v: dict(net[v]) for v in net}


def test_empty_partitions_and_node_ids_of_bags():
    bag = db.from_sequence([(0, 5, 1.5), (7, 5, 2)], npartitions=2).filter(lambda e: e[0] == 0)
    graph = Graph.from_bag(bag, relabel=False)
    assert (graph.n, graph.m, graph.weight_dtype) == (6, 1, np.float64)
    assert Graph.from_bag(bag, n=9).n == 9
    assert list(Graph.from_bag([((0, 1), (2, 3))]).labels) == [(0, 1), (2, 3)]


@pytest.mark.parametrize(
    ("items", "form", "message"),
    [
        ([(0, 1), (0,)], "edges", r"item 1, \(0,\), is not a pair"),
        (["ab"], "edges", "item 0, 'ab', is not a pair"),
        ([(0, 1, {"weight": 2})], "edges", "weights must be numbers"),
        ([("ann", "bob")], "adjacency", "item 0, .*, is not a pair of a node and a list"),
        ([(0, [1]), (1, {0: 2})], "adjacency", "some neighbours are mappings"),
        ([(0, 1)], "edge", "unknown items 'edge'; did you mean 'edges'"),
        ([], "edges", "at least one node"),
        (7, "edges", "must be a Dask bag, or an iterable, got int"),
    ],
)
def test_what_is_no_bag_of_edges(items, form, message):
    with pytest.raises(InputError, match=message):
        Graph.from_bag(items, form)


def test_errors_of_bags_name_the_partition(client):
    bag = db.from_sequence([(0, 1), (1, 2), (3,)], npartitions=3)
    with pytest.raises(InputError, match=r"partition 2: item 0, \(3,\), is not a pair"):
        Graph.from_bag(bag, client=client)
