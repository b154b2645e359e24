"""Typical kernels use all of the engine; when compiled loops come and where edges are changes no result."""

import random
import tracemalloc
from dataclasses import replace
from functools import lru_cache
from types import FunctionType

import numpy as np
import pytest

from dgsuite.base import thresholds
from dgsuite.core.engine.inbox import ClusterInbox
from dgsuite.core.engine.site import Site
from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import Kernel, Vote
from dgsuite.partition.arrays import mapped, tiles
from dgsuite.partition.clusters.grid import arrange
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import incoming
from tests.cards.ranks import RANKS
from tests.support import references
from tests.support.cases import TYPICAL, typical
from tests.support.sites import assert_same, simulate
from tests.support.small_graphs import BY_CUT

CLUSTERS = 6

FLAGS = [name for name, kind in Kernel.__annotations__.items() if kind == "ClassVar[bool]"]

NAMES = [*(name for name in dir(ClusterInbox) if not name.startswith("_")), "__getitem__"]
READ = [n for n in NAMES if isinstance(getattr(ClusterInbox, n), property | FunctionType)]
"""What a kernel reads messages by."""


@lru_cache
def expected(name):
    """A kernel, and its run on one cluster; in as many clusters, if messages depend on these."""
    kernel = KERNELS[name](**options(name))
    return kernel, serial.run(kernel, cut_of(name, CLUSTERS if name in BY_CUT else 1).parts)


def cut_of(name, clusters):
    """The graph of a kernel in some clusters."""
    graph = references.mine(name, clusters)
    if name == "bfs2d":
        return arrange(graph)
    return incoming(graph) if graph.directed else graph


def options(name):
    """Parameters that keep a run short, and have it use what clusters share."""
    few = {"random_walks": {"length": 3}, "cdlp": {"iterations": 3}, "kc": {"k": 3}}
    if name in RANKS:
        return {"iterations": 3, "tolerance": None}
    return few.get(name, {})


def spied(name, seen):
    """An attribute of an inbox that is noted when it is read."""
    real = getattr(ClusterInbox, name)

    def noted(inbox):
        seen.add(name)
        return real.__get__(inbox, type(inbox))

    return property(noted)


def parts_of(kernel, patch):
    """What a run of a kernel uses: flags, needs, kinds of messages and their options, votes, ways to read."""
    seen = {name for name in FLAGS if getattr(kernel, name)} | {*kernel.needs}
    call = Site.run

    def noted(*arguments, **how):
        result = call(*arguments, **how)
        for item in result if type(result) is tuple else (result,):
            kind = type(item).__name__
            given = {} if item is None else item._asdict()
            seen.update((kind, name) for name, value in given.items() if value is not None)
            if isinstance(item, Vote):
                seen.update((name, np.asarray(value).dtype.kind) for name, value in given.items())
        return result

    with patch.context() as patched:
        patched.setattr(Site, "run", noted)
        for name in READ:
            patched.setattr(ClusterInbox, name, spied(name, seen))
        serial.run(kernel, cut_of(kernel.name, 3).parts)
    return seen


def test_typical_kernels_use_each_part(monkeypatch):
    used = {n: parts_of(kernel(**options(n)), monkeypatch) for n, kernel in KERNELS.items()}
    by_all = set().union(*used.values())
    assert {("Broadcast", "nodes"), ("Shipment", "to"), "reduce"} <= by_all
    missing = by_all.difference(*(used[name] for name in TYPICAL))
    users = {part: [name for name in used if part in used[name]] for part in missing}
    assert not missing, users


@pytest.mark.parametrize("name", typical(KERNELS))
def test_it_does_not_matter_when_loops_are_loaded(name, monkeypatch):
    """Loops over any number of elements come once so many have been taken, up to those of a whole run."""
    kernel, whole = expected(name)
    cut = cut_of(name, CLUSTERS)
    monkeypatch.setattr(thresholds, "compile_from", 0)
    monkeypatch.setattr(thresholds, "left_to_numpy", 1 << 40)
    assert_same(whole, simulate(kernel, cut, 2))
    most = (1 << 40) - thresholds.left_to_numpy
    dice = random.Random(name)
    for k in range(8):
        left = thresholds.left_to_numpy = dice.randrange(1, most)
        assert_same(whole, simulate(kernel, cut, 1 + k % 2, shared=k % 3 == 0))
        assert thresholds.left_to_numpy < left
    assert most > 1


WEIGHTED = ("bellman_ford", "sssp")

FEW = {"hyperball": {"log2m": 4}, "neighbourhood": {"sources": 4}, "sample": {"sources": 4}}
"""Parameters with which what is held for each node, or found, is small."""


def on_disk(cluster):
    return replace(cluster, disk=True, cache={})


@pytest.mark.parametrize("name", [name for name, kernel in KERNELS.items() if kernel.streams])
def test_what_streams_holds_no_array_of_all_edges(name, monkeypatch):
    """A run on a graph with a hundred edges for each node allocates less than its edges take."""
    monkeypatch.setattr(mapped, "LEAST", 1 << 10)
    monkeypatch.setattr(tiles, "LEAST", 7)
    monkeypatch.setattr(thresholds, "compile_from", -1)
    n, kernel = 2000, KERNELS[name](**options(name) | FEW.get(name, {}))
    ends = np.random.default_rng(1).integers(0, n, (2, 50 * n))
    costs = np.ones(50 * n) if name in WEIGHTED else None
    parts = Graph.from_edges(*ends, weights=costs, clusters=2, duplicates="min", edges="disk").parts
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


@pytest.mark.parametrize("name", KERNELS)
def test_edges_change_no_result(name, monkeypatch):
    """Also tiny arrays are mapped."""
    monkeypatch.setattr(mapped, "LEAST", 1)
    monkeypatch.setattr(thresholds, "compile_from", -1)
    kernel, graph = KERNELS[name](**options(name)), cut_of(name, 3)
    there = [on_disk(part) for part in graph.parts]
    for part in there:
        heads = part.indptr, part.in_indptr
        rows = [a for a in part.edge_arrays if all(a is not head for head in heads)]
        assert not mapped.in_memory([a for a in rows if a.size])
    found = simulate(kernel, graph.like(there, graph.entries), 2)
    assert_same(found, serial.run(kernel, graph.parts))
