"""Views of directed graphs: reversed, both ways, without directions."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.partition.clusters.cluster import IN, OUT
from dgsuite.partition.clusters.partitioners import from_owner
from dgsuite.partition.graph.data import Cache
from dgsuite.partition.graph.views import both_ways, incoming


@pytest.fixture(autouse=True)
def current(client):
    """Collections are computed by the client of these tests, also where other tests have made more."""
    with client.as_current():
        yield


@st.composite
def directed(draw, loops=True):
    """A directed graph of networkx, maybe weighted or with loops, and a way to cut it."""
    n = draw(st.integers(1, 12))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    loops = loops and draw(st.booleans())
    ends = [(u, v) for u, v in draw(st.lists(pair, max_size=30)) if u != v or loops]
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(ends)
    if draw(st.booleans()):
        for u, v in graph.edges:
            graph.edges[u, v]["weight"] = (3 * u + 5 * v) % 7
    clusters = draw(st.integers(1, 4))
    owner = st.lists(st.integers(0, clusters - 1), min_size=n, max_size=n).map(np.array)
    how = {"partition": draw(owner)} if draw(st.booleans()) else {}
    return graph, {"clusters": clusters, "loops": "keep" if loops else "drop", **how}


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
    for u, v in [e for e in [*graph.edges, *graph.reverse().edges] if e[0] != e[1]]:
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
    named = nx.relabel_nodes(expected, "abcdefghijkl".__getitem__)
    turned = Graph.from_networkx(named, **how).reversed()
    assert nx.utils.graphs_equal(turned.to_networkx(), named.reverse())
    view = both_ways(graph)
    assert both_ways(graph) is view
    assert entries(view) == entries_of(expected)
    assert not any(c.directed for c in view.parts)
    for made in (graph.reversed(), graph.to_undirected(), view):
        assert made.partition == graph.partition
        assert made.keeps_loops == graph.keeps_loops
        assert all((np.diff(made.to_scipy()[[i]].indices) > 0).all() for i in range(graph.n))
        assert all(c.index == k for k, c in enumerate(made.parts))


@pytest.mark.few(1)
@pytest.mark.parametrize("partition", ["nodes", "hash"])
def test_views_are_made_on_the_workers(client, partition):
    rng = np.random.default_rng(7)
    src, dst = rng.integers(0, 900, (2, 150_000))
    weights = rng.integers(1, 99, len(src))
    uid = rng.permutation(1000)
    how = {"n": 1000, "weights": weights, "uid": uid, "directed": True}
    how |= {"partition": partition, "clusters": 3}
    on_workers, local = (Graph.from_edges(src, dst, **how, client=c) for c in (client, None))
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
    for known, right in ((cache, first), (Cache(), 2)):
        assert pickle.loads(pickle.dumps(known)).get("outer", lambda: 2) == right


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
        made = graph.subgraph(chosen)
        assert nx.utils.graphs_equal(made.to_networkx(), network.subgraph(chosen))
        assert made.labels.array.tolist() == [v for v in order if v in chosen]
        found = list((nx.connected_components if both else nx.weakly_connected_components)(network))
        largest = max(found, key=lambda nodes: (len(nodes), -min(map(order.index, nodes))))
        own = next(nodes for nodes in found if chosen[0] in nodes)
        for made, wanted in ((graph.component(), largest), (graph.component(chosen[0]), own)):
            assert nx.utils.graphs_equal(made.to_networkx(), network.subgraph(wanted))


@given(directed(loops=False), st.booleans())
def test_degrees_are_those_of_networkx(case, both):
    expected, how = case
    expected = blind(expected) if both else expected
    graph = Graph.from_networkx(expected, **how)
    ways = ["degree"] if both else ["degree", "out_degree", "in_degree"]
    for name in ways:
        degrees = np.array([d for _, d in getattr(expected, name)])
        order = graph.partition.order
        right = degrees if order is None else degrees[order]
        assert getattr(graph, name).compute().tolist() == right.tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: g.subgraph([3]), "3 is not a node: nodes are 0 to 2"),
        (lambda g: g.subgraph([-1]), "-1 is not a node"),
        (lambda g: g.subgraph([]), "at least one node"),
        (lambda g: g.subgraph([False] * 3), "nodes False is not a node"),
        (lambda g: g.subgraph(np.zeros(3, bool)), "at least one node"),
        (lambda g: g.subgraph(np.ones(2, bool)), r"shape \(3,\), got \(2,\)"),
        (lambda g: g.component(5), "5 is not a node"),
        (lambda g: Graph.from_bag([("x", "y")]).component("z"), "'z' is not a node"),
        (lambda g: g.reordered("size"), "order"),
        (lambda g: g.reordered([1, 2]), "order"),
        (lambda g: g.reordered([0, 0, 0]), "order"),
        (lambda g: g.recut(from_owner(np.array([0, 1, 0]))).reordered("degree"), "a map of nodes"),
    ],
)
def test_what_names_no_nodes(call, message):
    with pytest.raises(InputError, match=message):
        call(Graph.from_edges([0, 1], [1, 2]))


def test_a_graph_that_is_not_connected_has_a_component_that_is():
    graph = Graph.from_edges([0, 2, 3], [1, 3, 4])
    with pytest.raises(InputError, match=r"not connected.*graph\.component\(\)"):
        dgsuite.run("dr", graph)
    assert dgsuite.run("dr", graph.component())["node"].values.tolist() == [2, 3, 4]
    whole = Graph.from_edges([0, 2], [1, 1])
    assert whole.component() is whole


def test_an_undirected_kernel_says_how_to_go_on():
    graph = Graph.from_edges([0], [1], directed=True)
    with pytest.raises(InputError, match=r"graph\.to_undirected\(\)"):
        dgsuite.run("mis", graph)
    plain = graph.to_undirected()
    assert dgsuite.run("mis", plain)["in_mis"].sum() == 1
    assert plain.reversed() is plain.to_undirected() is plain


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
