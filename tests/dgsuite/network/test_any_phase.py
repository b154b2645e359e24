"""Crashes that are drawn, in any phase of a round."""

from dataclasses import dataclass
from math import floor, log1p

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import Crash, Graph, InputError, Network, genval
from dgsuite.kernels import bsp
from tests.support.synchronisers import GOLDEN, first_word, mixed

SEED, ROUNDS, RATE = 11, 6, 0.07
PHASES = ("ask", "answer", "close")
LOSS, CRASHES = 2, 4
"""Domains of random words."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    heard: np.ndarray = bsp.per_node(0)


@dataclass(frozen=True)
class Three(bsp.Kernel):
    """Nodes tell all neighbours who they are in each of three phases, and make a number of all they hear."""

    name = "three"
    outputs = {"heard": bsp.Output("a number made of all that the node heard")}
    fields = {"value": np.int64}
    state = State
    obeys = bsp.Model("edges")

    def program(self, net):
        for _ in range(ROUNDS):
            yield bsp.Round(self.ask, self.answer, self.close)

    def ask(self, c, s, inbox):
        nodes, total = inbox.sum("value")
        s.heard[nodes] = s.heard[nodes] * 31 % 1_000_003 + total
        return bsp.broadcast(np.arange(c.size), value=c.ids + 1)

    answer = close = ask


def uniform(word):
    """A random number from 0 to 1."""
    return (word >> 11) / 2**53


def phase_of(node, seed=SEED):
    """The phase of the run in which a node crashes, from 0."""
    word = mixed(first_word(seed, CRASHES, 0) + node * GOLDEN)
    return floor(log1p(-uniform(word)) / log1p(-RATE))


def told(net):
    """What nodes have heard, and the round in which each crashed, message by message."""
    heard, crash = dict.fromkeys(net, 0), {v: phase_of(v) for v in net}
    arriving = {v: [] for v in net}
    for phase in range(ROUNDS * len(PHASES)):
        turn, position = divmod(phase, len(PHASES))
        key = mixed(first_word(SEED, LOSS, turn) + position * GOLDEN)
        for v in net:
            if crash[v] >= phase and arriving[v]:
                heard[v] = heard[v] * 31 % 1_000_003 + sum(arriving[v])
        arriving = {v: [] for v in net}
        for src in net:
            for dst in net[src] if crash[src] >= phase else ():
                word = mixed(mixed(key + dst * GOLDEN) + src * GOLDEN)
                if crash[dst] > phase and not (crash[src] == phase and uniform(word) < 0.5):
                    arriving[dst].append(src + 1)
    rounds = {v: phase // len(PHASES) for v, phase in crash.items()}
    return [*heard.values()], [r if r < ROUNDS else -1 for r in rounds.values()]


NET = nx.gnm_random_graph(40, 120, seed=2)


def run(kernel, network, clusters=1, **how):
    ends = np.array([*NET.edges]).T
    graph = Graph.from_edges(*ends, n=len(NET), clusters=clusters, client=None)
    return dgsuite.run(kernel, graph, network=network, seed=SEED, style="serial", **how)


@pytest.mark.parametrize("clusters", [1, 2, 7])
def test_drawn_crashes_are_those_of_a_simulation(clusters):
    ds = run(Three, Network(crashes=RATE, crash_by="phase"), clusters)
    heard, crashed = told(NET)
    assert ds.heard.values.tolist() == heard
    assert ds.crashed.values.tolist() == crashed
    assert int(ds.struck.sel(fault="crashes").sum()) >= sum(r >= 0 for r in crashed)


@pytest.mark.filterwarnings("ignore:.*faults that struck nothing")
def test_they_are_those_that_are_listed_one_by_one():
    listed = []
    for v in range(30):
        turn, position = divmod(phase_of(v), 3)
        listed.append(Crash(v, turn, ("report", "propose", "decide")[position], partial=True))
    graph, how = genval.graph("cplt", 30), {"f": 3, "seed": SEED, "max_rounds": 40}
    drawn = Network(crashes=RATE, crash_by="phase")
    ds, other = (
        dgsuite.run("benor", graph, network=network, **how)
        for network in (drawn, Network(crashes=listed))
    )
    assert ds.crashed.values.tolist() == other.crashed.values.tolist()
    assert ds.messages.values.tolist() == other.messages.values.tolist()
    assert ds.decision.values.tolist() == other.decision.values.tolist()


def test_any_number_of_sites_has_the_same_crashes():
    (whole, apart) = (run(Three, Network(crashes=RATE, crash_by="phase"), k) for k in (1, 5))
    for name in ("heard", "crashed", "struck", "lost", "messages"):
        assert whole[name].values.tolist() == apart[name].values.tolist()


def test_all_phases_are_hit_alike():
    faults = Network(crashes=0.01, crash_by="phase").faults(genval.graph("chain", 2)).of_run(3)
    phases = faults.crash_rounds(30_000)
    times = np.bincount(phases % 3, minlength=3)
    assert abs(times / times.sum() - 1 / 3).max() < 0.015
    first = Network(crashes=0.01).faults(genval.graph("chain", 2)).of_run(3)
    assert (
        first.crash_rounds(30_000) == phases
    ).all()  # the words are the same, and what they count


def test_copies_of_a_graph_have_them():
    many = dgsuite.lab.repeat(
        "mis", genval.graph("er", 20, seed=1), 200, network=Network(crashes=0.1, crash_by="phase")
    )
    found = many.crashed.values
    assert 0 < (found >= 0).mean() < 1
    assert (found < many.rounds.values[:, None]).all()


def test_another_word_is_refused():
    with pytest.raises(InputError, match=r"unknown crash_by .turn.; one of: round, phase"):
        Network(crashes=0.1, crash_by="turn")
