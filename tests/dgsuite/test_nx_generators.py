"""networkx's constructors on the backend: the same graphs, to the order of their edges."""

import copy
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dgsuite.faces.nx_backend.deferred import Deferred
from dgsuite.faces.nx_backend.graph import convert_from_nx

pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions")

KINDS = (None, nx.Graph, nx.DiGraph)

ROWS = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3]})


def rows(**how):
    """A path of four nodes."""
    return nx.from_pandas_edgelist(ROWS, **how)


def same(made, wanted):
    """Whether graphs are equal in everything that a function of networkx could see."""
    assert made.graph == wanted.graph
    assert list(made.nodes(data=True)) == list(wanted.nodes(data=True))
    assert list(made.edges(data=True)) == list(wanted.edges(data=True))
    for rows in ("_adj", "_pred")[: 1 + wanted.is_directed()]:
        found, right = (
            {node: list(row.items()) for node, row in getattr(graph, rows).items()}
            for graph in (made, wanted)
        )
        assert found == right
    assert type(made) is type(wanted)


def check(function, *args, **kwargs):
    """Compare what the backend makes with what networkx makes."""
    again = copy.deepcopy(kwargs)
    made = function(*args, backend="dgsuite", **kwargs)
    assert isinstance(made, Deferred)
    wanted = function(*args, **again)
    assert (len(made), made.number_of_edges()) == (len(wanted), wanted.number_of_edges())
    held = made._converted
    assert isinstance(made, Deferred)  # nobody has looked so far
    same(made, wanted)
    assert list(zip(held.of(held.source), held.of(held.target), strict=True)) == list(wanted.edges)


@pytest.mark.parametrize("kind", KINDS)
def test_tables(kind):
    rng = np.random.default_rng(1)
    for rows in (0, 1, 40):
        columns = {
            "source": rng.integers(0, 9, rows),
            "target": rng.integers(0, 9, rows).astype(np.int32),
            "real": rng.random(rows),
            "short": rng.random(rows).astype(np.float32),
            "whole": rng.integers(0, 9, rows),
            "truth": rng.random(rows) < 0.5,
            "text": [f"x{i}" for i in range(rows)],
        }
        frame = pd.DataFrame(columns)
        named = frame.assign(source=[f"n{v}" for v in frame.source])
        for attributes in (None, "real", ["whole", "text"], True):
            for table in (frame, named):
                check(nx.from_pandas_edgelist, table, edge_attr=attributes, create_using=kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_matrices(form, kind):
    matrix = sp.random(9, 9, 0.3, random_state=1, format=form)
    check(nx.from_scipy_sparse_array, matrix, create_using=kind)


FLOATS = pd.DataFrame({"source": [0.5], "target": [1]})


LEFT = [
    lambda **how: nx.from_pandas_edgelist(ROWS, create_using=nx.MultiGraph, **how),
    lambda **how: nx.from_pandas_edgelist(FLOATS, **how),
    lambda **how: nx.from_scipy_sparse_array(sp.dok_array((2, 2)), **how),
]


@pytest.mark.parametrize("call", LEFT)
def test_other_arguments_are_left_to_networkx(call):
    with pytest.raises(NotImplementedError):
        call(backend="dgsuite")


def test_a_graph_gets_its_dictionaries_when_they_are_looked_at():
    graph = rows(backend="dgsuite")
    graph.graph["name"] = "small"
    count = nx.number_connected_components(graph, backend="dgsuite")
    assert isinstance(graph, Deferred)
    tree = nx.minimum_spanning_tree(graph, backend="dgsuite")
    assert isinstance(graph, Deferred)
    assert tree.graph == {"name": "small"}
    assert nx.number_connected_components(graph) == count
    assert type(graph) is nx.Graph
    assert graph.graph == {"name": "small"}


CHANGES = [
    lambda graph: graph.add_edge(0, 9),
    lambda graph: graph.remove_node(1),
    lambda graph: graph.clear(),
    lambda graph: setattr(graph, "_adj", graph._adj),
    lambda graph: nx.relabel_nodes(graph, {0: 7}, copy=False),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_graph_that_changes_is_converted_again(change):
    graph, plain = rows(backend="dgsuite"), rows()
    for each in (graph, plain):
        change(each)
    same(graph, plain)
    count = nx.number_connected_components
    assert not plain or count(graph, backend="dgsuite") == count(plain)


OTHERS = [
    lambda graph: pickle.loads(pickle.dumps(graph)),
    copy.deepcopy,
    lambda graph: graph.copy(),
    lambda graph: graph.to_directed(),
    lambda graph: graph.subgraph([0, 1]).copy(),
    lambda graph: graph.reverse() if graph.is_directed() else graph,
    lambda graph: graph.__class__([(0, 1)]),
]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_made_of_a_graph_is_as_in_networkx(other, kind):
    same(other(rows(create_using=kind, backend="dgsuite")), other(rows(create_using=kind)))


def of_table(backend):
    ends = pd.DataFrame({"u": ["a", "b", "a", "c"], "v": ["b", "c", "d", "c"]})
    weights = {"weight": [0.5, 2.0, 1.5, 3.0], "kind": [*"xyzx"]}
    frame = ends.assign(**weights)
    return nx.from_pandas_edgelist(frame, "u", "v", ["weight", "kind"], backend=backend)


@pytest.mark.parametrize("made", ["deferred", "filled", "converted", "a tree"])
@pytest.mark.parametrize("asked", [{"backend": "dgsuite"}, {}])
def test_programs_end_with_pandas_and_scipy(made, asked):
    graph, expected = of_table("dgsuite"), of_table("networkx")
    if made == "filled":
        for each in (graph, expected):
            each.add_edge("d", "e", weight=7.0, kind="x")
    elif made == "converted":
        graph = convert_from_nx(expected, preserve_edge_attrs=True)
    elif made == "a tree":
        graph = nx.minimum_spanning_tree(graph, backend="dgsuite")
        expected = nx.minimum_spanning_tree(expected)
    found = nx.to_pandas_edgelist(graph, dtype=object, **asked)
    pd.testing.assert_frame_equal(found, nx.to_pandas_edgelist(expected, dtype=object))
    for weight in ("weight", None):
        how = {"nodelist": ["d", "c", "a"], "weight": weight}
        right = nx.to_scipy_sparse_array(expected, **how)
        assert (nx.to_scipy_sparse_array(graph, **how, **asked) != right).nnz == 0
    np.testing.assert_array_equal(nx.to_numpy_array(graph, **asked), nx.to_numpy_array(expected))
