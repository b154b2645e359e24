"""Repeated edges and self-loops: each rule against a dictionary, for every constructor, cut and place."""

from __future__ import annotations

import operator
import warnings
from functools import partial, reduce
from itertools import product

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from dgsuite import Graph, InputError
from dgsuite.partition.construction import distribute
from dgsuite.partition.sources import edges
from dgsuite.partition.sources.duplicates import RULES
from tests.support.cases import in_turn
from tests.support.columns import WAYS
from tests.support.examples import examples
from tests.support.graphs import entries_of

N = 6
RULE = st.sampled_from(["sum", "min", "max", "first", "error"])
# sums of the integers are never 1, which a matrix takes for "no weights"
WEIGHT = st.sampled_from([2, 3, 5, 8]), st.floats(-1e9, 1e9).map(lambda x: round(x, 3) + 0.5)
NODE = st.integers(0, N - 1)
EDGE = st.sampled_from(WEIGHT).map(lambda weight: st.tuples(NODE, NODE, weight))
ROWS = EDGE.flatmap(lambda edge: st.lists(edge, min_size=1, max_size=40))


CHOOSE = {"sum": partial(reduce, operator.add), "min": min, "max": max}
"""What a rule makes of weights; `sum` of floats makes up for rounding since Python 3.12."""


def edges_of(graph):
    """The weight of each edge; an undirected one is there at both ends, with the same bits."""
    found = {}
    for u, v, w in entries_of(graph.gather()):
        edge = (u, v) if graph.directed else (min(u, v), max(u, v))
        assert found.setdefault(edge, w) == w
    return found


def check(make, rows, directed, rule, loops="drop"):
    """A graph has what a dictionary makes of rows, and counts the others."""
    keep = loops == "keep"
    weights: dict[tuple[int, int], list] = {}
    for u, v, w in rows:
        if u != v or keep:
            weights.setdefault((u, v) if directed else (min(u, v), max(u, v)), []).append(w)
    repeated = min((edge for edge, found in weights.items() if len(found) > 1), default=None)
    if rule == "error" and repeated is not None:
        with pytest.raises(InputError, match=r"edge \(\d, \d\) is there more than once") as error:
            make(loops=loops)
        assert keep or str(repeated) in str(error.value)
        return
    graph = make(loops=loops)
    right = {edge: CHOOSE.get(rule, lambda x: x[0])(found) for edge, found in weights.items()}
    if right:
        assert edges_of(graph) == right
    kept = sum(u == v for u, v in right)
    dropped = 0 if keep else sum(u == v for u, v, _ in rows)
    assert graph.built[:3] == (len(rows), len(rows) - dropped - len(right), kept + dropped)
    assert (graph.m, graph.keeps_loops, graph.built.kept) == (len(right) - kept, keep, keep)


def columns(rows):
    src, dst, weights = zip(*rows, strict=True)
    return np.array(src), np.array(dst), np.array(weights)


def frame_of(rows):
    return pd.DataFrame(dict(zip(("source", "target", "weight"), columns(rows), strict=True)))


def mirrored(rows, directed):
    """The entries of an adjacency matrix: of an undirected edge both, one after the other."""
    if directed:
        return rows
    return [e for u, v, w in rows for e in ([(u, v, w), (v, u, w)] if u != v else [(u, v, w)])]


def from_arrays_of_dask(rows, chunk, **how):
    src, dst, weights = (da.from_array(a, chunks=chunk) for a in columns(rows))
    return Graph.from_edges(src, dst, weights=weights, n=N, **how)


def from_frame(rows, chunk, **how):
    lazy = dd.from_pandas(frame_of(rows), chunksize=chunk, sort=False)
    return Graph.from_dataframe(lazy, weight="weight", n=N, **how)


def from_bag(rows, chunk, **how):
    return Graph.from_bag(db.from_sequence(rows, partition_size=chunk), n=N, **how)


def from_adjacency(rows, chunk, **how):
    items = [(u, {v: w}) for u, v, w in rows]
    return Graph.from_bag(db.from_sequence(items, partition_size=chunk), "adjacency", n=N, **how)


def from_networkx(rows, chunk, directed, **how):
    net = (nx.MultiDiGraph if directed else nx.MultiGraph)()
    net.add_nodes_from(range(N))
    net.add_weighted_edges_from(rows)
    return Graph.from_networkx(net, **how)


def from_scipy(rows, chunk, directed, **how):
    src, dst, weights = columns(mirrored(rows, directed))
    matrix = sp.coo_array((weights, (src, dst)), shape=(N, N))
    return Graph.from_scipy(matrix, directed=directed, **how)


def from_arrays(rows, chunk, directed, clusters, **how):
    entries = sorted(mirrored(rows, directed), key=lambda entry: entry[0])
    src, dst, weights = columns(entries)
    indptr = np.searchsorted(src, np.arange(N + 1))
    return Graph.from_arrays(indptr, dst, weights, directed=directed, **how)


COLLECTIONS = [from_arrays_of_dask, from_frame, from_bag, from_adjacency]
HERE = [from_arrays, *COLLECTIONS, from_networkx, from_scipy]


DRAWN = {"rows": ROWS, "rule": RULE, "directed": st.booleans(), "k": st.integers(1, 4)}
DRAWN["loops"] = st.sampled_from(["drop", "keep"])


@pytest.mark.few(2)
@pytest.mark.parametrize("constructor", HERE)
@given(chunk=st.integers(1, 9), **DRAWN)
def test_rules_follow_a_dictionary(constructor, rows, rule, directed, chunk, k, loops):
    how = {"directed": directed, "duplicates": rule, "clusters": k, "client": None}
    with dask.config.set(scheduler="synchronous"):
        check(partial(constructor, rows, chunk, **how), rows, directed, rule, loops)


@pytest.mark.parametrize("constructor", COLLECTIONS)
@examples(3)
@given(chunk=st.integers(9, 15), **DRAWN)
def test_rules_on_workers(constructor, client, rows, rule, directed, chunk, k, loops):
    how = {"directed": directed, "duplicates": rule, "clusters": k, "client": client}
    check(partial(constructor, rows, chunk, **how), rows, directed, rule, loops)


WAYS_OF_ARRAYS = [*product(["workers", "here"], ["nodes", "hash"])]


def some_rows(seed, m, digits=16):
    """Rows with weights of chance."""
    rng = np.random.default_rng(seed)
    ends, weights = rng.integers(0, N, (m, 2)).tolist(), rng.normal(size=m).round(digits).tolist()
    return [(u, v, w) for (u, v), w in zip(ends, weights, strict=True)]


@pytest.mark.parametrize(("rule", "how"), in_turn(RULES, WAYS_OF_ARRAYS))
def test_rules_for_arrays(client, monkeypatch, rule, how):
    place, partition = how
    rows = some_rows(7, 80)
    monkeypatch.setattr(distribute, "SMALL", -1 if place == "workers" else 100)
    monkeypatch.setattr(edges, "PIECE", 19)
    src, dst, weights = columns(rows)
    how = {"weights": weights, "n": N, "clusters": 3, "partition": partition, "client": client}
    for directed, loops in product([False, True], ["drop", "keep"]):
        make = partial(Graph.from_edges, src, dst, directed=directed, duplicates=rule, **how)
        check(make, rows, directed, rule, loops)


def from_market(rows, folder, directed, **how):
    entries = mirrored(rows, directed)
    lines = "".join(f"{u + 1} {v + 1} {w!r}\n" for u, v, w in entries)
    head = f"%%MatrixMarket matrix coordinate real general\n{N} {N} {len(entries)}\n"
    (folder / "e.mtx").write_text(head + lines)
    return Graph.read_matrix_market(folder / "e.mtx", directed=directed, **how)


def from_parts(rows, folder, **how):
    """From two files of Parquet."""
    for part, some in enumerate((frame_of(rows[:30]), frame_of(rows[30:]))):
        some.to_parquet(folder / f"{part}.parquet")
    return Graph.from_parquet(folder, weight="weight", n=N, **how)


def by(way):
    return lambda rows, folder, **how: way.make(frame_of(rows), folder, {"n": N, **how})()


FILES = ("from_parquet", "read_edge_list, of Parquet", "from_delta", "from_csv", "read_edge_list")
FORMS = [from_parts, from_market, *(by(way) for way in WAYS if way.name in FILES)]


@pytest.mark.few(2)
@pytest.mark.parametrize(("form", "directed"), in_turn(FORMS, [False, True]))
def test_rules_of_readers(tmp_path, form, directed, monkeypatch):
    monkeypatch.setattr("dgsuite.partition.sources.tables.PIECE", 1)
    monkeypatch.setattr("dgsuite.partition.sources.text.BLOCK", 200)
    rows = some_rows(5, 60, 3)
    for at, (rule, loops) in enumerate(product(RULES, ["drop", "keep"])):
        folder = tmp_path / str(at)
        folder.mkdir()
        how = {"directed": directed, "duplicates": rule, "client": None, "clusters": 2}
        check(partial(form, rows, folder, **how), rows, directed, rule, loops)


def test_what_was_built_is_said_and_kept(client, tmp_path):
    graph = Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 2], weights=[5, 7, 1, 1], duplicates="sum")
    text = "4 rows read, 1 merged (weights summed), 1 self-loop dropped"
    assert str(graph.built) == text
    assert text in repr(graph)
    assert text in graph._repr_html_()
    graph.save(tmp_path / "graph")
    others = [Graph.load(tmp_path / "graph"), graph.persist(client).compute()]
    for same in (*others, graph.repartition(2), graph.reversed()):
        assert same.built == graph.built
    assert graph.subgraph([0, 1]).built is None
    plain = Graph.from_edges([0, 1], [1, 2])
    assert str(plain.built) == "2 rows read, 0 merged, 0 self-loops dropped"
    assert "rows" not in repr(plain)


def test_weights_are_not_lost_without_a_word():
    table = {"src": [0, 1, 0], "dst": [1, 0, 1], "weights": [5, 7, 6]}
    with pytest.warns(UserWarning, match="2 of 3 rows repeat an edge.*duplicates='sum'") as found:
        graph = Graph.from_edges(**table)
    assert len(found) == 1
    assert found[0].filename == __file__
    assert edges_of(graph) == {(0, 1): 5}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Graph.from_edges(**table, duplicates="min")
        Graph.from_edges([0, 1], [0, 0], loops="keep")
        Graph.from_bag([("a", {"b": 1}), ("b", {"a": 1})], "adjacency")
        Graph.from_scipy(sp.coo_array(([2, 2, 2, 2], ([0, 0, 1, 1], [1, 1, 0, 0]))))


def test_nodes_of_adjacency_are_no_rows(client):
    items = [("ann", ["bob", "ann"]), ("dan", []), ("bob", [])]
    for bag in (items, db.from_sequence(items, npartitions=3)):
        graph = Graph.from_bag(bag, "adjacency", client=client)
        assert list(graph.labels) == ["ann", "bob", "dan"]
        assert graph.built[:3] == (2, 0, 1)
    bag = db.from_sequence([("ann", ["bob"]), (None, [])], npartitions=2)
    with pytest.raises(InputError, match="partition 1: nodes: 1 of 1 rows have no value"):
        Graph.from_bag(bag, "adjacency", client=client)


@pytest.mark.few(1)
@pytest.mark.parametrize("chunk", [1, 3])
def test_sums_that_do_not_fit_are_refused(chunk):
    big = 2**62
    for values, dtype, fits in (
        ([big, big, -big], np.int64, True),
        ([big, big, 1], np.int64, False),
        ([-big, -big, 0], np.int64, True),
        ([-big, -big, -1], np.int64, False),
        ([2**63, 2**62, 2**62 - 1], np.uint64, True),
        ([2**63, 2**62, 2**62], np.uint64, False),
        ([100, 100, 100], np.int8, True),
        ([200, 200, 200], np.uint8, True),
        ([1e308, 1e308, 1], np.float64, False),
        ([3e38, 3e38, 1], np.float32, False),
        ([0.25, 0.5, 1], np.float32, True),
    ):
        src, dst = (da.from_array(np.full(3, node), chunks=chunk) for node in (0, 1))
        weights = da.from_array(np.array(values, dtype), chunks=chunk)
        how = {"labels": ["ann", "bob"], "n": 2, "duplicates": "sum", "client": None}
        if not fits:
            with pytest.raises(InputError, match=r"edge \('ann', 'bob'\) have a sum"):
                Graph.from_edges(src, dst, weights=weights, **how)
            continue
        graph = Graph.from_edges(src, dst, weights=weights, **how)
        assert edges_of(graph) == {(0, 1): sum(values)}
        wide = {"i": np.int64, "u": np.uint64}.get(np.dtype(dtype).kind, dtype)
        assert graph.weight_dtype == wide
    small = sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.raises(InputError, match=r"edge \(0, 1\) have a sum that their dtype"):
        Graph.from_scipy(small, directed=True)


@pytest.mark.parametrize(
    ("rows", "messages"),
    [
        ([(0, 1), (1, 0), (2, 2)], ["1 of 3 rows repeat an edge, which", "1 of 3 rows is a self-"]),
        ([(0, 0), (1, 1), (0, 1)], ["2 of 3 rows are self-loops, and dropped"]),
        ([(0, 1), (1, 2)], []),
    ],
)
def test_rows_that_are_no_edges_are_counted(rows, messages):
    src, dst = np.array(rows).T
    lazy = dd.from_pandas(pd.DataFrame({"source": src, "target": dst}), npartitions=2)
    tables = (Graph.from_edges, src, dst), (Graph.from_dataframe, lazy)
    for make, *table in (*tables, (Graph.from_networkx, nx.MultiGraph(rows))):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            make(*table)
        assert len(found) == len(messages)
        for warning, message in zip(found, messages, strict=True):
            assert message in str(warning.message)
            assert warning.filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            make(*table, duplicates="min")
