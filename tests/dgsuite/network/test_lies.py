"""Random lies are random: of all values, by field, and by receiver."""

import numpy as np
import pytest

from dgsuite.studies.network.strategies import STRATEGIES, Sent

MANY = 20_000


def sent(fields, counts=None):
    """Messages of one node to many, as a strategy gets them."""
    luck = np.random.default_rng(4).integers(0, 1 << 64, MANY, np.uint64)
    counts = dict.fromkeys(fields, 0) | (counts or {})
    src, dst = np.zeros(MANY, np.int64), np.arange(1, MANY + 1)
    return Sent(fields, src, dst, luck, counts, 0, "phase")


def fair(counts, cells):
    """Whether things of the same probability come as often as they would, by chi-square."""
    counts = np.asarray([*counts])
    even = counts.sum() / cells
    square = (((counts - even) ** 2).sum() + (cells - len(counts)) * even**2) / even
    return square < cells - 1 + 5 * (2 * (cells - 1)) ** 0.5 + 10


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_any_integer_may_be_a_lie(kind):
    """By its upper four bits, those of negative numbers too, and its lower four."""
    dtype = np.dtype(kind)
    lies = STRATEGIES["random"](sent({"value": np.zeros(MANY, dtype)}))["value"]
    assert lies.dtype == dtype
    bits = lies.view(f"u{dtype.itemsize}").astype(np.uint64)
    for part in (bits >> np.uint64(8 * dtype.itemsize - 4), bits & np.uint64(15)):
        assert fair(np.bincount(part.astype(int)), 16)


def test_lies_are_of_the_range_of_their_field():
    fields = {"few": np.zeros(MANY, np.int32), "all": np.zeros(MANY, bool)}
    lies = STRATEGIES["random"](sent(fields, {"few": 5}))
    assert fair(np.bincount(lies["few"], minlength=5), 5)
    assert lies["few"].max() == 4
    assert fair(np.bincount(lies["few"] * 2 + lies["all"]), 10)  # apart from each other


def test_places_of_an_array_are_lied_about_apart():
    lies = STRATEGIES["random"](sent({"set": np.zeros((MANY, 2, 3))}))["set"]
    assert lies.shape == (MANY, 2, 3)
    found = np.corrcoef(lies.reshape(MANY, 6).T)
    assert np.abs(found - np.eye(6)).max() < 5 / MANY**0.5


@pytest.mark.parametrize("value", [np.zeros(MANY, kind) for kind in (float, np.uint64, np.int8)])
def test_who_is_told_the_truth_does_not_depend_on_the_lie(value):
    given = sent({"value": value, "more": np.full(MANY, 2.0)})
    every, told = (STRATEGIES[name](given) for name in ("random", "two-faced"))
    honest = told["more"] == 2.0  # no random float is
    assert (told["value"] == np.where(honest, value, every["value"])).all()
    low = every["value"] < np.median(every["value"])
    assert fair(np.bincount(2 * honest + low), 4)
