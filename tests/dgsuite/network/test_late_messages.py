"""An adversary that spends delays: it changes when rounds are over, and nothing else."""

import numpy as np
import pytest

import dgsuite
from dgsuite import Adversary, Graph, InputError, Network, genval
from dgsuite.base import thresholds
from dgsuite.studies.network.delays import Delay
from tests.dgsuite.network.test_network import OF_CUT, random, sly

PATH = Graph.from_edges([0, 1, 2], [1, 2, 3])


def of_node_0(view):
    return np.where(view.cluster.ids == 0, 0.0, -np.inf)


def late(aim, **how):
    return Adversary(aim, spends="delays", **how)


def test_a_node_is_late_on_a_path():
    """A pulse of alpha takes 3 ticks; round 0 has two, the others one. In round 1 nodes 0 and 1 are safe
    after 12: 11 for what node 0 sends, and 1 for the other way. What node 0 then says takes 11, to 23. Node 1
    begins the next pulse so late, is safe 12 later, and tells nodes 0 and 2: 36.
    """
    plain = dgsuite.run("bfs", PATH, network=Network(delay=1))
    assert plain.virtual_time.values.tolist() == [6, 9, 12]
    adversary = late(of_node_0, budget=2, ticks=10, sees="nothing", start=1)
    ds = dgsuite.run("bfs", PATH, network=Network(delay=1, adversary=adversary))
    assert ds.spent.values.tolist() == [0, 1, 1]
    assert ds.virtual_time.values.tolist() == [6, 6 + 23, 6 + 36]


def test_an_edge_is_late_one_way():
    """Node 1 has sent most in round 0, so what it sends node 0 is late by 5 in round 1: node 1 is safe after
    7, and node 0 hears of that at 13. In round 2 neither has sent anything, and the way from node 0 is late:
    it is safe at 20, and node 1 hears of that at 26.
    """
    adversary = late("cut", nodes=[0], budget=2, ticks=5)
    ds = dgsuite.run("bfs", PATH, network=Network(delay=1, adversary=adversary))
    assert ds.spent.values.tolist() == [0, 1, 1]
    assert ds.virtual_time.values.tolist() == [6, 6 + 13, 6 + 26]


def test_a_budget_of_delays_is_spent_on_the_same_node_again():
    adversary = late("degree", budget=3, each=2)
    ds = dgsuite.run("pagerank", PATH, iterations=5, network=Network(delay=1, adversary=adversary))
    assert ds.spent.values.tolist() == [2, 1, 0, 0, 0]


ADVERSARIES = {
    "degree": late("degree", budget=7, each=3, ticks=20),
    "frontier": late("frontier", budget=7, each=3, ticks=20),
    "cut": late("cut", budget=9, each=3, nodes=range(12), ticks=20),
    "states": late(sly, budget=50, each=7, ticks=20),
}


@pytest.mark.parametrize("kind", ADVERSARIES)
def test_any_cut_has_the_outputs_of_the_plain_run_and_the_same_times(kind, monkeypatch):
    law = {"delay": ("uniform", 1, 6), "seed": 3}
    for name, synchroniser in (("bf", "alpha"), ("bfs", "beta")):
        plain = dgsuite.run(name, random(clusters=1), style="serial", network=Network.of(law))
        network = Network(**law, adversary=ADVERSARIES[kind], synchroniser=synchroniser)
        runs = []
        for how in ({"clusters": 1}, {"clusters": 4, "partition": "hash"}):
            runs.append(dgsuite.run(name, random(**how), style="serial", network=network))
            monkeypatch.setattr(thresholds, "compile_from", -1)
        monkeypatch.undo()
        for ds in runs:
            assert ds.virtual_time.equals(runs[0].virtual_time)
            assert ds.spent.equals(runs[0].spent)
            unlike = {v for v in plain if "second" not in v and not ds[v].equals(plain[v])}
            cut = OF_CUT if ds is runs[1] else set()
            assert unlike - cut <= {"virtual_time", "synchroniser_messages"}
            assert genval.validate(name, random(), ds).ok
        assert runs[0].spent.sum() > 1
        assert not {"lost", "crashed"} & {*runs[0].data_vars}
        if synchroniser == "alpha":
            assert (runs[0].virtual_time >= plain.virtual_time).all()
            assert runs[0].virtual_time[-1] > plain.virtual_time[-1]


def test_max_rounds_is_an_error_as_without_an_adversary():
    network = Network(delay=1, adversary=late("degree"))
    with pytest.raises(dgsuite.RunError, match="max_rounds=2"):
        dgsuite.run("bfs", PATH, network=network, max_rounds=2)


WITHOUT = [
    ("bf", {"form": "recursive"}, "an adversary strikes in rounds"),
    ("bf", {"checkpoint": "folder"}, "an adversary has no checkpoints"),
    ("sssp", {}, "it keeps the least offers"),
]


@pytest.mark.parametrize(("name", "how", "message"), WITHOUT)
def test_what_has_no_such_adversary(name, how, message):
    network = Network(delay=1, adversary=late("degree"))
    with pytest.raises(InputError, match=message):
        dgsuite.run(name, PATH, network=network, **how)


def test_a_delay_by_what_it_is_made_of():
    assert Delay.of("uniform") == Delay.of(("uniform", 1, 10))
    assert Delay.of("geometric") == Delay.of(("geometric", 0.5))
    assert Delay.of(3).parameters == {"delay": 3, "low": 1, "high": 10, "p": 0.5}
