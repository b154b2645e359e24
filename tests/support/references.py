"""A small graph for each kernel, and a right result by networkx or a few lines of Python."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np

from dgsuite.kernels import KERNELS
from dgsuite.kernels.tools import _draws
from dgsuite.kernels.tools import rng as counters
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import RANKS, RINGS
from tests.support.definitions import (
    blocks,
    bridged,
    circulated,
    cliques,
    committees,
    orbits,
    predecessors,
    propagated,
    trusses,
)
from tests.support.synchronisers import AlphaEvents, BetaEvents, delays

SEED = 5
N = 40


def network(kernel):
    """A graph for a kernel, with its networkx form."""
    rng = np.random.default_rng(SEED)
    if kernel in RINGS:
        edges = [(i, (i + 1) % N) for i in range(N)]
    elif kernel == "vc":
        edges = [(v, int(rng.integers(0, v))) for v in range(1, N)]
    else:
        tree = [(v, int(rng.integers(0, v))) for v in range(1, N)]
        edges = tree + [(int(u), int(v)) for u, v in rng.integers(0, N, (60, 2)) if u != v]
        if kernel in ("cliques", "motifs"):
            edges += combinations(range(3, 20, 3), 2)
    graph = nx.Graph()
    graph.add_nodes_from(range(N))
    graph.add_edges_from(edges)
    if kernel == "topological":
        graph = nx.create_empty_copy(graph).to_directed()
        graph.add_edges_from((min(edge), max(edge)) for edge in edges)
        graph.add_edges_from([(33, 25), (25, 28), (28, 33)])
    if "complete" in KERNELS[kernel].needs:
        graph = nx.complete_graph(N)
    if kernel == "densest":
        graph.add_edges_from(combinations(range(6, 18), 2))
    if kernel == "bipartite":
        left = [(u < 20, v < 20, (u + v) % 2 == 0) for u, v in edges]
        cross = [e for e, (a, b, even) in zip(edges, left, strict=True) if a != b or (a and even)]
        graph.remove_edges_from(cross)
    if kernel == "scc":
        graph = graph.to_directed()
        graph.remove_edges_from([(u, v) for u, v in edges if u % 3 != v % 3])
    if kernel in ("bridges", "biconnected"):
        graph.remove_edges_from(edges[N + 9 :])
    if kernel == "wcc":
        graph.remove_edges_from([(u, v) for u, v in edges if u % 3 != v % 3])
    if kernel in ("bellman_ford", "mst", "dr", "sssp"):
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


def oriented(net, edge):
    """An edge from the end with more neighbours, of equals the smaller if the sum is even, or the larger."""
    u, v = sorted(edge)
    return (u, v) if (net.degree[u], (u + v) % 2 == 0) > (net.degree[v], False) else (v, u)


def mine(kernel, clusters):
    rng = np.random.default_rng(SEED)
    return Graph.from_networkx(network(kernel), uid=rng.permutation(N) + 1, clusters=clusters)


def reference(kernel, graph):
    """A right answer by networkx or a few lines of Python."""
    uid = np.concatenate([c.uid for c in graph.gather()])
    net = network(kernel)
    if kernel in ("bellman_ford", "sssp"):
        lengths, ways = nx.single_source_dijkstra(net, 0)
        above = {t: way[-2] if len(way) > 1 else 0 for t, way in ways.items()}
        return {
            "distance": np.array([float(lengths[v]) for v in net]),
            "parent": np.array([above[v] for v in net]),
        }
    if kernel == "bfs":
        lengths = nx.single_source_shortest_path_length(net, 0)
        above = predecessors(net, 0)
        level = np.array([lengths[v] for v in net])
        return {"level": level, "parent": np.array([above.get(v, 0) for v in net])}
    if kernel in ("bf", "dst"):
        lengths = nx.single_source_shortest_path_length(net, 0)
        found = {"distance": np.array([lengths[v] for v in net])}
        if kernel == "dst":
            above = predecessors(net, 0)
            found["parent"] = np.array([above.get(v, -1) for v in net])
        return found
    if kernel == "dijkstra_scholten":
        hops = nx.single_source_shortest_path_length(net, 0)
        distance, degree = (np.array([each[v] for v in net]) for each in (hops, net.degree))
        last = distance + 2
        announced = np.where(distance == 0, last.max() + 5, -1)
        found = {"distance": distance, "told": degree * 0 + 1, "acknowledged": degree}
        return {**found, "last": last, "announced": announced, "root": 0}
    if kernel == "distance_vector":
        left = nx.restricted_view(net, [9], [])
        hops = nx.single_source_shortest_path_length(left, 0)
        above = predecessors(left, 0)
        found = {
            "distance": np.array([hops.get(v, 16) for v in net]),
            "next_hop": np.array([above.get(v, -1) for v in net]),
        }
        return {**found, "crashed": at_round(9, 3), "infinity": 16, "root": 0}
    if kernel in ("closeness", "harmonic"):
        near = getattr(nx, f"{kernel}_centrality")(net)
        return {kernel: np.array([near[v] for v in net])}
    if kernel == "eccentricity":
        hops = np.array([*nx.eccentricity(net).values()])
        return {"eccentricity": hops, "limit": hops}
    if kernel == "hyperball":
        hops = np.array([[nx.shortest_path_length(net, u, v) for u in net] for v in net])
        found = {name: reference(name, graph)[name] for name in ("closeness", "harmonic")}
        return {"reached": (hops > 0).sum(1), "distance": hops.sum(1), **found, "log2m": 8}
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
        return {f"in_{kernel}": np.isin(np.arange(N), [*chosen])}
    if kernel in ("lcr", "hs", "dp"):
        return {"leader": np.full(N, uid.max())}
    if kernel == "floodmax":
        return {"leader": np.full(N, N - 1), "crashed": at_round(int(uid.argmax()), 0)}
    if kernel == "mst":
        above = predecessors(nx.minimum_spanning_tree(net), 7)
        return {"parent": np.array([above.get(v, -1) for v in net])}
    if kernel == "bridges":
        rows = bridged(net)
        rest = nx.restricted_view(net, [], [*map(tuple, rows.T.tolist())])
        return {
            **dict(zip(("source", "target"), rows, strict=True)),
            "articulation": np.isin(np.arange(N), [*nx.articulation_points(net)]),
            "component": smallest(nx.connected_components(rest)),
        }
    if kernel == "biconnected":
        return dict(zip(("member", "block"), blocks(net), strict=True))
    if kernel == "cliques":
        return {"cliques": cliques(net, 4), "k": 4}
    if kernel == "motifs":
        return {"orbits": orbits(net)}
    if kernel == "square_clustering":
        return {"coefficient": np.array([*nx.square_clustering(net).values()], float)}
    if kernel == "scc":
        return {"component": smallest(nx.strongly_connected_components(net))}
    if kernel in ("benor", "phase_king"):
        held, late = np.arange(N) % 2, np.arange(N) % 5 == 0
        decided = {"decision": np.ones(N, int), "decided": np.where(late, 2, 1)}
        return {**decided, "input": held, "inputs": held.tolist(), "crashed": np.full(N, -1)}
    if kernel.startswith("stable_"):
        found = reference(kernel.removeprefix("stable_"), graph)
        if kernel == "stable_bfs":
            found["parent"][0] = -1
        if kernel in ("stable_colouring", "stable_matching"):
            found |= {"daemon": "central", "protocol": "hsu-huang"}
        return {**found, "moves": np.ones(N, int), "moved": np.array([0, N]), "enabled": [N, 0]}
    if kernel == "token_ring":
        value, moves, privileges = circulated(np.random.default_rng(SEED), N, N + 1)
        found = {"value": value, "moves": moves, "privileges": privileges}
        return {**found, "begin": "arbitrary", "after": 10}
    if kernel == "wcc":
        return {"component": smallest(nx.connected_components(net))}
    if kernel == "colouring":
        colour = nx.greedy_color(net)
        return {"colour": np.array([colour[v] for v in net])}
    if kernel == "trial_colouring":
        colour = np.array([*dict(sorted(nx.greedy_color(net).items())).values()])
        colour[9] = colour[min(net[9])]
        return {"colour": colour, "settled": np.zeros(N, int), "crashed": at_round(9, 2)}
    if kernel == "matching":
        mate = np.full(N, -1)
        for u, v in nx.maximal_matching(net):
            mate[u], mate[v] = v, u
        return {"mate": mate}
    if kernel == "louvain":
        found = smallest(nx.community.louvain_communities(net, seed=1))
        return {"community": found, "resolution": 1.0}
    if kernel == "leiden":
        found = smallest(nx.community.louvain_communities(net, seed=1))
        return {"community": found, "resolution": 1.0, "objective": "modularity"}
    if kernel == "fastrp":
        facts = {"dimensions": 6, "seed": 101, "powers": [0.0, 1.0, 1.0], "normalise": True}
        return {"embedding": embedded(net), **facts}
    if kernel == "neighbourhood":
        near = {u: nx.single_source_shortest_path_length(net, u, 2) for u in (3, 17)}
        rows = sorted((v, u, hop) for u, hops in near.items() for v, hop in hops.items())
        target, source, hop = np.array(rows).T
        found = {"target": target, "source": source, "hop": hop}
        return {**found, "sources": [3, 17], "hops": 2}
    if kernel == "sample":
        columns = map(np.array, zip(*sorted(drawn(net, [3, 17], (2, 1))), strict=True))
        found = dict(zip(("source", "target", "place", "hop"), columns, strict=True))
        return {**found, "sources": [3, 17], "fanouts": [2, 1]}
    if kernel in ("alpha", "beta"):
        events = {"alpha": AlphaEvents, "beta": BetaEvents}[kernel](
            net, 3, delays(net, delay="uniform")
        )
        time, ends, _ = events.run()
        found = {"time": np.array(time), "pulse_time": np.array(ends)}
        if kernel == "beta":
            found["parent"] = np.array([events.parent.get(v, -1) for v in net])
        return {**found, "rounds": 3, "delay": "uniform"}
    if kernel == "random_walks":
        walk = [np.arange(N)]
        for _ in range(3):
            walk.append(np.array([min(net[v]) for v in walk[-1]]))
        return {"walk": np.stack(walk, axis=1), "length": 3, "restart": 0.0}
    if kernel == "ktruss":
        return {"truss": trusses(net)}
    if kernel == "core_number":
        return {"core": np.array([*nx.core_number(net).values()])}
    if kernel == "triangles":
        return {"triangles": np.array([*nx.triangles(net).values()])}
    if kernel == "similarity":
        edges = [oriented(net, edge) for edge in net.edges]
        rows = sorted(nx.jaccard_coefficient(net, edges))
        source, target, similarity = map(np.array, zip(*rows, strict=True))
        found = {"source": source, "target": target, "similarity": similarity.astype(float)}
        return {**found, "measure": "jaccard", "k": None}
    if kernel == "densest":
        return {"densest": peeled(net, 0.1)}
    if kernel == "topological":
        return ordered(net)
    if kernel == "bipartite":
        return coloured(net)
    if kernel == "edge_betweenness":
        found = nx.edge_betweenness_centrality(net, normalized=False)
        rows = sorted((*sorted(edge), value) for edge, value in found.items())
        source, target, betweenness = map(np.array, zip(*rows, strict=True))
        found = {"source": source, "target": target, "betweenness": betweenness}
        return {**found, "start": np.ones(N, bool)}
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
    if kernel == "echo":
        return waved(net)
    if kernel == "push_sum":
        own = np.arange(N) % 7 / 4
        weight = 0.5 + np.arange(N) / (N - 1)
        mass = weight * (own.sum() / N)
        found = {"average": mass / weight, "mass": mass, "weight": weight, "input": own}
        return {**found, "inputs": own, "tolerance": 1e-6, "iterations": 1000}
    if kernel == "snapshot":
        return {**paid(net), "root": 0, "after": 3, "seed": 7}
    if kernel == "gossip":
        return {"informed": rumoured(net), "root": 0, "mode": "push-pull", "seed": 7}
    if kernel == "floodset":
        own, crashed = np.arange(N) % 3, at_round(9, 1)
        decision = np.where(crashed < 0, 1, -1)
        return {"decision": decision, "input": own, "inputs": own, "default": 1, "crashed": crashed}
    if kernel == "by":
        votes = np.arange(N) % 2
        traitor = np.arange(N) < 4
        return {"decision": np.where(traitor, 0, 1), "vote": votes, "traitor": traitor}
    return {"committee": committees(net, uid, 4), "k": 4}


def waved(net):
    """The tree of smallest parents, and what its subtrees add up to."""
    level = nx.single_source_shortest_path_length(net, 0)
    above = {v: min(u for u in net[v] if level[u] < level[v]) for v in net if v}
    tree = nx.DiGraph((u, v) for v, u in above.items())
    below = [{v, *nx.descendants(tree, v)} for v in net]
    return {
        "parent": np.array([above.get(v, -1) for v in net]),
        "level": np.array([level[v] for v in net]),
        "size": np.array([*map(len, below)]),
        "total": np.array([sum(net.degree(u) for u in nodes) for nodes in below]),
        "decided": np.arange(N) == 0,
        "value": "degree",
    }


def rumoured(net):
    """When nodes hear of a rumour that starts at node 0, by calls of all."""
    informed, number = {0: 0}, 0
    while len(informed) < N:
        number += 1
        luck = counters.uniform("counter", 7, np.arange(N), number - 1)
        calls = [(v, sorted(net[v])[int(luck[v] * len(net[v]))]) for v in net]
        knew = {*informed}
        for u, v in calls:
            if (u in knew) != (v in knew):
                informed[v if u in knew else u] = number
    return np.array([informed[v] for v in net])


def paid(net):
    """A snapshot of money, payment by payment; markers reach nodes by hops from node 0, from round 3 on."""
    money = {v: 10 + v for v in net}
    given, had, late, coming = [*money.values()], {}, dict.fromkeys(net, 0), []
    when = {v: 3 + hops for v, hops in nx.single_source_shortest_path_length(net, 0).items()}
    for now in range(max(when.values()) + 2):
        had |= {v: money[v] for v in net if when[v] == now}
        for u, v, amount in coming:
            money[v] += amount
            late[v] += amount * (when[v] <= now and now - 1 < when[u])
        luck, way = (counters.uniform("counter", 7, np.arange(N), 2 * now + k) for k in (0, 1))
        coming = [
            (v, sorted(net[v])[int(way[v] * len(net[v]))], int(luck[v] * (money[v] + 1)))
            for v in net
        ]
        for v, _, amount in coming:
            money[v] -= amount
    found = {"recorded": had, "in_transit": late, "when": when}
    arrays = {name: np.array([each[v] for v in net]) for name, each in found.items()}
    return {"input": np.array(given), "inputs": np.array(given), "done": np.ones(N, bool), **arrays}


def at_round(node, number):
    """The round in which each node crashes: one does, and the others do not."""
    crashed = np.full(N, -1)
    crashed[node] = number
    return crashed


def peeled(net, epsilon):
    """The densest set on the way, where nodes of small degree leave round by round."""
    left, best = net.copy(), net
    while left:
        mean = 2 * left.number_of_edges() / len(left)
        if mean > 2 * best.number_of_edges() / len(best):
            best = left.copy()
        left.remove_nodes_from([v for v, d in [*left.degree] if d <= (1 + epsilon) * mean])
    return np.isin(np.arange(len(net)), [*best])


def ordered(net):
    """Generations, of an acyclic graph's nodes those of networkx, and a cycle."""
    cyclic = [part for part in nx.strongly_connected_components(net) if len(part) > 1]
    late = set().union(*cyclic, *(nx.descendants(net, v) for part in cyclic for v in part))
    early = nx.topological_generations(net.subgraph({*net} - late))
    generation, cycle = np.full((2, N), -1)
    for number, nodes in enumerate(early):
        generation[nodes] = number
    for place, u in enumerate(max(nx.simple_cycles(net), key=len)):
        cycle[u] = place
    return {"generation": generation, "cycle": cycle}


def coloured(net):
    """Colours by hops from the smallest node, where there are two, and an odd cycle."""
    colour, cycle = np.full((2, N), -1)
    for part in nx.connected_components(net):
        some = net.subgraph(part)
        if nx.is_bipartite(some):
            for v, hops in nx.single_source_shortest_path_length(some, min(part)).items():
                colour[v] = hops % 2
        else:
            cycle[:] = -1
            odd = next(nodes for nodes in nx.simple_cycles(some) if len(nodes) % 2)
            cycle[odd] = np.arange(len(odd))
    return {"colour": colour, "cycle": cycle}


def drawn(net, sources, fanouts):
    """Rows of a sample in which each node draws its last edges."""
    met, front, rows = {*sources}, [*sources], []
    for hop, fanout in enumerate(fanouts):
        edges = [(u, v, k, hop) for u in front for k, v in [*enumerate(sorted(net[u]))][-fanout:]]
        front = sorted({v for _, v, _, _ in edges} - met)
        met |= {*front}
        rows += edges
    return rows


def embedded(net):
    """Vectors of 6 dimensions, by the definition."""
    ways = nx.to_numpy_array(net, weight=None)
    ways /= ways.sum(axis=1, keepdims=True)
    key = counters.key(101, 0)[0]
    keys = [np.uint64(_draws.keyed(key, v)) for v in net]
    luck = [[_draws.uniform(mine, j) * 3 for j in range(6)] for mine in keys]
    vectors = np.sqrt(3) * np.select([np.array(luck) < 0.5, np.array(luck) < 1], [1, -1])
    first, second = ways @ ways @ vectors, ways @ ways @ ways @ vectors
    return sum(v / np.linalg.norm(v, axis=1, keepdims=True) for v in (first, second))


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
