"""Graphs that grow are those that are built of all edges at once, and share what stays the same."""

import pickle
from functools import partial

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import InputError
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.labels.held_labels import HeldLabels
from tests.support.cases import in_turn
from tests.support.graphs import same_clusters


def assert_alike(one, other):
    assert (one.n, one.entries, one.built) == (other.n, other.entries, other.built)
    same_clusters(one, other)


@pytest.mark.few(2)
@given(st.data())
@pytest.mark.parametrize(("rule", "large"), in_turn(["min", "max", "sum", "first"], [False, True]))
def test_a_graph_that_grew_is_the_graph_of_all_edges(rule, large, monkeypatch, data):
    if large:
        monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)
    n, k = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 4))
    rows = [data.draw(st.integers(1, 30)), *data.draw(st.lists(st.integers(0, 12), max_size=3))]
    luck = np.random.default_rng(data.draw(st.integers(0, 999)))
    directed, weighted = data.draw(st.booleans()), rule == "sum" or data.draw(st.booleans())
    partition = luck.integers(0, k, n) if data.draw(st.booleans()) else "nodes"
    how = {"clusters": k, "partition": partition, "directed": directed, "duplicates": rule}
    pieces = [luck.integers(0, n + (4 if i else 0), (2, m)) for i, m in enumerate(rows)]
    weights = [luck.integers(0, 9, m) if weighted else None for m in rows]
    graph = Graph.from_edges(*pieces[0], n=n, weights=weights[0], **how)
    before = [part.indices.copy() for part in graph.parts]
    grown = graph
    for (src, dst), own in zip(pieces[1:], weights[1:], strict=True):
        grown = grown.with_edges(src, dst, weights=own)
    src, dst = np.concatenate(pieces, axis=1)
    every = np.concatenate(weights) if weighted else None
    assert grown.n == max(n, int(max(src.max(), dst.max())) + 1)
    how |= {"n": grown.n, "partition": grown.partition, "clusters": None}
    assert_alike(grown, Graph.from_edges(src, dst, weights=every, **how))
    assert all(map(np.array_equal, before, [part.indices for part in graph.parts]))


def test_clusters_that_get_nothing_share_their_arrays():
    graph = Graph.from_edges([0, 2, 4], [1, 3, 5], weights=[1, 2, 3], clusters=3)
    grown = graph.with_edges([0], [6], weights=[1])
    shared = [
        [np.shares_memory(getattr(a, x), getattr(b, x)) for x in ("indptr", "indices", "weights")]
        for a, b in zip(graph.parts, grown.parts, strict=True)
    ]
    assert shared == [[False] * 3, [True] * 3, [False] * 3]
    again = graph.with_edges([3], [2], weights=[9])  # the smaller weight is there
    pairs = zip(graph.parts, again.parts, strict=True)
    assert all(np.shares_memory(a.weights, b.weights) for a, b in pairs)


@pytest.mark.parametrize("names", [["b", "d", "a"], [30, 10, 20], [2**63 + 5, 7, 9]])
def test_labels_keep_their_numbers_and_new_ones_follow(names):
    more = {str: ["zoe", "c", "bob"], int: [99, 15, 40]}[type(names[0])]
    graph = Graph.from_edges(names[:2], names[1:], relabel=True)
    grown = graph.with_edges([more[0], names[0]], [more[1], names[2]])
    grown = grown.with_edges([more[2]], [names[1]])
    assert list(grown.labels) == [*sorted(names), *sorted(more[:2]), more[2]]
    assert grown.labels.nodes([*reversed(list(grown.labels))]).tolist() == [5, 4, 3, 2, 1, 0]
    assert list(pickle.loads(pickle.dumps(grown.labels))) == list(grown.labels)
    with pytest.raises(InputError, match="is not a node"):
        grown.labels.nodes(names[:1] * 2 + ["nobody" if isinstance(names[0], str) else 12345])
    found = dgsuite.run("bfs", grown, root=more[1])
    assert found.parent.sel(node=more[0]) == more[1]


def test_nodes_without_edges():
    graph = Graph.from_edges(["b"], ["a"], relabel=True, clusters=2)
    grown = graph.with_nodes(pd.Series(["d", "a", "c", "d"]))
    assert list(grown.labels) == ["a", "b", "c", "d"]
    assert (grown.m, [part.size for part in grown.parts]) == (1, [1, 3])
    assert Graph.from_edges([0], [1]).with_nodes([4, 0]).n == 5
    assert Graph.from_edges([0], [1]).with_nodes(3).with_nodes([]).n == 3


def test_new_nodes_of_a_map_go_to_all_clusters():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], partition=np.array([1, 0, 1, 0]))
    grown = graph.with_nodes(8)
    assert [part.ids.tolist() for part in grown.parts] == [[1, 3, 4, 5], [0, 2, 6, 7]]


@pytest.mark.parametrize("limit", ["4 MiB", "0 B"])
def test_on_workers(client, limit):
    luck = np.random.default_rng(5)
    names = np.array([f"r{i}" for i in luck.permutation(90)])
    columns = ["source", "target"]
    frames = [pd.DataFrame(names[luck.integers(0, n, (60, 2))], columns=columns) for n in (50, 80)]
    with dask.config.set({"dgsuite.gather-limit": limit}):
        first = dd.from_pandas(frames[0], npartitions=2)
        graph = Graph.from_edges(first, relabel=True, duplicates="min", client=client)
        grown = graph.with_edges(dd.from_pandas(frames[1], npartitions=2))
    assert isinstance(grown.labels, HeldLabels) == (limit == "0 B")
    alone = Graph.from_edges(frames[0], relabel=True, duplicates="min", client=None, clusters=2)
    alone = alone.compute().with_edges(frames[1])
    assert not grown.local
    assert_alike(grown, alone)
    assert list(grown.labels) == list(alone.labels)
    found, expected = (each.labels.nodes(names, missing=True) for each in (grown, alone))
    assert np.array_equal(found, expected)


PLAIN = {"src": [0, 1], "dst": [1, 2]}


@pytest.mark.parametrize(
    ("how", "more", "message"),
    [
        ({}, {"weights": [5]}, "new edges have weights, but the graph has none"),
        ({"weights": [1, 2]}, {}, "new edges have no weights"),
        ({"weights": np.array([1, 2], np.uint64)}, {"weights": [-1]}, "no dtype holds both"),
        ({"weights": [1.0, 2.0]}, {"weights": [np.inf]}, "weights must be finite"),
        ({"duplicates": "error"}, {"dst": [1]}, r"edge \(0, 1\) is there more than once"),
        ({"uid": [7, 8, 9]}, {}, "identifiers of their own"),
        ({"loops": "keep"}, {"dst": [0]}, r"with_edges takes no self-loops .* at node 0"),
        ({"labels": ["a", "b", "c"]}, {}, "the graph's labels are text, such as 'a'"),
        ({}, {"dst": [-1]}, "names node -1"),
        ({}, {"dst": [9_000_000]}, "would make 8999998 new nodes"),
        ({}, {"dst": ["a"]}, "must be integers"),
    ],
)
def test_what_does_not_fit_is_one_error(how, more, message):
    graph = Graph.from_edges(**PLAIN, **how)
    with pytest.raises(InputError, match=message):
        graph.with_edges(**{"src": [0], "dst": [5], **more})


def test_columns_of_a_table_are_named_by_position():
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"left": [2, 0], "right": [3, 3], "score": [5.0, 7.0]})
    plain, scored = (Graph.from_edges([0, 1], [1, 2], weights=w) for w in (None, [1.0, 2.0]))
    without = plain.with_edges([2, 0], [3, 3])
    expected = scored.with_edges([2, 0], [3, 3], weights=[5.0, 7.0])
    arrow = pa.Table.from_pandas(frame)
    lazy = dd.from_pandas(frame, npartitions=2)
    for make in (lambda: frame, lambda: lazy, lambda: arrow, arrow.to_reader):
        assert_alike(plain.with_edges(make(), "left", "right"), without)
        assert_alike(scored.with_edges(make(), "left", "right", "score"), expected)
        grown = scored.with_edges(make(), "left", target="right", weight="score")
        assert_alike(grown, expected)


def test_what_are_no_new_nodes_or_weights():
    graph = Graph.from_edges([0], [1], weights=[1])
    with pytest.raises(InputError, match="a third argument names a column"):
        graph.with_edges([1], [2], [5])
    for nodes in (1, "ab", [-1], [0.5]):
        with pytest.raises(InputError):
            graph.with_nodes(nodes)
    with pytest.raises(InputError, match="nodes must be labels"):
        Graph.from_edges(["a"], ["b"], relabel=True).with_nodes(5)


def test_weights_take_a_wider_dtype_where_they_must():
    graph = Graph.from_edges([0, 1], [1, 2], weights=np.array([1, 2], np.int8), clusters=2)
    assert graph.with_edges([2], [3], weights=[100]).weight_dtype == np.int8
    grown = graph.with_edges([2], [3], weights=[300])
    assert {part.weights.dtype for part in grown.parts} == {np.dtype(np.int64)}
    found = graph.with_edges([2], [3], weights=[0.5]).weights.compute().tolist()
    assert found == [1, 1, 2, 2, 0.5, 0.5]


ODD = {
    "a NUL": "a\0b",
    "a surrogate": "\ud800",
    "bytes": b"a",
    "a truth value": True,
    "a tuple": (1, 2),
    "text": "new",
    "a number": 17,
    "beyond 2^63": 2**63 + 1,
}
"""New labels."""


@pytest.mark.parametrize("way", ["with_edges", "with_nodes"])
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("labels", [["a", "b"], [3, 4], [2**63, 2**63 + 5], [(0, 0), (0, 1)]])
def test_a_label_of_any_kind_is_one_of_the_grown_graph_or_one_clear_error(labels, kind, way):
    graph, new = Graph.from_edges([0], [1], labels=labels, client=None), ODD[kind]
    call = partial(getattr(graph, way), *([labels[:1]] if way == "with_edges" else []), [new])
    fits = {str: isinstance(new, str), int: type(new) is int}.get(type(labels[0]), True)
    if labels[0] == 3 and kind == "beyond 2^63":
        fits = False  # no dtype of integers holds both
    if type(labels[0]) is tuple and way == "with_edges":
        fits = type(new) is tuple  # ends of edges are of one type
    if not fits:
        with pytest.raises(InputError, match=r"the graph.s labels are|of one type|got dtype bool"):
            call()
        return
    grown = call()
    assert list(grown.labels) == [*labels, new]
    assert type(grown.labels[2]) is type(new)
    assert grown.labels.nodes([new]).tolist() == [2]
    assert grown.m == (2 if way == "with_edges" else 1)
