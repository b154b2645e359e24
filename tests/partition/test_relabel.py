"""Identifiers of any kind and range: numbered where the edges are, kept as labels."""

from __future__ import annotations

import gzip
import sys
import uuid

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.partition.construction import relabel
from tests.support.graphs import edges_of

RNG = np.random.default_rng(5)
ENDS = RNG.integers(0, 40, (2, 300))
NAMES = {
    "sparse": np.sort(RNG.choice(2**62, 40, replace=False)) - 2**61,
    "unsigned": np.sort(RNG.choice(2**62, 40, replace=False)).astype(np.uint64) * np.uint64(4),
    "text": np.array(sorted(f"user {i}" for i in range(40))),
    "objects": np.array(sorted(f"ключ {i}\0" for i in range(40)), object),
    "uuids": np.array([uuid.UUID(int=i * 7919) for i in range(40)], object),
}


@pytest.fixture(params=NAMES)
def names(request):
    return NAMES[request.param]


def expected(names):
    """Edges by name, as a dictionary of sets."""
    found = set()
    for u, v in ENDS.T.tolist():
        if u != v:
            found |= {(names[u], names[v]), (names[v], names[u])}
    return found


@pytest.mark.few(1)
def test_identifiers_on_workers(names, client):
    frame = pd.DataFrame({"from": names[ENDS[0]], "to": names[ENDS[1]], "cost": np.arange(300)})
    with dask.config.set({"dataframe.convert-string": False}):  # Dask makes text of objects
        lazy = dd.from_pandas(frame, npartitions=5)
    columns = {"source": "from", "target": "to", "weight": "cost"}
    whole = Graph.from_edges(frame, relabel=True, **columns)
    assert whole.weight_dtype == np.int64
    for partition in ("nodes", "edges", "metis"):
        graph = Graph.from_edges(
            lazy, relabel=True, client=client, clusters=4, partition=partition, **columns
        )
        assert not graph.local
        assert graph.labels == whole.labels
        assert (graph.to_scipy() != whole.to_scipy()).nnz == 0
        ds = dgsuite.run("bfs", graph, root=names[ENDS[0, 0]], client=client, style="clocked")
        assert ds.node.values.tolist() == list(whole.labels)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("ending", "block"), [("txt", 300), ("txt.gz", 1 << 20), ("txt.gz", 30), ("txt", 1 << 20)]
)
def test_identifiers_of_text(tmp_path, monkeypatch, ending, block):
    monkeypatch.setattr("dgsuite.partition.sources.text.BLOCK", block)
    names = [f"u{i}" for i in range(30)] + [f"0{i}" for i in range(10)]
    lines = [f"{names[u]}\t{names[v]}, {u + 1}\n" for u, v in [(0, 1), *ENDS.T.tolist()]]
    text = ("# who whom\n\n" + "".join(lines)).encode()
    path = tmp_path / f"e.{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    graph = Graph.read_edge_list(path, relabel=True, clusters=2)
    assert set(edges_of(graph)) == expected(names) | {("u0", "u1"), ("u1", "u0")}
    assert graph.weight_dtype == np.int64
    assert list(graph.labels) == sorted({names[i] for i in {0, 1, *ENDS.ravel().tolist()}})
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


FRAME = pd.DataFrame({"source": ["a", None], "target": ["b", "c"]})


@pytest.mark.parametrize(
    ("given", "how", "message"),
    [
        ((["a"], ["b"]), {"relabel": False}, "integers, got dtype <U1; relabel=True also accepts"),
        ((["a"], ["b"]), {"n": 2}, "leave out n and labels"),
        ((["a"], ["b"]), {"labels": [1, 2]}, "leave out n and labels"),
        (([1, "a"], ["b", 2]), {}, "be of one type .*got int, str"),
        ((["a"], [1]), {}, "be of one type .*got int, str"),
        (([0.5], [1.0]), {}, "got dtype float64"),
        ((["a", None], ["b", "c"]), {}, "src: 1 of 2 rows have no value, the first of them is row 1"),
        (([], []), {}, "at least one node"),
        ((FRAME,), {}, "column 'source': 1 of 2 rows have no value, the first of them is row 1"),
        ((FRAME,), {"target": "b"}, "no column 'b'; there are: source, target. Choose by source="),
        ((FRAME,), {"weight": "w"}, "no column 'w'; there are: source, target"),
    ],
)  # fmt: skip
def test_what_cannot_be_identifiers(given, how, message):
    with pytest.raises(InputError, match=message):
        Graph.from_edges(*given, **{"relabel": True, **how})
