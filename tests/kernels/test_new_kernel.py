"""A kernel with its accounting in one file: it runs in every style, and is counted."""

from __future__ import annotations

import importlib
import pickle
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import dgsuite
from dgsuite.base.errors import InputError
from dgsuite.core.accounting import imsuite
from dgsuite.core.accounting.rules import account
from dgsuite.kernels import MIS, bsp
from dgsuite.kernels.imsuite.bfs_bellman_ford.textbook import BellmanFord
from dgsuite.kernels.imsuite.mis.faithful import FaithfulMIS
from dgsuite.partition.graph.graph import Graph
from tests.support.faithful import FAITHFUL

STYLES = ("serial", "finish_async", "clocked")


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    largest: NDArray[np.int64] = bsp.initial(lambda c: c.uid.copy())
    fresh: NDArray[np.int64] = bsp.initial(lambda c: np.arange(c.size))  # nodes with news


@dataclass(frozen=True)
class MaxFlood(bsp.Kernel):
    """Every node learns the largest identifier of its component (Lynch 1996, section 4.1)."""

    name = "maxflood"
    outputs = {"largest": bsp.Output("largest identifier in the component")}
    fields = {"uid": np.int64}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.spread, self.learn)

    def spread(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(s.fresh, uid=s.largest[s.fresh])

    def learn(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        nodes, uid = inbox.max("uid")
        more = uid > s.largest[nodes]
        s.fresh = nodes[more]
        s.largest[s.fresh] = uid[more]
        return bsp.vote(any=len(s.fresh) > 0)


def _driver(kernel, log, n, style):
    return np.full(log.rounds, 7)


rules = {"launches": {"learn": 2}, "comm": {"spread": 3}, "mutex": {"spread": 0}}
account(MaxFlood, **rules, driver=_driver)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("clusters", [1, 4])
def test_it_runs_in_every_style_and_is_counted(client, style, clusters):
    n = 14
    graph = nx.disjoint_union(nx.path_graph(9), nx.cycle_graph(5))
    cut = Graph.from_networkx(graph, clusters=clusters)
    ds = dgsuite.run(MaxFlood, cut, style=style, client=client)
    assert ds.largest.values.tolist() == [8] * 9 + [13] * 5
    # every node but the largest of each component learns of a larger one in each of the first rounds
    assert ds.messages.values[:2].tolist() == [2 * 8 + 2 * 5, 2 * 8 - 1 + 2 * 4]
    assert ds.sizes["round"] == 9
    launched = {"serial": 0, "finish_async": 3, "clocked": 1}[style]
    assert (ds.finishes == launched).all()
    assert (ds.asyncs == n * launched).all()
    assert (ds.barriers == (2 if style == "clocked" else 0)).all()
    assert (ds.mutexes == 0).all()
    if style != "serial":
        np.testing.assert_array_equal(ds.comm, 3 * ds.messages + launched * (n - 1) + 7)


@pytest.mark.parametrize("part", ["launches", "clocked", "comm", "mutex"])
def test_rules_name_phases(part):
    for wrong in ("spred", "program", "outputs", "start"):
        message = f"accounting of MaxFlood names '{wrong}', which is no phase"
        with pytest.raises(InputError, match=message):
            account(MaxFlood, **{part: {"spread": 1, wrong: 1}})


def test_a_renamed_phase_cannot_change_a_count_unseen(monkeypatch):
    monkeypatch.setattr(BellmanFord, "loosen", BellmanFord.relax, raising=False)
    monkeypatch.delattr(BellmanFord, "relax")
    with pytest.raises(InputError, match="accounting of BellmanFord names 'relax'"):
        importlib.reload(imsuite)
    monkeypatch.undo()
    importlib.reload(imsuite)


@dataclass(frozen=True)
class OwnMIS(MIS):
    """A kernel derived from one that has a faithful form."""


def test_faithful_forms():
    for form in FAITHFUL:
        textbook = form.__mro__[1]
        for made in (form(), textbook(faithful=True), textbook(101, True)):
            assert type(made) is form
            assert made == form(seed=101)
            assert pickle.loads(pickle.dumps(made)) == made
        for plain in (textbook(), replace(made, faithful=False), form(seed=5, faithful=False)):
            assert type(plain) is textbook
            assert not plain.faithful
        assert form(seed=5, faithful=False).seed == 5
    assert type(OwnMIS(faithful=True)) is OwnMIS


def test_a_run_takes_the_faithful_form():
    graph = Graph.from_networkx(nx.gnm_random_graph(30, 80, seed=1))
    expected = dgsuite.run(FaithfulMIS, graph, style="serial")
    yes = {"faithful": True}
    for kernel, how in (("mis", yes), (MIS(**yes), {}), (MIS(), yes)):
        found = dgsuite.run(kernel, graph, style="serial", **how)
        np.testing.assert_array_equal(found.messages, expected.messages)
        np.testing.assert_array_equal(found.in_mis, expected.in_mis)
    plain = dgsuite.run(FaithfulMIS, graph, style="serial", faithful=False)
    textbook = dgsuite.run("mis", graph, style="serial")
    np.testing.assert_array_equal(plain.messages, textbook.messages)
    assert int(textbook.messages.sum()) < int(expected.messages.sum())


@pytest.mark.parametrize("name", ["messages", "round", "node", "workload_seconds", "own"])
def test_an_output_cannot_take_the_name_of_a_count_or_a_note(name):
    """Its values, or those of the count, would be lost. The kernel does not run before."""
    message = f"{name!r} is the name of a count or dimension"
    if name == "own":
        message = "'own' names two of its outputs, notes and peaks"

    @dataclass(frozen=True)
    class Named(MaxFlood):
        outputs = {name: bsp.Output("largest identifier in the component")}
        notes = {"own": "identifiers that are taken over"}

        def start(self, cluster):
            raise AssertionError("it runs")

    graph = Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(InputError, match=message):
        dgsuite.run(Named, graph, style="serial")
