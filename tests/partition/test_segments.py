"""Operations on rows, masks and numbers: the NumPy forms and the compiled ones agree."""

from __future__ import annotations

import numpy as np
import pytest

from dgsuite.base import thresholds
from dgsuite.partition.arrays import segments
from dgsuite.partition.arrays.loops import loops


@pytest.mark.parametrize("size", [0, 1, 100, 70_000])
def test_segments_agree_with_compiled(size, monkeypatch):
    rng = np.random.default_rng(size)
    keys = rng.integers(0, max(size // 3, 1), size)
    small = segments.group(keys, max(size // 3, 1))
    counts = rng.integers(0, 5, size)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    rows = rng.integers(0, max(size, 1), size)
    expanded = segments.expand(indptr, rows)
    entries = rng.integers(0, 50, indptr[-1])
    away = segments.outside(indptr, entries, 10, 30)
    turned = segments.transpose_outside(indptr, entries, 10, 30, 50)
    monkeypatch.setattr(thresholds, "compile_from", -1 if size < 1000 else 10**9)
    for a, b in zip(small, segments.group(keys, max(size // 3, 1)), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(expanded, segments.expand(indptr, rows), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(away, segments.outside(indptr, entries, 10, 30))
    for a, b in zip(turned, segments.transpose_outside(indptr, entries, 10, 30, 50), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.float64])
@pytest.mark.parametrize("width", [(), (3,)])
@pytest.mark.parametrize("size", [10, 100_003])
def test_values_of_any_type_move(dtype, width, size):
    loops()
    rng = np.random.default_rng(size)
    where = rng.random(size) < 0.4
    places = np.flatnonzero(where)
    values = rng.integers(0, 99, (len(places), *width)).astype(dtype)
    expected = np.zeros((size, *width), dtype)
    expected[places] = values
    put, laid = np.zeros((2, *expected.shape), dtype)
    segments.put(put, places, values)
    segments.lay(values, where, laid)
    np.testing.assert_array_equal(put, expected)
    np.testing.assert_array_equal(laid, expected)
    every = np.arange(size)
    np.testing.assert_array_equal(segments.pick(expected, every, where, len(places)), values)
    np.testing.assert_array_equal(segments.look_up(expected, places.astype(np.int32)), values)
