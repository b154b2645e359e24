"""Graphs made of dataframes, Parquet, CSV, Delta and bags; identifiers of any kind are kept as labels."""

import gzip
import re
import sys
import uuid

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.base.extras import pip_install
from dgsuite.partition.construction import relabel
from dgsuite.partition.sources import tables
from tests.support.graphs import edges_of, same

RNG = np.random.default_rng(24)
ENDS = RNG.integers(0, 50, (2, 400))
NAMES = np.array([f"user {i:02}" for i in range(50)], object)
FRAME = pd.DataFrame(NAMES[ENDS].T, columns=["from", "to"]).assign(cost=RNG.integers(-9, 9, 400))


def alike(graph, expected):
    """Two graphs have the same labels, edges and weights."""
    assert graph.labels == expected.labels
    same(graph, expected)


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


PAIRS = RNG.integers(0, 40, (2, 300))
IDENTIFIERS = {
    "sparse": np.sort(RNG.choice(2**62, 40, replace=False)) - 2**61,
    "unsigned": np.sort(RNG.choice(2**62, 40, replace=False)).astype(np.uint64) * np.uint64(4),
    "text": np.array(sorted(f"user {i}" for i in range(40))),
    "objects": np.array(sorted(f"ключ {i}\0" for i in range(40)), object),
    "uuids": np.array([uuid.UUID(int=i * 7919) for i in range(40)], object),
}


@pytest.fixture(params=IDENTIFIERS)
def names(request):
    return IDENTIFIERS[request.param]


def expected(names):
    """Edges by name, as a dictionary of sets."""
    found = set()
    for u, v in PAIRS.T.tolist():
        if u != v:
            found |= {(names[u], names[v]), (names[v], names[u])}
    return found


@pytest.mark.few(1)
def test_identifiers_on_workers(names, client):
    frame = pd.DataFrame({"from": names[PAIRS[0]], "to": names[PAIRS[1]], "cost": np.arange(300)})
    with dask.config.set({"dataframe.convert-string": False}):  # Dask makes text of objects
        lazy = dd.from_pandas(frame, npartitions=5)
    columns = {"source": "from", "target": "to", "weight": "cost"}
    whole = Graph.from_edges(frame, relabel=True, **columns)
    assert whole.weight_dtype == np.int64
    how = {"relabel": True, "client": client, "clusters": 4, **columns}
    for partition in ("nodes", "edges", "metis"):
        graph = Graph.from_edges(lazy, partition=partition, **how)
        assert not graph.local
        assert graph.labels == whole.labels
        assert (graph.to_scipy() != whole.to_scipy()).nnz == 0
        ds = dgsuite.run("bfs", graph, root=names[PAIRS[0, 0]], client=client, style="clocked")
        assert ds.node.values.tolist() == list(whole.labels)


@pytest.mark.few(2)
@pytest.mark.parametrize("ending", ["txt", "txt.gz"])
@pytest.mark.parametrize("block", [30, 1 << 20])
def test_identifiers_of_text(tmp_path, monkeypatch, ending, block):
    monkeypatch.setattr("dgsuite.partition.sources.text.BLOCK", block)
    names = [f"u{i}" for i in range(30)] + [f"0{i}" for i in range(10)]
    lines = [f"{names[u]}\t{names[v]}, {u + 1}\n" for u, v in [(0, 1), *PAIRS.T.tolist()]]
    text = ("# who whom\n\n" + "".join(lines)).encode()
    path = tmp_path / f"e.{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    graph = Graph.read_edge_list(path, relabel=True, clusters=2)
    assert set(edges_of(graph)) == expected(names) | {("u0", "u1"), ("u1", "u0")}
    assert graph.weight_dtype == np.int64
    assert list(graph.labels) == sorted({names[i] for i in {0, 1, *PAIRS.ravel().tolist()}})
    path.write_bytes(b"a b\n0 1 2 3\n" if ending == "txt" else gzip.compress(b"a b\n0 1 2 3\n"))
    with pytest.raises(InputError, match="line 2: '0 1 2 3' is not an edge"):
        Graph.read_edge_list(path, relabel=True)


def test_identifiers_of_a_matrix():
    matrix = sp.coo_array(([1, 1], ([7, 9], [9, 7])), shape=(10**9, 10**9))
    graph = Graph.from_scipy(matrix, relabel=True, directed=True)
    assert (graph.n, list(graph.labels)) == (2, [7, 9])


@pytest.mark.parametrize(
    "names",
    [
        ["b", "a", "", "ab", "b"],
        ["é", "z", "e", "日本", "\U0001f600", "\uffff"],
        ["a\0", "a", "b\0\0"],
        ["\ud800", "a"],
        ["x" * 300, "x" * 299, "y"],
        [b"b", b"a", b""],
        ["", ""],
    ],
)
def test_text_is_numbered_with_and_without_arrow(names, monkeypatch):
    """Each in ascending order, and with its own type."""
    array = np.empty(len(names), object)
    array[:] = names
    expected = sorted(set(names))
    for _ in range(2):
        ((ids, _, _),), labels = relabel.relabel([(array, array[::-1], None)], None)
        assert list(labels) == expected
        assert list(map(type, labels)) == list(map(type, expected))
        assert [expected[i] for i in ids.tolist()] == names
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    many = np.array([f"u{i}" for i in RNG.permutation(3000)], object)
    ((ids, _, _),), _ = relabel.relabel([(many, many, None)], None)
    assert ids.tolist() == np.argsort(np.argsort(many)).tolist()


def test_a_range_that_is_too_sparse_is_refused():
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 300_000_000, (2, 300_000))
    for ends, message in (
        ((src, dst), r"300000 edges with ids to 29999\d* would .*relabel=True .*or n="),
        (([0, 1], [2_000_000_000, 5]), "2 edges with ids to 2000000000 .*relabel=True"),
        ((da.array([0, 1]), da.array([2**62, 5])), "relabel=True"),
    ):
        with pytest.raises(InputError, match=message):
            Graph.from_edges(*ends)
    graph = Graph.from_edges(src, dst, relabel=True)
    assert graph.n == len(np.unique([src, dst]))
    assert graph.m > 299_000
    # what is small, or asked for, is no error
    assert Graph.from_edges([0], [1_000_000]).n == 1_000_001
    assert Graph.from_edges([0], [1], n=3_000_000).n == 3_000_000


LACKING = pd.DataFrame({"source": ["a", None], "target": ["b", "c"]})
RELABEL = {"relabel": True}


@pytest.mark.parametrize(
    ("make", "given", "how", "message"),
    [
        (Graph.from_dataframe, (FRAME,), {}, "no column 'source'; there are: from, to, cost"),
        (Graph.from_dataframe, (FRAME, "from", "to", "w"), {}, "no column 'w'"),
        (Graph.from_dataframe, ([(0, 1)],), {}, "must be a DataFrame .* got list"),
        (Graph.from_parquet, ("none.parquet",), {}, "no such file"),
        (Graph.from_csv, ("none.csv",), {}, "no such file"),
        (Graph.from_bag, ([(0, 1), (0,)],), {}, r"item 1, \(0,\), is not a pair"),
        (Graph.from_bag, (["ab"],), {}, "item 0, 'ab', is not a pair"),
        (Graph.from_bag, ([(0, 1, {"weight": 2})],), {}, "weights must be numbers"),
        (Graph.from_bag, ([("ann", "bob")], "adjacency"), {}, "item 0, .*, is not a pair of a node and"),
        (Graph.from_bag, ([(0, [1]), (1, {0: 2})], "adjacency"), {}, "some neighbours are mappings"),
        (Graph.from_bag, ([(0, 1)], "edge"), {}, "unknown items 'edge'; did you mean 'edges'"),
        (Graph.from_bag, ([],), {}, "at least one node"),
        (Graph.from_bag, (7,), {}, "must be a Dask bag, or an iterable, got int"),
        (Graph.from_bag, (db.from_sequence([(0, 1), (3,)]),), {}, r"partition 1: item 0, \(3,\), is not a"),
        (Graph.from_edges, (["a"], ["b"]), {}, "integers, got dtype <U1; relabel=True also accepts"),
        (Graph.from_edges, (["a"], ["b"]), {"n": 2, **RELABEL}, "leave out n and labels"),
        (Graph.from_edges, (["a"], ["b"]), {"labels": [1, 2], **RELABEL}, "leave out n and labels"),
        (Graph.from_edges, ([1, "a"], ["b", 2]), RELABEL, "be of one type .*got int, str"),
        (Graph.from_edges, (["a"], [1]), RELABEL, "be of one type .*got int, str"),
        (Graph.from_edges, ([0.5], [1.0]), RELABEL, "got dtype float64"),
        (Graph.from_edges, (["a", None], ["b", "c"]), RELABEL, "src: 1 of 2 rows have no value, .* row 1"),
        (Graph.from_edges, ([], []), RELABEL, "at least one node"),
        (Graph.from_edges, (LACKING,), RELABEL, "column 'source': 1 of 2 rows have no value, .* row 1"),
        (Graph.from_edges, (LACKING,), {"target": "b"}, "no column 'b'; .* target. Choose by source="),
        (Graph.from_edges, (LACKING,), {"weight": "w"}, "no column 'w'; there are: source, target"),
    ],
)  # fmt: skip
def test_what_makes_no_graph(make, given, how, message):
    with pytest.raises(InputError, match=message):
        make(*given, **how)
