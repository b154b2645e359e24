"""Where edges are makes no difference to a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS
from dgsuite.partition.arrays import mapped
from tests.dgsuite.engine.test_threads import compiled, cut_of, options  # noqa: F401
from tests.support.sites import assert_same


@pytest.fixture
def tiny(monkeypatch):
    """Also tiny arrays are mapped."""
    monkeypatch.setattr(mapped, "LEAST", 1)


@pytest.mark.usefixtures("compiled", "tiny")
@pytest.mark.parametrize("name", KERNELS)
def test_edges_on_disk_change_no_result(name):
    kernel, graph = KERNELS[name](**options(name)), cut_of(name, 3)
    there = [replace(part, disk=True, cache={}) for part in graph.parts]
    assert all(mapped.is_mapped(part.indices) for part in there if len(part.indices))
    assert_same(serial.run(kernel, there), serial.run(kernel, graph.parts))
