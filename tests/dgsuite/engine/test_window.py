"""Sites that store broadcasts in memory that all of them share."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite.core.engine.program import reduce_votes, steps
from dgsuite.core.engine.shared_broadcasts import Window
from dgsuite.core.engine.site import Site
from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS
from dgsuite.kernels.analytics.pagerank import PageRank
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import incoming
from tests.support.cases import graphs, inputs
from tests.support.examples import examples
from tests.support.sites import assert_same, simulate
from tests.support.toys import ManyFields, Reductions


@given(graphs(directed=True), st.integers(1, 5))
def test_along_edges_of_directed_graphs(pair, sites):
    whole, cut = pair
    for kernel in (Reductions(), PageRank(iterations=3)):
        found = simulate(kernel, incoming(cut), sites, shared=True)
        assert_same(serial.run(kernel, incoming(whole).parts), found)


def test_messages_may_have_more_fields_than_a_number_has_bits():
    graph = Graph.from_networkx(nx.cycle_graph(9), client=None, clusters=3)
    whole = serial.run(ManyFields(), graph.parts)
    assert_same(whole, simulate(ManyFields(), graph, 3, shared=True))


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
        assert site.mailbox.ghosts >= 0  # workers make this halo first
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
