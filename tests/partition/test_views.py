"""Views of directed graphs: reversed, both ways, without directions."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.kernels import KERNELS, bsp
from dgsuite.partition.clusters.cluster import IN, OUT
from dgsuite.partition.graph import views
from dgsuite.partition.graph.data import Cache
from dgsuite.partition.graph.views import both_ways, incoming


@pytest.fixture(autouse=True)
def current(client):
    """Collections are computed by the client of these tests, also where other tests have made more."""
    with client.as_current():
        yield


@st.composite
def directed(draw, most=12):
    """A directed graph of networkx, maybe weighted, and a way to cut it."""
    n = draw(st.integers(1, most))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    ends = [(u, v) for u, v in draw(st.lists(pair, max_size=30)) if u != v]
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(ends)
    if draw(st.booleans()):
        for u, v in graph.edges:
            graph.edges[u, v]["weight"] = (3 * u + 5 * v) % 7
    clusters = draw(st.integers(1, 4))
    owner = st.lists(st.integers(0, clusters - 1), min_size=n, max_size=n).map(np.array)
    how = {"partition": draw(owner)} if draw(st.booleans()) else {}
    return graph, {"clusters": clusters, **how}


def blind(graph):
    """The undirected graph of a directed one: of two weights the smaller one stays."""
    found = nx.Graph()
    found.add_nodes_from(graph)
    for u, v, data in graph.edges(data=True):
        if not found.has_edge(u, v) or data.get("weight", 0) < found.edges[u, v].get("weight", 0):
            found.add_edge(u, v, **data)
    return found


def entries(graph):
    """By row and neighbour: direction, weight out, weight in."""
    found = {}
    for c in graph.gather():
        rows = c.ids[np.repeat(np.arange(c.size), c.degree)]
        out, back = (np.zeros(len(rows)) if w is None else w for w in (c.weights, c.weights_in))
        assert c.directions.dtype == np.uint8
        for u, v, *rest in zip(rows, c.indices, c.directions, out, back, strict=True):
            found[int(u), int(v)] = tuple(int(x) for x in rest)
    return found


def entries_of(graph):
    """The same from networkx."""
    found = {}
    for u, v in [*graph.edges, *graph.reverse().edges]:
        there, back = (graph.edges.get(e, {}).get("weight") for e in ((u, v), (v, u)))
        bits = OUT * ((u, v) in graph.edges) + IN * ((v, u) in graph.edges)
        some = there if there is not None else back
        found[u, v] = bits, some or 0, (back if back is not None else some) or 0
    return found


@given(directed())
def test_views_are_those_of_networkx(case):
    expected, how = case
    graph = Graph.from_networkx(expected, **how)
    assert nx.utils.graphs_equal(graph.reversed().to_networkx(), expected.reverse())
    assert nx.utils.graphs_equal(graph.to_undirected().to_networkx(), blind(expected))
    view = both_ways(graph)
    assert both_ways(graph) is view
    assert entries(view) == entries_of(expected)
    assert not any(c.directed for c in view.parts)
    for made in (graph.reversed(), graph.to_undirected(), view):
        assert made.partition == graph.partition
        assert all((np.diff(made.to_scipy()[[i]].indices) > 0).all() for i in range(graph.n))
        assert all(c.index == k for k, c in enumerate(made.parts))


def test_views_keep_labels_and_follow_the_partition():
    graph = Graph.from_edges(list("xyz"), list("yzx"), directed=True, relabel=True, clusters=2)
    assert sorted(graph.reversed().to_networkx().edges) == [("x", "z"), ("y", "x"), ("z", "y")]
    assert sorted(graph.to_undirected().to_networkx().edges) == [("x", "y"), ("x", "z"), ("y", "z")]
    assert both_ways(graph.repartition(3)).partition == graph.repartition(3).partition
    assert both_ways(graph).partition == graph.partition


def test_undirected_graphs_are_their_own_views():
    graph = Graph.from_edges([0, 1], [1, 2], clusters=2)
    assert graph.reversed() is graph.to_undirected() is graph
    assert all(c.directions is None for c in graph.parts)


@pytest.mark.few(1)
@pytest.mark.parametrize("partition", ["nodes", "hash"])
def test_views_are_made_on_the_workers(client, partition):
    rng = np.random.default_rng(7)
    src, dst = rng.integers(0, 900, (2, 150_000))
    weights = rng.integers(1, 99, len(src))
    uid = rng.permutation(1000)
    on_workers, local = (
        Graph.from_edges(
            src,
            dst,
            n=1000,
            weights=weights,
            uid=uid,
            directed=True,
            partition=partition,
            clusters=3,
            client=c,
        )
        for c in (client, None)
    )
    assert not on_workers.local
    for make in (Graph.reversed, Graph.to_undirected):
        made = make(on_workers)
        assert not made.local
        assert (made.to_scipy() != make(local).to_scipy()).nnz == 0
        assert made.m == make(local).m
    for make in (Graph.component, lambda graph: graph.subgraph(np.arange(40, 999))):
        made, expected = make(on_workers), make(local)
        assert not made.local
        assert (made.to_scipy() != expected.to_scipy()).nnz == 0
        assert made.labels.array.tolist() == expected.labels.array.tolist()
        assert made.uid.compute().tolist() == uid[expected.labels.array].tolist()
    for name in ("degree", "in_degree", "out_degree"):
        found, expected = (getattr(g, name).compute() for g in (on_workers, local))
        assert found.tolist() == expected.tolist()
    view = both_ways(on_workers)
    assert not view.local
    assert entries(view) == entries(both_ways(local))


DIRECTED = np.random.default_rng(5).integers(0, 300, (2, 900))


@pytest.mark.parametrize("make", [both_ways, incoming])
def test_a_view_is_where_its_graph_is(client, make):
    here = Graph.from_edges(*DIRECTED, n=300, directed=True, clusters=2, client=None)
    assert make(here).local
    there = here.persist(client)
    view = make(there)
    assert not view.local
    assert make(there) is make(there.recut(there.partition)) is view
    back = there.compute()
    assert make(back).local
    assert not make(there).local


def test_a_graph_that_was_computed_needs_no_client(client):
    from distributed import Client

    here = Graph.from_edges(*DIRECTED, n=300, directed=True, clusters=2, client=None)
    with Client(client.scheduler.address, set_as_default=False) as own:
        there = here.persist(own)
        expected = dgsuite.run("pagerank", there, style="clocked", client=own)
        back = there.compute()
    found = dgsuite.run("pagerank", back, style="serial")
    assert found["rank"].values.tolist() == expected["rank"].values.tolist()


def test_threads_that_run_on_a_directed_graph_share_one_view(client, monkeypatch):
    exchanged, second = [], threading.Event()
    exchange = views.exchanged

    def slow(graph, join):
        exchanged.append(join)
        if exchanged[1:]:
            second.set()
        second.wait(0.5)  # the other thread comes here, if it does not wait for this one
        return exchange(graph, join)

    here = Graph.from_edges(*DIRECTED, n=300, directed=True, clusters=2, client=None)
    expected = dgsuite.run("pagerank", here, style="serial")["rank"].values.tolist()
    monkeypatch.setattr(views, "exchanged", slow)
    for graph in (here.like(here.parts, here.entries), here.persist(client)):
        exchanged.clear()
        second.clear()

        def run(style, graph=graph):
            ds = dgsuite.run("pagerank", graph, style=style, client=client)
            return ds["rank"].values.tolist()

        with ThreadPoolExecutor(2) as pool:
            assert [*pool.map(run, ("clocked", "finish_async"))] == [expected] * 2
        assert len(exchanged) == 1


def test_one_thread_makes_a_value_that_others_wait_for():
    cache, made, waits = Cache(), [], threading.Barrier(4)

    def make():
        made.append(threading.get_ident())
        return cache.get("inner", lambda: [*made])

    def need(_):
        waits.wait()
        return cache.get("outer", make)

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(need, range(4))
    assert all(other is first for other in others)
    assert len(made) == 1
    with pytest.raises(ZeroDivisionError):
        cache.get("wrong", lambda: 1 // 0)
    assert cache.get("wrong", lambda: None) is None
    assert cache.get("wrong", lambda: 1) is None
    assert cache.get("wrong", lambda: 1, valid=lambda value: value is not None) == 1
    for known in (cache, Cache()):
        assert pickle.loads(pickle.dumps(known)).get("outer", lambda: 2) == (
            first if known is cache else 2
        )


@given(directed(), st.booleans(), st.data())
def test_subgraphs_and_components_are_those_of_networkx(case, both, data):
    expected, how = case
    expected = blind(expected) if both else expected
    names = data.draw(st.permutations("abcdefghijkl"[: len(expected)]))
    named = nx.relabel_nodes(expected, dict(zip(expected, names, strict=True)))
    some = data.draw(st.lists(st.sampled_from(range(len(names))), min_size=1))
    for network in (expected, named):
        graph = Graph.from_networkx(network, **how)
        order = [*network]
        chosen = [order[i] for i in some]
        mask = np.isin(np.arange(len(order)), some)
        for nodes in (chosen, set(chosen), np.array(chosen), mask):
            made = graph.subgraph(nodes)
            assert nx.utils.graphs_equal(made.to_networkx(), network.subgraph(chosen))
            assert made.labels.array.tolist() == [v for v in order if v in chosen]
        found = list((nx.connected_components if both else nx.weakly_connected_components)(network))
        largest = max(found, key=lambda nodes: (len(nodes), -min(map(order.index, nodes))))
        for node, wanted in (
            (None, largest),
            (chosen[0], next(f for f in found if chosen[0] in f)),
        ):
            made = graph.component() if node is None else graph.component(node)
            assert nx.utils.graphs_equal(made.to_networkx(), network.subgraph(wanted))


@given(directed(), st.booleans())
def test_degrees_are_those_of_networkx(case, both):
    expected, how = case
    expected = blind(expected) if both else expected
    graph = Graph.from_networkx(expected, **how)
    ways = ["degree"] if both else ["degree", "out_degree", "in_degree"]
    for name in ways:
        degrees = np.array([d for _, d in getattr(expected, name)])
        order = graph.partition.order
        assert (
            getattr(graph, name).compute().tolist()
            == degrees[slice(None) if order is None else order].tolist()
        )


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([3], "3 is not a node: nodes are 0 to 2"),
        ([-1], "-1 is not a node"),
        ([0.5], "nodes 0.5 is not a node: nodes are 0 to 2"),
        (["a"], "nodes 'a' is not a node"),
        ([], "at least one node"),
        ([False] * 3, "nodes False is not a node"),
        (np.zeros(3, bool), "at least one node"),
        (np.ones(2, bool), r"shape \(3,\), got \(2,\)"),
    ],
)
def test_subgraphs_of_what_are_no_nodes(nodes, message):
    graph = Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(InputError, match=message):
        graph.subgraph(nodes)


def test_components_of_what_are_no_nodes():
    with pytest.raises(InputError, match="5 is not a node"):
        Graph.from_edges([0, 1], [1, 2]).component(5)
    with pytest.raises(InputError, match="'z' is not a node"):
        Graph.from_edges(["x"], ["y"], relabel=True).component("z")


def test_a_graph_that_is_not_connected_has_a_component_that_is():
    graph = Graph.from_edges([0, 2, 3], [1, 3, 4])
    with pytest.raises(InputError, match=r"not connected.*graph\.component\(\)"):
        dgsuite.run("dr", graph)
    assert dgsuite.run("dr", graph.component())["node"].values.tolist() == [2, 3, 4]
    whole = Graph.from_edges([0, 2], [1, 1])
    assert whole.component() is whole


@dataclass(eq=False)
class Degrees(bsp.ClusterState):
    """Numbers of neighbours by direction."""

    counts: NDArray[np.int64] = bsp.per_node(0)
    heard: NDArray[np.int64] = bsp.per_node(0)


@dataclass(frozen=True)
class Neighbours(bsp.Kernel):
    """Counts edges out, edges in, and messages of neighbours along edges of either direction."""

    name = "neighbours"
    outputs = {"counts": bsp.Output("100 x out + in"), "heard": bsp.Output("neighbours")}
    state = Degrees
    both_ways = True

    def program(self, net):
        yield bsp.Round(self.send, self.read)

    def send(self, c, s, inbox):
        row = np.repeat(np.arange(c.size), c.degree)
        for bit, unit in ((OUT, 100), (IN, 1)):
            here = np.full(len(row), True) if c.directions is None else c.directions & bit > 0
            s.counts += unit * np.bincount(row[here], minlength=c.size)
        return bsp.broadcast()

    def read(self, c, s, inbox):
        nodes, count, _ = inbox.count()
        s.heard[nodes] = count


@pytest.mark.parametrize("style", ["serial", "finish_async", "clocked"])
def test_a_kernel_looks_both_ways(client, style):
    network = nx.gnp_random_graph(60, 0.05, directed=True, seed=3)
    found = dgsuite.run(Neighbours, Graph.from_networkx(network, clusters=3), style=style)
    expected = [100 * network.out_degree(v) + network.in_degree(v) for v in network]
    assert found["counts"].values.tolist() == expected
    assert found["heard"].values.tolist() == [d for _, d in network.to_undirected().degree]
    assert found.attrs["m"] == network.number_of_edges()
    alike = dgsuite.run(Neighbours, Graph.from_networkx(network.to_undirected()), style="serial")
    assert alike["counts"].values.tolist() == [101 * d for d in found["heard"].values]


@pytest.mark.parametrize("style", ["finish_async", "clocked"])
def test_directed_kernels_are_the_same_in_all_styles(client, style):
    src, dst = np.random.default_rng(2).integers(0, 3000, (2, 9000))
    graph = Graph.from_edges(src, dst, n=3000, directed=True, clusters=3)
    for kernel in ("bfs", "wcc", "pagerank"):
        expected = dgsuite.run(kernel, graph, style="serial", clusters=1)
        found = dgsuite.run(kernel, graph, style=style)
        for name in (*KERNELS[kernel].outputs, "messages", "active"):
            np.testing.assert_array_equal(found[name], expected[name])


def test_an_undirected_kernel_says_how_to_go_on():
    graph = Graph.from_edges([0], [1], directed=True)
    with pytest.raises(InputError, match=r"graph\.to_undirected\(\)"):
        dgsuite.run("mis", graph)
    assert dgsuite.run("mis", graph.to_undirected())["in_mis"].sum() == 1


def test_nodes_in_another_order_keep_their_names():
    rng = np.random.default_rng(2)
    src, dst, weights = rng.integers(0, 50, (3, 300))
    how = {"n": 50, "weights": weights, "duplicates": "sum", "uid": rng.permutation(50)}
    plain = Graph.from_edges(src, dst, **how)
    nodes = rng.permutation(50)
    for order, made in (
        (np.argsort(-plain.degree.compute(), kind="stable"), plain.reordered("degree")),
        (nodes, Graph.from_edges(src, dst, **how, clusters=3).reordered(nodes)),
    ):
        assert list(made.labels) == order.tolist()
        matrix = plain.to_scipy().toarray()
        assert (made.to_scipy().toarray() == matrix[np.ix_(order, order)]).all()
        assert np.concatenate([c.uid for c in made.gather()]).tolist() == how["uid"][order].tolist()
    for wrong in ("size", nodes[1:], np.zeros(50, int)):
        with pytest.raises(InputError, match="order"):
            plain.reordered(wrong)
    with pytest.raises(InputError, match="a map of nodes to clusters"):
        Graph.from_edges(src, dst, n=50, partition="hash", clusters=2).reordered("degree")
