"""Self-loops that are kept: the same for every source, cut and place, and counted as networkx counts them."""

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import Graph
from dgsuite.base.errors import InputError
from dgsuite.genval import validate

KERNELS = {"pagerank": ["rank"], "katz": ["centrality"], "eigenvector": ["centrality"]}
KERNELS["hits"] = ["hub", "authority"]


def table(seed, n=24, m=120):
    """Edges among few nodes: some are loops, some repeated; weights that are exact in any order."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, n, (2, m))
    loops = rng.integers(0, n, 10)
    src, dst = np.append(src, loops), np.append(dst, loops)
    order = rng.permutation(len(src))
    return src[order], dst[order], rng.integers(0, 5, len(src)) / 4


def net_of(src, dst, weights, directed):
    """The networkx graph of a table: of repeated edges the largest weight counts."""
    net = nx.DiGraph() if directed else nx.Graph()
    net.add_nodes_from(range(24))
    for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        net.add_edge(u, v, weight=max(w, net.get_edge_data(u, v, {"weight": 0})["weight"]))
    return net


def graph_of(src, dst, **how):
    return Graph.from_edges(src, dst, **{"n": 24, "duplicates": "max", "loops": "keep", **how})


def test_errors(recwarn):
    with pytest.raises(InputError, match=r"edge \(1, 1\) is there more than once"):
        Graph.from_edges([1, 0, 1], [1, 1, 1], duplicates="error", loops="keep")
    Graph.from_edges([0, 1], [0, 0], loops="keep")
    assert not recwarn.list
    with pytest.raises(InputError, match=r"unknown loops .some.; one of: drop, keep"):
        Graph.from_edges([0], [1], loops="some")
    with pytest.raises(InputError, match=r"with_edges takes no self-loops .* at node 1"):
        Graph.from_edges([0], [1], loops="keep").with_edges([1], [1])


@pytest.mark.few(6)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_loops_count_on_every_cut(name, directed, weighted):
    """That they count as in networkx is shown by the tests of its backend."""
    src, dst, weights = table(5)
    parameters = {"alpha": 0.02} if name == "katz" else {}
    how = {"weights": weights if weighted else None, "directed": directed}
    plain = graph_of(src, dst, loops="drop", **how)
    without = dgsuite.run(name, plain, tolerance=1e-12, **parameters)
    first = None
    for clusters, partition in [(1, "nodes"), (5, "hash")]:
        graph = graph_of(src, dst, clusters=clusters, partition=partition, **how)
        ds = dgsuite.run(name, graph, tolerance=1e-12, **parameters)
        assert validate(name, graph, ds).ok
        assert not validate(name, graph, without).ok
        first = ds if first is None else first
        for output in KERNELS[name]:
            assert np.array_equal(ds[output].values, first[output].values)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_modularity_is_that_of_networkx(directed, weighted):
    src, dst, weights = table(8)
    net = net_of(src, dst, weights, directed)
    labels = np.arange(24) // 5
    how = {"directed": directed, "weights": weights if weighted else None, "clusters": 3}
    graph, plain = (graph_of(src, dst, loops=loops, **how) for loops in ("keep", "drop"))
    sets = [set(np.flatnonzero(labels == label).tolist()) for label in range(5)]
    right = nx.community.modularity(net, sets, weight="weight" if weighted else None)
    assert np.isclose(dgsuite.quality(graph, labels).modularity, right, atol=1e-14)
    assert not np.isclose(dgsuite.quality(plain, labels).modularity, right, atol=1e-3)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["leiden", "louvain"])
def test_communities_count_loops(name):
    """Two cliques are communities; with heavy loops, each within its node, all nodes are alone."""
    pairs = [(u + k, v + k) for k in (0, 4) for u in range(4) for v in range(u)]
    src, dst = np.array([*pairs, (0, 4), *((v, v) for v in range(8))]).T
    weights = np.repeat([1.0, 9.0], [len(src) - 8, 8])
    for clusters, partition in [(1, "nodes"), (3, "nodes"), (4, "hash")]:
        how = {"weights": weights, "clusters": clusters, "partition": partition}
        plain = Graph.from_edges(src, dst, duplicates="min", **how)
        assert dgsuite.run(name, plain).community.values.tolist() == [0] * 4 + [4] * 4
        graph = Graph.from_edges(src, dst, loops="keep", **how)
        ds = dgsuite.run(name, graph)
        assert ds.community.values.tolist() == [*range(8)]
        assert validate(name, graph, ds).ok
        # all loops alike count 1 without weights, and two cliques remain
        ds = dgsuite.run(name, graph, weighted=False)
        assert ds.community.values.tolist() == [0] * 4 + [4] * 4
        assert validate(name, graph, ds).ok


def test_a_graph_that_grows_keeps_loops():
    graph = Graph.from_edges([0, 1, 1], [1, 1, 2], weights=[1.0, 5.0, 2.0], loops="keep")
    more = graph.with_edges([0, 3], [3, 4], weights=[9.0, 9.0])
    assert more.keeps_loops
    assert (more.m, more.to_scipy()[1, 1]) == (4, 5)
