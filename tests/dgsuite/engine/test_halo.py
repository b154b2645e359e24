"""The halo of a site: its slots and lists, and the broadcasts that travel by them."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from dgsuite.base.errors import RunError
from dgsuite.core.engine import registry
from dgsuite.core.engine.program import Step, Tally, steps
from dgsuite.core.engine.site import Site
from dgsuite.kernels import BellmanFord
from dgsuite.kernels.analytics.bfs import BreadthFirst
from dgsuite.kernels.bsp import Broadcast, broadcast
from dgsuite.partition.graph.graph import Graph
from tests.support.toys import Toy


def test_only_halo_values_travel():
    """A broadcast travels once to each site that has the node as a ghost, not once an edge."""
    star = Graph.from_networkx(nx.star_graph(99), clusters=2)
    site = Site(BellmanFord(root=0), star.parts[:1], np.array([0, 1, 2]), 0)
    first = next(steps(site.kernel, star.n, lambda over: None))
    parcels = site.step(first)
    assert site.tally.messages == 99
    assert len(parcels[1].fields["distance"]) == 1


def test_a_broadcast_says_how_many_messages_it_makes():
    """With two sites exactly; among more, what leaves is shared out by what each reads."""
    graph = Graph.from_networkx(nx.gnm_random_graph(60, 300, seed=4), clusters=4)
    for ends in ([0, 2, 4], [0, 1, 4], [0, 1, 2, 4]):
        bounds = np.array(ends)
        sites = [
            Site(BreadthFirst(root=0), graph.parts[a:b], bounds, me)
            for me, (a, b) in enumerate(pairwise(ends))
        ]
        nodes = np.arange(0, 15, 3)
        step = Step(0, "visit", True, 0)
        said = []
        for site in sites:
            sent = {Broadcast: [(k, broadcast(nodes)) for k in range(len(site.clusters))]}
            said.append(registry.send(site.mailbox, step, sent, Tally()))
        reach = real = 0
        for me, site in enumerate(sites):
            found = registry.deliver(
                site.mailbox, {s: p[me] for s, p in enumerate(said) if me in p}
            )
            if len(ends) == 3:
                assert found.reach == len(found.messages.row)
            reach += found.reach
            real += len(found.messages.row)
        assert real - len(sites) < reach <= real  # shares are rounded down


def test_a_broadcast_from_a_node_elsewhere_is_refused():
    graph = Graph.from_networkx(nx.path_graph(6), clusters=2)
    site = Site(BreadthFirst(root=0), graph.parts[:1], np.array([0, 1, 2]), 0)
    for node in (-1, 3):
        sent = {Broadcast: [(0, broadcast(np.array([node])))]}
        with pytest.raises(
            RunError, match=f"cluster 0: broadcasts from node {node}, which does not"
        ):
            registry.send(site.mailbox, Step(0, "visit", True, 0), sent, Tally())


def test_sparse_and_dense_halo_lists_agree():
    n = 400
    edges = nx.complete_bipartite_graph(n // 2, n // 2)
    graph = Graph.from_networkx(edges, clusters=2)
    for senders in (1, 5, 60, 199, 200):
        site = Site(Toy(), graph.parts[:1], np.array([0, 1, 2]), 0)
        peer = Site(Toy(), graph.parts[1:], np.array([0, 1, 2]), 1)
        nodes = np.sort(np.random.default_rng(senders).permutation(n // 2)[:senders])
        store = site.mailbox.broadcasts
        store.expect(["value"], senders)
        store.put(nodes, {"value": nodes * 3}, slice(0, n // 2))
        (batch,) = site.mailbox.broadcasts.pack(["value"]).values()
        found = peer.mailbox.broadcasts
        found.unpack(0, batch)
        (heard,) = [part.members for part in found.senders()]
        np.testing.assert_array_equal(found.halo.named(heard), nodes)
        np.testing.assert_array_equal(found.values("value")[heard], nodes * 3)
        assert batch.nbytes <= nodes.nbytes + max(4 * senders, n // 16)
        for each in (store, found):
            each.clear()
            assert not each.sent.any()
