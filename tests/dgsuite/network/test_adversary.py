"""Adversaries, which pick what fails by what they see of the run; and nodes that come back."""

import json

import numpy as np
import pytest

import dgsuite
from dgsuite import Adversary, Crash, Graph, InputError, Network, RunError
from dgsuite.kernels import KERNELS
from tests.dgsuite.network.test_network import NETWORKS, check_cuts, random

PATH = Graph.from_edges(np.arange(6), np.arange(1, 7))
RING = Graph.from_edges(np.arange(8), (np.arange(8) + 1) % 8)


STRUCK = [*(kind for kind in NETWORKS if kind.startswith("struck ")), "back", "forgets"]

OFTEN = ("bf", "mis", "wcc")


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", STRUCK)
def test_any_cut_has_the_same_victims(kind, monkeypatch):
    for name in OFTEN:
        with monkeypatch.context() as patched:
            check_cuts(name, NETWORKS[kind], patched)


@pytest.mark.parametrize("style", ["clocked", "finish_async"])
def test_any_style_has_the_same_victims(client, style):
    adversaries = {
        "bfs": Adversary("frontier", budget=5, each=2),
        "floodmax": Adversary("leader", budget=3, spends="absences"),
    }
    for name, adversary in adversaries.items():
        network = Network(adversary=adversary, crashes=[Crash(7, 1, until=3, memory=False)])
        one, other = (
            dgsuite.run(name, random(clusters=5, **at), style=how, network=network, max_rounds=30)
            for how, at in (("serial", {}), (style, {"client": client}))
        )
        assert one.spent.sum() > 1
        for variable in ("spent", "crashed", "lost", *KERNELS[name].outputs):
            assert one[variable].equals(other[variable]), variable


def test_the_frontier_of_a_search_is_stopped():
    network = Network(adversary=Adversary("frontier"))
    ds = dgsuite.run("bfs", PATH, network=network)
    reached = ds.level.values >= 0
    assert reached.tolist() == [True] * reached.sum() + [False] * (7 - reached.sum())
    assert reached.sum() < 7
    assert (ds.crashed.values >= 0).sum() == ds.spent.sum() == 1


def test_a_budget_is_spent_a_few_each_round():
    adversary = Adversary("degree", budget=5, each=2, start=1)
    star = Graph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 4, 5, 6])
    ds = dgsuite.run("pagerank", star, iterations=5, network=Network(adversary=adversary))
    assert ds.spent.values.tolist() == [0, 2, 2, 1, 0]
    assert ds.crashed.values.tolist() == [1, 1, 2, 2, 3, -1, -1]  # by degree, then by node id


def test_leaders_crash_as_they_arise():
    network = Network(adversary=Adversary("leader", budget=2))
    ds = dgsuite.run("lcr", RING, network=network, faithful=True)
    assert ds.crashed.values.tolist() == [-1] * 6 + [2, 1]
    assert ds.leader.values[:6].max() < 8
    ds = dgsuite.run("lcr", RING, network=network)  # once it is elected
    assert ds.crashed.values.tolist() == [-1] * 7 + [9]
    assert (ds.leader == 7).all()


@pytest.mark.parametrize(("sees", "has"), [("nothing", 0), ("history", 1), ("states", 2)])
def test_an_adversary_sees_what_its_kind_may_see(sees, has):
    views = []

    def aim(view):
        views.append(view)
        return view.cluster.degree

    graph = Graph.from_edges(np.arange(6), np.arange(1, 7), clusters=2)
    network = Network(adversary=Adversary(aim, budget=2, spends="absences", sees=sees))
    dgsuite.run("bf", graph, network=network, style="serial")
    assert {sum(x is not None for x in (view.sent, view.state)) for view in views} == {has}
    assert (len(views) == 2) == (not has)  # once for each cluster, or after each round
    if not has:
        with pytest.raises(InputError, match="does not see which nodes are reached"):
            _ = views[0].reached


def test_crashed_nodes_are_no_targets(ledger):
    ledger.spares("adversary")
    network = Network(adversary=Adversary("frontier", budget=3), crashes={1: 0})
    ds = dgsuite.run("bfs", PATH, network=network)
    assert ds.spent.sum() == 0


def test_a_node_is_back():
    gone, back = (
        dgsuite.run("lcr", RING, network=Network(crashes=[Crash(5, 2, until=until)]))
        for until in (None, 4)
    )
    assert (gone.leader == -1).all()  # what would be the leader's identifier ends there
    assert (back.leader.values == 7).all()
    for ds in (gone, back):
        assert ds.crashed.values.tolist() == [-1] * 5 + [2, -1, -1]


def test_a_node_is_back_with_its_state_or_without():
    networks = [Network(crashes=[Crash(3, 4, until=5, memory=keeps)]) for keeps in (True, False)]
    knew, forgot = (dgsuite.run("gossip", PATH, network=n).informed.values for n in networks)
    assert knew[3] <= 4 < 5 < forgot[3]
    assert (forgot >= 0).all()


def test_a_memory_is_that_of_the_crash():
    """A node that is away goes on by itself; one that has crashed stands still."""
    complete = Graph.from_edges(*np.triu_indices(5, 1))
    how = {"inputs": [0, 1, 2, 3, 4], "f": 5}
    away = dgsuite.run("floodset", complete, network=Network(churn=[(0, 9, 0)]), **how)
    assert away.decided.values[0] == 5
    crashed = Network(crashes=[Crash(0, 2, until=9)])
    assert dgsuite.run("floodset", complete, network=crashed, **how).decided.values[0] == -1
    back = Network(crashes=[Crash(0, 0, until=3)])
    ds = dgsuite.run("floodset", complete, network=back, **how)
    assert (ds.seen.values == 31).all()


WRITTEN = [
    {"adversary": {"aim": "cut", "nodes": [1, 2], "budget": 3}},
    {"delay": 2, "adversary": {"aim": "degree", "spends": "delays", "ticks": 9}},
]


@pytest.mark.parametrize("network", WRITTEN)
def test_an_adversary_is_written_down_and_read_again(network):
    ds = dgsuite.run("bf", PATH, network=network)
    again = dgsuite.run("bf", PATH, network=Network.of(json.loads(ds.attrs["network"])))
    assert again.attrs["network"] == ds.attrs["network"]
    assert again.spent.equals(ds.spent)
    assert ("terminated" in ds.attrs) == ("delay" not in network)
    if "delay" in network:
        assert again.virtual_time.equals(ds.virtual_time)


def test_what_has_no_adversary():
    with pytest.raises(InputError, match="either adversary or delay"):
        dgsuite.run("mis", PATH, network=Network(adversary=Adversary(), delay=1))
    with pytest.raises(InputError, match="'mst' takes no network with recovery: it keeps lists"):
        dgsuite.run("mst", random(), network=Network(crashes=[Crash(3, 1, until=3)]))
    each = dgsuite.lab.repeat("mis", PATH, 2, network=Network(adversary=Adversary()))
    assert "seed" in each.coords  # each run has the budget, and so is no copy in one run
    frontier = Network(adversary=Adversary("frontier"))
    with pytest.raises(RunError, match=r"kernel .lcr., round 0, .* send otherwise, too"):
        dgsuite.run("lcr", RING, network=frontier)
    few = Network(adversary=Adversary(lambda view: np.zeros(3)))
    with pytest.raises(RunError, match=r"a number for each of 7 nodes, got shape \(3,\)"):
        dgsuite.run("bf", PATH, network=few)
