"""Graphs of other libraries in and out, and tables of theirs through Arrow."""

from types import SimpleNamespace

import igraph
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from dgsuite import Graph
from dgsuite.base.errors import InputError


def graph(directed, weights):
    how = {"weights": weights, "nodes": ["zed"], "relabel": True, "directed": directed}
    return Graph.from_edges(["ann", "bob", "cid"], ["bob", "cid", "ann"], **how)


def same(one, other):
    assert one.directed == other.directed
    assert one.weighted == other.weighted
    assert (one.to_scipy() != other.to_scipy()).nnz == 0


@pytest.mark.parametrize("weights", [None, [2, 3, 4]])
@pytest.mark.parametrize("directed", [False, True])
def test_there_and_back(directed, weights):
    made = graph(directed, weights)
    back = Graph.from_igraph(made.to_igraph())
    assert list(back.labels) == list(made.labels)
    same(made, back)
    same(made, Graph.from_edge_index(made.to_edge_index()))
    matrix = made.to_scipy() if weights else made.to_scipy().astype(bool)
    for form in (sp.csr_array, sp.coo_matrix, sp.csc_array):
        same(made, Graph.from_scipy(form(matrix), directed=directed))


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
        same(found[0], found[1])
        same(found[0], found[2])


@pytest.mark.parametrize("directed", [False, True])
def test_graphblas(directed):
    pytest.importorskip("graphblas")
    for weights in (None, [2.0, 3.0, 4.0]):
        made = graph(directed, weights)
        same(made, Graph.from_graphblas(made.to_graphblas(), directed=directed))


def test_edges_by_the_names_of_pytorch_geometric():
    data = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=5)
    made = Graph.from_edge_index(data)
    assert (made.n, made.m, made.directed, made.weighted) == (5, 1, False, False)
    assert Graph.from_edge_index(data, directed=True).m == 2
    assert Graph.from_edge_index(([0, 0], [1, 1])).weighted is False  # repeated, and not summed
    weighted = Graph.from_edge_index([[0], [1]], weights=[2.5], n=3)
    assert weighted.to_scipy().toarray()[0].tolist() == [0, 2.5, 0]


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([[0, 1]], "shape"),
        ([[0], [1, 2]], "shapes"),
        ([[0.5], [1.0]], "integers from 0"),
        ([[-1], [0]], "negative"),
    ],
)
def test_arrays_that_are_no_edges(edges, said):
    with pytest.raises(InputError, match=said):
        Graph.from_edge_index(edges)


def test_what_is_no_graph_of_igraph():
    with pytest.raises(InputError, match=r"igraph\.Graph, got int"):
        Graph.from_igraph(7)
    assert Graph.from_igraph(igraph.Graph.Star(4)).m == 3


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
    same(made, Graph.from_edges(table, relabel=True, nodes=["zed"]))


def test_text_in_views():
    views = TABLE.cast(pa.schema([("source", pa.string_view()), *list(TABLE.schema)[1:]]))
    assert list(Graph.from_dataframe(Stream(views), weight=None).labels) == ["ann", "bob", "cid"]
    words = pa.array(["ann", "bob"], pa.string_view())
    table = pa.table({"source": pa.DictionaryArray.from_arrays([0, 1], words), "target": words})
    assert Graph.from_dataframe(Stream(table), loops="keep").n == 2
