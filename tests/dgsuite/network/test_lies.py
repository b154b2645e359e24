"""Random lies are random: of all values, by field, and by receiver."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import dgsuite
from dgsuite import Byzantine, Network
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.network.strategies import STRATEGIES, Sent

COMPLETE = Graph.from_edges(*np.triu_indices(11, 1), n=11)
MANY = 20_000


def said(name, graph, strategy, seeds, **how):
    """What liars would have said, and what they say, by field."""
    honest, told = [], []

    def spy(sent):
        lies = STRATEGIES[strategy](sent)
        honest.append(sent.fields)
        told.append(lies)
        return lies

    network = Network(byzantine=Byzantine([0, 1], spy))
    for seed in seeds:
        dgsuite.run(name, graph, seed=seed, network=network, max_rounds=20, style="serial", **how)
    return [
        {field: np.concatenate([one[field] for one in each]) for field in each[0]}
        for each in (honest, told)
    ]


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


def test_a_traitor_votes_all_that_one_may_vote():
    _, lies = said("benor", COMPLETE, "random", range(25), model="byzantine")
    pairs = Counter(zip(lies["zero"].tolist(), lies["one"].tolist(), strict=True))
    assert {*pairs} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert pairs.total() > 1500
    assert fair(pairs.values(), 4), pairs


def test_a_liar_spreads_a_rumour_or_denies_it():
    _, lies = said("gossip", COMPLETE, "random", range(12))
    knows = Counter(lies["knows"].tolist())
    assert {*knows} == {False, True}
    assert fair(knows.values(), 2), knows


def test_sums_and_weights_are_lied_about_apart():
    honest, lies = said("push_sum", COMPLETE, "two-faced", range(5), iterations=20)
    lied = lies["mass"] != honest["mass"]
    assert fair([np.count_nonzero(lied), np.count_nonzero(~lied)], 2)
    below = lies["mass"][lied] < 0.5
    assert fair([np.count_nonzero(below), np.count_nonzero(~below)], 2)
    assert abs(np.corrcoef(lies["mass"][lied], lies["weight"][lied])[0, 1]) < 0.2


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


@pytest.mark.parametrize(
    "value", [np.zeros(MANY), np.zeros(MANY, np.uint64), np.zeros(MANY, np.int8)]
)
def test_who_is_told_the_truth_does_not_depend_on_the_lie(value):
    given = sent({"value": value, "more": np.full(MANY, 2.0)})
    every, told = (STRATEGIES[name](given) for name in ("random", "two-faced"))
    honest = told["more"] == 2.0  # no random float is
    assert (told["value"] == np.where(honest, value, every["value"])).all()
    low = every["value"] < np.median(every["value"])
    assert fair(np.bincount(2 * honest + low), 4)
