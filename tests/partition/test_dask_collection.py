"""A graph as a Dask collection: arrays whose chunks are clusters, keys, and what notebooks show of it."""

import uuid
from itertools import pairwise

import dask
import dask.array as da
import numpy as np
import pytest
from dask.graph_manipulation import wait_on
from dask.typing import DaskCollection
from hypothesis import given
from hypothesis import strategies as st

from dgsuite import Graph, InputError
from dgsuite.partition.graph.data import cluster_bytes
from tests.support.cases import in_turn
from tests.support.graphs import same

RNG = np.random.default_rng(24)
ENDS = RNG.integers(0, 50, (2, 400))
WEIGHTS = RNG.integers(-9, 9, 400)


PARTITIONS = ["nodes", "edges", "hash"]


def arrays_of(graph):
    return graph.indptr, graph.indices, graph.weights, graph.uid


@pytest.mark.few(1)
@pytest.mark.parametrize(("partition", "directed"), in_turn(PARTITIONS, [False, True]))
def test_a_graph_of_its_own_arrays(partition, directed, client):
    options = {"directed": directed, "partition": partition, "clusters": 3}
    src, dst, weights = (da.from_array(array, chunks=150) for array in (*ENDS, WEIGHTS))
    graph = Graph.from_edges(src, dst, weights=weights, **options, client=client)
    how = {"directed": directed, "partition": graph.partition}
    again = Graph.from_arrays(*arrays_of(graph), **how, client=client)
    assert again.partition == graph.partition
    assert (again.entries, again.weight_dtype) == (graph.entries, graph.weight_dtype)
    same(again, graph)
    assert again.identified
    assert again.chosen
    # without a client, this process makes the clusters
    here = Graph.from_edges(*ENDS, weights=WEIGHTS, **options)
    with dask.config.set(scheduler="threads"):
        again = Graph.from_arrays(*arrays_of(here), **how)
    same(again, here)


@given(st.integers(1, 12), st.data())
def test_arrays_follow_the_rules_of_edges(n, data):
    ends = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(ends, ends, st.integers(-3, 3)), max_size=40))
    bounds = sorted({0, n, *data.draw(st.lists(ends, max_size=3))})
    how = {"directed": data.draw(st.booleans())}
    how["duplicates"] = data.draw(st.sampled_from(["min", "max", "sum", "first"]))
    src, dst, weights = (np.array([edge[i] for edge in edges], np.int64) for i in range(3))
    expected = Graph.from_edges(src, dst, n=n, weights=weights, **how)
    if not how["directed"]:  # an edge is there at both ends, a loop once
        edges = [e for u, v, w in edges for e in [(u, v, w), (v, u, w)][: 1 + (u != v)]]
    edges.sort(key=lambda edge: edge[0])  # loops, duplicates and any order stay
    src, dst, weights = (np.array([edge[i] for edge in edges], np.int64) for i in range(3))
    indptr = np.searchsorted(src, np.arange(n + 1))
    cuts = indptr[bounds]
    pieces = [indptr[a : b + 1] - indptr[a] for a, b in pairwise(bounds)]
    lazy = da.concatenate([da.from_array(piece, chunks=-1) for piece in pieces])
    sizes = tuple(np.diff(cuts).tolist())
    graph = Graph.from_arrays(lazy, chunked(dst, sizes), chunked(weights, sizes), **how)
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
OTHER = {"partition": Graph.from_edges([0], [1], n=3, clusters=2).partition}


def in_two(indptr, indices, *more):
    """A path of three nodes in chunks of two nodes and one."""
    return (chunked(np.array(indptr), (3, 2)), chunked(np.array(indices), (3, 1)), *more)


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        ((*PATH, [1, 1, 1, 2]), {}, "not symmetric"),
        (([0, 1, 1], [1]), {}, "not symmetric.* directed=True"),
        (([0, 1, 2], [1, 2]), {}, r"chunk 0: edge 1 \(1, 2\) names node 2, but .* 0 to 1"),
        (([0, 1, 2], [1, 0, 1]), {}, "chunk 0: indptr must start from 0, .* end at 3"),
        (([0, 2, 1, 2], [1, 0]), {}, "not decrease"),
        (([0.0, 1.0], [0]), {}, "chunk 0: indptr must be integers, got dtype float64"),
        (([0, 1], [0.5]), {}, "chunk 0: dst must be integers, text or objects"),
        ((*PATH, [1, 2, np.nan, 2]), {}, r"weights: 1 of 4 rows have no value, .* row 2"),
        (PATH, {"uid": [1, 2]}, "chunk 0: uid has 2 entries for 3 nodes"),
        (PATH, {"uid": [5, 4, 5]}, "nodes 0 and 2 have the same identifier 5"),
        (([], []), {}, "each chunk of indptr an entry more"),
        (([0], []), {}, "at least one node"),
        (([[0, 1]], [0]), {}, "indptr must be one-dimensional"),
        ((da.array([0, 0]), [1]), {}, "must all be Dask arrays, or none"),
        ((da.zeros(4, int, chunks=2), da.array([])), {}, "equally many: indptr has 2, ind.* has 1"),
        (in_two([0, 1, 3, 1, 1], [1, 0, 2, 1]), {}, "chunk 1: indptr must start from 0"),
        (in_two([0, 1, 3, 0, 1], [1, 0, 2, 9]), {}, r"chunk 1: edge 0 \(2, 9\) names node 9"),
        (in_two([0, 1, 3, 0, 1], [1, 0, 2, 1]), OTHER, r"of \[1, 2\] nodes, .* are of \[2, 1\]"),
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
    other = here.like(here.parts, here.entries)
    assert dask.base.tokenize(here) != dask.base.tokenize(other)
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


def test_a_graph_is_a_collection_without_a_client():
    graph = Graph.from_edges(*ENDS, n=50, clusters=3)
    with dask.config.set(scheduler="threads"):
        for (other,) in (dask.compute(graph), dask.persist(graph)):
            assert other.local
            same(other, graph)
        assert graph.clusters.map(lambda c: c.size).compute() == [16, 17, 17]
    with pytest.raises(TypeError, match="holds clusters or futures"):
        wait_on(graph)


def test_keys_say_what_they_are(client, tmp_path):
    graph = Graph.from_edges(*ENDS, n=50, clusters=3)
    made = Graph.from_edges(*(da.from_array(ends) for ends in ENDS), clusters=3)
    graph.save(tmp_path)
    for moved, name in ((made, ""), (graph.persist(), ""), (Graph.load(tmp_path), "load_")):
        assert {dask.utils.key_split(c.key) for c in moved.parts} == {f"graph_{name}cluster"}
    for lazy, more in ((graph, []), (graph.indices, ["indices-"]), (graph.clusters, ["bag-"])):
        found = set(map(dask.utils.key_split, lazy.__dask_graph__()))
        assert found == {f"{name}cluster" for name in ["", *more]}


@pytest.mark.parametrize("weights", [None, WEIGHTS.astype(np.float32)])
def test_a_notebook_shows_memory_and_balance(weights):
    graph = Graph.from_edges(*ENDS, n=50, weights=weights, clusters=4)
    assert cluster_bytes(graph).tolist() == [part.nbytes for part in graph.parts]
    page = graph._repr_html_()
    assert dask.utils.format_bytes(sum(part.nbytes for part in graph.parts)) in page
    loads = [part.size + len(part.indices) for part in graph.parts]
    assert f"largest / mean {max(loads) / np.mean(loads):.2f}" in page
