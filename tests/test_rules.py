"""Every kernel's output is valid; what others compute is, too; corruption of any kind is not."""

from __future__ import annotations

import dataclasses

import networkx as nx
import numpy as np
import pytest
from cases import NAMES, RANKS, cuts, inputs
from definitions import propagated, trusses
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
import genval
from kernels import KERNELS
from partition.graph import Graph

DEFECTIVE = ("by", "dr", "kc")
"""Where the original may go wrong, and so does what is faithful to it: votes that do not reach all,
loops of edges that weigh nothing, invitations that others cancel."""


@pytest.mark.parametrize("name", NAMES)
def test_all_outputs_are_valid(name):
    @given(st.data())
    def check(data):
        kernel, make = data.draw(inputs(name))
        if name in DEFECTIVE:
            kernel = dataclasses.replace(kernel, faithful=False)
        graph = make(**data.draw(cuts(make().n)))
        ds = dgsuite.run(kernel, graph, style="serial", clusters=len(graph.parts))
        report = genval.validate(name, graph, ds)
        assert report.ok, str(report)

    check()


FILES = {
    "bfs_": ("bf", "dst"),
    "mis-ds_": ("mis", "ds"),
    "ring_": ("lcr", "hs"),
    "byzantine": ("by",),
    "coloring": ("vc",),
    "kcommitte": ("kc",),
    "leader-dp": ("dp",),
    "routing": ("dr",),
    "mst": ("mst",),
    "bfsBellman": ("bf",),
    "bfsDijkstra": ("dst",),
    "dijkstraRouting": ("dr",),
    "dominatingSet": ("ds",),
    "leader_elect_dp": ("dp",),
    "leader_elect_hs": ("hs",),
    "leader_elect_lcr": ("lcr",),
    "mis_": ("mis",),
    "vertexColoring": ("vc",),
}
"""Kernels by the beginning of their files' names."""


def test_all_of_imsuites_inputs(imsuite_inputs):
    """Every kernel on every input of the original: its result is valid, or its input is named."""
    seen = 0
    for folder in ("generated", "original-64", "original-other"):
        for path in sorted((imsuite_inputs / folder).iterdir()):
            stem = path.name.removeprefix("input")
            for kernel in next(k for start, k in FILES.items() if stem.startswith(start)):
                graph = Graph.read_imsuite(path, kernel)
                if KERNELS[kernel].needs[:1] == ("connected",) and not nx.is_connected(
                    graph.to_networkx()
                ):
                    with pytest.raises(dgsuite.InputError, match="not connected"):
                        dgsuite.run(kernel, graph, style="serial")
                    continue
                ds = dgsuite.run(kernel, graph, style="serial")
                report = genval.validate(kernel, graph, ds)
                assert report.ok, (path.name, str(report))
                seen += 1
    assert seen > 300


SEED = 5
N = 40


def network(kernel):
    """A graph for a kernel, with its networkx form."""
    rng = np.random.default_rng(SEED)
    if kernel in ("lcr", "hs"):
        edges = [(i, (i + 1) % N) for i in range(N)]
    elif kernel == "vc":
        edges = [(v, int(rng.integers(0, v))) for v in range(1, N)]
    else:
        tree = [(v, int(rng.integers(0, v))) for v in range(1, N)]
        edges = tree + [(int(u), int(v)) for u, v in rng.integers(0, N, (60, 2)) if u != v]
    graph = nx.Graph()
    graph.add_nodes_from(range(N))
    graph.add_edges_from(edges)
    if kernel == "scc":
        graph = graph.to_directed()
        graph.remove_edges_from([(u, v) for u, v in edges if u % 3 != v % 3])
    if kernel == "wcc":
        graph.remove_edges_from([(u, v) for u, v in edges if u % 3 != v % 3])
    if kernel in ("mst", "dr", "sssp"):
        weights = rng.permutation(len(graph.edges)) + 3
        for (u, v), w in zip(graph.edges, weights.tolist(), strict=True):
            graph[u][v]["weight"] = w
    return graph


def last(label):
    """The last node of the community of node 0."""
    return np.flatnonzero(label == 0)[-1]


def smallest(found):
    """For each node the smallest of its component."""
    label = {v: min(nodes) for nodes in found for v in nodes}
    return np.array([label[v] for v in range(N)])


def mine(kernel, clusters):
    rng = np.random.default_rng(SEED)
    return Graph.from_networkx(network(kernel), uid=rng.permutation(N) + 1, clusters=clusters)


def reference(kernel, graph):
    """A right answer by networkx or a few lines of Python."""
    uid = np.concatenate([c.uid for c in graph.gather()])
    net = network(kernel)
    if kernel == "sssp":
        lengths, ways = nx.single_source_dijkstra(net, 0)
        above = {t: way[-2] if len(way) > 1 else 0 for t, way in ways.items()}
        return {
            "distance": np.array([float(lengths[v]) for v in net]),
            "parent": np.array([above[v] for v in net]),
        }
    if kernel == "bfs":
        lengths = nx.single_source_shortest_path_length(net, 0)
        above = dict(nx.bfs_predecessors(net, 0))
        level = np.array([lengths[v] for v in net])
        return {"level": level, "parent": np.array([above.get(v, 0) for v in net])}
    if kernel in ("bf", "dst"):
        lengths = nx.single_source_shortest_path_length(net, 0)
        found = {"distance": np.array([lengths[v] for v in net])}
        if kernel == "dst":
            above = dict(nx.bfs_predecessors(net, 0))
            found["parent"] = np.array([above.get(v, -1) for v in net])
        return found
    if kernel in ("closeness", "harmonic"):
        near = getattr(nx, f"{kernel}_centrality")(net)
        return {kernel: np.array([near[v] for v in net])}
    if kernel == "all_pairs":
        starts = [3, 17, 20]
        hops = np.array([[nx.shortest_path_length(net, u, v) for u in starts] for v in net])
        return {"level": hops, "source": np.array(starts)}
    if kernel == "bfs_many":
        starts = [3, 17, 20]
        hops = np.array([[nx.shortest_path_length(net, u, v) for v in net] for u in starts])
        found = {"distance": hops.sum(0), "eccentricity": hops.max(0), "reached": (hops > 0).sum(0)}
        return {**found, "source": np.isin(np.arange(N), starts)}
    if kernel in RANKS:
        return {"tolerance": 1e-10, "iterations": None, **centralities(kernel, net)}
    if kernel in ("mis", "ds"):
        chosen = nx.maximal_independent_set(net, seed=1)
        return {f"in_{kernel}": np.isin(np.arange(N), chosen)}
    if kernel in ("lcr", "hs", "dp"):
        return {"leader": np.full(N, uid.max())}
    if kernel == "mst":
        above = dict(nx.bfs_predecessors(nx.minimum_spanning_tree(net), 7))
        return {"parent": np.array([above.get(v, -1) for v in net])}
    if kernel == "scc":
        return {"component": smallest(nx.strongly_connected_components(net))}
    if kernel == "wcc":
        return {"component": smallest(nx.connected_components(net))}
    if kernel == "colouring":
        colour = nx.greedy_color(net)
        return {"colour": np.array([colour[v] for v in net])}
    if kernel == "matching":
        mate = np.full(N, -1)
        for u, v in nx.maximal_matching(net):
            mate[u], mate[v] = v, u
        return {"mate": mate}
    if kernel == "louvain":
        found = smallest(nx.community.louvain_communities(net, seed=1))
        return {"community": found, "resolution": 1.0}
    if kernel == "random_walks":
        walk = [np.arange(N)]
        for _ in range(3):
            walk.append(np.array([min(net[v]) for v in walk[-1]]))
        return {"walk": np.stack(walk, axis=1), "length": 3}
    if kernel == "ktruss":
        return {"truss": trusses(net)}
    if kernel == "core_number":
        return {"core": np.array([*nx.core_number(net).values()])}
    if kernel == "triangles":
        return {"triangles": np.array([*nx.triangles(net).values()])}
    if kernel == "lcc":
        return {"coefficient": np.array([*nx.clustering(net).values()], float)}
    if kernel == "cdlp":
        return {"label": propagated(net, 3), "iterations": 3}
    if kernel == "vc":
        depth = nx.single_source_shortest_path_length(net, 0)
        return {"colour": np.array([depth[v] % 2 for v in net])}
    if kernel == "dr":
        cost, hop = np.zeros((2, N, N), np.int64)
        for u in net:
            lengths, ways = nx.single_source_dijkstra(net, u)
            for t in net:
                cost[u, t] = lengths[t]
                hop[u, t] = ways[t][1] if t != u else u
        return {"cost": cost, "next_hop": hop}
    if kernel == "by":
        votes = np.arange(N) % 2
        traitor = np.arange(N) < 4
        return {"decision": np.where(traitor, 0, 1), "vote": votes, "traitor": traitor}
    ds = dgsuite.run("kc", graph, style="serial", k=4)
    return {"committee": ds.committee.values.copy(), "k": 4}


def centralities(kernel, net):
    """By networkx, or as an eigenvector of NumPy's, and the parameters that they depend on."""
    if kernel == "hits":
        _, vectors = np.linalg.eigh(nx.to_numpy_array(net))
        first = np.abs(vectors[:, -1])
        return {name: first / first.sum() for name in ("hub", "authority")}
    close = {"tol": 1e-13 / N, "max_iter": 10**5}
    if kernel == "pagerank":
        found, facts = nx.pagerank(net, **close), {"damping": 0.85, "personalisation": np.ones(N)}
    elif kernel == "katz":
        found, facts = nx.katz_centrality(net, **close), {"alpha": 0.1, "normalised": True}
    else:
        found, facts = nx.eigenvector_centrality(net, **close), {}
    return {next(iter(KERNELS[kernel].outputs)): np.array([found[v] for v in net]), **facts}


@pytest.mark.parametrize("clusters", [1, 3])
@pytest.mark.parametrize("kernel", NAMES)
def test_reference_is_valid(kernel, clusters):
    graph = mine(kernel, clusters)
    report = genval.validate(kernel, graph, reference(kernel, graph))
    assert report.ok, str(report)
    assert "valid" in report._repr_html_()


def at(values, node, value):
    changed = np.array(values)
    changed[node] = value
    return changed


def swapped(values, a, b):
    changed = np.array(values)
    changed[[a, b]] = changed[[b, a]]
    return changed


def sets(name):
    return {
        "empty": {name: lambda v: v & False},
        "everyone": {name: lambda v: v | True},
        "flipped": {name: lambda v: ~v},
        "one more": {name: lambda v: at(v, np.flatnonzero(~v)[0], True)},
        "last one more": {name: lambda v: at(v, np.flatnonzero(~v)[-1], True)},
        "one less": {name: lambda v: at(v, np.flatnonzero(v)[0], False)},
        "last one less": {name: lambda v: at(v, np.flatnonzero(v)[-1], False)},
        "every fourth": {name: lambda v: np.arange(len(v)) % 4 == 0},
        "not a flag": {name: lambda v: v * 2},
        "negative": {name: lambda v: -1 * v},
        "one moved": {name: lambda v: swapped(v, np.flatnonzero(v)[0], np.flatnonzero(~v)[0])},
        "backwards": {name: lambda v: v[::-1]},
    }


def counts(name):
    return {
        "none": {name: lambda v: v * 0},
        "doubled": {name: lambda v: v * 2},
        "one more": {name: lambda v: at(v, 5, v[5] + 1)},
        "three more": {name: lambda v: at(v, 5, v[5] + 3)},
        "one less": {name: lambda v: at(v, np.argmax(v), v.max() - 1)},
        "last one more": {name: lambda v: at(v, -1, v[-1] + 1)},
        "first one less": {name: lambda v: at(v, 0, v[0] - 1)},
        "negative": {name: lambda v: at(v, 5, -1)},
        "all one": {name: lambda v: v * 0 + 1},
        "shifted": {name: lambda v: np.roll(v, 1)},
        "backwards": {name: lambda v: v[::-1]},
        "moved": {name: lambda v: swapped(v, np.argmin(v), np.argmax(v))},
    }


def nearness(name):
    return {
        "all zero": {name: lambda v: v * 0},
        "all one": {name: lambda v: v * 0 + 1},
        "a little more": {name: lambda v: at(v, 5, v[5] * (1 + 1e-8))},
        "a little less": {name: lambda v: at(v, -1, v[-1] * (1 - 1e-8))},
        "negative": {name: lambda v: at(v, 5, -v[5])},
        "no number": {name: lambda v: at(v, 5, np.nan)},
        "infinite": {name: lambda v: at(v, 5, np.inf)},
        "one zero": {name: lambda v: at(v, 0, 0)},
        "doubled": {name: lambda v: v * 2},
        "normalised": {name: lambda v: v / v.sum()},
        "shifted": {name: lambda v: np.roll(v, 1)},
        "backwards": {name: lambda v: v[::-1]},
        "rounded": {name: lambda v: v.astype(np.float32)},
    }


def reals(name):
    """Of values that are fixed to many digits."""
    return {
        "uniform": {name: lambda v: v * 0 + 1 / len(v)},
        "nothing": {name: lambda v: v * 0},
        "a little more": {name: lambda v: at(v, 5, v[5] + 1e-6)},
        "a little less": {name: lambda v: at(v, -1, v[-1] - 1e-6)},
        "negative": {name: lambda v: at(v, 5, -v[5])},
        "no number": {name: lambda v: at(v, 5, np.nan)},
        "infinite": {name: lambda v: at(v, 5, np.inf)},
        "shifted": {name: lambda v: np.roll(v, 1)},
        "backwards": {name: lambda v: v[::-1]},
        "two swapped": {name: lambda v: swapped(v, np.argmin(v), np.argmax(v))},
        "of three digits": {name: lambda v: v.round(3)},
    }


LEADERS = {
    "second best": {"leader": lambda v: v * 0 + v.max() - 1},
    "smallest": {"leader": lambda v: v * 0 + 1},
    "no such node": {"leader": lambda v: v * 0 + v.max() + 1},
    "everyone itself": {"leader": lambda v: np.arange(len(v)) + 1},
    "one disagrees": {"leader": lambda v: at(v, 7, v[7] - 1)},
    "last disagrees": {"leader": lambda v: at(v, -1, v[7] - 1)},
    "first disagrees": {"leader": lambda v: at(v, 0, v[0] - 1)},
    "none": {"leader": lambda v: v * 0},
    "negative": {"leader": lambda v: -v},
    "half": {"leader": lambda v: np.where(np.arange(len(v)) < 20, v, v - 1)},
    "one larger": {"leader": lambda v: at(v, 3, v[3] + 5)},
}

DISTANCES = {
    "all zero": {"distance": lambda v: v * 0},
    "one farther": {"distance": lambda v: at(v, 5, v[5] + 1)},
    "one nearer": {"distance": lambda v: at(v, 5, v[5] - 1)},
    "one unreached": {"distance": lambda v: at(v, 5, -1)},
    "all unreached": {"distance": lambda v: v * 0 - 1},
    "doubled": {"distance": lambda v: v * 2},
    "negative": {"distance": lambda v: at(v, 5, -3)},
    "shifted": {"distance": lambda v: np.roll(v, 1)},
    "all farther": {"distance": lambda v: v + 1},
    "root not at root": {"distance": lambda v: at(v, 0, 1)},
    "farthest farther": {"distance": lambda v: at(v, np.argmax(v), v.max() + 1)},
}

COMPONENTS = {
    "own ids": {"component": lambda v: np.arange(len(v))},
    "all one": {"component": lambda v: v * 0},
    "two joined": {"component": lambda v: np.where(v == np.unique(v)[1], 0, v)},
    "last two joined": {"component": lambda v: np.where(v == v.max(), np.unique(v)[-2], v)},
    "one apart": {"component": lambda v: at(v, 39, 39)},
    "one elsewhere": {"component": lambda v: at(v, 39, np.unique(v)[int(v[39] == 0)])},
    "smallest elsewhere": {"component": lambda v: at(v, 0, 1)},
    "another's name": {"component": lambda v: np.where(v == 0, np.flatnonzero(v == 0)[1], v)},
    "numbered anew": {"component": lambda v: np.unique(v, return_inverse=True)[1][::-1]},
    "shifted": {"component": lambda v: np.roll(v, 1)},
    "no such node": {"component": lambda v: at(v, 5, 400)},
    "negative": {"component": lambda v: at(v, 5, -1)},
    "one more": {"component": lambda v: v + 1},
}

KINDS = {
    "wcc": COMPONENTS,
    "scc": COMPONENTS,
    "sssp": {
        **{
            what: {"distance": lambda v, change=change["distance"]: change(v.copy())}
            for what, change in DISTANCES.items()
        },
        "infinite": {"distance": lambda v: at(v, 5, np.inf)},
        "no number": {"distance": lambda v: at(v, 5, np.nan)},
        "a little farther": {"distance": lambda v: at(v, 5, v[5] + 1e-9)},
        "no parents": {"parent": lambda v: v * 0 - 1},
        "own parent": {"parent": lambda v: at(v, 5, 5)},
        "orphan": {"parent": lambda v: at(v, 5, -1)},
        "all the root's": {"parent": lambda v: v * 0},
        "shifted parents": {"parent": lambda v: np.roll(v, 1)},
        "no such parent": {"parent": lambda v: at(v, 5, 400)},
    },
    "bfs": {
        **{
            what: {"level": change["distance"]}
            for what, change in DISTANCES.items()
            if what != "all zero"
        },
        "all zero": {"level": lambda v: v * 0},
        "no parents": {"parent": lambda v: v * 0 - 1},
        "own parent": {"parent": lambda v: at(v, 5, 5)},
        "orphan": {"parent": lambda v: at(v, 5, -1)},
        "root's parent": {"parent": lambda v: at(v, 0, 1)},
        "no such parent": {"parent": lambda v: at(v, 5, 400)},
        "all the root's": {"parent": lambda v: v * 0},
        "shifted parents": {"parent": lambda v: np.roll(v, 1)},
        "a child as parent": {"parent": lambda v: at(v, v[-1], len(v) - 1)},
    },
    "all_pairs": {
        "all zero": {"level": lambda v: v * 0},
        "one farther": {"level": lambda v: at(v, (5, 1), v[5, 1] + 1)},
        "one nearer": {"level": lambda v: at(v, (-1, 2), v[-1, 2] - 1)},
        "one unreached": {"level": lambda v: at(v, (5, 0), -1)},
        "all unreached": {"level": lambda v: v * 0 - 1},
        "negative": {"level": lambda v: at(v, (5, 1), -3)},
        "doubled": {"level": lambda v: v * 2},
        "all farther": {"level": lambda v: v + 1},
        "shifted": {"level": lambda v: np.roll(v, 1, 0)},
        "columns swapped": {"level": lambda v: v[:, ::-1]},
        "one column for all": {"level": lambda v: np.repeat(v[:, :1], 3, 1)},
        "other sources": {"source": lambda v: v + 1},
    },
    "bfs_many": {
        "all zero": {"distance": lambda v: v * 0},
        "one farther": {"distance": lambda v: at(v, 5, v[5] + 1)},
        "one nearer": {"distance": lambda v: at(v, -1, v[-1] - 1)},
        "doubled": {"distance": lambda v: v * 2},
        "shifted": {"distance": lambda v: np.roll(v, 1)},
        "negative": {"distance": lambda v: at(v, 5, -v[5])},
        "one less reached": {"reached": lambda v: at(v, 5, v[5] - 1)},
        "one more reached": {"reached": lambda v: at(v, 5, v[5] + 1)},
        "none reached": {"reached": lambda v: v * 0},
        "sources reach themselves": {"reached": lambda v: v * 0 + v.max()},
        "farthest farther": {"eccentricity": lambda v: at(v, 5, v[5] + 1)},
        "farthest nearer": {"eccentricity": lambda v: at(v, 5, v[5] - 1)},
        "all as far": {"eccentricity": lambda v: v * 0 + v.max()},
        "other sources": {"source": lambda v: np.roll(v, 1)},
        "a source less": {"source": lambda v: at(v, 3, False)},
        "all sources": {"source": lambda v: v | True},
    },
    "closeness": nearness("closeness"),
    "harmonic": nearness("harmonic"),
    "cdlp": {
        "no such label": {"label": lambda v: at(v, 5, 400)},
        "negative": {"label": lambda v: at(v, 5, -1)},
        "own ids": {"label": lambda v: np.arange(len(v))},
        "all one": {"label": lambda v: v * 0},
        "one moved": {"label": lambda v: at(v, 5, v[5] + 1)},
        "first moved": {"label": lambda v: at(v, 0, v[0] + 1)},
        "last moved": {"label": lambda v: at(v, -1, v[-1] + 1)},
        "shifted": {"label": lambda v: np.roll(v, 1)},
        "backwards": {"label": lambda v: v[::-1]},
        "numbered anew": {"label": lambda v: np.unique(v, return_inverse=True)[1]},
        "a step less": {"label": lambda v: propagated(network("cdlp"), 2)},
        "a step more": {"label": lambda v: propagated(network("cdlp"), 4)},
    },
    "eigenvector": {
        **reals("centrality"),
        "doubled": {"centrality": lambda v: v * 2},
    },
    "hits": {
        **reals("hub"),
        **{
            f"{kind}, both": {**change, "authority": change["hub"]}
            for kind, change in reals("hub").items()
        },
        **{
            kind + " authority": {"authority": change["hub"]}
            for kind, change in reals("hub").items()
        },
    },
    "katz": {
        **reals("centrality"),
        "doubled": {"centrality": lambda v: v * 2},
        "of another alpha": {"alpha": lambda v: 0.11},
        "not scaled": {"normalised": lambda v: False},
    },
    "pagerank": {
        **reals("rank"),
        "doubled": {"rank": lambda v: v * 2},
        "all a little more": {"rank": lambda v: v * (1 + 1e-8)},
        "of other damping": {"damping": lambda v: 0.8},
        "after ten steps": {"iterations": lambda v: 10, "tolerance": lambda v: None},
        "for one node": {"personalisation": lambda v: np.arange(N) == 3},
    },
    "core_number": counts("core"),
    "colouring": {
        "one colour": {"colour": lambda v: v * 0},
        "negative": {"colour": lambda v: at(v, 5, -1)},
        "too large": {"colour": lambda v: at(v, 5, N)},
        "one higher": {"colour": lambda v: at(v, 5, v.max() + 1)},
        "from 1 on": {"colour": lambda v: v + 1},
        "a gap": {"colour": lambda v: v + (v == v.max())},
        "doubled": {"colour": lambda v: v * 2},
        "shifted": {"colour": lambda v: np.roll(v, 1)},
        "first as the last": {"colour": lambda v: at(v, 0, v.max())},
        "ids": {"colour": lambda v: np.arange(len(v))},
        "two merged": {"colour": lambda v: np.maximum(v - 1, 0)},
    },
    "matching": {
        "nobody": {"mate": lambda v: v * 0 - 1},
        "own mate": {"mate": lambda v: at(v, 5, 5)},
        "all their own": {"mate": lambda v: np.arange(len(v))},
        "one leaves": {"mate": lambda v: at(v, np.argmax(v), -1)},
        "a pair leaves": {"mate": lambda v: at(v, [v.max(), np.argmax(v)], -1)},
        "first pair leaves": {"mate": lambda v: np.where((v == v[v >= 0][0]) | (v[v] == v), -1, v)},
        "no such mate": {"mate": lambda v: at(v, 5, 400)},
        "below none": {"mate": lambda v: at(v, 5, -2)},
        "shifted": {"mate": lambda v: np.roll(v, 1)},
        "backwards": {"mate": lambda v: v[::-1]},
        "pairs of ids": {"mate": lambda v: np.arange(len(v)) ^ 1},
        "all one's": {"mate": lambda v: v * 0 + 7},
    },
    "louvain": {
        "all alone": {"community": lambda v: np.arange(len(v))},
        "one alone": {"community": lambda v: at(v, last(v), last(v))},
        "named by the largest": {"community": lambda v: len(v) - 1 - v[::-1]},
        "negative": {"community": lambda v: at(v, 5, -1)},
        "no such node": {"community": lambda v: at(v, 5, 400)},
        "one higher": {"community": lambda v: v + 1},
        "shifted": {"community": lambda v: np.roll(v, 1)},
        "backwards": {"community": lambda v: v[::-1]},
        "numbered anew": {"community": lambda v: np.unique(v, return_inverse=True)[1]},
        "names swapped": {
            "community": lambda v: np.where(v == 0, v.max(), np.where(v == v.max(), 0, v))
        },
        "of higher resolution": {"resolution": lambda v: 0.01},
        "halves": {"community": lambda v: np.where(np.arange(len(v)) % 2, np.maximum(v, 1), v)},
    },
    "random_walks": {
        "stands still": {"walk": lambda v: np.repeat(v[:, :1], 4, axis=1)},
        "starts elsewhere": {"walk": lambda v: v[::-1]},
        "shifted": {"walk": lambda v: np.roll(v, 1, axis=0)},
        "no start": {"walk": lambda v: np.where(np.arange(4) == 0, -1, v)},
        "no such node": {"walk": lambda v: at(v, (5, 2), 400)},
        "below none": {"walk": lambda v: at(v, (5, 2), -2)},
        "ends early": {"walk": lambda v: at(v, (5, 3), -1)},
        "goes on after its end": {"walk": lambda v: at(v, (5, 1), -1)},
        "a step less": {"walk": lambda v: v[:, :-1]},
        "of other length": {"length": lambda v: 4},
        "one jumps": {"walk": lambda v: at(v, (5, 3), v[5, 2])},
        "all jump": {"walk": lambda v: np.where(np.arange(4) == 3, v[:, :1], v)},
    },
    "triangles": counts("triangles"),
    "ktruss": counts("truss"),
    "lcc": {
        **counts("coefficient"),
        "no number": {"coefficient": lambda v: at(v, 5, np.nan)},
        "a little more": {"coefficient": lambda v: at(v, 5, v[5] + 1e-9)},
        "of directed pairs": {"coefficient": lambda v: v / 2},
    },
    "mis": sets("in_mis"),
    "ds": sets("in_ds"),
    "lcr": LEADERS,
    "hs": LEADERS,
    "dp": LEADERS,
    "bf": DISTANCES,
    "dst": {
        **DISTANCES,
        "no parents": {"parent": lambda v: v * 0 - 1},
        "own parent": {"parent": lambda v: at(v, 5, 5)},
        "orphan": {"parent": lambda v: at(v, 5, -1)},
        "root's parent": {"parent": lambda v: at(v, 0, 1)},
        "no such parent": {"parent": lambda v: at(v, 5, 400)},
        "all the root's": {"parent": lambda v: at(v * 0, 0, -1)},
        "shifted parents": {"parent": lambda v: np.roll(v, 1)},
        "a child as parent": {"parent": lambda v: at(v, v[-1], len(v) - 1)},
    },
    "mst": {
        "no parents": {"parent": lambda v: v * 0 - 1},
        "two roots": {"parent": lambda v: at(v, 5, -1)},
        "no root": {"parent": lambda v: at(v, np.flatnonzero(v < 0)[0], v[0] if v[0] >= 0 else 1)},
        "own parent": {"parent": lambda v: at(v, 5, 5)},
        "no such parent": {"parent": lambda v: at(v, 5, 400)},
        "negative parent": {"parent": lambda v: at(v, 5, -2)},
        "all the root's": {"parent": lambda v: at(v * 0, 0, -1)},
        "shifted": {"parent": lambda v: np.roll(v, 1)},
        "a cycle": {"parent": lambda v: at(v, v[5], 5)},
        "backwards": {"parent": lambda v: v[::-1]},
        "a heavier tree": {"parent": lambda v: heavier_tree()},
        "a tree in two": {
            "parent": lambda v: at(v, len(v) - 1, -1) if v[-1] >= 0 else at(v, 0, -1)
        },
    },
    "vc": {
        "one colour": {"colour": lambda v: v * 0},
        "four colours": {"colour": lambda v: at(v, 5, 3)},
        "negative": {"colour": lambda v: at(v, 5, -1)},
        "one flipped": {"colour": lambda v: at(v, 5, 1 - v[5])},
        "root flipped": {"colour": lambda v: at(v, 0, 1 - v[0])},
        "last flipped": {"colour": lambda v: at(v, -1, 1 - v[-1])},
        "ids": {"colour": lambda v: np.arange(len(v))},
        "shifted": {"colour": lambda v: np.roll(v, 1)},
        "all two": {"colour": lambda v: v * 0 + 2},
        "doubled twice": {"colour": lambda v: v * 4},
        "parity of ids": {"colour": lambda v: np.arange(len(v)) % 2},
    },
    "dr": {
        "free": {"cost": lambda v: v * 0},
        "doubled": {"cost": lambda v: v * 2},
        "one dearer": {"cost": lambda v: at(v, (3, 9), v[3, 9] + 1)},
        "one cheaper": {"cost": lambda v: at(v, (3, 9), v[3, 9] - 1)},
        "both ways cheaper": {"cost": lambda v: at(at(v, (3, 9), 1), (9, 3), 1)},
        "not free at home": {"cost": lambda v: at(v, (3, 3), 1)},
        "shifted": {"cost": lambda v: np.roll(v, 1)},
        "away from home": {"next_hop": lambda v: at(v, (3, 3), v[3, 4])},
        "own next hop": {"next_hop": lambda v: at(v, (3, 9), 3)},
        "straight there": {"next_hop": lambda v: v * 0 + np.arange(len(v))},
        "no such node": {"next_hop": lambda v: at(v, (3, 9), 400)},
        "negative": {"next_hop": lambda v: at(v, (3, 9), -1)},
        "backwards": {"next_hop": lambda v: v.T},
    },
    "by": {
        "one disagrees": {"decision": lambda v: at(v, 9, 0)},
        "last disagrees": {"decision": lambda v: at(v, -1, 0)},
        "no flag": {"decision": lambda v: at(v, 9, 2)},
        "all two": {"decision": lambda v: v * 0 + 2},
        "undecided": {"decision": lambda v: at(v, 9, -1)},
        "half": {"decision": lambda v: np.arange(len(v)) % 2},
        "as voted": {"decision": lambda v: 1 - np.arange(len(v)) % 2},
        "vote of two": {"vote": lambda v: at(v, 9, 2)},
        "against all votes": {"vote": lambda v: v * 0},
        "many traitors": {"traitor": lambda v: np.arange(len(v)) < 9},
        "strange traitor": {"traitor": lambda v: at(v * 1, 3, 7)},
        "all but one": {"decision": lambda v: at(v * 0, 20, 1)},
    },
    "kc": {
        "no such leader": {"committee": lambda v: at(v, 5, 400)},
        "negative": {"committee": lambda v: at(v, 5, -1)},
        "all one": {"committee": lambda v: v * 0},
        "everyone alone": {"committee": lambda v: np.arange(len(v))},
        "in a member's": {"committee": lambda v: at(v, 5, largest(v)[1][1])},
        "one too many": {"committee": lambda v: at(v, alone(v)[0], largest(v)[0])},
        "a leader leaves": {"committee": lambda v: at(v, largest(v)[0], alone(v)[0])},
        "a leader lost": {"committee": lambda v: at(v, largest(v)[0], largest(v)[1][1])},
        "shifted": {"committee": lambda v: np.roll(v, 1)},
        "a member leaves": {"committee": lambda v: at(v, largest(v)[1][-1], largest(v)[1][-1])},
        "pairs": {"committee": lambda v: np.arange(len(v)) // 2 * 2},
        "K too small": {"k": lambda k: 2},
    },
}


def largest(committee):
    """The largest committee's leader, and its members from the leader on."""
    leader = int(np.bincount(committee).argmax())
    members = np.flatnonzero(committee == leader)
    return leader, [leader, *members[members != leader].tolist()]


def alone(committee):
    size = np.bincount(committee, minlength=len(committee))
    return np.flatnonzero((size[committee] == 1) & (committee == np.arange(len(committee))))


def heavier_tree():
    tree = nx.maximum_spanning_tree(network("mst"))
    above = dict(nx.bfs_predecessors(tree, 0))
    return np.array([above.get(v, -1) for v in range(N)])


@pytest.mark.parametrize("clusters", [1, 4])
@pytest.mark.parametrize(
    ("kernel", "kind"), [(kernel, kind) for kernel, kinds in KINDS.items() for kind in kinds]
)
def test_corruption_is_rejected(kernel, kind, clusters):
    assert len(KINDS[kernel]) >= 10
    graph = mine(kernel, clusters)
    right = reference(kernel, graph)
    wrong = {name: change(right[name]) for name, change in KINDS[kernel][kind].items()}
    report = genval.validate(kernel, graph, {**right, **wrong})
    assert not report.ok
    assert report.count >= len(report.violations) > 0
    assert 0 <= report.violations[0].node < N
    assert str(report.violations[0]) in str(report)
    assert report.violations[0].what in report._repr_html_()


@pytest.mark.parametrize(
    ("kernel", "name"),
    [("dr", "cost"), ("dr", "next_hop"), ("mst", "parent"), ("dst", "distance"), ("dp", "leader")],
)
def test_any_change_of_one_value_is_seen(kernel, name):
    """Where there is one right answer."""
    graph = mine(kernel, 2)
    right = reference(kernel, graph)
    rng = np.random.default_rng(1)
    for _ in range(60):
        values = np.array(right[name]).astype(np.int64)
        place = tuple(rng.integers(0, s) for s in values.shape)
        values[place] += int(rng.choice([-1, 1]))
        assert not genval.validate(kernel, graph, {**right, name: values}).ok


def test_free_loops_are_rejected():
    """Where edges weigh nothing, next hops that look right may never arrive."""
    graph = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 2], weights=[0, 0, 5, 0])
    right = dgsuite.run("dr", graph, style="serial")
    assert genval.validate("dr", graph, right).ok
    loop = right.next_hop.values.copy()
    loop[0, 3], loop[1, 3], loop[2, 3] = 1, 0, 3
    report = genval.validate("dr", graph, {"cost": right.cost.values, "next_hop": loop})
    assert not report.ok
    assert "loop" in str(report)


def valid(kernel, graph, **options):
    ds = dgsuite.run(kernel, graph, style="serial", **options)
    report = genval.validate(kernel, graph, ds)
    assert report.ok, str(report)
    return ds


@pytest.mark.parametrize("clusters", [1, 3])
def test_weights_that_round(clusters):
    """The validator of routing tables adds from the target back, the kernel from the source on."""
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[0.1, 0.2, 0.7], clusters=clusters)
    valid("dr", graph)
    ring = Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 0], weights=[0.1, 0.2, 1e9, 0.1])
    right = valid("dr", ring)
    loop = right.next_hop.values.copy()
    loop[0, 3], loop[2, 3] = 2, 0
    report = genval.validate("dr", ring, {"cost": right.cost.values, "next_hop": loop})
    assert not report.ok


@pytest.mark.parametrize("clusters", [1, 3])
@pytest.mark.parametrize(
    ("weight", "delta"), [(1e6, 1), (1e12, 0.25), (1e300, 1e-300), (1.0, 1e-320)]
)
def test_buckets_far_apart_are_reached_at_once(weight, delta, clusters):
    weights = np.array([1.0, 0.5, 1.0]) * weight
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=weights, clusters=clusters)
    ds = dgsuite.run("sssp", graph, style="serial", delta=delta)
    assert ds.distance.values.tolist() == [0, *np.cumsum(weights)]
    assert genval.validate("sssp", graph, ds).ok
    assert ds.sizes["round"] == 4


def test_nodes_that_the_original_seeds_alike():
    """Under X10 2.3 seed 0 stands for 4357: of two such neighbours none ever drew less."""
    graph = Graph.from_edges([0], [4357], n=4358)
    ds = valid("mis", graph, faithful=True)
    assert ds.in_mis.values.sum() == 4357


@pytest.mark.parametrize("top", [2**63 + 5, 2**63 - 1, 2**64 - 2])
@pytest.mark.parametrize("form", ["iterative", "recursive"])
def test_unsigned_weights_keep_their_order(top, form):
    weights = np.array([top, 2, 1], np.uint64)
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], weights=weights)
    ds = dgsuite.run("mst", graph, style="serial", form=form)
    assert genval.validate("mst", graph, ds).ok
    assert ds.parent.values[2] == -1 or 2 in ds.parent.values[:2]
    assert (ds.parent.values == -1).sum() == 1


def test_all_kernels_on_workers(client):
    """Clusters on workers, compiled paths, and a wrong result seen there."""
    n = 3000
    graph = genval.graph("spmax", n, m=200_000, weights=True, clusters=3, client=client)
    assert not graph.local
    for kernel in ("bf", "bfs", "dst", "ds", "kc", "dp", "mis", "mst"):
        ds = dgsuite.run(kernel, graph, client=client)
        report = genval.validate(kernel, graph, ds)
        assert report.ok, str(report)
        name = next(iter(KERNELS[kernel].outputs))
        values = ds[name].values.astype(np.int64)
        values[n // 2] = {"mis": 1 - values[n // 2], "kc": -1}.get(kernel, values[n // 2] + 1)
        report = genval.validate(kernel, graph, {name: ds[name] for name in ds} | {name: values})
        assert not report.ok, kernel
