"""Graphs made of Dask collections: dataframes, bags, and arrays whose chunks are clusters."""

from __future__ import annotations

import re
import sys
import uuid
from itertools import pairwise

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import same
from dask.graph_manipulation import wait_on
from dask.typing import DaskCollection
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, InputError
from partition import tables
from partition.display import nbytes

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


def test_small_integers_of_a_dataframe_are_node_ids(client):
    frame = frame_of(np.arange(50) * 3, np.int32)
    graph = Graph.from_dataframe(dd.from_pandas(frame, npartitions=3), "from", "to", client=client)
    assert (graph.n, graph.labels) == (ENDS.max() * 3 + 1, None)
    # relabel= is stronger than the dtype, and so are n= and labels=
    named = Graph.from_dataframe(frame, "from", "to", relabel=True)
    assert list(named.labels) == (np.unique(ENDS) * 3).tolist()
    wide = frame.astype(np.int64)
    assert Graph.from_dataframe(wide, "from", "to").labels == named.labels
    assert Graph.from_dataframe(wide, "from", "to", relabel=False).n == graph.n
    assert Graph.from_dataframe(wide, "from", "to", n=200).n == 200
    assert Graph.from_dataframe(frame.astype("Int64"), "from", "to").labels == named.labels


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: Graph.from_dataframe(f), "no column 'source'; there are: from, to, cost"),
        (lambda f: Graph.from_dataframe(f, "from", "to", "w"), "no column 'w'"),
        (lambda f: Graph.from_dataframe([(0, 1)]), "must be a DataFrame .* got list"),
        (lambda f: Graph.from_dataframe(f, "from", "to", "to"), "weights must be numbers"),
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
    for size, tasks in ((1, 21), (smallest, 3), (1 << 20, 1)):  # groups of rows, files, all files
        monkeypatch.setattr("partition.tables.PIECE", size)
        for path in (folder, f"{folder}/year=*/part.parquet", f"file://{folder}"):
            pieces = tables.parquet(path).pieces(columns)
            assert len(pieces) == tasks
            graph = Graph.from_parquet(path, *columns, client=client)
            assert graph.labels == expected.labels
            same(graph, expected)
    years = Graph.from_parquet(folder, "from", "to", "year", client=client)
    assert sorted(set(years.to_scipy().data.tolist())) == [0, 1, 2]


def test_small_integers_of_parquet_are_node_ids(tmp_path):
    frame = frame_of(np.arange(50) * 3, np.int32)
    frame.to_parquet(tmp_path / "edges.parquet")
    path, ends = tmp_path / "edges.parquet", ("from", "to")
    assert Graph.from_parquet(path, *ends).n == ENDS.max() * 3 + 1
    assert (
        list(Graph.from_parquet(path, *ends, relabel=True).labels) == (np.unique(ENDS) * 3).tolist()
    )
    frame.astype(np.int64).to_parquet(path)
    assert list(Graph.from_parquet(path, *ends).labels) == (np.unique(ENDS) * 3).tolist()


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
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(InputError, match=r"pip install dgsuite\[delta\]"):
        Graph.from_delta(path)


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


def arrays_of(graph):
    return graph.indptr, graph.indices, graph.weights, graph.uid


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("partition", ["nodes", "edges", "hash"])
def test_a_graph_of_its_own_arrays(directed, partition, client):
    options = {"directed": directed, "partition": partition, "clusters": 3}
    src, dst, weights = (da.from_array(array, chunks=150) for array in (*ENDS, WEIGHTS))
    graph = Graph.from_edges(src, dst, weights=weights, **options, client=client)
    again = Graph.from_arrays(
        *arrays_of(graph), directed=directed, partition=graph.partition, client=client
    )
    assert not again.local
    assert again.partition == graph.partition
    assert (again.entries, again.weight_dtype) == (graph.entries, graph.weight_dtype)
    same(again, graph)
    assert again.identified
    assert again.chosen
    ours, theirs = (
        dgsuite.run("pagerank", g, style="clocked", client=client) for g in (graph, again)
    )
    assert ours["rank"].equals(theirs["rank"])
    # without a client, this process makes the clusters
    here = Graph.from_edges(*ENDS, weights=WEIGHTS, **options)
    with dask.config.set(scheduler="threads"):
        again = Graph.from_arrays(*arrays_of(here), directed=directed, partition=here.partition)
    same(again, here)


@given(st.integers(1, 12), st.data())
def test_arrays_follow_the_rules_of_edges(n, data):
    ends = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(ends, ends, st.integers(-3, 3)), max_size=40))
    bounds = sorted({0, n, *data.draw(st.lists(ends, max_size=3))})
    expected = Graph.from_edges(
        [u for u, _, _ in edges],
        [v for _, v, _ in edges],
        n=n,
        weights=[w for *_, w in edges],
        directed=True,
    )
    edges.sort(key=lambda edge: edge[0])  # loops, duplicates and any order stay
    src, dst, weights = (np.array([edge[i] for edge in edges], np.int64) for i in range(3))
    indptr = np.searchsorted(src, np.arange(n + 1))
    cuts = indptr[bounds]
    pieces = [indptr[a : b + 1] - indptr[a] for a, b in pairwise(bounds)]
    lazy = da.concatenate([da.from_array(piece, chunks=-1) for piece in pieces])
    sizes = tuple(np.diff(cuts).tolist())
    graph = Graph.from_arrays(lazy, chunked(dst, sizes), chunked(weights, sizes), directed=True)
    assert graph.partition.offsets.tolist() == bounds
    same(graph, expected)


def chunked(values, sizes):
    """A Dask array with chunks of the given sizes, which may be 0."""
    ends = np.cumsum([0, *sizes])
    parts = [values[a:b] for a, b in pairwise(ends)]
    name = f"chunked-{uuid.uuid4()}"
    tasks = {(name, i): part for i, part in enumerate(parts)}
    return da.Array(tasks, name, (sizes,), dtype=values.dtype)


def test_arrays_of_numpy():
    expected = Graph.from_edges(*ENDS, n=50, weights=WEIGHTS)
    matrix = expected.to_scipy()
    given = matrix.indptr.copy(), matrix.indices.copy(), matrix.data.copy()
    graph = Graph.from_arrays(*given, uid=np.arange(50)[::-1], labels=[f"n{i}" for i in range(50)])
    for array in given:
        array[:] = 7
    same(graph, expected)
    assert not graph.chosen
    assert graph.labels[3] == "n3"
    assert graph.parts[0].uid.tolist() == list(range(49, -1, -1))


PATH = [0, 1, 3, 4], [1, 0, 2, 1]


def in_two(indptr, indices, *more):
    """A path of three nodes in chunks of two nodes and one."""
    return (chunked(np.array(indptr), (3, 2)), chunked(np.array(indices), (3, 1)), *more)


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        ((*PATH, [1, 1, 1, 2]), {}, "not symmetric"),
        (([0, 1, 1], [1]), {}, "not symmetric.* directed=True"),
        (([0, 1, 2], [1, 2]), {}, r"chunk 0: edge 1 \(1, 2\) names node 2, but .* 0 to 1"),
        (([0, 1, 1], [-1]), {"directed": True}, "names node -1"),
        (([0, 1, 2], [1, 0, 1]), {}, "chunk 0: indptr must start from 0, .* end at 3"),
        (([1, 1, 2], [1, 0]), {}, "must start from 0"),
        (([0, 2, 1, 2], [1, 0]), {}, "not decrease"),
        (([0.0, 1.0], [0]), {}, "chunk 0: indptr must be integers, got dtype float64"),
        (([0, 1], [0.5]), {}, "chunk 0: indices must be integers, got dtype float64"),
        ((*PATH, [1, 2, np.nan, 2]), {}, "has weight nan"),
        ((*PATH, [1, 2]), {}, "chunk 0: src, dst and weights must be .* of equal length"),
        (PATH, {"uid": [1, 2]}, "chunk 0: uid has 2 entries for 3 nodes"),
        (PATH, {"uid": [5, 4, 5]}, "nodes 0 and 2 have the same identifier 5"),
        (([], []), {}, "chunk 0 of indptr is empty"),
        (([0], []), {}, "at least one node"),
        (([[0, 1]], [0]), {}, "indptr must be one-dimensional"),
        ((*PATH,), {"labels": ["a"]}, "1 labels for 3 nodes"),
        ((da.array([0, 0]), [1]), {}, "must all be Dask arrays, or none"),
        (
            (chunked(np.array([0, 0, 0, 0]), (2, 2)), da.array([])),
            {},
            "equally many: indptr has 2, indices has 1",
        ),
        (in_two([0, 1, 3, 0, 1], [1, 0, 2, 0]), {}, "not symmetric"),
        (in_two([0, 1, 3, 1, 1], [1, 0, 2, 1]), {}, "chunk 1: indptr must start from 0"),
        (in_two([0, 1, 3, 0, 1], [1, 0, 2, 9]), {}, r"chunk 1: edge 0 \(2, 9\) names node 9"),
        (
            in_two([0, 1, 3, 0, 1], [1, 0, 2, 1]),
            {"partition": Graph.from_edges([0], [1], n=3, clusters=2).partition},
            r"clusters of \[1, 2\] nodes, but the chunks of indptr are of \[2, 1\]",
        ),
    ],
)
def test_arrays_that_do_not_match(arrays, options, message, client):
    for on in (client, None):
        if on is None or hasattr(arrays[0], "dask"):
            with pytest.raises(InputError, match=message):
                Graph.from_arrays(*arrays, **options, client=on)


def test_chunks_of_unknown_size(client):
    graph = Graph.from_edges(*ENDS, n=50, clusters=3)
    indptr = graph.indptr[graph.indptr >= 0]
    assert np.isnan(indptr.chunks[0][0])
    again = Graph.from_arrays(indptr, graph.indices, client=client)
    assert again.partition == graph.partition
    same(again, graph)


def test_a_graph_is_a_collection(client):
    here = Graph.from_edges(*ENDS, n=50, weights=WEIGHTS, clusters=3, partition="hash")
    assert dask.is_dask_collection(here)
    assert isinstance(here, DaskCollection)
    assert dask.base.tokenize(here) == dask.base.tokenize(here)
    assert dask.base.tokenize(here) != dask.base.tokenize(
        here.reversed().like(here.parts, here.entries)
    )
    assert set(dask.base.flatten(here.__dask_keys__())) == set(here.__dask_graph__())
    there = here.persist()
    assert not there.local
    assert there.persist() is there
    assert there.client is client
    holders = client.who_has(there.parts)
    assert len({worker for workers in holders.values() for worker in workers}) == 2
    for graph in (here, there):
        (computed,), (persisted,) = dask.compute(graph), dask.persist(graph)
        assert computed.local
        assert graph.compute().local
        assert not persisted.local
        for other in (computed, persisted, graph.compute(), client.persist(graph)):
            same(other, here)
            assert other.partition == here.partition
        assert dask.delayed(lambda g: (g.n, g.m, g.local))(graph).compute() == (50, here.m, True)
        (same_graph,) = dask.optimize(graph)
        same(same_graph, here)
    ours, theirs = (
        dgsuite.run("mis", g, style="clocked", client=client, seed=3) for g in (here, persisted)
    )
    assert ours.in_mis.equals(theirs.in_mis)


def test_a_graph_is_a_collection_without_a_client():
    graph = Graph.from_edges(*ENDS, n=50, clusters=3)
    with dask.config.set(scheduler="threads"):
        for (other,) in (dask.compute(graph), dask.persist(graph)):
            assert other.local
            same(other, graph)
        assert graph.clusters.map(lambda c: c.size).compute() == [16, 17, 17]
    with pytest.raises(TypeError, match="holds clusters or futures"):
        wait_on(graph)


def test_keys_say_what_they_are(client, tmp_path, monkeypatch):
    graph = Graph.from_edges(*ENDS, n=50, clusters=3)
    made = Graph.from_edges(*(da.from_array(ends) for ends in ENDS), clusters=3)
    graph.save(tmp_path)
    moved = [
        made,
        graph.persist(),
        Graph.load(tmp_path),
        Graph.from_arrays(made.indptr, made.indices),
    ]
    named = [{dask.utils.key_split(part.key) for part in each.parts} for each in moved]
    assert named == [
        {f"graph_{name}"} for name in ("cluster", "cluster", "load_cluster", "cluster")
    ]
    prefixes = [
        set(map(dask.utils.key_split, c.__dask_graph__()))
        for c in (graph, graph.indices, graph.clusters)
    ]
    assert prefixes == [{"cluster"}, {"cluster", "indices-cluster"}, {"cluster", "bag-cluster"}]
    drawn = []
    monkeypatch.setattr(dask, "visualize", lambda *given, **options: drawn.append((given, options)))
    graph.visualize("g.svg", rankdir="LR")
    assert drawn == [((graph,), {"filename": "g.svg", "rankdir": "LR"})]


@pytest.mark.parametrize("weights", [None, WEIGHTS.astype(np.float32)])
def test_a_notebook_shows_memory_and_balance(weights):
    graph = Graph.from_edges(*ENDS, n=50, weights=weights, clusters=4, attrs={"root": "<a>"})
    assert nbytes(graph).tolist() == [part.nbytes for part in graph.parts]
    page = graph._repr_html_()
    assert "&lt;a&gt;" in page
    assert dask.utils.format_bytes(sum(part.nbytes for part in graph.parts)) in page
    assert page.count("<rect") == 4
    assert f"cluster 1: 13 nodes, {graph.entries[1]:,} edge ends" in page
    loads = [part.size + len(part.indices) for part in graph.parts]
    assert f"largest / mean {max(loads) / np.mean(loads):.2f}" in page
    heights = [int(height) for height in re.findall(r"<rect[^>]*height='(\d+)'", page)]
    assert heights == [round(24 * load / max(loads)) for load in loads]


def test_a_notebook_shows_as_many_bars_as_fit():
    star = Graph.from_edges([199] * 199, range(199), clusters=200)
    page = star._repr_html_()
    assert page.count("<rect") == 96
    assert "cluster 199: 1 nodes, 199 edge ends" in page
