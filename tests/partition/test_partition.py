"""Cutting a graph: any map from nodes to clusters, partitioners, other numbers of clusters, workers."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import dask.array as da
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from distributed import Event
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, InputError, genval
from dgsuite.partition.client.workers import worker_addresses, worker_of
from dgsuite.partition.clusters import partitioners
from dgsuite.partition.construction import distribute
from tests.support.cases import in_turn
from tests.support.clusters import client_of, stored
from tests.support.graphs import same, same_clusters
from tests.support.patience import PATIENCE


@given(st.integers(1, 15), st.integers(0, 30), st.integers(1, 20), st.randoms())
def test_any_partition_keeps_the_graph(n, m, clusters, random):
    src, dst = ([random.randrange(n) for _ in range(m)] for _ in range(2))
    weights = [random.randrange(9) for _ in range(m)]
    uid = random.sample(range(99), n)
    how = {"n": n, "weights": weights, "uid": uid}
    plain = Graph.from_edges(src, dst, **how)
    owner = np.array([random.randrange(clusters) for _ in range(n)])
    for partition in ("nodes", "edges", owner, partitioners.from_owner(owner, clusters)):
        graph = Graph.from_edges(src, dst, **how, clusters=clusters, partition=partition)
        same(plain, graph)
        assert len(graph.parts) == clusters
        for k, part in enumerate(graph.parts):
            np.testing.assert_array_equal(graph.partition.owner(part.ids), k)
            np.testing.assert_array_equal(part.uid, np.array(uid)[part.ids])
            away = graph.partition.owner(part.indices) != k
            remote = [away[a:b].sum() for a, b in pairwise(part.indptr)]
            np.testing.assert_array_equal(part.remote_degree, remote)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(1, 12))
def test_blocks_and_balance(degrees, clusters):
    sizes = np.diff(partitioners.blocks(len(degrees), clusters).offsets)
    assert sizes.max() - sizes.min() <= 1
    offsets = partitioners.balanced(degrees, clusters).offsets
    assert (np.diff(offsets) >= 0).all()
    assert (offsets[0], offsets[-1]) == (0, len(degrees))
    load = np.add.reduceat(np.append(np.add(degrees, 1), 0), offsets[:-1]) * (np.diff(offsets) > 0)
    assert load.max() <= sum(np.add(degrees, 1)) / clusters + max(degrees) + 1


def test_the_origin_of_a_partition():
    assert not Graph.from_edges([0], [1]).chosen
    assert Graph.from_edges([0], [1], clusters=1).chosen
    assert Graph.from_edges([0], [1], partition=[1, 0]).chosen
    two = partitioners.blocks(2, 2)
    assert len(Graph.from_edges([0], [1], partition=two).parts) == 2
    with pytest.raises(InputError, match="the partition has 2 clusters, not 3"):
        Graph.from_edges([0], [1], partition=two, clusters=3)


@given(st.integers(1, 30), st.lists(st.integers(1, 40), min_size=1, max_size=3), st.booleans())
def test_repartition(n, steps, weighted):
    rng = np.random.default_rng(n)
    src, dst = rng.integers(0, n, (2, 2 * n))
    weights = rng.random(2 * n) if weighted else None
    uid = rng.permutation(n)
    how = {"weights": weights, "uid": uid, "loops": "keep" if len(steps) > 1 else "drop"}
    graph = whole = Graph.from_edges(src, dst, n=n, **how, clusters=1)
    for clusters in steps:
        graph = graph.repartition(clusters)
        same(whole, graph)
        assert [p.index for p in graph.parts] == list(range(clusters))
        assert {p.weights is not None for p in graph.parts} == {weighted}
        np.testing.assert_array_equal(np.concatenate([p.uid for p in graph.parts]), uid)
        assert graph.entries == [len(p.indices) for p in graph.parts]


def test_repartition_refused():
    mapped = Graph.from_networkx(nx.path_graph(30), partition=np.arange(30) % 4)
    assert mapped.repartition(4) is mapped
    with pytest.raises(InputError, match="partition of its own"):
        mapped.repartition(2)
    with pytest.raises(InputError, match="clusters must be"):
        mapped.repartition(-1)


@pytest.fixture(scope="module")
def big():
    """Edges that are too many to be handled in the client's process."""
    rng = np.random.default_rng(8)
    n, m = 30_000, 400_000
    assert m > distribute.SMALL
    src, dst = rng.integers(0, n, (2, m))
    return n, src, dst, rng.random(m)


def local(monkeypatch, *args, **options) -> Graph:
    """The graph built in this process."""
    with monkeypatch.context() as patch:
        patch.setattr("dgsuite.partition.client.session.current_client", lambda client: None)
        graph = Graph.from_edges(*args, **options)
    assert graph.local
    return graph


@pytest.mark.few(1)
@pytest.mark.parametrize(("how", "clusters"), in_turn(["nodes", "edges", "map"], [1, 5, 2]))
def test_workers_build_what_one_process_builds(client, big, monkeypatch, how, clusters):
    n, src, dst, weights = big
    uid = np.random.default_rng(1).permutation(n)
    partition = np.arange(n) % clusters if how == "map" else how
    options = {"n": n, "uid": uid, "clusters": clusters, "partition": partition}
    expected = local(monkeypatch, src, dst, weights=weights, **options)
    graph = Graph.from_edges(src, dst, weights=weights, client=client, **options)
    assert not graph.local
    same_clusters(expected, graph)
    where = worker_addresses(client)
    for k, part in enumerate(graph.parts):
        assert client.who_has([part])[part.key] == (worker_of(k, clusters, where),)
    lazy = [da.from_array(a, chunks=90_000) for a in (src, dst, weights)]
    same_clusters(expected, Graph.from_edges(*lazy[:2], weights=lazy[2], client=client, **options))


def test_workers_read_files(client, big, monkeypatch, tmp_path):
    n, src, dst, _ = big
    frame = pd.DataFrame({"source": src, "target": dst})
    frame.to_csv(tmp_path / "e.txt", sep=" ", header=False, index=False)
    frame.to_parquet(tmp_path / "e.parquet", row_group_size=100_000)
    monkeypatch.setattr("dgsuite.partition.sources.text.BLOCK", 1_000_000)
    expected = local(monkeypatch, src, dst, clusters=2)
    for name in ("e.txt", "e.parquet"):
        graph = Graph.read_edge_list(tmp_path / name, client=client, clusters=2)
        assert (graph.local, graph.n) == (False, n)
        same_clusters(expected, graph)
    with (tmp_path / "e.txt").open("a") as file:
        file.write("7\n")
    with pytest.raises(InputError, match=r"e\.txt, line 400001: '7' is not an edge"):
        Graph.read_edge_list(tmp_path / "e.txt", client=client)


def test_small_inputs_stay_here(client):
    assert Graph.from_edges([0, 1], [1, 2], client=client).local
    assert len(Graph.from_edges([0, 1], [1, 2], client=client).parts) == 2


def test_repartition_on_workers(client, big, monkeypatch):
    n, src, dst, weights = big
    expected = local(monkeypatch, src, dst, n=n, weights=weights, clusters=7)
    graph = Graph.from_edges(src, dst, n=n, weights=weights, clusters=3, client=client)
    again = graph.repartition(7)
    assert not again.local
    same_clusters(expected, again)
    assert again.indices.chunks == (tuple(expected.entries),)


def test_errors_on_workers_are_the_same(client, big):
    n, src, dst, weights = big
    good = da.from_array(np.array([1, 2, 0]), chunks=1)
    bad = da.from_array(np.array([0, 1, 99]), chunks=1)
    worse, holes = dst.copy(), weights.copy()
    worse[345_678], holes[345_678] = n, np.nan
    nothing = da.full(3, np.nan, chunks=1)
    for a, b, how, message in (
        (bad, good, {"n": 3}, "names node 99"),
        (good, good, {"weights": nothing}, r"partition \d: weights: 1 of 1 rows have no value"),
        (good, good, {"partition": "edges", "n": 2}, "names node 2"),
        (good * 0.5, good, {}, "must be integers"),
        (src, worse, {"n": n}, "edge 345678 .* node 30000"),
        (src, dst, {"n": n, "weights": holes}, r"weights: 1 of \d+ rows .* is row 345678"),
    ):
        with pytest.raises(InputError, match=message):
            Graph.from_edges(a, b, client=client, **how)


def test_no_step_gathers_the_graph(client, big, brought):
    """What comes to the client while a graph is built and cut is small, however large it is."""
    n, src, dst, weights = big
    lazy = [da.from_array(a, chunks=50_000) for a in (src, dst, weights)]
    graph = Graph.from_edges(src, dst, n=n, clusters=4, client=client)
    other = Graph.from_edges(*lazy[:2], weights=lazy[2], clusters=4, client=client)
    assert graph.repartition(6).m == other.m == graph.m
    assert 0 < sum(brought) < 10_000
    brought.clear()
    Graph.from_edges(*lazy[:2], n=n, partition="edges", client=client)
    # the degree of every node, once
    assert sum(brought) < 10_000 + 8 * n


def test_nothing_is_left_on_the_workers(client, big):
    """Pieces and shards go; only the clusters stay."""
    n, src, dst, weights = big

    def left():
        return [k for k in stored(client) - keys if "split" in k or "same" in k or "ndarray" in k]

    graph = Graph.from_edges(src, dst, n=n, weights=weights, clusters=3, client=client)
    keys = {str(part.key) for part in graph.parts}
    deadline = time.monotonic() + PATIENCE
    while left():
        assert time.monotonic() < deadline, left()
        time.sleep(0.05)
    assert keys <= stored(client)


def _until_it_left(part, outputs):
    assert Event("left").wait(PATIENCE)
    return []


def test_an_idle_worker_may_leave():
    """What has nothing of the graph is not waited for, as where clusters of workers adapt."""
    from dgsuite.genval.rules.base import Job

    with client_of(3) as client:
        ends = da.arange(8, chunks=4)
        graph = Graph.from_edges(ends, ends + 1, n=9, clusters=2, client=client)
        idle = [worker_addresses(client)[2]]

        def leave():
            while not any(client.processing().values()):
                time.sleep(0.01)
            client.retire_workers(idle, close_workers=True)
            Event("left", client=client).set()

        leaving = threading.Thread(target=leave)
        leaving.start()
        assert Job(graph, {}, {}).each(_until_it_left) == [[], []]
        leaving.join()


@given(st.integers(1, 30), st.integers(0, 60), st.integers(0, 99), st.integers(1, 6), st.booleans())
def test_counts_are_those_of_networkx(n, m, seed, clusters, dealt):
    network = nx.gnm_random_graph(n, m, seed=seed)
    how = {"partition": "hash"} if dealt else {}
    graph = Graph.from_networkx(network, clusters=clusters, **how)
    found = dgsuite.partition.describe(graph)
    owner = graph.partition.owner(np.arange(n))
    cut = [(u, v) for u, v in network.edges if owner[u] != owner[v]]
    assert found.attrs["cut_edges"] == len(cut)
    assert found.nodes.values.tolist() == np.bincount(owner, minlength=clusters).tolist()
    halo = {(owner[u], v) for u, v in cut} | {(owner[v], u) for u, v in cut}
    of = np.array([k for k, _ in halo], int)
    assert found.halo.values.tolist() == np.bincount(of, minlength=clusters).tolist()
    assert int(found.ends.sum()) == 2 * network.number_of_edges()


def test_metis_takes_no_more_edges_than_it_can_count(monkeypatch):
    pytest.importorskip("pymetis")
    ring = {"src": np.arange(8), "dst": (np.arange(8) + 1) % 8, "partition": "metis", "clusters": 2}
    monkeypatch.setattr(partitioners, "MOST_OF_METIS", 16)
    assert Graph.from_edges(**ring).m == 8
    monkeypatch.setattr(partitioners, "MOST_OF_METIS", 15)
    with pytest.raises(InputError, match=r"takes at most 15 .* has 8 nodes and 16 edge ends"):
        Graph.from_edges(**ring)


def test_metis_cuts_less_and_hash_deals_evenly(client):
    pytest.importorskip("pymetis")
    cuts = {}
    for how in ("nodes", "edges", "hash", "metis"):
        graph = genval.graph("grid", 10_000, clusters=4, client=client, partition=how)
        found = dgsuite.partition.describe(graph)
        cuts[how] = found.attrs["cut_edges"]
        assert found.attrs["node_balance"] < 1.1
        ds = dgsuite.run("bfs", graph, client=client, root=7)
        assert genval.validate("bfs", graph, ds).ok
    assert cuts["metis"] < cuts["nodes"] < cuts["hash"]
    assert cuts["metis"] < 300
