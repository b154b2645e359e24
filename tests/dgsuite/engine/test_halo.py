"""The halo of a site: its slots and lists, and the broadcasts that travel by them."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.base.errors import RunError
from dgsuite.core.engine import registry
from dgsuite.core.engine.mailbox import Halos
from dgsuite.core.engine.program import Step, Tally, steps
from dgsuite.core.engine.site import Site
from dgsuite.kernels import BellmanFord
from dgsuite.kernels.analytics.bfs import BreadthFirst
from dgsuite.kernels.bsp import Broadcast, broadcast
from dgsuite.partition.clusters.halo import READ_ALONE_UP_TO, make_halo
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import incoming
from tests.support.cases import graphs
from tests.support.toys import Toy


def test_a_halo_that_has_slots_for_all_nodes_is_made_once():
    """Two of a complete graph would be the same."""
    bounds = np.array([0, 1, 2])
    for graph, same in ((nx.complete_graph(8), True), (nx.path_graph(8), False)):
        parts = Graph.from_networkx(graph, clusters=2).parts[:1]
        read = Halos.of(parts).get(parts, bounds, 0, False)
        assert (Halos.of(parts).get(parts, bounds, 0, True) is read) == same


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


@given(st.booleans().flatmap(lambda directed: graphs(directed)), st.integers(1, 4))
def test_halos_of_all_sites_fit_together(whole_and_cut, sites):
    """What one sends is what the other has slots for, and edges are the clusters', either way round."""
    _, graph = whole_and_cut
    graph = incoming(graph) if graph.directed else graph
    sites = min(sites, len(graph.parts))
    bounds = np.arange(sites + 1) * len(graph.parts) // sites
    groups = [graph.parts[a:b] for a, b in pairwise(bounds)]
    halos = [make_halo(group, bounds, me) for me, group in enumerate(groups)]
    for me, (halo, group) in enumerate(zip(halos, groups, strict=True)):
        ids = halo.named(np.arange(halo.slots))
        own = np.concatenate([c.ids for c in group])
        np.testing.assert_array_equal(ids[halo.first : halo.first + halo.own], own)
        for indices, found in (
            ([c.indices for c in group], halo.out_indices),
            ([c.senders[1] for c in group], halo.indices),
        ):
            neighbours = np.concatenate(indices)
            np.testing.assert_array_equal(ids[found], neighbours)
        edges = set(zip(np.repeat(own, np.diff(halo.indptr)), neighbours, strict=True))
        pushed = []
        for slot in range(halo.slots):
            out = halo.out(np.array([slot]))
            rows = out.indices[out.indptr[slot - out.shift] : out.indptr[slot - out.shift + 1]]
            rows = rows - out.base
            rows = rows[(rows >= 0) & (rows < halo.own)]
            pushed += [(own[row], ids[slot]) for row in rows]
        assert len(pushed) == len(set(pushed))
        assert set(pushed) == edges
        elsewhere = [sum(v not in own for v in c.indices) for c in group]
        assert halo.away.sum() == sum(elsewhere)
        for peer, slots in halo.send.items():
            there = halos[peer]
            np.testing.assert_array_equal(
                ids[slots], there.named(np.arange(there.slots))[there.land[me]]
            )
            assert (peer in halo.needed) == (me in there.wanted)
            if peer in halo.needed:
                needed = ids[halo.needed[peer]]
                np.testing.assert_array_equal(
                    needed, there.named(np.arange(there.slots))[there.wanted[me]]
                )
                reached = [[*c.indices, *c.senders[1]] for c in groups[peer]]
                assert {*needed.tolist()} == {*own.tolist()} & {*np.concatenate(reached).tolist()}
                assert len(needed) <= READ_ALONE_UP_TO * halo.own
