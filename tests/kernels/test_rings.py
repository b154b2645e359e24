"""Rings: leaders beside the textbook's programs and IMSuite's; Dijkstra's token recovers as is proved."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.partition.graph.graph import Graph
from tests.support.definitions import privileges
from tests.support.stabilising import ANY, ONE, worst


def ring(uid):
    nodes = np.arange(len(uid))
    return Graph.from_edges(nodes, (nodes + 1) % len(uid), n=len(uid), uid=uid)


@pytest.mark.parametrize(("n", "elects"), [(64, 329), (256, 1_438), (1_024, 7_576)])
def test_an_identifier_goes_as_far_as_a_larger_one(n, elects):
    graph = genval.graph("ring", n)
    ds = dgsuite.run("lcr", graph, style="serial")
    assert int(ds.messages[:n].sum()) == elects
    assert ds.messages[n:].values.tolist() == [1] * n  # the leader's news
    assert genval.validate("lcr", graph, ds).ok


@pytest.mark.parametrize(("name", "rounds", "messages"), [("lcr", 64, 64 * 64), ("hs", 127, 1_188)])
def test_imsuites_programs_are_as_they_were(name, rounds, messages):
    ds = dgsuite.run(name, genval.graph("ring", 64), style="serial", faithful=True)
    assert (ds.sizes["round"], int(ds.messages.sum())) == (rounds, messages)


@pytest.mark.parametrize("name", ["lcr", "hs"])
def test_without_a_leader_nodes_know_none(name):
    """The greatest identifier is lost on its first hops."""
    drops = [(0, 4, 0), (0, 4, 3)]
    ds = dgsuite.run(name, ring(np.arange(5)), network=dgsuite.Network(drops=drops))
    assert (ds.leader == -1).all()


@cache
def ring_of(n):
    return genval.graph("ring", n, client=None)


def turn(n, **how):
    return dgsuite.run("token_ring", ring_of(n), style="serial", **how)


def moves_until_one(k):
    """The definition, which ends as soon as one node alone is privileged."""

    def rule(ring, value, i):
        able = privileges(value)
        if i not in able or len(able) == 1:
            return None
        return value[i - 1] if i else (value[0] + 1) % k

    return rule


@pytest.mark.parametrize(
    ("n", "k", "daemon", "recovers"),
    [
        (3, 2, ONE, True),
        (3, 2, ANY, False),
        (3, 3, ANY, True),
        (4, 2, ONE, False),
        (4, 3, ONE, True),
        (4, 3, ANY, False),
        (4, 4, ANY, True),
        (4, 5, ANY, True),
        (5, 3, ONE, False),
        (5, 4, ONE, True),
        (5, 4, ANY, False),
    ],
)
def test_all_states_recover_if_there_are_enough_values(n, k, daemon, recovers):
    """By all executions of the definition: from n values on, and n - 1 where one node moves at a time."""
    most = worst(moves_until_one(k), product(range(k), repeat=n), range(n), daemon)
    assert (most is not None) == recovers
    if most and k >= n:
        assert 0 < most <= 3 * n * (n - 1) // 2


@pytest.mark.parametrize("k", [4, 5])
def test_the_kernel_does_as_the_definition(k):
    for state in [*product(range(k), repeat=4)][:: 7 if k == 4 else 13]:
        ds = turn(4, k=k, begin=state, after=2)
        value, counted = [*state], [len(privileges(state))]
        for _ in range(ds.sizes["round"] - 1):
            after = [(value[0] + 1) % k, *value[:-1]]
            able = privileges(value)
            value = [after[i] if i in able else value[i] for i in range(4)]
            counted.append(len(privileges(value)))
        assert ds.value.values.tolist() == value
        assert ds.privileges.values.tolist() == counted
        assert counted[ds.legitimate_round :] == [1, 1, 1]
        assert 1 not in counted[: ds.legitimate_round]


def test_with_too_few_values_all_nodes_may_be_privileged_for_ever():
    with pytest.raises(dgsuite.RunError, match="max_rounds=200"):
        turn(4, k=3, begin=[2, 1, 0, 2], max_rounds=200)
    assert turn(4, k=3, begin=[2, 1, 0, 2], daemon="central").legitimate_round > 0
    assert turn(4, k=4, begin=[2, 1, 0, 2]).legitimate_round > 0


@pytest.mark.few(5)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 24])
@pytest.mark.parametrize("daemon", ["synchronous", "distributed", "central"])
def test_it_recovers_as_fast_as_is_proved(daemon, n):
    for seed in range(8):
        k = (None, max(n, 2))[seed % 2]
        ds = turn(n, daemon=daemon, k=k, seed=seed, after=n)
        counted, steps = ds.privileges.values, ds.legitimate_round
        assert (np.diff(counted) <= 0).all()
        assert (counted[steps:] == 1).all()
        if daemon == "synchronous":
            assert steps <= max(2 * n - 3, 0)
        if daemon == "central":
            assert ds.moves.sum() == ds.sizes["round"] - 1
        assert ds.moves.sum() <= 3 * n * (n - 1) // 2 + n
        assert ds.messages.sum() == n + ds.moves.sum()
        assert genval.validate("token_ring", ring_of(n), ds).ok


def test_some_starts_take_as_long_as_is_proved():
    """Node 0 counts in each step, as it finds the values of the others one after the other."""
    n = 20
    ds = turn(n, k=n, begin=[0, *range(n - 2, -1, -1)], after=0)
    assert ds.legitimate_round == 2 * n - 3
    assert ds.moves.sum() > n * (n - 1)


def test_the_token_goes_around():
    ds = turn(5, begin="legitimate", after=12)
    assert ds.legitimate_round == 0
    assert ds.moves.values.tolist() == [3, 3, 2, 2, 2]
    assert ds.value.values.tolist() == [3, 3, 2, 2, 2]
    slow = turn(5, begin="legitimate", after=12, daemon="distributed", probability=0.1, seed=3)
    assert slow.moves.sum() < 12


def test_daemons_pick_as_they_say():
    everyone = turn(12, daemon="distributed", probability=1.0)
    synchronous = turn(12)
    for name in ("value", "moves", "privileges"):
        assert np.array_equal(everyone[name], synchronous[name])
    shares = [
        turn(60, daemon="distributed", probability=0.3, seed=seed).messages.values[1:6].sum()
        / turn(60, seed=seed).messages.values[1:6].sum()
        for seed in range(5)
    ]
    assert 0.2 < np.mean(shares) < 0.4
    moves = sum(turn(6, daemon="central", seed=s, after=0).moves.values > 0 for s in range(60))
    assert (moves > 2).all()


def test_values_are_told_again_on_request():
    plain, again = turn(9, after=3), turn(9, after=3, repeat=True)
    assert np.array_equal(plain.value, again.value)
    assert (again.messages.values == 9).all()


def test_told_again_the_ring_recovers_from_losses():
    """Else a privilege may be lost on its way for good."""
    how = {"network": dgsuite.Network(loss=0.2), "after": 30, "max_rounds": 300}
    lost, found = turn(12, **how), turn(12, repeat=True, **how)
    assert (lost.terminated, found.terminated) == (0, 1)
    assert (lost.privileges[-100:] == 0).all()
    assert found.moves.sum() > 30
