"""The exchange between sites, without sockets: any number of sites in one process."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite.base.errors import RunError
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.site import Site
from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS, MIS, BellmanFord
from dgsuite.kernels.analytics.pagerank import PageRank
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import incoming
from tests.support.cases import NAMES, cuts, graphs, in_turn, inputs
from tests.support.examples import examples
from tests.support.faulty import Fails
from tests.support.schedules import Shuffled
from tests.support.sites import alone, assert_same, simulate
from tests.support.toys import (
    Calls,
    EmptyInbox,
    Folded,
    MutatesAfterSending,
    MutatesInPlace,
    Order,
    Reductions,
    Votes,
)

POOLS = st.one_of(st.none(), st.integers(0, 99).map(Shuffled), st.just(ThreadPoolExecutor(3)))
"""How the clusters of a site run: in order, in another order, or side by side."""


WAYS = [(False, False), (True, True), (False, True), (True, False)]
"""Whether graphs take the way of large ones, and sites share memory."""


@pytest.mark.parametrize(("name", "way"), in_turn(NAMES, WAYS))
def test_any_cut_gives_the_same_for_every_kernel(name, way, monkeypatch):
    compiled, shared = way
    if compiled:
        monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)

    @given(st.data())
    @examples(2 if compiled else 4)
    def check(data):
        kernel, make = data.draw(inputs(name))
        whole = make()
        cut = make(**data.draw(cuts(whole.n)))
        sites, pool = data.draw(st.integers(1, 5)), data.draw(POOLS)
        found = simulate(kernel, cut, sites, shared=shared, pool=pool)
        assert_same(serial.run(kernel, whole.parts), found, messages=not kernel.obeys.ships)
        if kernel.obeys.ships:
            assert_same(alone(kernel, cut), found)

    check()


KERNEL = st.sampled_from(
    [
        MIS(),
        MIS(faithful=True),
        BellmanFord(),
        MutatesInPlace(),
        MutatesAfterSending(),
        Order(),
        Reductions(),
        Votes(),
        EmptyInbox(),
        *(Folded(combine=op) for op in ("min", "max", "sum", "or")),
    ]
)


def test_all_nodes_of_a_small_cluster_send_and_some_of_a_large_one():
    """Both are heard on the other site."""
    src = np.concatenate([[60, 60, 0, 1], np.arange(2, 40)])
    dst = np.concatenate([[0, 1, 70, 71], 40 + np.arange(2, 40) % 20])
    owner = np.digitize(np.arange(80), [1, 40, 60])
    kernel = BellmanFord(root=60)
    whole = Graph.from_edges(src, dst, n=80)
    cut = Graph.from_edges(src, dst, n=80, partition=owner)
    assert_same(serial.run(kernel, whole.parts), simulate(kernel, cut, 2))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_any_cut_gives_the_same(compiled, shared, monkeypatch):
    if compiled:
        monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)

    @given(graphs(), KERNEL, st.integers(1, 5), POOLS)
    def check(pair, kernel, sites, pool):
        whole, cut = pair
        found = simulate(kernel, cut, sites, shared=shared, pool=pool)
        assert_same(serial.run(kernel, whole.parts), found)

    check()


@pytest.mark.parametrize("compiled", [False, True])
def test_directed_broadcasts_that_are_read_along_edges_are_the_same(compiled, monkeypatch):
    """As when they are sent along edges one by one: outputs, rounds, messages."""
    if compiled:
        monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)
    some = st.sampled_from([BellmanFord(), Reductions(), PageRank(iterations=3)])

    @given(graphs(directed=True), some, st.integers(1, 5), POOLS)
    @examples(30)
    def check(pair, kernel, sites, pool):
        whole, cut = pair
        one_by_one = serial.run(kernel, whole.parts)
        assert_same(one_by_one, serial.run(kernel, incoming(whole).parts))
        assert_same(one_by_one, simulate(kernel, incoming(cut), sites, pool=pool))

    check()


@dataclass(frozen=True)
class Against(Reductions):
    """The same along the edges that come in."""

    def send(self, c, s, inbox):
        return super().send(c, s, inbox)._replace(backwards=True)


@pytest.mark.parametrize("compiled", [False, True])
def test_broadcasts_backwards_are_those_of_the_reversed_graph(compiled, monkeypatch):
    if compiled:
        monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)

    @given(graphs(directed=True), st.integers(1, 5))
    @examples(30)
    def check(pair, sites):
        whole, cut = pair
        forwards = serial.run(Reductions(), whole.reversed().parts)
        assert_same(forwards, simulate(Against(), incoming(cut), sites))
        with pytest.raises(RunError, match="needs pulls = True"):
            serial.run(Against(), whole.parts)

    check()
    ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], clusters=2)
    assert_same(serial.run(Reductions(), ring.parts), simulate(Against(), ring, 2))


def test_traces_of_broadcasts_backwards():
    rng = np.random.default_rng(4)
    graph = Graph.from_edges(*rng.integers(0, 30, (2, 90)), n=30, directed=True, clusters=4)

    @dataclass(frozen=True)
    class Forwards(Reductions):
        undirected: ClassVar[bool] = False

    @dataclass(frozen=True)
    class Backwards(Against):
        undirected: ClassVar[bool] = False
        pulls: ClassVar[bool] = True

    found = dgsuite.run(Backwards, graph, style="serial", trace=True).traffic
    there = dgsuite.run(Forwards, graph.reversed(), style="serial", trace=True).traffic
    np.testing.assert_array_equal(found, there)


@given(graphs(), KERNEL)
def test_pickled_before_every_phase(pair, kernel):
    whole, cut = pair

    def disturb(site):
        site.kernel, site.states = pickle.loads(pickle.dumps((site.kernel, site.states)))

    if whole.partition.order is None and cut.partition.order is None:
        assert_same(
            serial.run(kernel, whole.parts), serial.run(kernel, cut.parts, before_phase=disturb)
        )


def test_phases_are_light():
    """A kernel's bound phase pickles to a name and its parameters."""
    for kernel in KERNELS.values():
        assert len(pickle.dumps(kernel().start)) < 300


def test_remote_messages_are_those_between_clusters():
    graph = nx.gnm_random_graph(40, 120, seed=1)
    for clusters in (1, 4, 40):
        cut = Graph.from_networkx(graph, clusters=clusters)
        _, log = serial.run(MutatesInPlace(), cut.parts)
        owner = cut.partition.owner(np.arange(40))
        across = sum(2 for u, v in graph.edges if owner[u] != owner[v])
        assert log["messages"][0] == 2 * 120
        assert log["remote"][0] == across


def test_live_links_count_remote_neighbours_only():
    graph = nx.gnm_random_graph(60, 200, seed=2)
    messages, remote = [], []
    for clusters in (1, 6, 60):
        _, log = serial.run(MIS(), Graph.from_networkx(graph, clusters=clusters).parts)
        messages.append(log["messages"].tolist())
        remote.append(log["remote"].tolist())
    assert messages[0] == messages[1] == messages[2]
    assert remote[0] == [0] * len(remote[0])
    assert remote[2] == messages[2]
    assert all(0 <= r <= m for r, m in zip(remote[1], messages[1], strict=True))


@pytest.mark.parametrize(
    ("graph", "root", "rounds"),
    [
        (nx.star_graph(7), 0, 1),
        (nx.star_graph(7), 3, 2),
        (nx.path_graph(5), 0, 4),
        (nx.cycle_graph(6), 0, 4),  # the last one has another neighbour, and tells it
        (nx.empty_graph(3), 1, 1),
    ],
)
def test_a_search_ends_with_its_leaves(graph, root, rounds):
    for clusters in (1, 3):
        ds = dgsuite.run("bfs", Graph.from_networkx(graph), root=root, clusters=clusters)
        assert ds.sizes["round"] == rounds
        lengths = nx.single_source_shortest_path_length(graph, root)
        assert ds.level.values.tolist() == [lengths.get(v, -1) for v in graph]


@pytest.mark.parametrize("how", ["nodes", "hash"])
@pytest.mark.parametrize("sites", [1, 2, 3])
def test_what_is_known_need_not_travel(sites, how):
    graph = nx.gnm_random_graph(30, 45, seed=8)
    cut = Graph.from_networkx(graph, clusters=5, partition=how)
    for node in graph:
        told = simulate(Calls(node=node, anyway=False), cut, sites)
        knew = simulate(Calls(node=node), cut, sites)
        assert_same(knew, told)
        assert np.flatnonzero(knew[0]["got"] == node).tolist() == sorted(graph[node])
        bounds = np.arange(sites + 1) * 5 // sites
        for me, (a, b) in enumerate(pairwise(bounds)):
            site = Site(Calls(node=node), cut.parts[a:b], bounds, me)
            assert not site.step(Step(0, "send", False, 0))
            assert site.quiet


def test_a_failure_names_its_place():
    graph = Graph.from_networkx(nx.cycle_graph(6), clusters=3)
    with pytest.raises(
        RunError, match=r"round 3, phase 'send', cluster 2: ZeroDivisionError: no such luck"
    ):
        serial.run(Fails(), graph.parts)
