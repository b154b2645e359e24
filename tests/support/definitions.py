"""Textbook definitions in plain Python, and random networks to compare kernels with them on."""

from collections import Counter
from functools import lru_cache
from itertools import combinations, permutations

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from dgsuite.partition.graph.graph import Graph

EDGES = {
    True: "1-3 1-5 2-4 2-5 2-10 3-1 3-5 3-8 3-10 5-3 5-4 5-8 6-3 6-4 7-4 8-1 9-4",
    False: "2-3 2-4 3-4 3-5 3-8 5-6 5-8 6-7 6-8 6-9 6-10 7-9",
}
"""The example graphs of LDBC Graphalytics, by whether they are directed."""


def example(directed, **how):
    """An example graph of LDBC Graphalytics; its identifiers, in ascending order, are labels."""
    ends = np.array([pair.split("-") for pair in EDGES[directed].split()], np.int64)
    return Graph.from_edges(*ends.T, directed=directed, relabel=True, **how)


def predecessors(net, root):
    """Of each node that a breadth-first search from a root finds, the node that found it."""
    return {v: u for u, v in nx.bfs_edges(net, root)}


@st.composite
def networks(draw, directed=False, most=24):
    """Networks of all densities, some disconnected, some a star with more edges."""
    n = draw(st.integers(1, most))
    dense = draw(st.sampled_from([0.0, 0.05, 0.15, 0.4, 0.9]))
    net = nx.gnp_random_graph(n, dense, draw(st.integers(0, 99)), directed)
    if draw(st.booleans()):
        net.add_edges_from((0, v) for v in range(1, n))
    return net


def cut(net, draw):
    """A network as a graph, cut at random, perhaps with loops, which are left out."""
    n = net.number_of_nodes()
    if draw(st.booleans()):
        net = net.copy()
        net.add_edges_from([(v, v) for v in range(0, n, 3)])
    owner = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    how = draw(st.sampled_from([{"clusters": 3}, {"partition": owner}]))
    return Graph.from_networkx(net, **how)


def clustered(net):
    """Local clustering coefficients of a directed network, by looking at all pairs."""
    near = ([*permutations({*net.succ[v], *net.pred[v]}, 2)] for v in net)
    return np.array([sum(net.has_edge(*p) for p in pairs) / max(len(pairs), 1) for pairs in near])


def trusses(net):
    """The largest k of whose k-truss each node is part; 0 for nodes without edges."""
    found, k = np.zeros(len(net), int), 2
    while (part := nx.k_truss(net, k)).number_of_edges():
        found[[v for v, degree in part.degree if degree]] = k
        k += 1
    return found


def propagated(net, steps, weight=None, labels=None, fixed=()):
    """Labels after some steps of label propagation; an edge each way counts twice.

    Parameters
    ----------
    weight
        Name of the weight of edges, whole numbers, if they count.
    labels
        Label of each node to begin with, -1 for none; by default its own.
    fixed
        Nodes that keep theirs.
    """
    label = {v: v for v in net} if labels is None else dict(zip(net, labels, strict=True))
    ways = [(u, v, more.get(weight, 1)) for u, v, more in net.edges(data=True)]
    for _ in range(steps):
        times = {v: Counter() for v in net}
        for u, v, amount in ways:
            for one, other in ((u, v), (v, u)):
                if label[other] >= 0 and amount > 0:
                    times[one][label[other]] += amount
        for v, t in times.items():
            if v not in fixed:
                label[v] = min(t, key=lambda k: (-t[k], k), default=label[v])
    return np.array([label[v] for v in net])


def committees(net, uid, k):
    """Leaders of committees of k. In each of k turns a node that has found no smaller free node than itself
    within k - 1 hops invites the smallest free one there; a node that is invited joins the smallest leader.
    """
    near = {v: nx.single_source_shortest_path_length(net, v, k - 1) for v in net}
    least, leader = {v: uid[v] for v in net}, {}
    for _ in range(k):
        invited = {}
        for v in net:
            free = [u for u in near[v] if u not in leader]
            guest = min(free, key=lambda u: uid[u], default=None)
            if guest is not None:
                least[v] = min(least[v], uid[guest])
                if least[v] == uid[v]:
                    invited.setdefault(guest, []).append(v)
        leader |= {guest: min(by, key=lambda v: uid[v]) for guest, by in invited.items()}
    return np.array([leader.get(v, v) for v in net])


def bridged(net):
    """Bridges by networkx, the smaller node first, ascending: a column of each end."""
    rows = sorted(tuple(sorted(edge)) for edge in nx.bridges(net))
    return np.array(rows, np.int64).reshape(-1, 2).T


def blocks(net):
    """Biconnected components by networkx: a row for each node of each, with the number of the component."""
    parts = sorted(sorted(part) for part in nx.biconnected_components(net))
    rows = sorted((node, number) for number, part in enumerate(parts) for node in part)
    return np.array(rows, np.int64).reshape(-1, 2).T


def orbits(net):
    """How often each node is in each orbit of motifs of up to four nodes, by looking at all sets of nodes."""
    return orbits_of(len(net), frozenset(map(frozenset, net.edges)))


@lru_cache
def orbits_of(n, edges):
    """The same for a graph of n nodes and some edges; not to be changed."""
    net = nx.empty_graph(n)
    net.add_edges_from(edges)
    few = {(1, 1): {1: 0}, (2, 2): {1: 1, 2: 2}, (3, 2): {2: 3}}
    fours = {(3, 2): {1: 4, 2: 5}, (4, 2): {2: 8}, (4, 3): {1: 9, 2: 10, 3: 11}}
    fours |= {(3, 3): {1: 6, 3: 7}, (5, 3): {2: 12, 3: 13}, (6, 3): {3: 14}}
    found = np.zeros((len(net), 15), np.int64)
    for size in (2, 3, 4):
        for nodes in combinations(net, size):
            part = net.subgraph(nodes)
            if nx.is_connected(part):
                degree = dict(part.degree)
                kind = part.number_of_edges(), max(degree.values())
                for v in nodes:
                    found[v, (fours if size == 4 else few)[kind][degree[v]]] += 1
    return found


def cliques(net, k):
    """How many cliques of k nodes each node is in, of those that networkx lists."""
    found = np.zeros(len(net), np.int64)
    for clique in nx.enumerate_all_cliques(net):
        found[clique] += len(clique) == k
    return found


def privileges(value):
    """Nodes of Dijkstra's token ring that may move."""
    return [i for i in range(len(value)) if (value[i] == value[i - 1]) == (i == 0)]


def circulated(luck, n, k, after=10):
    """Values, moves, and privileges by round of the token ring, where one drawn node moves in a step."""
    value, moves, counted = luck.integers(0, k, n), np.zeros(n, np.int64), []
    while True:
        counted.append(len(privileges(value)))
        if counted[-after - 1 :] == [1] * (after + 1):
            return value, moves, np.array(counted)
        i = luck.choice(privileges(value))
        value[i] = value[i - 1] if i else (value[0] + 1) % k
        moves[i] += 1
