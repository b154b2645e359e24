"""Nodes agree, on a leader or an input, while no more than f fail: by flooding, by coins, under a king."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Crash, Network, genval, lab
from dgsuite.kernels.lab.consensus import BenOr
from dgsuite.kernels.tools.rng import uniform
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import graphs
from tests.support.ledger import ledger  # noqa: F401
from tests.support.valid import judged


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
    where = ((v, int(luck.integers(rounds)), str(luck.choice(phases))) for v in nodes(luck))
    return Network(crashes=[Crash(*each, partial=True) for each in where])


def some_of(n, number):
    return lambda luck: luck.permutation(n)[:number].tolist()


def lying(seed, number, strategy):
    liars = np.random.default_rng(seed).permutation(11)[:number].tolist()
    return dgsuite.Network(byzantine=dgsuite.Byzantine(liars, strategy))


def test_live_nodes_agree_though_f_crash():
    late = 0
    for seed in range(16):
        network = crashing(seed, some_of(7, 3), 2, ["report", "propose"])
        ds, report = run("benor", 7, inputs=halves(7, 4), seed=seed, network=network)
        assert (ds.terminated, report.ok) == (1, True), str(report)
        late += int(ds.decided.max()) > 0
    assert late > 0


def test_where_more_than_f_crash_nodes_may_wait_but_never_disagree():
    waiting = 0
    for seed in range(16):
        network = crashing(seed, some_of(7, 4), 2, ["report", "propose"])
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


def one_and_zero(sent):
    """To even nodes 1, to odd ones 0."""
    return {"value": 1 - sent.dst % 2}


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
            ds, _ = run("phase_king", n, inputs=[value] * n, network=network)
            assert (ds.decision == value).all()


def test_under_a_king_nodes_agree_though_f_crash():
    for seed in range(8):
        kings = (lambda luck: [0, 1]) if seed % 2 else some_of(9, 2)
        network = crashing(seed, kings, 3, ["tell", "reign"])
        how = {"inputs": halves(9, 4 + seed % 2), "seed": seed, "network": network}
        report = run("phase_king", 9, **how)[1]
        assert report.ok, str(report)


def test_as_many_liars_as_kings_keep_others_from_agreeing():
    """All f + 1 kings lie, and tell nodes of even and odd numbers different values."""
    network = dgsuite.Network(byzantine=dgsuite.Byzantine([0, 1, 2], one_and_zero))
    ds, report = run("phase_king", 9, f=2, inputs=halves(9, 5), network=network)
    assert not report.ok
    assert set(ds.decision.values[3:].tolist()) == {0, 1}


PATH = Graph.from_edges(np.arange(7), np.arange(1, 8), uid=np.arange(8)[::-1].copy())
"""Eight nodes; the identifiers fall from 7 to 0."""


@st.composite
def few_crashes(draw):
    """A number of nodes, how many of them may crash, and a network where some do."""
    n, f = draw(st.integers(1, 7)), draw(st.integers(0, 3))
    crashes = [
        Crash(node, draw(st.integers(0, f)), partial=draw(st.booleans()))
        for node in draw(st.sets(st.integers(0, n - 1), max_size=f))
    ]
    return n, f, Network(crashes=crashes, seed=draw(st.integers(0, 99)))


@given(few_crashes(), st.booleans())
def test_on_complete_graphs_f_crashes_leave_agreement(case, opt):
    n, f, network = case
    ds, _ = judged("floodmax", all_joined(n), iterations=f + 1, opt=opt, network=network)
    alive = ds.crashed.values < 0
    assert len({*ds.leader.values[alive].tolist()}) <= 1


def test_a_leader_that_crashes_after_it_has_told_is_still_believed():
    for number, said in ((0, 6), (1, 7)):
        ds, report = judged("floodmax", PATH, network=Network(crashes={0: number}))
        assert ds.leader.values[1:].tolist() == [said] * 7
        assert report.ok


def test_a_crash_that_parts_the_graph_leaves_two_leaders():
    """Each part agrees on one, which may be the node that crashed."""
    ds, report = judged("floodmax", PATH, network=Network(crashes={4: 1}))
    assert ds.leader.values.tolist() == [7, 7, 7, 7, 4, 3, 3, 3]
    assert report.ok
    ds.leader[6] = 7
    assert "as the others say" in str(genval.validate("floodmax", PATH, ds))


def test_what_is_lost_is_said_again_but_by_optfloodmax():
    found = [
        judged("floodmax", PATH, iterations=40, opt=opt, network=Network(loss=0.2, seed=seed))[1].ok
        for opt in (False, True)
        for seed in range(10)
    ]
    assert all(found[:10])
    assert sum(found[10:]) < 5


def flood(graph, **parameters):
    return dgsuite.run("floodset", graph, style="serial", **parameters)


@given(st.data())
def test_two_messages_are_enough(data):
    """OptFloodSet decides as FloodSet does."""
    _, graph = data.draw(graphs())
    inputs, seed = data.draw(st.integers(1, 64)), data.draw(st.integers(0, 9))
    how = {"f": graph.n, "inputs": inputs, "seed": seed}
    plain, opt = flood(graph, **how), flood(graph, **how, opt=True)
    np.testing.assert_array_equal(plain.decision, opt.decision)
    assert int(opt.messages.sum()) <= 4 * graph.m


@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("f", [0, 1, 2, 7])
def test_without_crashes_nodes_stop_after_two_rounds(n, f):
    graph = all_joined(n)
    ds = flood(graph, f=f, inputs=8, early=True)
    assert ds.sizes["round"] == min(2, f + 1)
    assert (ds.decided == min(1, f)).all()
    np.testing.assert_array_equal(ds.decision, flood(graph, f=f, inputs=8).decision)
    assert genval.validate("floodset", graph, ds).ok


def test_rounds_below_the_diameter_may_keep_nodes_apart():
    """Values from the ends of a path of six nodes meet after three rounds, and not after two."""
    graph = Graph.from_edges(np.arange(5), np.arange(1, 6))
    own = [1, 1, 1, 2, 2, 2]
    assert flood(graph, f=1, inputs=own, default=0).decision.values.tolist() == [1, 0, 0, 0, 0, 2]
    report = judged("floodset", graph, f=1, inputs=own)[1]
    assert "agreement" in str(report)
    ds = flood(graph, f=2, inputs=own)
    assert (ds.decision == 0).all()
    assert genval.validate("floodset", graph, ds).ok


def test_values_that_the_dataset_does_not_list():
    graph = Graph.from_edges(np.zeros(5000, np.int64), np.arange(1, 5001))
    ds = flood(graph, inputs=np.arange(5001) % 5)
    assert genval.validate("floodset", graph, ds).ok
    ds.decision[9] = 4
    assert not genval.validate("floodset", graph, ds).ok


def all_joined(n):
    return Graph.from_edges(*np.triu_indices(n, 1), n=n, clusters=2)


@given(few_crashes(), st.data())
def test_floodset_agrees_in_spite_of_f_crashes(case, data):
    n, f, network = case
    inputs = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    for how in ({}, {"opt": True}, {"early": True}):
        ds, report = judged("floodset", all_joined(n), network=network, f=f, inputs=inputs, **how)
        assert report.ok, (how, str(report))
        alive = ds.crashed.values < 0
        last = ds.decided.values[alive].max(initial=0)
        happened = int(np.count_nonzero(~alive))
        assert last < (min(happened + 2, f + 1) if "early" in how else f + 1)


def test_floodset_may_fail_with_a_crash_more():
    """A value that reaches one node, which crashes while it passes it on: some nodes never see it."""
    chain = [Crash(0, 0, partial=True), Crash(1, 1, partial=True)]
    inputs = [1, 0, 0, 0]
    networks = [Network(crashes=chain, seed=seed) for seed in range(40)]
    broken, how = 0, {"inputs": inputs, "default": 1}
    for network in networks:
        how["network"] = network
        one, two = (judged("floodset", all_joined(4), f=f, **how)[1] for f in (1, 2))
        broken += "agreement" in str(one)
        assert two.ok
    assert broken > 0


def test_a_search_finds_how_floodset_fails():
    """One of three nodes crashes while it sends: with one round another node alone hears of its value."""
    how = {"graphs": "complete", "faults": ("crashes",), "default": 1}
    found = lab.search("floodset", f=0, **how)
    assert found.graph.n == 3
    assert "agreement" in found.why
    assert lab.search("floodset", f=1, most=1, tries=40, **how) is None
