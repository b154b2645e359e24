"""Graphs: arrays and objects of libraries, the rules for edges, exports, and what is refused."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.core.results.dataset import open_dataset, save
from dgsuite.partition.construction import build
from tests.support.cases import edge_lists
from tests.support.graphs import same


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
    monkeypatch.setattr("dgsuite.partition.construction.build.BLOCK", 100)
    monkeypatch.setattr("dgsuite.partition.sources.edges.PIECE", 333)
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


def test_from_dask():
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 50, (2, 300))
    weights = rng.integers(1, 9, 300)
    expected = Graph.from_edges(src, dst, n=50, weights=weights)
    frame = pd.DataFrame({"source": src, "target": dst, "weight": weights})
    lazy = dd.from_pandas(frame, npartitions=4)
    arrays = [da.from_array(a, chunks=77) for a in (src, dst, weights)]
    odd = da.from_array(dst, chunks=100)
    same(expected, Graph.from_edges(arrays[0], odd, weights=arrays[2]))
    same(expected, Graph.from_edges(lazy))
    same(expected, Graph.from_edges(lazy["source"], lazy["target"], weights=lazy["weight"]))
    same(expected, Graph.from_edges(lazy, partition="edges", clusters=3))
    same(expected, Graph.from_edges(frame))
    same(expected, Graph.from_edges(frame["source"], frame["target"], weights=frame["weight"]))
    some = lazy[lazy["source"] < 1000]
    same(
        expected,
        Graph.from_edges(
            some["source"].values, some["target"].values, weights=some["weight"].values
        ),
    )


def test_a_partition_without_edges_says_nothing_of_weights():
    frame = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3], "weight": [1.5, 2.5, 3.5]})
    lazy = dd.from_pandas(frame, npartitions=3)
    graph = Graph.from_edges(lazy[lazy["source"] != 1], n=4, clusters=2)
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Graph.from_edges([0, 1], [1, 7], n=3), r"edge 1 \(1, 7\) names node 7"),
        (lambda: Graph.from_edges([0, -1], [1, 1]), "names node -1"),
        (
            lambda: Graph.from_edges([0], [1], weights=[np.nan]),
            "weights: 1 of 1 rows have no value",
        ),
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
            "weights: 9007199254740993 in row 1 does not fit float64",
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
        (lambda: Graph.from_edges(3, 4), "src must be a list, an array or a column, got 3"),
        (lambda: Graph.from_edges([0], [1], clusters=-2), "clusters must be"),
        (lambda: Graph.from_edges([0], [1], clusters=0), "clusters must be"),
        (lambda: Graph.from_edges([0], [1], clusters=1.5), "clusters must be"),
        (lambda: Graph.from_edges([0], [1], clusters=10**12), "clusters must be at most"),
        (lambda: Graph.from_edges([0], [1], partition=[0, 10**12]), "clusters must be at most"),
        (lambda: Graph.from_edges([0], [1], partition=[0, -1]), "node 1 is mapped to cluster -1"),
        (lambda: Graph.from_edges([0], [1], partition="metric"), "partition must be"),
        (lambda: Graph.from_edges([0], [1], partition=[0, 1, 2]), "maps 3 nodes"),
        (lambda: Graph.from_edges([0], [1], partition=[0, 5], clusters=2), "node 1 is mapped"),
        (
            lambda: Graph.from_edges([0], [1], partition=None),
            "must be a list, an array or a column, got None",
        ),
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
        (lambda: Graph.from_edges(pd.DataFrame({"a": [1]})), "no column 'source'; there are: a"),
        (lambda: Graph.from_edges([0]), "columns 'source' and 'target'"),
        (lambda: Graph.from_edges(da.zeros(3, int), [1]), "all be Dask"),
        (lambda: Graph.from_edges(da.zeros(3, int), da.zeros(4, int)), "of equal length"),
        (lambda: Graph.from_edges(da.zeros((2, 2), int), da.zeros(4, int)), "one-dimensional"),
        (
            lambda: Graph.from_edges(da.zeros(3, float) + 0.5, da.zeros(3, float)),
            "must be integers",
        ),
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
    assert len(page) < 1200
    assert "2 nodes, 1 edges, undirected" in repr(graph)
    weighted = Graph.from_edges([0], [1], weights=[1.5], directed=True, clusters=2)
    assert "directed, weights float64; 2 clusters in this process" in repr(weighted)
