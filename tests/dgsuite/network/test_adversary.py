"""Adversaries, which pick what fails by what they see of the run."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dgsuite
from dgsuite import Adversary, InputError, Network, RunError
from dgsuite.base import thresholds
from dgsuite.kernels import KERNELS
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.network.adversary import Campaign, best
from tests.dgsuite.network.test_network import found, random, same

PATH = Graph.from_edges(np.arange(6), np.arange(1, 7))
RING = Graph.from_edges(np.arange(8), (np.arange(8) + 1) % 8)


def sly(view):
    """Those that have sent, by the first output: a strong adversary."""
    values = getattr(view.state, next(iter(view.kernel.outputs)))
    return np.where(view.sent > 0, values.astype(float) % 3, -np.inf)


NETWORKS = {
    "degree": Network(adversary=Adversary("degree", budget=3)),
    "cut": Network(adversary=Adversary("cut", budget=9, each=3, nodes=range(12))),
    "away": Network(adversary=Adversary(sly, budget=5, each=2, spends="absences")),
    "drops": Network(adversary=Adversary(sly, budget=50, each=7, spends="drops")),
}

OFTEN = ("bf", "mis", "wcc")


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", NETWORKS)
def test_any_cut_has_the_same_victims(kind, monkeypatch):
    for name in OFTEN:
        expected = found(name, random(clusters=1), NETWORKS[kind], style="serial")
        for how in ({"clusters": 4, "partition": "hash"}, {"clusters": 7}):
            same(found(name, random(**how), NETWORKS[kind], style="serial"), expected)
        with monkeypatch.context() as patched:
            patched.setattr(thresholds, "compile_from", -1)
            how = {"clusters": 3, "partition": "hash"}
            same(found(name, random(**how), NETWORKS[kind], style="serial"), expected)


@pytest.mark.parametrize("style", ["clocked", "finish_async"])
def test_any_style_has_the_same_victims(client, style):
    adversaries = {
        "bfs": Adversary("degree", budget=5, each=2),
        "kc": Adversary("leader", budget=3, spends="absences"),
    }
    for name, adversary in adversaries.items():
        network = Network(adversary=adversary, crashes={7: 1})
        one, other = (
            dgsuite.run(name, random(clusters=5, **at), style=how, network=network, max_rounds=30)
            for how, at in (("serial", {}), (style, {"client": client}))
        )
        assert one.spent.sum() > 1
        for variable in ("spent", "crashed", "lost", *KERNELS[name].outputs):
            assert one[variable].equals(other[variable]), variable


def test_a_budget_is_spent_a_few_each_round():
    adversary = Adversary("degree", budget=5, each=2)
    star = Graph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 4, 5, 6])
    ds = dgsuite.run("pagerank", star, iterations=5, network=Network(adversary=adversary))
    assert ds.spent.values.tolist() == [0, 2, 2, 1, 0]
    assert ds.crashed.values.tolist() == [1, 1, 2, 2, 3, -1, -1]  # by degree, then by node id


def test_the_worst_edge_of_a_cut_is_lost():
    network = Network(adversary=Adversary("cut", nodes=[0, 1, 2, 3], budget=10, each=1))
    ds = dgsuite.run("bfs", PATH, network=network)
    assert ds.level.values.tolist() == [0, 1, 2, 3, -1, -1, -1]
    assert ds.lost.sum() == 1


def test_leaders_crash_as_they_arise():
    ds = dgsuite.run("lcr", RING, network=Network(adversary=Adversary("leader", budget=2)))
    assert ds.crashed.values.tolist() == [-1] * 6 + [2, 1]
    assert ds.leader.values[:6].max() < 8


def test_the_best_are_those_of_smallest_ids_among_equals():
    scores, nodes = np.array([1.0, 2, 2, 2, 0]), np.array([4, 3, 2, 1, 0])
    assert best(scores, nodes, np.full(5, -1), 2) == ((2.0, 1, -1), (2.0, 2, -1))


def test_a_round_has_its_strikes_once():
    campaign = Campaign(Adversary("degree", budget=3, each=2))
    assert campaign.strike(0, []) == ()
    targets = [(1.0, 2, -1), (2.0, 3, -1)]
    assert campaign.strike(1, targets) == ((3, -1), (2, -1))
    assert campaign.strike(1, [(9.0, 0, -1)]) == ((3, -1), (2, -1))  # the same round
    assert campaign.strike(2, targets) == ((3, -1),)
    assert campaign.strike(3, targets) == ()


def test_an_adversary_is_written_down_and_read_again():
    adversary = {"aim": "cut", "nodes": [1, 2], "budget": 3}
    ds = dgsuite.run("bf", PATH, network=Network(adversary=adversary))
    said = json.loads(ds.attrs["network"])
    again = dgsuite.run("bf", PATH, network=Network(**said))
    assert again.attrs["network"] == ds.attrs["network"]
    assert again.spent.equals(ds.spent)


@pytest.mark.parametrize(
    ("adversary", "message"),
    [
        ({"aim": "weakest"}, "unknown aim of an adversary 'weakest'"),
        ({"budget": 0}, "budget of an adversary must be a whole number from 1, got 0"),
        ({"each": 3, "budget": 2}, "each=3 in a round is beyond its budget=2"),
        ({"budget": 41}, "a budget of 41 crashes, and the graph has 40 nodes"),
        ({"spends": "time"}, "unknown spends of an adversary 'time'"),
        ({"aim": "cut"}, "aim 'cut' of an adversary needs nodes"),
        ({"nodes": [1]}, "no other aim has nodes"),
        ({"aim": "cut", "nodes": [40]}, "nodes of an adversary: 40 is not a node"),
        ({"aim": "leader"}, "for kernels whose outputs name nodes"),
        ({"goal": "degree"}, "unknown parameter of adversary 'goal'"),
        ("degree", "adversary must be a dgsuite.Adversary or a mapping"),
    ],
)
def test_wrong_adversaries(adversary, message):
    with pytest.raises(InputError, match=message):
        dgsuite.run("mis", random(), network=Network(adversary=adversary))


def test_what_has_no_adversary(ledger):
    ledger.spares("adversary")
    with pytest.raises(InputError, match="either adversary or delay"):
        Network(adversary=Adversary(), delay=1)
    each = dgsuite.lab.repeat("mis", PATH, 2, network=Network(adversary=Adversary()))
    assert "seed" in each.coords  # each run has the budget, and so is no copy in one run
    few = Network(adversary=Adversary(lambda view: np.zeros(3)))
    with pytest.raises(RunError, match=r"a number for each of 7 nodes, got shape \(3,\)"):
        dgsuite.run("bf", PATH, network=few)
