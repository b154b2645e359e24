"""Graphs that take more than the memory of their workers: clusters are on disk while nothing needs them."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from distributed.system import MEMORY_LIMIT

import dgsuite
from dgsuite import Graph
from tests.support.clusters import client_of
from tests.support.graphs import same

RNG = np.random.default_rng(3)
MEMORY = MEMORY_LIMIT / 2  # of each of two workers
ENDS = RNG.integers(0, 40_000, (2, 200_000))


@pytest.fixture(scope="module")
def small():
    """A client of workers that keep about 0.2 MB in memory."""
    settings = {
        "distributed.worker.memory.target": 2e5 / MEMORY,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
    }
    with client_of(2, settings) as client:
        yield client


def on_disk(client):
    """Bytes of what workers have spilled."""

    def disk(dask_worker):
        return dask_worker.data.spilled_total.disk

    return sum(client.run(disk).values())


def test_clusters_are_spilled_and_read_back(small):
    src, dst = (da.from_array(ends, chunks=50_000) for ends in ENDS)
    graph = Graph.from_edges(src, dst, n=40_000, clusters=16, client=small)
    assert on_disk(small) > 300_000
    here = Graph.from_edges(*ENDS, n=40_000, clusters=16)
    assert graph.degree.sum().compute(scheduler=small) == 2 * here.m
    for style in ("clocked", "finish_async"):
        found = dgsuite.run("bfs", graph, style=style, client=small)
        assert found.level.equals(dgsuite.run("bfs", here, style="serial").level)
        assert on_disk(small) > 300_000
    same(graph, here)
