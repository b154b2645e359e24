"""Runs that need more memory than workers have."""

from __future__ import annotations

import numpy as np
import pytest

import dgsuite
import genval
from dgsuite import Graph, InputError
from kernels.base import Kernel
from tests.support.clusters import client_of


def test_a_run_that_does_not_fit_is_refused(monkeypatch):
    """Before anything is sent; one that fits runs."""
    from dgsuite import attempt
    from dgsuite.workers import recovery

    with client_of(1, set_as_default=False) as client:
        limit = next(iter(client.scheduler_info()["workers"].values()))["memory_limit"]
        small = genval.graph("ring", 50, client=None)
        dgsuite.run("pagerank", small, style="clocked", client=client)
        states = recovery.ordered_states

        def limited(client):
            return {a: {**s, "memory_limit": limit >> 12} for a, s in states(client).items()}

        monkeypatch.setattr(recovery, "ordered_states", limited)
        monkeypatch.setattr(attempt, "_run", None)  # is not called
        large = Graph.from_edges([0], [1], n=(limit >> 12) // 8, client=None)
        with pytest.raises(
            InputError, match=r"may use .* needs at least .* \(graph .*, state .*, mess"
        ):
            dgsuite.run("pagerank", large, style="clocked", client=client)


def test_a_kernel_without_a_declared_state_counts_its_messages():
    from dgsuite.workers.memory import needs

    graph = genval.graph("ring", 100, clusters=4, client=None)
    found = needs(
        Kernel.__new__(type("Bare", (Kernel,), {"fields": {"a": np.int32}, "name": "b"})), graph
    )
    assert found["messages"].tolist() == [100] * 4
    assert not found["state"].any()
