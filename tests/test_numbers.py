"""Counts and number types at their edges."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from loud import TIMES, Loud, LoudTasks

import dgsuite
from dgsuite.program import COUNTED, Step
from dgsuite.site import Site
from kernels.rng import uniform
from partition.graph import Graph

STYLES = ("serial", "clocked", "finish_async")
COUNTS = ("messages", "remote_messages", "bytes", "active", "comm", "mutexes", "finishes", "asyncs")


def star_beside(seed: int, star: bool) -> Graph:
    """A star of 60,001 nodes, or its nodes alone, beside a random graph of 500."""
    leaves = np.arange(1, 60_001) if star else np.empty(0, np.int64)
    random = np.random.default_rng(seed).integers(60_001, 60_501, (2, 1000))
    src = np.concatenate([np.zeros(len(leaves), np.int64), random[0]])
    return Graph.from_edges(src, np.concatenate([leaves, random[1]]), n=60_501)


@pytest.mark.parametrize("style", STYLES)
def test_mis_counts_what_a_large_star_sends(client, style):
    leaves, seed = 60_000, 107
    how = {"style": style, "clusters": 3, "faithful": True, "seed": seed, "count_as": "clocked"}
    how |= {"client": client} if style != "serial" else {}
    whole = dgsuite.run("mis", star_beside(5, True), **how)
    rest = dgsuite.run("mis", star_beside(5, False), **how)
    draws = uniform("imsuite", seed, np.arange(leaves + 1), 0)
    winners = int(np.count_nonzero(draws[1:] < draws[0]))
    # all draw; winners tell the hub; it tells all of each winner
    sent = {"draw": 2 * leaves, "compete": winners, "retire": leaves * winners}
    assert sent["retire"] > 2**31
    assert int(whole.messages[0] - rest.messages[0]) == sum(sent.values())
    comm = sent["draw"] + 3 * sent["compete"] + sent["retire"]
    assert int(whole.comm[0] - rest.comm[0]) == comm
    mutexes = sent["draw"] + 3 * sent["compete"] + 2 * sent["retire"]
    assert int(whole.mutexes[0] - rest.mutexes[0]) == mutexes
    assert (whole.remote_messages >= 0).all()
    serial = dgsuite.run("mis", star_beside(5, True), **{**how, "style": "serial"})
    for name in COUNTS:
        np.testing.assert_array_equal(whole[name], serial[name], err_msg=name)


EDGES = 2 * 3  # ends of the edges of a path of four nodes
SENT = {
    "repeat": EDGES * TIMES,
    "to": 4 * TIMES,
    "links": 4 * TIMES,
    "links and repeat": 16 * TIMES,
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("how", SENT)
def test_broadcasts_are_counted_beyond_32_bits(client, how, style):
    graph = Graph.from_networkx(nx.path_graph(4), clusters=4)
    on = {} if style == "serial" else {"client": client}
    ds = dgsuite.run(Loud(how=how), graph, style=style, **on)
    assert int(ds.messages.sum()) == SENT[how]
    assert ds.remote_messages.sum("round").to_series().to_dict() == {
        "SP": 0,
        "MP": SENT[how],
        "UP": SENT[how],
    }
    assert int(ds.bytes.sum()) == 8 * SENT[how]


@pytest.mark.parametrize("style", STYLES)
def test_announcements_are_counted_beyond_32_bits(client, style):
    n = 50_000
    on = {} if style == "serial" else {"client": client}
    graph = Graph.from_edges([0], [1], n=n, clusters=2)
    ds = dgsuite.run(Loud(how="announce"), graph, style=style, count_as="clocked", **on)
    assert int(ds.messages.sum()) == n * (n - 1)
    assert int(ds.remote_messages.sel(model="MP").sum()) == n * n // 2
    assert int(ds.bytes.sum()) == 8 * n * (n - 1)
    assert int(ds.mutexes.sum()) == n * (n - 1)


@pytest.mark.parametrize("style", STYLES)
def test_spawned_tasks_are_counted_beyond_32_bits(client, style):
    graph = Graph.from_networkx(nx.path_graph(4), clusters=4)
    on = {} if style == "serial" else {"client": client}
    ds = dgsuite.run(LoudTasks(), graph, style=style, **on)
    assert int(ds.messages.sum()) == EDGES * TIMES
    assert int(ds.remote_messages.sel(model="MP").sum()) == EDGES * TIMES


@pytest.mark.parametrize("how", [*SENT, "plain", "known", "announce", "ship", "unicast"])
def test_each_kind_of_message_is_counted_in_integers_of_any_size(how):
    """Of those that no small graph can send so many of, too."""
    parts = Graph.from_networkx(nx.path_graph(4), clusters=2).parts
    site = Site(Loud(how=how), parts, [0, 2], 0)
    site.step(Step(0, "send", False, 0))
    assert site.tally.messages > 0
    assert {name: type(getattr(site.tally, name)) for name in COUNTED} == {
        name: float if name == "toil" else int for name in COUNTED
    }


@pytest.mark.parametrize("messages", [3, 40_000])
def test_an_inbox_counts_in_64_bits(messages):
    """Listed or reduced along edges, so that what a kernel makes of its counts is the same."""
    graph = Graph.from_networkx(nx.star_graph(messages), clusters=1)
    site = Site(Loud(how="plain"), graph.parts, [0, 1], 0)
    site.step(Step(0, "send", False, 0))
    site.deliver({})
    found = []
    site.call = lambda step, k, inbox, tasks=None: found.append(inbox.count())
    site.step(Step(0, "read", True, 0))
    nodes, counts, away = found[0]
    assert (counts[0], len(nodes)) == (messages, messages + 1)
    assert {counts.dtype, away.dtype} == {np.dtype(np.int64)}


def test_what_a_node_sends_itself_is_remote_nowhere():
    alone = dgsuite.run("lcr", Graph.from_edges([0], [0], n=1), style="serial")
    assert (alone.messages.sum(), alone.remote_messages.sum()) == (1, 0)
    graph = Graph.from_networkx(nx.path_graph(6), clusters=6)
    ds = dgsuite.run(Loud(how="to itself"), graph, style="serial")
    assert (ds.messages.sum(), *ds.remote_messages.sum("round")) == (6, 0, 3, 3)
    ds = dgsuite.run(LoudTasks(to_self=True), graph, style="serial")
    assert (ds.messages.sum(), *ds.remote_messages.sum("depth")) == (6 * TIMES, 0, 0, 0)
