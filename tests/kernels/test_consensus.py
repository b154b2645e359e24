"""Nodes agree, on an input, while no more than f fail: by coins (Ben-Or), and under the phase king."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.kernels.lab.consensus import BenOr
from dgsuite.kernels.tools.rng import uniform


@cache
def complete(n):
    return genval.graph("cplt", n, clusters=1, client=None)


def run(kernel, n, **how):
    """The result, and what its rule says."""
    ds = dgsuite.run(kernel, complete(n), style="serial", **{"max_rounds": 200, **how})
    return ds, genval.validate(ds.attrs["kernel"], complete(n), ds)


def halves(n, ones):
    return (np.arange(n) < ones).astype(int).tolist()


@dataclass(frozen=True)
class Deaf(BenOr):
    """Each node misses some messages of each exchange, others than its own: of those that arrive, any.

    What it draws depends on all nodes of its cluster, so the graph has one.
    """

    missed: int = 0

    def heard(self, c, s, own, inbox):
        others = [inbox.totals(name) for name in ("zero", "one")]
        n = len(own)
        for lost in range(self.missed):
            draw = 1000 * (inbox.round + 1) + 50 * lost + int(own.sum())
            luck = uniform("counter", self.seed, np.arange(n), draw) * (n - 1 - lost)
            zero = luck < others[0]
            one = ~zero & (luck < others[0] + others[1])
            others = [others[0] - zero, others[1] - one]
        zeros, ones = others[0] + (own == 0), others[1] + (own == 1)
        return (ones > zeros).astype(np.int8), np.maximum(zeros, ones)


@pytest.mark.parametrize("n", [1, 2, 8, 9])
def test_where_all_are_heard_a_tie_alone_needs_coins(n):
    for ones in range(n + 1):
        ds, report = run("benor", n, inputs=halves(n, ones))
        assert report.ok
        if 2 * ones != n:
            assert (ds.decision == (2 * ones > n)).all()
            assert (ds.decided == 0).all()
        else:
            assert ds.decided.min() > 0
    rounds = [run("benor", 8, inputs=halves(8, 4), seed=seed)[0] for seed in range(20)]
    assert len({int(ds.decided[0]) for ds in rounds}) > 2
    assert {int(ds.decision[0]) for ds in rounds} == {0, 1}


def test_with_traitors_more_must_report_a_value():
    for ones, at_once in ((0, True), (6, False), (7, True), (9, True), (11, True)):
        decided = run("benor", 11, model="byzantine", f=2, inputs=halves(11, ones))[0].decided
        assert (decided.values == 0).all() == at_once
        assert (run("benor", 11, f=2, inputs=halves(11, ones))[0].decided == 0).all()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("model", "n", "f"), [("crash", 7, 3), ("crash", 10, 3), ("byzantine", 11, 2)]
)
def test_nodes_agree_though_each_misses_f_messages(model, n, f):
    rounds = []
    for seed in range(40):
        kernel = Deaf(f=f, missed=f, model=model, seed=seed, inputs=halves(n, n // 2 + seed % 2))
        ds, report = run(kernel, n)
        assert report.ok, str(report)
        most = 2 * n * (n - 1) * ds.sizes["round"]
        assert ds.messages.sum() == 2 * (n - 1) * (ds.decided + 2).sum() <= most
        rounds.append(ds.decided.values)
    assert max(map(np.max, rounds)) > 1
    assert any(np.ptp(decided) == 1 for decided in rounds)


def crashing(seed, nodes, rounds, phases):
    """A network whose nodes crash amid what they send in the first rounds; the nodes by luck."""
    luck = np.random.default_rng(seed)
    return dgsuite.Network(
        crashes=[
            dgsuite.Crash(v, int(luck.integers(rounds)), str(luck.choice(phases)), partial=True)
            for v in nodes(luck)
        ]
    )


def some_of_seven(number):
    return lambda luck: luck.permutation(7)[:number].tolist()


def lying(seed, number, strategy):
    liars = np.random.default_rng(seed).permutation(11)[:number].tolist()
    return dgsuite.Network(byzantine=dgsuite.Byzantine(liars, strategy))


def test_live_nodes_agree_though_f_crash():
    late = 0
    for seed in range(16):
        network = crashing(seed, some_of_seven(3), 2, ["report", "propose"])
        ds, report = run("benor", 7, inputs=halves(7, 4), seed=seed, network=network)
        assert (ds.terminated, report.ok) == (1, True), str(report)
        late += int(ds.decided.max()) > 0
    assert late > 0


def test_where_more_than_f_crash_nodes_may_wait_but_never_disagree():
    waiting = 0
    for seed in range(16):
        network = crashing(seed, some_of_seven(4), 2, ["report", "propose"])
        ds, _ = run("benor", 7, inputs=halves(7, 4), seed=seed, network=network)
        assert ds.terminated
        decisions = {*ds.decision.values.tolist()} - {-1}
        assert len(decisions) <= 1
        live = ds.crashed.values < 0
        waiting += (ds.decision.values[live] < 0).any()
    assert waiting > 0


@pytest.mark.parametrize("strategy", ["random", "two-faced", "silent"])
def test_nodes_agree_though_f_lie(strategy):
    for seed in range(10):
        network = lying(seed, 2, strategy)
        how = {"model": "byzantine", "inputs": halves(11, 6), "seed": seed, "network": network}
        ds, report = run("benor", 11, **how)
        assert (ds.terminated, report.ok) == (1, True), str(report)


def test_five_of_eleven_who_lie_keep_others_from_agreeing():
    found = []
    for seed in range(20):
        network = lying(seed, 5, "random")
        how = {"model": "byzantine", "inputs": halves(11, 6), "seed": seed, "network": network}
        found.append(run("benor", 11, **how)[1].ok)
    assert not all(found)


def test_inputs_are_drawn_by_seed():
    ds = [run("benor", 40, seed=seed, ones=0.25)[0] for seed in range(6)]
    assert 0.15 < np.mean([each.input.mean() for each in ds]) < 0.35
    assert len({tuple(each.input.values) for each in ds}) == 6


def one_and_zero(sent):
    """To even nodes 1, to odd ones 0."""
    return {"value": 1 - sent.dst % 2}


@pytest.mark.parametrize("n", [1, 2, 5, 9, 10])
def test_without_liars_the_majority_wins(n):
    for ones in range(n + 1):
        ds, report = run("phase_king", n, inputs=halves(n, ones))
        f = (n - 1) // 4
        assert report.ok
        assert (ds.decision == (2 * ones > n)).all()
        assert ds.sizes["round"] == f + 1
        assert ds.messages.values.tolist() == [n * n - 1] * (f + 1)


@pytest.mark.few(5)
@pytest.mark.parametrize("strategy", ["random", "two-faced", "silent", "constant", one_and_zero])
@pytest.mark.parametrize(("n", "f"), [(5, 1), (9, 2), (13, 3)])
def test_under_a_king_nodes_agree_though_f_lie(n, f, strategy):
    """Also where the first kings lie, and inputs are a tie or nearly so."""
    for seed in range(6):
        luck = np.random.default_rng(seed)
        liars = [*range(f)] if seed % 2 else luck.permutation(n)[:f].tolist()
        network = dgsuite.Network(byzantine=dgsuite.Byzantine(liars, strategy))
        inputs = luck.permutation(halves(n, n // 2 + seed % 3)).tolist()
        ds, report = run("phase_king", n, inputs=inputs, seed=seed, network=network)
        assert report.ok, str(report)
        assert ds.sizes["round"] == f + 1
        for value in (0, 1):
            assert (
                run("phase_king", n, inputs=[value] * n, network=network)[0].decision == value
            ).all()


def test_under_a_king_nodes_agree_though_f_crash():
    for seed in range(8):
        kings = [0, 1] if seed % 2 else None
        network = crashing(
            seed,
            lambda luck, few=kings: few or luck.permutation(9)[:2].tolist(),
            3,
            ["tell", "reign"],
        )
        how = {"inputs": halves(9, 4 + seed % 2), "seed": seed, "network": network}
        report = run("phase_king", 9, **how)[1]
        assert report.ok, str(report)


def test_as_many_liars_as_kings_keep_others_from_agreeing():
    """All f + 1 kings lie, and tell nodes of even and odd numbers different values."""
    network = dgsuite.Network(byzantine=dgsuite.Byzantine([0, 1, 2], one_and_zero))
    ds, report = run("phase_king", 9, f=2, inputs=halves(9, 5), network=network)
    assert not report.ok
    assert set(ds.decision.values[3:].tolist()) == {0, 1}
