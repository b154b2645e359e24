"""Graphs: arrays and objects of libraries, the rules for edges, exports, and what is refused."""

from __future__ import annotations

from itertools import pairwise

import dask.array as da
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from dgsuite import Graph, InputError
from dgsuite.partition.construction import build
from tests.support.cases import edge_lists
from tests.support.graphs import same


@given(
    edge_lists(), st.booleans(), st.integers(1, 20), st.sampled_from([None, int, float, np.int8])
)
def test_edges_and_weights_follow_a_dictionary(case, directed, clusters, dtype):
    n, edges = case
    src, dst, weights = (np.array([e[i] for e in edges], np.int64) for i in range(3))
    least = {}
    for u, v, w in edges:
        for ends in [(u, v)] if directed else [(u, v), (v, u)]:
            if u != v:
                least[ends] = 1 if dtype is None else min(w, least.get(ends, w))
    how = {} if dtype is None else {"weights": weights.astype(dtype)}
    graph = Graph.from_edges(src, dst, n=n, directed=directed, clusters=clusters, **how)
    assert graph.weighted == (dtype is not None)
    if dtype is not None:
        assert {part.weights.dtype for part in graph.parts} == {np.dtype(dtype)}
        assert graph.weight_dtype == dtype
    matrix = graph.to_scipy().tocoo()
    found = {(int(u), int(v)): w for u, v, w in zip(*matrix.coords, matrix.data, strict=True)}
    assert found == least
    assert graph.m == len(least) // (2 - directed)
    assert (graph.n, len(graph.parts)) == (n, clusters)
    for part in graph.parts:
        assert part.indices.dtype == np.int32
        for a, b in pairwise(part.indptr):
            assert (np.diff(part.indices[a:b]) > 0).all()


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


def test_arrays_frames_and_columns_of_dask():
    src, dst, weights = np.random.default_rng(1).integers(1, 50, (3, 300))
    expected = Graph.from_edges(src, dst, n=50, weights=weights)
    frame = pd.DataFrame({"source": src, "target": dst, "weight": weights})
    lazy = dd.from_pandas(frame, npartitions=4)
    arrays = [da.from_array(a, chunks=77) for a in (src, dst, weights)]
    some = [lazy[lazy["source"] < 1000][name].values for name in frame]  # of unknown length
    for a, b, w in (
        (arrays[0], da.from_array(dst, chunks=100), arrays[2]),
        (lazy["source"], lazy["target"], lazy["weight"]),
        (frame["source"], frame["target"], frame["weight"]),
        some,
    ):
        same(expected, Graph.from_edges(a, b, weights=w))
    same(expected, Graph.from_edges(lazy, partition="edges", clusters=3))


def test_a_partition_without_edges_says_nothing_of_weights():
    frame = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3], "weight": [1.5, 2.5, 3.5]})
    lazy = dd.from_pandas(frame, npartitions=3)
    graph = Graph.from_edges(lazy[lazy["source"] != 1], n=4, clusters=2)
    assert graph.m == 2
    assert graph.weight_dtype == np.float64


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


MATRIX = sp.random_array((30, 30), density=0.1, rng=np.random.default_rng(2))


@pytest.mark.parametrize(
    ("src", "dst", "how", "message"),
    [
        ([0, 1], [1, 7], {"n": 3}, r"edge 1 \(1, 7\) names node 7"),
        ([0, 1], [1, 2], {"weights": [2, -np.inf]}, r"edge 1 \(1, 2\) has weight -inf; .* finite"),
        ([0], [1], {"weights": np.array([1], np.longdouble)}, "at most 64 bits, got dtype .*; conv"),
        (da.arange(1), [1], {}, "all be Dask"),
        (da.arange(2), da.arange(2), {"weights": da.ones(2, dtype="g")}, "at most 64 bits"),
        ([0, 1], [1, 2], {"weights": [0.5, 2**53 + 1]}, "weights: 9007199254740993 in row 1 does"),
        ([0, 1], [1], {}, "of equal length"),
        ([0], [1], {"weights": [1, 2]}, "of equal length"),
        ([[0]], [[1]], {}, "one-dimensional"),
        ([0], [1], {"clusters": 0}, "clusters must be"),
        ([0], [1], {"clusters": 1.5}, "clusters must be"),
        ([0], [1], {"clusters": 10**12}, "clusters must be at most"),
        ([0], [1], {"partition": [0, -1]}, "node 1 is mapped to cluster -1"),
        ([0], [1], {"partition": "metric"}, "partition must be .*'hash', 'metis'"),
        ([0], [1], {"partition": [0, 1, 2]}, "maps 3 nodes"),
        ([0], [1], {"partition": [0, 5], "clusters": 2}, "node 1 is mapped"),
        ([0], [1], {"partition": None}, "must be a list, an array or a column, got None"),
        ([0], [1], {"uid": [3, 3]}, "nodes 0 and 1 have the same identifier"),
        ([0], [1], {"uid": [1]}, "uid must be 2 integers"),
        ([0], [1], {"uid": np.array([3, 2**63], "u8")}, r"9223372036854775808 of node 1 is not below"),
        ([0], [1], {"labels": ["a"]}, "1 labels for 2 nodes"),
        ([0], [1], {"labels": ["a", "a"]}, "the same label 'a'"),
        ([0], [1], {"labels": [1, 1.0]}, "the same label 1.0"),
        ([0], [1], {"labels": [1, [2]]}, r"label \[2\] is not hashable"),
        ([], [], {}, "at least one node"),
        ([0], [1], {"n": -1}, "n must be"),
        ([0], [1], {"n": 2**40}, "can have at most"),
        (pd.DataFrame({"a": [1]}), None, {}, "no column 'source'; there are: a"),
        ([0], None, {}, "columns 'source' and 'target'"),
        (da.zeros(3, int), da.zeros(4, int), {}, "of equal length"),
        (da.zeros((2, 2), int), da.zeros(4, int), {}, "one-dimensional"),
        (da.zeros(3, float) + 0.5, da.zeros(3, float), {}, "must be integers"),
        (da.arange(6, chunks=2), da.arange(6, chunks=2) + 1, {"n": 6}, r"partition 2: edge 1 \(5, 6\)"),
    ],
)  # fmt: skip
def test_edges_are_refused(src, dst, how, message):
    with pytest.raises(InputError, match=message) as caught:
        Graph.from_edges(src, dst, **how)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (Graph.from_networkx, [(1, 2)], "must be a networkx graph, got list"),
        (Graph.from_networkx, nx.Graph([(1, 2, {"weight": None})]), r"edge \(1, 2\) has weight None"),
        (Graph.from_networkx, nx.Graph(), "at least one node"),
        (Graph.from_scipy, sp.csr_array((2, 3)), "square"),
        (Graph.from_scipy, MATRIX, "not symmetric"),
    ],
)  # fmt: skip
def test_objects_are_refused(make, given, message):
    with pytest.raises(InputError, match=message):
        make(given)


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
    assert "&lt;script&gt;" in page
    assert len(page) < 1200
    assert "2 nodes, 1 edges, undirected" in repr(graph)
    weighted = Graph.from_edges([0], [1], weights=[1.5], directed=True, clusters=2)
    assert "directed, weights float64; 2 clusters in this process" in repr(weighted)
