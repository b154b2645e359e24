"""The exchange between sites, without sockets: any number of sites in one process, also in shared memory."""

import pickle
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, RunError
from dgsuite.core.engine.broadcast_store import Window
from dgsuite.core.engine.program import reduce_votes, steps
from dgsuite.core.engine.site import Site
from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS, MIS, BellmanFord
from tests.support import toys
from tests.support.cases import NAMES, cuts, graphs, in_turn, inputs
from tests.support.examples import examples
from tests.support.faulty import Fails
from tests.support.sites import alone, assert_same, simulate

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
        found = simulate(kernel, cut, data.draw(st.integers(1, 5)), shared=shared)
        assert_same(serial.run(kernel, whole.parts), found, messages=not kernel.obeys.ships)
        if kernel.obeys.ships:
            assert_same(alone(kernel, cut), found)

    check()


TOYS = [toys.MutatesInPlace(), toys.MutatesAfterSending(), toys.Order(), toys.Reductions()]
TOYS += [toys.Votes(), toys.EmptyInbox()]
TOYS += [toys.Folded(combine=op) for op in ("min", "max", "sum", "or")]
KERNEL = st.sampled_from([MIS(), MIS(faithful=True), BellmanFord(), *TOYS])


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

    @given(graphs(), KERNEL, st.integers(1, 5))
    def check(pair, kernel, sites):
        whole, cut = pair
        found = simulate(kernel, cut, sites, shared=shared)
        assert_same(serial.run(kernel, whole.parts), found)

    check()


@given(graphs(), KERNEL)
def test_pickled_before_every_phase(pair, kernel):
    whole, cut = pair

    def disturb(site):
        site.kernel, site.states = pickle.loads(pickle.dumps((site.kernel, site.states)))

    if whole.partition.order is None and cut.partition.order is None:
        found = serial.run(kernel, cut.parts, before_phase=disturb)
        assert_same(serial.run(kernel, whole.parts), found)


def test_phases_are_light():
    """A kernel's bound phase pickles to a name and its parameters."""
    for kernel in KERNELS.values():
        assert len(pickle.dumps(kernel().start)) < 300


def test_remote_messages_are_those_between_clusters():
    graph = nx.gnm_random_graph(40, 120, seed=1)
    for clusters in (1, 4, 40):
        cut = Graph.from_networkx(graph, clusters=clusters)
        _, log = serial.run(toys.MutatesInPlace(), cut.parts)
        owner = cut.partition.owner(np.arange(40))
        across = sum(2 for u, v in graph.edges if owner[u] != owner[v])
        assert log["messages"][0] == 2 * 120
        assert log["remote"][0] == across


def test_only_halo_values_travel():
    """A broadcast travels once to each site that has the node as a ghost, not once an edge."""
    star = Graph.from_networkx(nx.star_graph(99), clusters=2)
    site = Site(BellmanFord(root=0), star.parts[:1], np.array([0, 1, 2]), 0)
    first = next(steps(site.kernel, star.n, lambda over: None))
    parcels = site.step(first)
    assert site.tally.messages == 99
    assert len(parcels[1].fields["distance"]) == 1


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


def test_a_failure_names_its_place():
    graph = Graph.from_networkx(nx.cycle_graph(6), clusters=3)
    with pytest.raises(RunError, match="round 3, phase 'send', cluster 2: ZeroDivisionError: "):
        serial.run(Fails(), graph.parts)


def test_messages_may_have_more_fields_than_a_number_has_bits():
    graph = Graph.from_networkx(nx.cycle_graph(9), client=None, clusters=3)
    whole = serial.run(toys.ManyFields(), graph.parts)
    assert_same(whole, simulate(toys.ManyFields(), graph, 3, shared=True))


def run_ahead(kernel, graph, sites, order):
    """Outputs where each site in turn goes on as far as the barriers let it, before others have read what it
    wrote before.

    Parameters
    ----------
    order
        Called for the order of the sites, after each barrier.
    """
    clusters = graph.parts
    count = min(sites, len(clusters))
    bounds = np.arange(count + 1) * len(clusters) // count
    run = [Site(kernel, clusters[a:b], bounds, me) for me, (a, b) in enumerate(pairwise(bounds))]
    memory = np.full(Window.size(graph.n, count, run[0].mailbox.dtypes), 7, np.uint8)
    votes, said = [[] for _ in run], [None] * count

    def reply(me):
        def reduced(over):
            found = reduce_votes(votes[me])
            votes[me].clear()
            return lambda: found

        return reduced

    for site in run:
        assert site.mailbox.slots >= 0  # workers make this halo first
        site.mailbox.share(memory)
        site.warm()
    programs = [steps(kernel, graph.n, reply(me), 1000) for me in range(count)]
    parcels = [{} for _ in run]
    going, begun = True, False
    while going:
        sent = [{} for _ in run]
        for me in order(count):
            site = run[me]
            if begun:
                site.deliver(parcels[me])
            while (step := next(programs[me], None)) is not None:
                found = site.step(step)
                if not site.quiet:
                    for to, parcel in found.items():
                        sent[to][me] = parcel
                    break
                site.deliver({})
            said[me] = site.tally.vote
            going = step is not None
        parcels, begun = sent, True
        for own in votes:
            own.append(reduce_votes(said))
    names = kernel.outputs
    return {name: np.concatenate([site.outputs()[name] for site in run]) for name in names}


@pytest.mark.parametrize("name", ["bfs", "cdlp", "matching", "mis", "sssp", "wcc"])
@given(st.data())
@examples(30)
def test_a_site_may_go_ahead(name, data):
    """It never writes what others have yet to read."""
    kernel, make = data.draw(inputs(name))
    whole = make()
    cut = make(clusters=data.draw(st.integers(1, whole.n)))
    sites = data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    found = run_ahead(kernel, cut, sites, rng.permutation)
    for output, values in serial.run(kernel, whole.parts)[0].items():
        np.testing.assert_array_equal(found[output], values)


def path(**how):
    """One site reads a third of the other's nodes, and the other a sixth of the first's."""
    return Graph.from_edges(np.arange(8), np.arange(1, 9), n=9, **how)


def corner(**how):
    """One site reads nodes 6 and 8 of the other; node 8, first in rank, shares no list."""
    return Graph.from_edges([0, 0, 6, 1], [6, 8, 8, 8], n=13, **how)


LOPSIDED = [(path, {"clusters": 3}), (corner, {"partition": [0] * 5 + [1] * 8})]
"""Graphs cut so that one site reads many nodes of the other, which reads few of its own."""


@pytest.mark.parametrize("name", ["ktruss", "lcc", "triangles"])
@pytest.mark.parametrize(("make", "cut"), LOPSIDED)
def test_lists_reach_their_nodes_where_sites_share_memory(make, cut, name, client):
    kernel, graph = KERNELS[name](), make(**cut)
    expected, log = serial.run(kernel, make(clusters=1).parts)
    assert_same((expected, log), simulate(kernel, graph, 2, shared=True))
    found = dgsuite.run(name, graph, style="clocked", client=client)
    for output, values in expected.items():
        np.testing.assert_array_equal(found[output], values)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["ktruss", "lcc", "triangles"])
@pytest.mark.parametrize("n", [5, pytest.param(6, marks=pytest.mark.long)])
def test_lists_reach_their_nodes_in_every_small_graph(n, name):
    """Of all graphs, however they are cut in two."""
    for net in nx.graph_atlas_g():
        for first in range(1, n) if len(net) == n else ():
            cut = Graph.from_networkx(net, partition=[0] * first + [1] * (n - first))
            whole = Graph.from_networkx(net, clusters=1)
            found = simulate(KERNELS[name](), cut, 2, shared=True)
            assert_same(serial.run(KERNELS[name](), whole.parts), found)
