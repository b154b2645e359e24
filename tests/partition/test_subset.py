"""The forms of a subset agree, on the wire as well."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.partition.clusters.subset import Subset, encoded_size


@st.composite
def masks(draw):
    """A mask with few, many or all numbers."""
    size = draw(st.integers(0, 300))
    share = draw(st.sampled_from([0.0, 0.02, 0.3, 1.0]))
    return np.random.default_rng(draw(st.integers(0, 99))).random(size) < share


@given(masks(), st.integers(0, 50))
def test_forms_agree(mask, start):
    members = start + np.flatnonzero(mask)
    for made in (Subset(mask, start=start), Subset(None, members, start=start, size=len(mask))):
        assert (made.count, made.size, len(made)) == (mask.sum(), len(mask), mask.sum())
        np.testing.assert_array_equal(made.mask, mask)
        np.testing.assert_array_equal(made.members, members)
        np.testing.assert_array_equal(
            np.unpackbits(made.bitmap, bitorder="little")[: len(mask)], mask
        )


@given(masks(), st.integers(0, 50), st.integers(0, 50))
def test_what_is_encoded_is_decoded_elsewhere(mask, start, there):
    subset = Subset(mask, start=start)
    code = subset.encode()
    assert (0 if code is None else code.nbytes) == encoded_size(len(mask), subset.count)
    room = np.zeros(len(mask), bool)
    found = Subset.decode(code, room, there)
    assert found.count == subset.count
    np.testing.assert_array_equal(found.members - there, np.flatnonzero(mask))
    np.testing.assert_array_equal(room, mask)


@given(masks(), st.data())
def test_restricted(mask, data):
    """To a slice it stays where it is; to a list it becomes indices into the list."""
    given_list = Subset(mask, np.flatnonzero(mask))
    some = np.flatnonzero(
        np.random.default_rng(data.draw(st.integers(0, 99))).random(len(mask)) < 0.5
    )
    for subset in (Subset(mask), given_list):
        part = subset.restrict(some)
        assert part.size == len(some)
        np.testing.assert_array_equal(part.members, np.flatnonzero(mask[some]))
        np.testing.assert_array_equal(part.mask, mask[some])
    low, high = sorted(data.draw(st.tuples(*[st.integers(0, len(mask))] * 2)))
    inside = mask.copy()
    inside[:low] = inside[high:] = False
    for subset in (Subset(inside), Subset(inside, np.flatnonzero(inside))):
        part = subset.restrict(slice(low, high))
        np.testing.assert_array_equal(part.members, np.flatnonzero(inside))
        np.testing.assert_array_equal(part.mask, mask[low:high])


@pytest.mark.parametrize("asked", [True, False])
def test_a_subset_shrinks(asked):
    """Whether its forms were asked for before or not."""
    subset = Subset(np.ones(20, bool))
    if asked:
        assert subset.members.tolist() == [*range(20)]
        assert subset.bitmap.tolist() == [255, 255, 15]
    subset.remove(np.array([0, 3]))
    subset.remove(np.array([3, 19]))
    assert len(subset) == 17
    assert subset.members.tolist() == [1, 2, *range(4, 19)]
    assert subset.bitmap.tolist() == [246, 255, 7]


@given(masks(), st.booleans(), st.integers(0, 50))
def test_a_shared_mask_is_emptied(mask, as_list, start):
    shared = np.concatenate([np.ones(3, bool), mask])
    members = start + np.flatnonzero(mask) if as_list else None
    Subset(shared[3:], members, start=start).clear()
    assert shared.tolist() == [True] * 3 + [False] * len(mask)
