"""Where edges are, and whether they are packed, makes no difference to a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS
from dgsuite.partition.arrays import mapped, packed
from dgsuite.partition.clusters.packed_cluster import PackedCluster
from tests.dgsuite.engine.test_threads import compiled, cut_of, options  # noqa: F401
from tests.support.sites import assert_same, simulate


@pytest.fixture
def tiny(monkeypatch):
    """Also tiny arrays are mapped, and few numbers are unpacked at a time."""
    monkeypatch.setattr(mapped, "LEAST", 1)
    monkeypatch.setattr(packed, "AT_ONCE", 64)


def on_disk(cluster):
    return replace(cluster, disk=True, cache={})


WAYS = {
    "disk": on_disk,
    "packed": PackedCluster.of,
    "both": lambda cluster: PackedCluster.of(on_disk(cluster)),
}


@pytest.mark.usefixtures("compiled", "tiny")
@pytest.mark.parametrize("name", KERNELS)
def test_edges_change_no_result(name):
    kernel, graph = KERNELS[name](**options(name)), cut_of(name, 3)
    expected = serial.run(kernel, graph.parts)
    unweighted = all(part.weights is None for part in graph.parts)
    for way, make in WAYS.items():
        if way == "disk" or unweighted:
            there = [make(part) for part in graph.parts]
            for part in there:
                rows = [a for a in part.stored if a is not part.indptr and a is not part.in_indptr]
                assert way == "packed" or not mapped.in_memory([a for a in rows if a.size])
            assert_same(simulate(kernel, graph.like(there, graph.entries), 2), expected)
