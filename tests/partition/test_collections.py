"""Graphs made of dataframes, Parquet, CSV, Delta and bags."""

from __future__ import annotations

import re
import sys
import uuid

import dask
import dask.bag as db
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dgsuite import Graph, InputError
from dgsuite.base.extras import pip_install
from dgsuite.partition.sources import tables
from tests.support.graphs import same

RNG = np.random.default_rng(24)
ENDS = RNG.integers(0, 50, (2, 400))
WEIGHTS = RNG.integers(-9, 9, 400)
IDENTIFIERS = {
    "text": np.array([f"user {i:02}" for i in range(50)], object),
    "uuid": np.array([uuid.UUID(int=i * 7919) for i in range(50)], object),
    "int64": np.arange(50) * 2**40,
    "category": np.array([f"user {i:02}" for i in range(50)], object),
}


def frame_of(names, dtype=None):
    ends = names[ENDS] if dtype is None else names[ENDS].astype(dtype)
    return pd.DataFrame({"from": ends[0], "to": ends[1], "cost": WEIGHTS})


@pytest.mark.parametrize("kind", IDENTIFIERS)
def test_identifiers_of_a_dataframe_are_numbered_and_kept(kind, client):
    names = IDENTIFIERS[kind]
    frame = frame_of(names)
    if kind == "category":
        frame = frame.astype({"from": "category", "to": "category"})
    used = np.unique(ENDS)
    expected = Graph.from_edges(
        *np.searchsorted(used, ENDS), weights=WEIGHTS, labels=names[used].tolist()
    )
    with dask.config.set({"dataframe.convert-string": False}):  # Dask makes text of UUIDs
        lazy = dd.from_pandas(frame, npartitions=4)
    for source in (frame, lazy):
        graph = Graph.from_dataframe(source, "from", "to", weight="cost", client=client)
        assert graph.local == (source is frame)
        assert graph.labels == expected.labels
        same(graph, expected)
    assert not Graph.from_dataframe(frame, "from", "to").weighted


@pytest.mark.parametrize("kind", ["int16", "int32", "uint32", "int64", "Int32", "int32[pyarrow]"])
def test_integers_of_a_table_are_identifiers_of_any_width(kind, tmp_path, client):
    frame = frame_of(np.arange(50) * 3, np.int32)
    frame = frame.astype({"from": kind, "to": kind})
    frame.to_parquet(tmp_path / "edges.parquet")
    for make in (
        lambda **how: Graph.from_dataframe(frame, "from", "to", **how),
        lambda **how: Graph.from_dataframe(
            dd.from_pandas(frame, npartitions=3), "from", "to", client=client, **how
        ),
        lambda **how: Graph.from_dataframe(pa.Table.from_pandas(frame), "from", "to", **how),
        lambda **how: Graph.from_parquet(tmp_path / "edges.parquet", "from", "to", **how),
    ):
        assert list(make().labels) == (np.unique(ENDS) * 3).tolist()
        ids = make(relabel=False)
        assert (ids.n, ids.labels) == (ENDS.max() * 3 + 1, None)
        assert make(n=200).n == 200


def test_columns_have_the_same_default_names_everywhere(tmp_path):
    expected = Graph.from_edges([0, 1], [1, 2], weights=[2, 3])
    frame = pd.DataFrame({"source": [0, 1], "target": [1, 2], "weight": [2, 3]})
    frame.to_parquet(tmp_path / "e.parquet")
    frame.to_csv(tmp_path / "e.csv", index=False)
    for graph in (
        Graph.from_edges(frame),
        Graph.from_edges(dd.from_pandas(frame, npartitions=1)),
        Graph.read_edge_list(tmp_path / "e.parquet"),
        Graph.from_dataframe(frame),
        Graph.from_parquet(tmp_path / "e.parquet"),
        Graph.from_csv(tmp_path / "e.csv"),
    ):
        same(graph, expected)
    assert not Graph.from_dataframe(frame, weight=None).weighted


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: Graph.from_dataframe(f), "no column 'source'; there are: from, to, cost"),
        (lambda f: Graph.from_dataframe(f, "from", "to", "w"), "no column 'w'"),
        (lambda f: Graph.from_dataframe([(0, 1)]), "must be a DataFrame .* got list"),
        (
            lambda f: Graph.from_dataframe(f, "from", "to", "to"),
            "column 'to' must be numbers, got ",
        ),
    ],
)
def test_what_is_no_dataframe_of_edges(call, message):
    with pytest.raises(InputError, match=message):
        call(frame_of(IDENTIFIERS["text"]))


def test_parquet(tmp_path, client):
    frame = frame_of(IDENTIFIERS["text"])
    dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path / "edges")
    expected = Graph.from_dataframe(frame, "from", "to", "cost", directed=True)
    graph = Graph.from_parquet(
        tmp_path / "edges", "from", "to", "cost", directed=True, client=client
    )
    assert not graph.local
    assert graph.labels == expected.labels
    same(graph, expected)
    with pytest.raises(InputError, match="no column 'source'; there are: from, to, cost"):
        Graph.from_parquet(tmp_path / "edges")
    with pytest.raises(InputError, match="no such file"):
        Graph.from_parquet(tmp_path / "none.parquet")


def test_parquet_in_parts(tmp_path, client, monkeypatch):
    frame = frame_of(IDENTIFIERS["text"])
    expected = Graph.from_dataframe(frame, "from", "to", "cost")
    folder = tmp_path / "edges"
    for year, some in enumerate((frame[:134], frame[134:268], frame[268:])):
        (folder / f"year={year}").mkdir(parents=True)
        some.to_parquet(folder / f"year={year}" / "part.parquet", row_group_size=20)
    (folder / "_SUCCESS").write_text("")
    (folder / "notes.txt").write_text("")
    columns = ("from", "to", "cost")
    smallest = min(file.stat().st_size for file in folder.rglob("*.parquet"))
    paths = (folder, f"{folder}/year=*/part.parquet", f"file://{folder}")
    # groups of rows, files, all files
    for (size, tasks), own in zip(((1, 21), (smallest, 3), (1 << 20, 1)), paths, strict=True):
        monkeypatch.setattr("dgsuite.partition.sources.tables.PIECE", size)
        assert [len(tables.parquet(path, columns)) for path in paths] == [tasks] * 3
        graph = Graph.from_parquet(own, *columns, client=client)
        assert graph.labels == expected.labels
        same(graph, expected)
    years = Graph.from_parquet(folder, "from", "to", "year", client=client)
    assert sorted(set(years.to_scipy().data.tolist())) == [0, 1, 2]


def test_csv(tmp_path, client):
    frame = frame_of(IDENTIFIERS["text"])
    expected = Graph.from_dataframe(frame, "from", "to", "cost")
    for number, some in enumerate((frame[:200], frame[200:])):
        some.to_csv(tmp_path / f"edges-{number}.csv", index=False, sep=";")
    read = {"sep": ";", "blocksize": 2000}
    for path in (tmp_path / "edges-*.csv", f"file://{tmp_path}/edges-*.csv"):
        graph = Graph.from_csv(path, "from", "to", "cost", read=read, client=client)
        assert not graph.local
        assert graph.labels == expected.labels
        same(graph, expected)
    with pytest.raises(InputError, match="no column 'source'; there are: from, to, cost"):
        Graph.from_csv(tmp_path / "edges-*.csv", read=read)
    with pytest.raises(InputError, match="no such file"):
        Graph.from_csv(tmp_path / "none.csv")
    (tmp_path / "numbers.csv").write_text("from,to\n7,9\n9,1000000000000\n")
    assert list(Graph.from_csv(tmp_path / "numbers.csv", "from", "to").labels) == [7, 9, 10**12]


def test_delta(tmp_path, client, monkeypatch):
    deltalake = pytest.importorskip("deltalake")
    frame = frame_of(IDENTIFIERS["text"])
    path = tmp_path / "edges"
    dated = frame.assign(year=frame.cost % 3)
    for number, some in enumerate((dated[:200], dated[200:])):
        deltalake.write_deltalake(
            path, some, mode="append" if number else "error", partition_by=["year"]
        )
    for version, rows in ((None, frame), (0, frame[:200])):
        expected = Graph.from_dataframe(rows, "from", "to", "cost")
        graph = Graph.from_delta(path, "from", "to", "cost", version=version, client=client)
        assert graph.labels == expected.labels
        same(graph, expected)
    years = Graph.from_delta(path, "from", "to", "year", client=client)
    same(years, Graph.from_dataframe(dated, "from", "to", "year"))
    with pytest.raises(InputError, match="no column 'source'; there are: from, to, cost, year"):
        Graph.from_delta(path)
    with pytest.raises(InputError, match="none: not a Delta table"):
        Graph.from_delta(tmp_path / "none")
    empty = pd.DataFrame({"source": [], "target": [], "cost": []}).astype({"source": "int64"})
    deltalake.write_deltalake(tmp_path / "empty", empty.astype({"target": "int64"}))
    nothing = tmp_path / "empty"
    with pytest.raises(InputError, match="a graph needs at least one node"):
        Graph.from_delta(nothing)
    with pytest.raises(InputError, match="a graph needs at least one node"):
        Graph.from_delta(nothing, relabel=False)
    alone = Graph.from_delta(nothing, n=3, weight="cost", client=client)
    assert (alone.n, alone.m, alone.weight_dtype) == (3, 0, np.float64)
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(InputError, match=re.escape(pip_install("delta"))):
        Graph.from_delta(path)


@pytest.mark.few(1)
@pytest.mark.parametrize("directed", [False, True])
def test_bags(directed, client):
    expected = nx.DiGraph() if directed else nx.Graph()
    names = IDENTIFIERS["uuid"].tolist()
    edges = [(u, v, w) for u, v, w in zip(*ENDS.tolist(), WEIGHTS.tolist(), strict=True) if u < v]
    edges = list({(u, v): (names[u], names[v], w) for u, v, w in edges}.values())
    expected.add_weighted_edges_from(edges)
    triples = db.from_sequence(edges, npartitions=3)
    graph = Graph.from_bag(triples, directed=directed, client=client)
    assert not graph.local
    assert nx.utils.graphs_equal(graph.to_networkx(), expected)
    pairs = Graph.from_bag([list(edge[:2]) for edge in edges], directed=directed)
    assert not pairs.weighted
    found = pairs.to_networkx()
    assert all(set(found[node]) == set(expected[node]) for node in expected)

    expected.add_nodes_from(names)  # some without neighbours
    for weighted in (True, False):
        items = [
            (node, {v: d["weight"] for v, d in near.items()} if weighted else list(near))
            for node, near in expected.adjacency()
        ]
        bag = db.from_sequence(items, npartitions=3)
        graph = Graph.from_bag(bag, "adjacency", directed=directed, client=client)
        assert graph.weighted == weighted
        found = graph.to_networkx()
        assert set(found) == set(expected)
        assert nx.to_dict_of_lists(found).keys() == nx.to_dict_of_lists(expected).keys()
        for node in expected:
            assert set(found[node]) == set(expected[node])
            for v, data in expected[node].items():
                assert found[node][v] == (data if weighted else {})


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
        ([(0, 1), (0, 1, 2)], "edges", r"item 1, \(0, 1, 2\), is not a pair"),
        ([(0, 1, 2, 3)], "edges", "item 0, .* is not a pair"),
        (["ab"], "edges", "item 0, 'ab', is not a pair"),
        ([7], "edges", "item 0, 7, is not a pair"),
        ([(0, 1, {"weight": 2})], "edges", "weights must be numbers"),
        ([("ann", "bob")], "adjacency", "item 0, .*, is not a pair of a node and a list"),
        ([(0, [1], 2)], "adjacency", "item 0, .*, is not a pair of a node and a list"),
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
