"""Operations on rows, masks and numbers: the NumPy forms and the compiled ones agree."""

from __future__ import annotations

import numpy as np
import pytest

from dgsuite.partition.arrays import segments
from dgsuite.partition.arrays.loops import loops


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
