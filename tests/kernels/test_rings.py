"""Leaders of rings beside the textbook's programs, node by node, and beside IMSuite's."""

from __future__ import annotations

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.partition.graph.graph import Graph


def ring(uid):
    nodes = np.arange(len(uid))
    return Graph.from_edges(nodes, (nodes + 1) % len(uid), n=len(uid), uid=uid)


def rings():
    for n in (1, 2, 3, 5, 8, 13, 40):
        yield np.random.default_rng(n).permutation(n) * 7 + 3
    yield np.arange(9)
    yield np.arange(9)[::-1].copy()


def hirschberg_sinclair(uid):
    """Messages of each round (Lynch 1996, section 3.4), and then of the news of the leader."""
    n, sent = len(uid), []
    phase, back, knows = [0] * n, [0] * n, [False] * n
    going = [(v, way, uid[v], "out", 1) for v in range(n) for way in (1, -1)]
    while going:
        sent.append(len(going))
        come = [((v + way) % n, way, *said) for v, way, *said in going]
        known, going = knows.copy(), []
        for v, way, said, kind, hops in come:
            if kind == "news":
                if not known[v]:
                    going.append((v, way, said, kind, hops))
                knows[v] = True
            elif said == uid[v] and kind == "in":
                back[v] += 1
                if back[v] == 2:
                    phase[v], back[v] = phase[v] + 1, 0
                    going += [(v, w, said, "out", 2 ** phase[v]) for w in (1, -1)]
            elif said == uid[v] and way == 1:  # the other one comes at the same time
                knows[v] = True
                going += [(v, w, said, "news", 0) for w in (1, -1)]
            elif said > uid[v] and kind == "out" and hops == 1:
                going.append((v, -way, said, "in", 1))
            elif said > uid[v]:
                going.append((v, way, said, kind, hops - 1))
    assert all(knows)
    return sent


def test_messages_of_each_round_are_those_of_the_textbook():
    for uid in rings():
        ds = dgsuite.run("hs", ring(uid), style="serial", check=True)
        assert ds.messages.values.tolist() == hirschberg_sinclair(uid), uid
        assert (ds.leader == uid.max()).all()
        assert not ds.reductions.any()


@pytest.mark.parametrize(("n", "elects"), [(64, 329), (256, 1_438), (1_024, 7_576)])
def test_an_identifier_goes_as_far_as_a_larger_one(n, elects):
    graph = genval.graph("ring", n)
    ds = dgsuite.run("lcr", graph, style="serial")
    assert int(ds.messages[:n].sum()) == elects
    assert ds.messages[n:].values.tolist() == [1] * n  # the leader's news
    assert genval.validate("lcr", graph, ds).ok


def test_the_order_of_identifiers_decides_how_many_messages_there_are():
    n = 50
    found = [
        int(dgsuite.run("lcr", ring(uid), style="serial").messages.sum())
        for uid in (np.arange(n), np.arange(n)[::-1].copy())
    ]
    assert found == [2 * n - 1 + n, n * (n + 1) // 2 + n]


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
