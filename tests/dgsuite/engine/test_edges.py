"""Where edges are makes no difference to a run."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS
from dgsuite.partition.arrays import mapped, tiles
from dgsuite.partition.graph.graph import Graph
from tests.dgsuite.engine.test_threads import compiled, cut_of, options  # noqa: F401
from tests.support.sites import assert_same, simulate

WEIGHTED = ("bellman_ford", "sssp")

FEW = {"hyperball": {"log2m": 4}, "neighbourhood": {"sources": 4}, "sample": {"sources": 4}}
"""Parameters with which what is held for each node, or found, is small."""


@pytest.fixture
def tiny(monkeypatch):
    """Also tiny arrays are mapped."""
    monkeypatch.setattr(mapped, "LEAST", 1)


def on_disk(cluster):
    return replace(cluster, disk=True, cache={})


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", [name for name, kernel in KERNELS.items() if kernel.streams])
def test_what_streams_holds_no_array_of_all_edges(name, monkeypatch):
    """A run on a graph with a hundred edges for each node allocates less than its edges take."""
    monkeypatch.setattr(mapped, "LEAST", 1 << 10)
    monkeypatch.setattr(tiles, "LEAST", 7)
    n, kernel = 2000, KERNELS[name](**options(name) | FEW.get(name, {}))
    src, dst = np.random.default_rng(1).integers(0, n, (2, 50 * n))
    weights = np.ones(len(src)) if name in WEIGHTED else None
    parts = Graph.from_edges(
        src, dst, n=n, weights=weights, clusters=2, duplicates="min", edges="disk"
    ).parts
    serial.run(kernel, parts)  # it has imported what it needs
    for part in parts:
        part.cache.clear()
    edges = sum(part.nbytes for part in parts)
    tracemalloc.start()
    try:
        serial.run(kernel, parts)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < edges


@pytest.mark.usefixtures("compiled", "tiny")
@pytest.mark.parametrize("name", KERNELS)
def test_edges_change_no_result(name):
    kernel, graph = KERNELS[name](**options(name)), cut_of(name, 3)
    there = [on_disk(part) for part in graph.parts]
    for part in there:
        heads = part.indptr, part.in_indptr
        rows = [a for a in part.edge_arrays if all(a is not head for head in heads)]
        assert not mapped.in_memory([a for a in rows if a.size])
    found = simulate(kernel, graph.like(there, graph.entries), 2)
    assert_same(found, serial.run(kernel, graph.parts))
