"""Graphs: arrays and objects of libraries, the rules for edges, loops that are kept, and what is refused."""

from itertools import pairwise
from types import SimpleNamespace

import dask.array as da
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.genval import validate
from dgsuite.partition.construction import build
from tests.support.cases import edge_lists
from tests.support.graphs import same

DTYPES = st.sampled_from([None, int, float, np.int8])


@given(edge_lists(), st.booleans(), st.integers(1, 20), DTYPES)
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
        ([0], [1], {"loops": "some"}, "unknown loops .some.; one of: drop, keep"),
        ([0], [1], {"duplicates": "summ"}, "unknown duplicates 'summ'.*sum"),
        ([0], [1], {"duplicates": "sum"}, "the edges have none; give weights, or name their column"),
        ([3, 1], [1, 3], {"labels": list("abcd"), "duplicates": "error"}, r"edge \('b', 'd'\) is there"),
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
        (Graph.from_igraph, 7, r"igraph\.Graph, got int"),
        (Graph.from_edge_index, [[0, 1]], "shape"),
        (Graph.from_edge_index, [[0], [1, 2]], "shapes"),
        (Graph.from_edge_index, [[0.5], [1.0]], "integers from 0"),
        (Graph.from_edge_index, [[-1], [0]], "negative"),
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


def triangle(directed, weights):
    how = {"weights": weights, "nodes": ["zed"], "relabel": True, "directed": directed}
    return Graph.from_edges(["ann", "bob", "cid"], ["bob", "cid", "ann"], **how)


def alike(one, other):
    assert one.directed == other.directed
    assert one.weighted == other.weighted
    assert (one.to_scipy() != other.to_scipy()).nnz == 0


@pytest.mark.parametrize("weights", [None, [2, 3, 4]])
@pytest.mark.parametrize("directed", [False, True])
def test_there_and_back(directed, weights):
    made = triangle(directed, weights)
    back = Graph.from_igraph(made.to_igraph())
    assert list(back.labels) == list(made.labels)
    alike(made, back)
    alike(made, Graph.from_edge_index(made.to_edge_index()))
    matrix = made.to_scipy() if weights else made.to_scipy().astype(bool)
    for form in (sp.csr_array, sp.coo_matrix, sp.csc_array):
        alike(made, Graph.from_scipy(form(matrix), directed=directed))


@pytest.mark.parametrize("kind", [int, float, np.float32])
def test_weights_that_are_all_one_stay(kind):
    ones = np.ones(2, kind)
    ends = np.array([[0, 1], [1, 0]])
    for made in (
        Graph.from_scipy(sp.coo_array((ones, ends))),
        Graph.from_edge_index(ends, weights=ones),
        Graph.from_edges([0], [1], weights=ones[:1]),
    ):
        assert made.weight_dtype == np.dtype(kind)
        assert made.to_edge_index().edge_weight.tolist() == [1, 1]
        assert made.with_edges([1], [2], weights=ones[:1] * 3).to_scipy().max() == 3
    assert not Graph.from_scipy(sp.coo_array((ones.astype(bool), ends))).weighted


@pytest.mark.parametrize("rule", [None, "min", "error"])
def test_a_zero_that_is_stored_is_an_edge_wherever_it_is(rule):
    for kind in (float, bool):
        found = []
        for zeros in ([(0, 2)], [(2, 0)], [(0, 2), (2, 0)]):
            ends = np.array([(0, 1), (1, 0), (1, 2), (2, 1), *zeros]).T
            data = np.array([2, 2, 3, 3, *(0 for _ in zeros)], kind)
            made = Graph.from_scipy(sp.coo_array((data, ends)).tocsr(), duplicates=rule)
            assert (made.m, made.built.rows, made.built.merged) == (3, 3, 0)
            found.append(made)
        alike(found[0], found[1])
        alike(found[0], found[2])


@pytest.mark.parametrize("directed", [False, True])
def test_graphblas(directed):
    pytest.importorskip("graphblas")
    for weights in (None, [2.0, 3.0, 4.0]):
        made = triangle(directed, weights)
        alike(made, Graph.from_graphblas(made.to_graphblas(), directed=directed))


def test_edges_by_the_names_of_pytorch_geometric():
    data = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=5)
    made = Graph.from_edge_index(data)
    assert (made.n, made.m, made.directed, made.weighted) == (5, 1, False, False)
    assert Graph.from_edge_index(data, directed=True).m == 2
    assert Graph.from_edge_index(([0, 0], [1, 1])).weighted is False  # repeated, and not summed
    weighted = Graph.from_edge_index([[0], [1]], weights=[2.5], n=3)
    assert weighted.to_scipy().toarray()[0].tolist() == [0, 2.5, 0]


class Stream:
    """A table, or a column, that offers Arrow's stream and nothing else."""

    def __init__(self, values):
        self.values = values

    def __arrow_c_stream__(self, requested_schema=None):
        return self.values.__arrow_c_stream__(requested_schema)


class Interchange:
    """A table that offers the dataframe protocol and nothing else."""

    def __init__(self, values):
        self.values = values

    def __dataframe__(self, **how):
        return self.values.__dataframe__(**how)


TABLE = pa.table({"source": ["ann", "bob"], "target": ["bob", "cid"], "weight": [1.5, 2.0]})


@pytest.mark.parametrize("kind", [lambda table: table, Stream, Interchange])
def test_tables_through_arrow(kind):
    table = kind(TABLE)
    made = Graph.from_dataframe(table, weight="weight", nodes=Stream(pa.chunked_array([["zed"]])))
    assert list(made.labels) == ["ann", "bob", "cid", "zed"]
    assert made.weights.compute().tolist() == [1.5, 1.5, 2.0, 2.0]
    alike(made, Graph.from_edges(table, relabel=True, nodes=["zed"]))


def test_text_in_views():
    views = TABLE.cast(pa.schema([("source", pa.string_view()), *list(TABLE.schema)[1:]]))
    assert list(Graph.from_dataframe(Stream(views), weight=None).labels) == ["ann", "bob", "cid"]
    words = pa.array(["ann", "bob"], pa.string_view())
    table = pa.table({"source": pa.DictionaryArray.from_arrays([0, 1], words), "target": words})
    assert Graph.from_dataframe(Stream(table), loops="keep").n == 2


KERNELS = {"pagerank": ["rank"], "katz": ["centrality"], "eigenvector": ["centrality"]}
KERNELS["hits"] = ["hub", "authority"]


def table(seed, n=24, m=120):
    """Edges among few nodes: some are loops, some repeated; weights that are exact in any order."""
    rng = np.random.default_rng(seed)
    ends = np.append(rng.integers(0, n, (2, m)), [rng.integers(0, n, 10)] * 2, axis=1)
    src, dst = rng.permutation(ends, axis=1)
    return src, dst, rng.integers(0, 5, len(src)) / 4


def net_of(src, dst, weights, directed):
    """The networkx graph of a table: of repeated edges the largest weight counts."""
    net = nx.DiGraph() if directed else nx.Graph()
    net.add_nodes_from(range(24))
    for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        net.add_edge(u, v, weight=max(w, net.get_edge_data(u, v, {"weight": 0})["weight"]))
    return net


def graph_of(src, dst, **how):
    return Graph.from_edges(src, dst, **{"n": 24, "duplicates": "max", "loops": "keep", **how})


@pytest.mark.few(6)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_loops_count_on_every_cut(name, directed, weighted):
    """That they count as in networkx is shown by the tests of its backend."""
    src, dst, weights = table(5)
    parameters = {"alpha": 0.02} if name == "katz" else {}
    how = {"weights": weights if weighted else None, "directed": directed}
    plain = graph_of(src, dst, loops="drop", **how)
    without = dgsuite.run(name, plain, tolerance=1e-12, **parameters)
    first = None
    for clusters, partition in [(1, "nodes"), (5, "hash")]:
        graph = graph_of(src, dst, clusters=clusters, partition=partition, **how)
        ds = dgsuite.run(name, graph, tolerance=1e-12, **parameters)
        assert validate(name, graph, ds).ok
        assert not validate(name, graph, without).ok
        first = ds if first is None else first
        for output in KERNELS[name]:
            assert np.array_equal(ds[output].values, first[output].values)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_modularity_is_that_of_networkx(directed, weighted):
    src, dst, weights = table(8)
    net = net_of(src, dst, weights, directed)
    labels = np.arange(24) // 5
    how = {"directed": directed, "weights": weights if weighted else None, "clusters": 3}
    graph, plain = (graph_of(src, dst, loops=loops, **how) for loops in ("keep", "drop"))
    sets = [set(np.flatnonzero(labels == label).tolist()) for label in range(5)]
    right = nx.community.modularity(net, sets, weight="weight" if weighted else None)
    assert np.isclose(dgsuite.quality(graph, labels).modularity, right, atol=1e-14)
    assert not np.isclose(dgsuite.quality(plain, labels).modularity, right, atol=1e-3)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["leiden", "louvain"])
def test_communities_count_loops(name):
    """Two cliques are communities; with heavy loops, each within its node, all nodes are alone."""
    pairs = [(u + k, v + k) for k in (0, 4) for u in range(4) for v in range(u)]
    src, dst = np.array([*pairs, (0, 4), *((v, v) for v in range(8))]).T
    weights = np.repeat([1.0, 9.0], [len(src) - 8, 8])
    for clusters, partition in [(1, "nodes"), (3, "nodes"), (4, "hash")]:
        how = {"weights": weights, "clusters": clusters, "partition": partition}
        plain = Graph.from_edges(src, dst, duplicates="min", **how)
        assert dgsuite.run(name, plain).community.values.tolist() == [0] * 4 + [4] * 4
        graph = Graph.from_edges(src, dst, loops="keep", **how)
        ds = dgsuite.run(name, graph)
        assert ds.community.values.tolist() == [*range(8)]
        assert validate(name, graph, ds).ok
        # all loops alike count 1 without weights, and two cliques remain
        ds = dgsuite.run(name, graph, weighted=False)
        assert ds.community.values.tolist() == [0] * 4 + [4] * 4
        assert validate(name, graph, ds).ok


def test_a_graph_that_grows_keeps_loops():
    graph = Graph.from_edges([0, 1, 1], [1, 1, 2], weights=[1.0, 5.0, 2.0], loops="keep")
    more = graph.with_edges([0, 3], [3, 4], weights=[9.0, 9.0])
    assert more.keeps_loops
    assert (more.m, more.to_scipy()[1, 1]) == (4, 5)
