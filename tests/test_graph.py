"""Graphs: every source, the rules for edges, exports, and what is refused."""

from __future__ import annotations

import gzip
import sys

import dask.array as da
import dask.dataframe as dd
import fsspec
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import same
from hypothesis import given, settings
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.dataset import open_dataset, save
from partition import build
from partition.client import queries


def edge_lists(most=15):
    """A number of nodes, and some edges with whole weights."""
    return st.integers(1, most).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(-3, 3)),
                max_size=40,
            ),
        )
    )


# ---- the rules


@given(edge_lists(), st.booleans(), st.integers(1, 20))
def test_from_edges_follows_networkx(case, directed, clusters):
    n, edges = case
    src, dst = [u for u, _, _ in edges], [v for _, v, _ in edges]
    graph = Graph.from_edges(src, dst, n=n, directed=directed, clusters=clusters)
    expected = nx.DiGraph() if directed else nx.Graph()
    expected.add_nodes_from(range(n))
    expected.add_edges_from((u, v) for u, v, _ in edges if u != v)
    assert nx.utils.graphs_equal(graph.to_networkx(), expected)
    assert graph.m == expected.number_of_edges()
    assert (graph.n, len(graph.parts)) == (n, clusters)
    assert not graph.weighted
    for part in graph.parts:
        assert part.indices.dtype == np.int32
        for i in range(part.size):
            row = part.indices[part.indptr[i] : part.indptr[i + 1]]
            assert (np.diff(row) > 0).all()


@given(edge_lists(), st.booleans(), st.integers(1, 20), st.sampled_from([int, float, np.int8]))
def test_weights_follow_a_dictionary(case, directed, clusters, dtype):
    n, edges = case
    src, dst, weights = (np.array([e[i] for e in edges], np.int64) for i in range(3))
    least = {}
    for u, v, w in edges:
        for ends in [(u, v)] if directed else [(u, v), (v, u)]:
            if u != v:
                least[ends] = min(w, least.get(ends, w))
    graph = Graph.from_edges(
        src, dst, n=n, weights=weights.astype(dtype), directed=directed, clusters=clusters
    )
    assert graph.weight_dtype == dtype
    assert {part.weights.dtype for part in graph.parts} == {np.dtype(dtype)}
    matrix = graph.to_scipy().tocoo()
    found = {(int(u), int(v)): w for u, v, w in zip(*matrix.coords, matrix.data, strict=True)}
    assert found == least


def test_a_row_or_a_band_of_any_length(monkeypatch):
    """Clusters larger than what is sorted at a time, and edges split in many pieces."""
    graph = nx.barabasi_albert_graph(1500, 4, seed=2)
    graph.add_edges_from((700, i) for i in range(1500) if i != 700)
    weights = {e: (e[0] * 7 + e[1]) % 11 for e in graph.edges}
    nx.set_edge_attributes(graph, weights, "weight")
    whole = Graph.from_networkx(graph)
    monkeypatch.setattr("partition.build.BLOCK", 100)
    monkeypatch.setattr("partition.edges.PIECE", 333)
    for clusters in (1, 3, 1500):
        cut = Graph.from_networkx(graph, clusters=clusters)
        same(whole, cut)
        assert nx.utils.graphs_equal(cut.to_networkx(), graph)


def test_unsigned_and_small_ids():
    for dtype in (np.uint8, np.int16, np.uint64):
        src, dst = np.array([0, 200], dtype), np.array([200, 7], dtype)
        graph = Graph.from_edges(src, dst, clusters=3)
        assert sorted(graph.to_networkx().edges) == [(0, 200), (7, 200)]


def test_ids_are_wide_only_where_they_must():
    assert build.id_dtype(2**31 - 1) is np.int32
    assert build.id_dtype(2**31) is np.int64


def test_graph_without_edges():
    graph = Graph.from_edges([], [], n=3, clusters=2)
    assert (graph.n, graph.m, graph.weighted) == (3, 0, False)
    assert Graph.from_edges([], [], n=3, weights=[]).weighted
    assert Graph.from_edges([1], [1]).m == 0


# ---- sources


def test_from_dask():
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 50, (2, 300))
    weights = rng.integers(1, 9, 300)
    expected = Graph.from_edges(src, dst, n=50, weights=weights)
    frame = pd.DataFrame({"src": src, "dst": dst, "weight": weights})
    lazy = dd.from_pandas(frame, npartitions=4)
    arrays = [da.from_array(a, chunks=77) for a in (src, dst, weights)]
    odd = da.from_array(dst, chunks=100)
    same(expected, Graph.from_edges(arrays[0], odd, weights=arrays[2]))
    same(expected, Graph.from_edges(lazy))
    same(expected, Graph.from_edges(lazy["src"], lazy["dst"], weights=lazy["weight"]))
    same(expected, Graph.from_edges(lazy, partition="edges", clusters=3))
    same(expected, Graph.from_edges(frame))
    same(expected, Graph.from_edges(frame["src"], frame["dst"], weights=frame["weight"]))
    some = lazy[lazy["src"] < 1000]
    same(
        expected,
        Graph.from_edges(some["src"].values, some["dst"].values, weights=some["weight"].values),
    )


def test_a_partition_without_edges_says_nothing_of_weights():
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3], "weight": [1.5, 2.5, 3.5]})
    lazy = dd.from_pandas(frame, npartitions=3)
    graph = Graph.from_edges(lazy[lazy["src"] != 1], n=4, clusters=2)
    assert graph.m == 2
    assert graph.weight_dtype == np.float64


def test_from_networkx_keeps_labels():
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 1.5), ("b", ("c", 1), 2.5)])
    mine = Graph.from_networkx(graph)
    assert mine.labels == ["a", "b", ("c", 1)]
    assert nx.utils.graphs_equal(mine.to_networkx(), graph)


def test_edges_of_networkx_without_a_weight_weigh_one():
    graph = nx.Graph([("a", "b", {"weight": 5}), ("b", "c"), ("a", "c", {"cost": 7})])
    mine = Graph.from_networkx(graph)
    assert mine.weight_dtype == np.int64
    assert sorted(w for _, _, w in mine.to_networkx().edges(data="weight")) == [1, 1, 5]
    assert sorted(Graph.from_networkx(graph, weight="cost").to_scipy().data) == [1, 1, 1, 1, 7, 7]
    assert not Graph.from_networkx(graph, weight="none of the edges has it").weighted


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_short_floats_are_kept_exactly(dtype):
    weights = np.array([0.1, 60000, 3], dtype)
    lazy = da.from_array(weights, chunks=2)
    ends = da.from_array(np.arange(4), chunks=2)
    for graph in (
        Graph.from_edges([0, 1, 2], [1, 2, 3], weights=weights),
        Graph.from_edges(ends[:3], ends[:3] + 1, weights=lazy),
    ):
        assert graph.weight_dtype == np.float32
        assert graph.to_scipy().data[::2].tolist() == weights.astype(float).tolist()


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (np.array([10, 20]), [10, 20]),
        ([5, np.int8(7)], [5, 7]),
        ([1, 2**70], [1, 2**70]),
        ([-1, 2**63], [-1, 2**63]),
    ],
)
def test_labels_in_results(tmp_path, labels, found):
    graph = nx.Graph([tuple(labels)])
    ds = dgsuite.run("bf", Graph.from_networkx(graph), root=found[1])
    assert ds.node.values.tolist() == found
    assert ds.distance.values.tolist() == [1, 0]
    save(ds, tmp_path / "labels.nc")
    assert open_dataset(tmp_path / "labels.nc").node.values.tolist() == found


def test_from_networkx_of_all_kinds():
    several = nx.MultiGraph([(5, 3, {"weight": 4}), (5, 3, {"weight": 2}), (3, 3, {"weight": 1})])
    mine = Graph.from_networkx(several)
    assert list(mine.to_networkx().edges(data="weight")) == [(5, 3, 2)]
    one_way = nx.gnp_random_graph(12, 0.3, seed=1, directed=True)
    assert nx.utils.graphs_equal(Graph.from_networkx(one_way).to_networkx(), one_way)
    alone = nx.empty_graph(["x"])
    assert nx.utils.graphs_equal(Graph.from_networkx(alone).to_networkx(), alone)


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_matrix, sp.csc_array])
def test_from_scipy(form):
    matrix = sp.random_array((30, 30), density=0.1, rng=np.random.default_rng(2))
    both = (matrix + matrix.T).tocsr()
    both.setdiag(0)
    both.eliminate_zeros()
    mine = Graph.from_scipy(form(both), clusters=3)
    assert abs(mine.to_scipy() - both).max() == 0
    pattern = both.astype(bool)
    assert not Graph.from_scipy(form(pattern)).weighted
    with pytest.raises(InputError, match="not symmetric"):
        Graph.from_scipy(form(matrix))
    one_way = Graph.from_scipy(form(matrix), directed=True)
    matrix.setdiag(0)
    assert abs(one_way.to_scipy() - matrix).max() == 0


def test_matrix_market(tmp_path):
    matrix = sp.coo_array(nx.to_scipy_sparse_array(nx.gnm_random_graph(20, 40, seed=1)))
    path = tmp_path / "g.mtx"
    scipy.io.mmwrite(path, matrix, symmetry="symmetric")
    same(Graph.from_scipy(matrix), Graph.read_matrix_market(path))
    packed = tmp_path / "g.mtx.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    same(Graph.from_scipy(matrix), Graph.read_matrix_market(packed, clusters=4))


HEADER = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "2 3 1\n1 1 1.0\n", "must be square, it is 2 x 3"),
        ("hello\n", r"g\.mtx: not a Matrix Market file"),
        ("", r"g\.mtx: not a Matrix Market file"),
        (HEADER + "2 2 2\n1 2 1.0\n1 x 1.0\n", r"g\.mtx: not a Matrix Market file: Line 4"),
        (HEADER + "2 2 2\n1 2 1.0\n", r"g\.mtx: not a Matrix Market file: Truncated"),
        (HEADER + "2 2 1\n3 2 1.0\n", r"g\.mtx: not a Matrix Market file: Line 3"),
        (HEADER + "2 2 1\n1 2 1.0\n", "not symmetric"),
        (HEADER + "2 2 2\n1 2 nan\n2 1 nan\n", r"entry \(0, 1\) of the matrix is nan"),
        (HEADER + "2 2 2\n1 2 inf\n2 1 inf\n", r"entry \(0, 1\) of the matrix is inf"),
    ],
)
def test_bad_matrix_market_files(tmp_path, text, message):
    path = tmp_path / "g.mtx"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        Graph.read_matrix_market(path)


def test_missing_files(tmp_path):
    for reader in (Graph.read_matrix_market, Graph.read_edge_list):
        with pytest.raises(InputError, match=r"none\.txt: no such file"):
            reader(tmp_path / "none.txt")


RING = "# a ring\n0 1\n1\t2\r\n\n2,3\n   3 , 0  # the last"


def test_edge_lists_as_text(tmp_path):
    expected = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    path = tmp_path / "ring.txt"
    path.write_text(RING)
    same(expected, Graph.read_edge_list(path))
    packed = tmp_path / "ring.txt.gz"
    packed.write_bytes(gzip.compress(RING.encode()))
    same(expected, Graph.read_edge_list(packed))
    assert Graph.read_edge_list(path, n=9).n == 9
    path.write_text("0 1 2.5\n1 2 0.5\n")
    assert Graph.read_edge_list(path).to_scipy().max() == 2.5


@settings(max_examples=40)
@given(edge_lists(), st.integers(8, 90), st.booleans())
def test_edge_lists_in_blocks(tmp_path, case, block, packed):
    n, edges = case
    path = tmp_path / ("e.txt.gz" if packed else "e.txt")
    text = "#\n" + "".join(f"{u} {v}\t{w}\n" for u, v, w in edges)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("partition.readers.BLOCK", block)
        read = Graph.read_edge_list(path, n=n, clusters=2)
    src, dst, weights = ([e[i] for e in edges] for i in range(3))
    if edges:
        same(Graph.from_edges(src, dst, n=n, weights=np.array(weights, float)), read)
    assert (read.n, read.weighted) == (n, bool(edges))


@pytest.mark.parametrize(
    "line",
    [
        "1 x",
        "5",
        "1 2 3 4",
        "1 2.5",
        "a b",
        "-1 2",
        "1 2 3",
        "nan 1",
        "0,,1",
        "0, ,1",
        ",0,1",
        "0,1,,2",
        "3 1",
    ],
)
@pytest.mark.parametrize("block", [1 << 20, 5])
@pytest.mark.parametrize("packed", [False, True])
def test_bad_lines_of_edge_lists(tmp_path, monkeypatch, line, block, packed):
    monkeypatch.setattr("partition.readers.BLOCK", block)
    path = tmp_path / ("bad.txt.gz" if packed else "bad.txt")
    text = f"# edges\n0 1\n{line}\n1 2\n".encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    where = rf"bad\.txt(\.gz)?, line 3: '{line}' is not an edge"
    with pytest.raises(InputError, match=where if line != "1 2 3" else "."):
        Graph.read_edge_list(path, n=3)
    path.with_suffix(".txt").write_text("0,1 # a,,b\n# ,,\n 1 ,\t2\n")
    assert Graph.read_edge_list(path.with_suffix(".txt"), n=3).m == 2


@pytest.mark.parametrize("block", [1 << 20, 24])
@pytest.mark.parametrize(
    ("weights", "dtype"),
    [
        ([2**53 + 1, 5, -(2**53) - 1], np.int64),
        ([2**53 + 1, 2**63 + 3, 7], np.uint64),
        ([7, 2, 0.5], np.float64),
        ([0.5, 2, 1e30], np.float64),
    ],
)
def test_weights_of_text_are_exact(tmp_path, monkeypatch, weights, dtype, block):
    """In any blocks: integers as such, and floats where there is one."""
    monkeypatch.setattr("partition.readers.BLOCK", block)
    path = tmp_path / "e.txt"
    path.write_text("".join(f"{i} {i + 1} {w}\n" for i, w in enumerate(weights)))
    graph = Graph.read_edge_list(path, directed=True, clusters=2)
    assert graph.weight_dtype == dtype
    assert graph.to_scipy().data.tolist() == weights


@pytest.mark.parametrize("block", [1 << 20, 24])
@pytest.mark.parametrize("last", [2**64, -1])
def test_integers_of_text_that_no_dtype_holds(tmp_path, monkeypatch, block, last):
    monkeypatch.setattr("partition.readers.BLOCK", block)
    path = tmp_path / "e.txt"
    path.write_text(f"0 1 {2**63 + 1}\n# 0.5\n1 2 {last}\n")
    with pytest.raises(InputError, match=r"64.bit"):
        Graph.read_edge_list(path)


def test_ids_of_text_are_exact(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text(f"{2**62 + 1} 7\n7 {2**53 + 1}\n")
    graph = Graph.read_edge_list(path, relabel=True)
    assert list(graph.labels) == [7, 2**53 + 1, 2**62 + 1]
    path.write_text("0 2000000000\n")  # a small file asks for little memory
    with pytest.raises(InputError, match="relabel=True"):
        Graph.read_edge_list(path)
    path.write_text("1e1 2.0 3\n")
    assert Graph.read_edge_list(path).n == 11


def test_patterns_and_urls_of_edge_lists(tmp_path, monkeypatch):
    expected = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    (tmp_path / "part1.txt").write_text("0 1\n1 2\n")
    (tmp_path / "part2.txt").write_text("2 3\n3 0\n")
    (tmp_path / "part3.txt.gz").write_bytes(gzip.compress(b"0 1\n"))
    same(expected, Graph.read_edge_list(tmp_path / "part*.txt*"))
    same(expected, Graph.read_edge_list(f"file://{tmp_path}/part*"))
    frame = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0]})
    frame[:2].to_parquet(tmp_path / "edges-1.parquet")
    frame[2:].to_parquet(tmp_path / "edges-2.parquet")
    same(expected, Graph.read_edge_list(tmp_path / "edges-*.parquet"))
    same(expected, Graph.read_edge_list(f"file://{tmp_path}/edges-*.parquet"))
    # the memory is this process's, so no worker can read it
    monkeypatch.setattr(queries, "current_client", lambda client: client)
    with fsspec.open("memory://dgsuite/ring.txt", "wb") as file:
        file.write(b"0 1\n1 2\n2 3\n3 0")
    same(expected, Graph.read_edge_list("memory://dgsuite/ring.txt"))
    for name in (tmp_path / "none*", f"file://{tmp_path}/none", "memory://dgsuite/none*.txt"):
        with pytest.raises(InputError, match="no such file"):
            Graph.read_edge_list(name)
    with pytest.raises(InputError, match="cannot be opened: Protocol not known"):
        Graph.read_edge_list("nothing://edges.txt")


def damaged(text):
    packed = bytearray(gzip.compress(text.encode()))
    packed[len(packed) // 2] ^= 255
    return bytes(packed)


@pytest.mark.parametrize("damage", [damaged, lambda text: gzip.compress(text.encode())[:-9]])
def test_damaged_archives(tmp_path, damage):
    edges = "".join(f"{i + 2} {i * 7919 % 1000 + 1}\n" for i in range(999))
    path = tmp_path / "e.txt.gz"
    path.write_bytes(damage(edges))
    with pytest.raises(InputError, match=r"e\.txt\.gz: cannot be read"):
        Graph.read_edge_list(path)
    path = tmp_path / "e.mtx.gz"
    path.write_bytes(damage(f"{HEADER.replace('real', 'pattern')}1000 1000 999\n{edges}"))
    with pytest.raises(InputError, match=r"e\.mtx\.gz: not a Matrix Market file"):
        Graph.read_matrix_market(path)


def test_unreadable_edge_lists(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("")
    with pytest.raises(InputError, match="the file is empty"):
        Graph.read_edge_list(path)
    path.write_text("0 1 2\n1 2 nan\n")
    with pytest.raises(InputError, match=r"e\.txt, line 2: '1 2 nan' is not an edge"):
        Graph.read_edge_list(path)
    path.write_text("# nothing\n")
    with pytest.raises(InputError, match="at least one node"):
        Graph.read_edge_list(path)
    assert Graph.read_edge_list(path, n=2).m == 0


def test_edge_lists_as_parquet(tmp_path, monkeypatch):
    expected = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    path = tmp_path / "ring.parquet"
    frame = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0], "other": 1})
    frame.to_parquet(path)
    same(expected, Graph.read_edge_list(path))
    dd.from_pandas(frame.assign(weight=2.5), npartitions=3).to_parquet(tmp_path / "folder")
    folder = Graph.read_edge_list(tmp_path / "folder")
    assert (folder.m, folder.to_scipy().max()) == (4, 2.5)
    frame.rename(columns={"dst": "to"}).to_parquet(path)
    with pytest.raises(InputError, match=r"ring\.parquet: no column 'dst'; there are: src, to"):
        Graph.read_edge_list(path)
    path.write_text("0 1\n")
    with pytest.raises(InputError, match=r"ring\.parquet: not a Parquet file"):
        Graph.read_edge_list(path)
    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    with pytest.raises(InputError, match=r"pip install dgsuite\[parquet\]"):
        Graph.read_edge_list(path)


# ---- what is refused


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Graph.from_edges([0, 1], [1, 7], n=3), r"edge 1 \(1, 7\) names node 7"),
        (lambda: Graph.from_edges([0, -1], [1, 1]), "names node -1"),
        (lambda: Graph.from_edges([0], [1], weights=[np.nan]), "weight nan"),
        (
            lambda: Graph.from_edges([0, 1], [1, 2], weights=[2, -np.inf]),
            r"edge 1 \(1, 2\) has weight -inf; weights must be finite",
        ),
        (lambda: Graph.from_edges([0], [1], weights=["x"]), "weights must be numbers"),
        (lambda: Graph.from_edges([0], [1], weights=[1j]), "weights must be numbers"),
        (
            lambda: Graph.from_edges([0], [1], weights=np.array([1], np.longdouble)),
            r"at most 64 bits, got dtype .*; convert them first",
        ),
        (
            lambda: Graph.from_edges(
                da.arange(2), da.arange(2) + 1, weights=da.ones(2, dtype=np.longdouble)
            ),
            "at most 64 bits",
        ),
        (
            lambda: Graph.from_edges([0, 1], [1, 2], weights=[0.5, 2**53 + 1]),
            "weight 9007199254740993 of edge 1 does not fit float64",
        ),
        (lambda: Graph.from_networkx([(1, 2)]), "must be a networkx graph, got list"),
        (
            lambda: Graph.from_networkx(
                nx.Graph([(1, 2, {"weight": None}), (2, 3, {"weight": 1})])
            ),
            r"edge \(1, 2\) has weight None",
        ),
        (lambda: Graph.from_edges([0.5], [1]), "must be integers"),
        (lambda: Graph.from_edges(["a"], ["b"]), "must be integers"),
        (lambda: Graph.from_edges([0, 1], [1]), "of equal length"),
        (lambda: Graph.from_edges([0], [1], weights=[1, 2]), "of equal length"),
        (lambda: Graph.from_edges([[0]], [[1]]), "one-dimensional"),
        (lambda: Graph.from_edges(3, 4), "one-dimensional"),
        (lambda: Graph.from_edges([0], [1], clusters=-2), "clusters must be"),
        (lambda: Graph.from_edges([0], [1], clusters=0), "clusters must be"),
        (lambda: Graph.from_edges([0], [1], clusters=1.5), "clusters must be"),
        (lambda: Graph.from_edges([0], [1], clusters=10**12), "clusters must be at most"),
        (lambda: Graph.from_edges([0], [1], partition=[0, 10**12]), "clusters must be at most"),
        (lambda: Graph.from_edges([0], [1], partition=[0, -1]), "node 1 is mapped to cluster -1"),
        (lambda: Graph.from_edges([0], [1], partition="metric"), "partition must be"),
        (lambda: Graph.from_edges([0], [1], partition=[0, 1, 2]), "maps 3 nodes"),
        (lambda: Graph.from_edges([0], [1], partition=[0, 5], clusters=2), "node 1 is mapped"),
        (lambda: Graph.from_edges([0], [1], partition=None), "one-dimensional array of integers"),
        (lambda: Graph.from_edges([0], [1], uid=[3, 3]), "nodes 0 and 1 have the same identifier"),
        (lambda: Graph.from_edges([0], [1], uid=[1]), "uid must be 2 integers"),
        (
            lambda: Graph.from_edges([0], [1], uid=np.array([3, 2**63], "u8")),
            r"identifier 9223372036854775808 of node 1 is not below 2\^63",
        ),
        (lambda: Graph.from_edges([0], [1], labels=["a"]), "1 labels for 2 nodes"),
        (lambda: Graph.from_edges([0], [1], labels=["a", "a"]), "the same label 'a'"),
        (lambda: Graph.from_edges([], []), "at least one node"),
        (lambda: Graph.from_edges([], [], n=0), "at least one node"),
        (lambda: Graph.from_networkx(nx.Graph()), "at least one node"),
        (lambda: Graph.from_edges([0], [1], n=-1), "n must be"),
        (lambda: Graph.from_edges([0], [1], n="2"), "n must be"),
        (lambda: Graph.from_edges([0], [1], n=2**40), "can have at most"),
        (lambda: Graph.from_scipy(sp.csr_array((2, 3))), "square"),
        (lambda: Graph.from_edges(pd.DataFrame({"a": [1]})), "no column 'src'; there are: a"),
        (lambda: Graph.from_edges([0]), "columns 'src' and 'dst'"),
        (lambda: Graph.from_edges(da.zeros(3, int), [1]), "all be Dask"),
        (lambda: Graph.from_edges(da.zeros(3, int), da.zeros(4, int)), "of equal length"),
        (lambda: Graph.from_edges(da.zeros((2, 2), int), da.zeros(4, int)), "one-dimensional"),
        (lambda: Graph.from_edges(da.zeros(3, float), da.zeros(3, float)), "must be integers"),
        (
            lambda: Graph.from_edges(da.arange(6, chunks=2), da.arange(6, chunks=2) + 1, n=6),
            r"partition 2: edge 1 \(5, 6\) names node 6",
        ),
    ],
)
def test_refused(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


# ---- faces


def test_dask_collections():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[1, 2, 3], clusters=2)
    assert graph.indptr.compute().tolist() == [0, 1, 3, 0, 2, 3]
    assert graph.indices.compute().tolist() == [1, 0, 2, 1, 3, 2]
    assert graph.weights.compute().tolist() == [1, 1, 2, 2, 3, 3]
    assert graph.uid.compute().tolist() == [0, 1, 2, 3]
    assert graph.indices.chunks == ((3, 3),)
    assert graph.clusters.npartitions == 2
    assert graph.clusters.map(lambda c: c.index).compute(scheduler="sync") == [0, 1]
    assert (graph.indices + 1).max().compute() == 4


def test_dask_collections_have_a_chunk_a_cluster():
    """Also where clusters are empty."""
    graph = Graph.from_edges([0], [1], clusters=5)
    sizes = np.diff(graph.partition.offsets).tolist()
    assert 0 in sizes
    assert graph.uid.chunks == (tuple(sizes),)
    assert graph.indptr.chunks == (tuple(s + 1 for s in sizes),)
    assert graph.indices.dtype == graph.indices.compute().dtype == np.int32
    for i, size in enumerate(sizes):
        assert graph.uid.blocks[i].compute(scheduler="sync").shape == (size,)
    assert graph.weights is None


def test_faces_say_what_it_is():
    graph = Graph.from_edges([0], [1], attrs={"<script>": "&", "votes": [0, 1] * 999})
    page = graph._repr_html_()
    assert "<script>" not in page
    assert len(page) < 1000
    assert "2 nodes, 1 edges, undirected" in repr(graph)
    weighted = Graph.from_edges([0], [1], weights=[1.5], directed=True, clusters=2)
    assert "directed, weights float64; 2 clusters in this process" in repr(weighted)
