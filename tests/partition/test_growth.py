"""Nothing that makes, keeps or fetches a graph grows with clusters squared, or with nodes times clusters."""

import pickle
import tracemalloc
from itertools import pairwise

import dask.array as da
import numpy as np
import pytest

import dgsuite
from dgsuite.partition.clusters.partitioners import blocks
from dgsuite.partition.construction import build
from dgsuite.partition.graph import measures, selection, views
from dgsuite.partition.graph.checks import components
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.sources.piece import degrees
from tests.support.clusters import counting

N, M = 1 << 14, 1 << 16
NUMBER = np.arange(N)
SRC, DST = np.random.default_rng(1).integers(0, N, (2, M))


def counted(client, function):
    """Tasks and dependencies that a function brings to the scheduler."""
    with counting(client, "") as counts:
        function()
    return len(counts.tasks), sum(counts.tasks.values())


def linear(amounts):
    """Whether four times as many clusters take at most four times as much each time."""
    return all(0 < after <= 4.1 * before for before, after in pairwise(amounts))


def steady(amounts):
    """Whether more clusters take hardly more."""
    return 0 < max(amounts) <= 2 * min(amounts)


@pytest.fixture(scope="module")
def graphs(client):
    """A graph of as many pieces as clusters, by their number, and what it took to make it."""
    made = {}
    for k in (8, 32):
        src, dst = (da.from_array(ends, chunks=M // k) for ends in (SRC, DST))
        options = {"n": N, "clusters": k, "directed": True, "client": client}
        took = counted(client, lambda: made.update({k: Graph.from_edges(src, dst, **options)}))  # noqa: B023
        made[k].cache.get("took", lambda: took)  # noqa: B023
    return made


STEPS = {
    "made": lambda g: g.cache.get("took", dict),
    "turned": lambda g: g.reversed(),
    "gathered": lambda g: g.gather(),
    "recut": lambda g: g.repartition(len(g.parts) // 2),
    "joined": components,
    "taken": lambda g: g.subgraph(np.arange(N) % 2 == 0),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("step", STEPS)
def test_tasks_are_linear_in_clusters(client, graphs, step):
    amounts = []
    for graph in graphs.values():
        found = []
        took = counted(client, lambda: found.append(STEPS[step](graph)))  # noqa: B023
        amounts.append(found[0] if step == "made" else took)
    for each in zip(*amounts, strict=True):
        assert linear(each), amounts


def places(*clusters):
    """How many partitions some clusters refer to, and the bytes of the halos that they keep."""
    halos = [halo for c in clusters for kept in c.cache.values() for halo in kept._made.values()]
    arrays = [a for halo in halos for a in vars(halo).values() if isinstance(a, np.ndarray)]
    return len({id(c.partition) for c in clusters}), sum({id(a): a.nbytes for a in arrays}.values())


def test_clusters_share_their_partition_and_halo(client):
    """A map of all nodes is there once a process, and a halo once a worker, in style finish_async too."""
    kept = []
    for k in (8, 32):
        src, dst = (da.from_array(ends, chunks=M // 4) for ends in (SRC, DST))
        graph = Graph.from_edges(src, dst, n=N, clusters=k, partition="hash", client=client)
        for shared in (graph, graph.persist(), graph.reversed()):
            assert len({id(c.partition) for c in shared.gather()}) == 1
        dgsuite.run("mis", graph, style="finish_async", client=client)
        halves = [graph.parts[: k // 2], graph.parts[k // 2 :]]
        held = [client.who_has(half) for half in halves]
        at = [set.intersection(*(set(each) for each in has.values())) for has in held]
        assert all(at), held
        # A task that ran elsewhere would look at copies, and these come one by one.
        counts = [
            client.submit(places, *half, workers=on) for half, on in zip(halves, at, strict=True)
        ]
        partitions, nbytes = zip(*client.gather(counts), strict=True)
        assert partitions == (1, 1)
        kept.append(sum(nbytes))
    assert steady(kept), kept


def test_shards_are_linear_in_pieces():
    """As many pieces as clusters; what travels, pickled."""
    amounts = []
    for k in (16, 64, 256):
        groups = np.arange(9) * k // 8
        shards = [
            build.split((src, dst, None), blocks(N, k), build.Plan(False), groups.tolist())
            for src, dst in zip(np.split(SRC, k), np.split(DST, k), strict=True)
        ]
        amounts.append(len(pickle.dumps(shards)))
    assert linear(amounts), amounts


def peak(function, *arguments):
    """Bytes that a function has at a time: the least of some calls, as other threads allocate too."""

    def once():
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        function(*arguments)
        return tracemalloc.get_traced_memory()[1] - before

    return min(once() for _ in range(5))


OF_CLUSTER = {
    "turned": views._back,
    "described": measures._count,
    "taken": lambda c: selection._among(c, NUMBER),
    "counted": lambda c: degrees(views._back(c), "", n=N, directed=True),
}


@pytest.mark.parametrize("step", OF_CLUSTER)
def test_work_on_a_cluster_takes_memory_for_its_own_nodes(step):
    amounts = []
    for k in (16, 64, 256):
        graph = Graph.from_edges(SRC, DST, n=N, clusters=k)
        OF_CLUSTER[step](graph.parts[0])
        tracemalloc.start()
        amounts.append(sum(peak(OF_CLUSTER[step], c) for c in graph.parts))
        tracemalloc.stop()
    assert steady(amounts), amounts
