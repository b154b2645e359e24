"""Clusters are made from edges by compiled loops, and by NumPy where there are few: with the same bits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.partition.arrays import _compiled, loops
from dgsuite.partition.clusters.partitioners import Partition, from_owner
from dgsuite.partition.construction import build, shards
from dgsuite.partition.sources.piece import MOST_NODES
from tests.support.cases import in_turn

RULES = ("min", "max", "first", "sum", "error")


def edges(n, dtype, weighted):
    """Edges among the last nodes in three pieces, with loops, repeated ones and rows of any length."""
    rng = np.random.default_rng(n)
    low = max(n - 1000, 0)
    hub = rng.integers(low, n, 200)
    src = np.concatenate([hub, rng.integers(low, n, 300), np.full(200, n - 1)]).astype(dtype)
    dst = np.concatenate([hub[::-1], rng.integers(max(n - 20, 0), n, 500)]).astype(dtype)
    weights = rng.integers(-9, 9, len(src)).astype(np.float32)
    pieces = slice(100), slice(100, 650), slice(650, None)
    return [(src[p], dst[p], weights[p] if weighted else None) for p in pieces]


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


WAYS = [(40, False, False), (1000, True, True), (40, True, False), (1000, False, True)]
WAYS += [(n, weighted, not directed) for n, weighted, directed in WAYS]


@pytest.mark.parametrize(("dtype", "way"), in_turn(["i4", "i8", "u8", ">i8"], WAYS))
def test_both_forms_make_the_same(dtype, way, monkeypatch):
    n, weighted, directed = way
    pieces = edges(n, dtype, weighted)
    owner = np.random.default_rng(1).integers(0, 3, n)
    check(monkeypatch, pieces, from_owner(owner), directed, (0, 1, 3))


def test_as_many_nodes_as_there_can_be(monkeypatch):
    """Keys are below 2^63, and few rows of so many nodes are in a cluster."""
    last = Partition(np.array([0, MOST_NODES - 1000, MOST_NODES]))
    check(monkeypatch, edges(MOST_NODES, "i8", True), last, False, (1, 2))


def check(monkeypatch, pieces, partition, directed, ranges):
    monkeypatch.setattr(build, "BLOCK", 64)
    monkeypatch.setattr(shards, "BANDS", 8)
    # of edges that are refused, any weight stays
    for rule in RULES if pieces[0][2] is None else RULES[:-1]:
        monkeypatch.setattr(loops, "_ready", None)
        expected = made(pieces, partition, directed, rule, ranges)
        assert loops._ready is None
        with monkeypatch.context() as patch:
            patch.setattr("dgsuite.base.thresholds.compile_from", -1)
            assert made(pieces, partition, directed, rule, ranges) == expected


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
