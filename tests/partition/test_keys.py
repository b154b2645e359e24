"""Sorted keys, values at places and subsets: the forms of each agree, with the same bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.partition.arrays import _compiled, loops, segments
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.clusters.subset import Subset, encoded_size
from dgsuite.partition.construction import build, shards
from dgsuite.partition.sources.piece import MOST_NODES


def made(rule):
    """Bytes of the arrays of a cluster of the last nodes there can be, and what was counted."""
    rng = np.random.default_rng(1)
    hub = rng.integers(1, 1000, 200)  # rows of any length, loops and repeated edges
    src = MOST_NODES - np.concatenate([hub, rng.integers(1, 1000, 300), np.ones(200, int)])
    dst = MOST_NODES - np.concatenate([hub[::-1], rng.integers(1, 20, 500)])
    weights = rng.integers(-9, 9, len(src)).astype(np.float32)
    partition = Partition(np.array([0, MOST_NODES - 1000, MOST_NODES]))
    pieces = [(src[p], dst[p], weights[p]) for p in (slice(100), slice(100, 650), slice(650, None))]
    plan = build.Plan(False, rule)
    some = [build.split(piece, partition, plan, (1, 2))[0] for piece in pieces]
    group = build.assemble(1, 2, partition, None, plan, some)
    arrays = [a for c in group for a in (c.indptr, c.indices, c.weights)]
    return [group.tally, *((a.dtype, a.tobytes()) for a in arrays)]


@pytest.mark.parametrize("rule", ["min", "max", "first", "sum"])
def test_as_many_nodes_as_there_can_be(rule, monkeypatch):
    """Keys are below 2^63; clusters are made by compiled loops and by NumPy with the same bits."""
    monkeypatch.setattr(build, "BLOCK", 64)
    monkeypatch.setattr(shards, "BANDS", 8)
    monkeypatch.setattr(loops, "_ready", None)
    expected = made(rule)
    assert loops._ready is None
    monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)
    assert made(rule) == expected


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


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.float64])
@pytest.mark.parametrize("width", [(), (3,)])
@pytest.mark.parametrize("size", [10, 100_003])
def test_values_of_any_type_move(dtype, width, size):
    loops.loops()
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
        bits = np.unpackbits(made.bitmap, bitorder="little")
        np.testing.assert_array_equal(bits[: len(mask)], mask)


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
