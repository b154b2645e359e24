"""Clusters are made from edges by compiled loops, and by NumPy where there are few: with the same bits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.partition.arrays import _compiled, loops
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction import build, shards
from dgsuite.partition.sources.piece import MOST_NODES

RULES = ("min", "max", "first", "sum", "error")


def edges():
    """Edges among the last nodes in three pieces, with loops, repeated ones and rows of any length."""
    rng = np.random.default_rng(1)
    hub = MOST_NODES - rng.integers(1, 1000, 200)
    src = np.concatenate(
        [hub, MOST_NODES - rng.integers(1, 1000, 300), np.full(200, MOST_NODES - 1)]
    )
    dst = np.concatenate([hub[::-1], MOST_NODES - rng.integers(1, 20, 500)])
    weights = rng.integers(-9, 9, len(src)).astype(np.float32)
    return [(src[p], dst[p], weights[p]) for p in (slice(100), slice(100, 650), slice(650, None))]


def made(pieces, partition, directed, rule, ranges):
    """Bytes of the arrays of all clusters, and what was counted."""
    bundles = [build.split(piece, partition, directed, ranges) for piece in pieces]
    found = []
    for at, (first, last) in enumerate(pairwise(ranges)):
        some = [bundle[at] for bundle in bundles]
        group = build.assemble(first, last, partition, None, directed, some, rule)
        found.append(group.tally)
        for c in group:
            arrays = c.indptr, c.indices, c.weights
            found += [(a.dtype, a.tobytes()) for a in arrays if a is not None]
    return found


@pytest.mark.parametrize("rule", ["min", "max", "first", "sum"])
def test_as_many_nodes_as_there_can_be(rule, monkeypatch):
    """Keys are below 2^63, and few rows of so many nodes are in a cluster."""
    monkeypatch.setattr(build, "BLOCK", 64)
    monkeypatch.setattr(shards, "BANDS", 8)
    monkeypatch.setattr(loops, "_ready", None)
    last = Partition(np.array([0, MOST_NODES - 1000, MOST_NODES]))
    expected = made(edges(), last, False, rule, (1, 2))
    assert loops._ready is None
    monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)
    assert made(edges(), last, False, rule, (1, 2)) == expected


@given(st.lists(st.integers(0, 2**63 - 1)) | st.lists(st.integers(2**40, 2**40 + 50)))
def test_sort(numbers):
    keys, order = np.array(numbers, np.int64), np.arange(len(numbers), dtype=np.uint32)
    expected = np.argsort(keys, kind="stable")
    spare, other, given = np.empty_like(keys), np.empty_like(order), keys.copy()
    if _compiled.sort(given, spare, order, other):
        given, order = spare, other
    assert order.tolist() == expected.tolist()
    assert given.tolist() == keys[expected].tolist()
    distinct = given[: _compiled.squeeze(given)]
    assert distinct.tolist() == sorted(set(numbers))
