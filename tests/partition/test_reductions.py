"""A reduction is one value: a new one works wherever the built-in ones do."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import dgsuite
from dgsuite.core.executors import serial
from dgsuite.kernels.bsp import Round, State, Subset, broadcast, spawn, unicast
from dgsuite.partition.arrays.reductions import REDUCTIONS, SUM, Reduction
from dgsuite.partition.arrays.tiles import cut_tiles, make_tiles
from dgsuite.partition.graph.graph import Graph
from tests.support.sites import assert_same, simulate
from tests.support.toys import Toy, named


def one(dtype: np.dtype) -> np.generic:
    return dtype.type(1)


PRODUCT = Reduction("product", np.multiply, one, ordered="f")


@dataclass(frozen=True)
class Products(Toy):
    """Products of what is broadcast, and of what is combined on the way."""

    fields: ClassVar = {"value": np.int64, "real": np.float64}
    outputs: ClassVar = named("heard", "cared", "real", "combined", "real_combined")

    def program(self, net):
        yield Round(self.send, self.read, self.multiply, self.combine)

    def start(self, c):
        real = {name: c.full(1.0) for name in ("real", "real_combined")}
        return State(**{name: c.full(1) for name in ("heard", "cared", "combined")}, **real)

    def send(self, c, s, inbox):
        nodes = np.flatnonzero(c.ids % 3 > 0)
        return broadcast(nodes, value=c.ids[nodes] % 5 + 1, real=1 + 0.1 * c.ids[nodes])

    def read(self, c, s, inbox):
        nodes, values = inbox.reduce(PRODUCT, "value")
        s.heard[nodes] = values
        nodes, values = inbox.reduce(PRODUCT, "value", among=Subset(c.ids % 2 == 0))
        s.cared[nodes] = values
        nodes, values = inbox.reduce(PRODUCT, "real")
        s.real[nodes] = values
        return unicast(c.ids // 5, combine=PRODUCT, value=c.ids % 7 + 1)

    def multiply(self, c, s, inbox):
        s.combined[inbox.node] = inbox["value"]
        return unicast(c.ids // 5, combine=PRODUCT, real=1 + 0.3 * c.ids)

    def combine(self, c, s, inbox):
        s.real_combined[inbox.node] = inbox["real"]


def graph(n=60, **how):
    rng = np.random.default_rng(3)
    return Graph.from_edges(*rng.integers(0, n, (2, 3 * n)), n=n, **how)


def small_tiles(monkeypatch, least, most, key):
    for name, value in (("LEAST", least), ("MOST", most), ("KEY", key)):
        monkeypatch.setattr(f"dgsuite.partition.arrays.tiles.{name}", value)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_sums_over_tiles_are_those_of_rows(named, dtype, monkeypatch):
    """Rows of any length, some empty, over several tiles; slots in the order of ids, and in another."""
    small_tiles(monkeypatch, 2, 4, 8)
    rng = np.random.default_rng(8)
    for size, slots in ((1, 1), (1, 40), (30, 40), (200, 250)):
        ids = rng.permutation(2 * slots)[:slots] if named else None
        lengths = rng.integers(0, 5, size) ** 2
        lengths[-1] = min(70, slots)
        rows = [rng.permutation(slots)[:k] for k in lengths.tolist()]
        rows = [row[np.argsort(row if ids is None else ids[row])] for row in rows]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        tiles = make_tiles(indptr, np.concatenate(rows).astype(np.int32), slots, ids)
        values = np.append(100 * rng.random(slots), 0).astype(dtype)
        zero = SUM.identity(values.dtype)
        expected = np.full(size, zero)
        for at, row in enumerate(rows):
            for slot in row:
                expected[at] += values[slot]
        np.testing.assert_array_equal(tiles.sums(values, zero), expected)


def test_large_clusters_have_tiles_of_their_own(monkeypatch):
    """Where all are large; the sums are those of tiles of all rows."""
    small_tiles(monkeypatch, 2, 2, 4)
    monkeypatch.setattr("dgsuite.partition.arrays.tiles.APART", 16)
    rng = np.random.default_rng(9)
    rows = [np.sort(rng.permutation(60)[: rng.integers(9)]) for _ in range(60)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices, values = np.concatenate(rows).astype(np.int32), rng.random(61)
    (whole,) = cut_tiles(indptr, indices, 60, np.array([0, 15, 60]))
    pieces = cut_tiles(indptr, indices, 60, np.array([0, 16, 36, 60]))
    assert [(piece.first, piece.size) for piece in pieces] == [(0, 16), (16, 20), (36, 24)]
    found = np.concatenate([piece.sums(values, 0.0) for piece in pieces])
    np.testing.assert_array_equal(found, whole.sums(values, 0.0))


def test_products_are_right_for_every_cut():
    whole = graph()
    first = serial.run(Products(), whole.parts)
    ids = np.arange(60)
    neighbours = whole.to_networkx()
    for name, cares in (("heard", ids >= 0), ("cared", ids % 2 == 0)):
        said = [[u % 5 + 1 for u in neighbours[v] if u % 3 and cares[v]] for v in ids]
        assert first[0][name].tolist() == [*map(np.prod, said)]
    assert first[0]["combined"][:12].tolist() == (ids % 7 + 1).reshape(12, 5).prod(axis=1).tolist()
    for clusters, sites in ((2, 2), (7, 3), (60, 5)):
        for how in ("nodes", "hash"):
            cut = graph(clusters=clusters, partition=how)
            assert_same(first, simulate(Products(), cut, sites))


@pytest.mark.parametrize("style", ["clocked", "finish_async"])
def test_products_on_workers(client, style):
    expected = dgsuite.run(Products(), graph(clusters=1), style="serial")
    found = dgsuite.run(Products(), graph(clusters=4), style=style, client=client)
    for name in Products.outputs:
        np.testing.assert_array_equal(found[name], expected[name])


def test_tasks_are_combined_by_a_new_reduction():
    assert spawn(Products.read, np.arange(3), by=np.arange(3), combine=PRODUCT).combine is PRODUCT
    assert spawn(Products.read, np.arange(3), by=np.arange(3), combine="or").combine.name == "or"


@pytest.mark.parametrize("how", [*REDUCTIONS.values(), PRODUCT])
def test_reductions_travel(how):
    """Those that every process has, as their names alone."""
    data = pickle.dumps(how, 5)
    found = pickle.loads(data)
    assert found == how
    assert (found is how) == (len(data) < 80) == (how.name in REDUCTIONS)


@pytest.mark.parametrize("how", [*REDUCTIONS.values(), PRODUCT])
@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int64, np.float32, np.float64, bool])
def test_an_identity_changes_nothing(how, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind not in how.kinds:
        pytest.skip("not taken")
    values = np.array([0, 1, 1], dtype)
    reduced = values.astype(np.asarray(how.identity(dtype)).dtype)
    np.testing.assert_array_equal(how.ufunc(reduced, how.identity(dtype)), reduced)
    assert how.reduceat(values, np.array([0, 3])).dtype == how.result(dtype)
