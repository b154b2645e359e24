"""A graph as a Dask collection: arrays whose chunks are clusters, keys, and what notebooks show of it."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest
from dask.graph_manipulation import wait_on
from dask.typing import DaskCollection

import dgsuite
from dgsuite import Graph
from dgsuite.partition.graph.data import cluster_bytes
from tests.support.graphs import same

RNG = np.random.default_rng(24)
ENDS = RNG.integers(0, 50, (2, 400))
WEIGHTS = RNG.integers(-9, 9, 400)


def test_a_graph_is_a_collection(client):
    here = Graph.from_edges(*ENDS, n=50, weights=WEIGHTS, clusters=3, partition="hash")
    assert dask.is_dask_collection(here)
    assert isinstance(here, DaskCollection)
    assert dask.base.tokenize(here) == dask.base.tokenize(here)
    assert dask.base.tokenize(here) != dask.base.tokenize(
        here.reversed().like(here.parts, here.entries)
    )
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
    ours, theirs = (
        dgsuite.run("mis", g, style="clocked", client=client, seed=3) for g in (here, persisted)
    )
    assert ours.in_mis.equals(theirs.in_mis)


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
    moved = [
        made,
        graph.persist(),
        Graph.load(tmp_path),
    ]
    named = [{dask.utils.key_split(part.key) for part in each.parts} for each in moved]
    assert named == [{f"graph_{name}"} for name in ("cluster", "cluster", "load_cluster")]
    prefixes = [
        set(map(dask.utils.key_split, c.__dask_graph__()))
        for c in (graph, graph.indices, graph.clusters)
    ]
    assert prefixes == [{"cluster"}, {"cluster", "indices-cluster"}, {"cluster", "bag-cluster"}]


@pytest.mark.parametrize("weights", [None, WEIGHTS.astype(np.float32)])
def test_a_notebook_shows_memory_and_balance(weights):
    graph = Graph.from_edges(*ENDS, n=50, weights=weights, clusters=4, attrs={"root": "<a>"})
    assert cluster_bytes(graph).tolist() == [part.nbytes for part in graph.parts]
    page = graph._repr_html_()
    assert "&lt;a&gt;" in page
    assert dask.utils.format_bytes(sum(part.nbytes for part in graph.parts)) in page
    loads = [part.size + len(part.indices) for part in graph.parts]
    assert f"largest / mean {max(loads) / np.mean(loads):.2f}" in page
