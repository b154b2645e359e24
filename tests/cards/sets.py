"""Sets, colours and pairs, and kernels that recover from any state."""

from dataclasses import replace
from typing import get_args

import networkx as nx
import numpy as np

from dgsuite.kernels.lab.state_model import ONE, Daemon
from tests.cards.card import Card, N, at, at_round, by_node, hops_from, parents, smallest, swapped
from tests.cards.distances import CARDS as DISTANCES
from tests.cards.picks import BOTH, root
from tests.support.definitions import circulated, predecessors

DAEMONS = get_args(Daemon)
"""Which nodes move in a step."""


def independent(name):
    """A card of independent sets that dominate."""
    look = nx.maximal_independent_set
    return Card(
        rest=lambda net, found: {name: np.isin(range(N), [*look(net, seed=1)])},
        wrong={"one moved": {name: lambda v: swapped(v, np.argmax(v), np.argmin(v))}},
    )


def mates(net, found):
    mate = np.full(N, -1)
    for u, v in nx.maximal_matching(net):
        mate[u], mate[v] = v, u
    return {"mate": mate}


def colours(net, found):
    return {"colour": by_node(net, nx.greedy_color(net))}


def tried(net, found):
    """Colours, of which one is also that of a neighbour, which has crashed."""
    colour = colours(net, found)["colour"]
    colour[9] = colour[min(net[9])]
    return {"colour": colour, "settled": np.zeros(N, int), "crashed": at_round(9, 2)}


def across(net, edges):
    """Two halves with few edges within: one has odd cycles."""
    left = [(u < 20, v < 20, (u + v) % 2 == 0) for u, v in edges]
    within = [e for e, (a, b, even) in zip(edges, left, strict=True) if a != b or (a and even)]
    net.remove_edges_from(within)
    return net


def halves(net, kernel, uid):
    if not nx.is_bipartite(net):
        return {}
    least = smallest(net, nx.weakly_connected_components(net.to_directed()))
    hops = dict(nx.all_pairs_shortest_path_length(net.to_undirected()))
    return {"colour": np.array([hops[v][least[v]] % 2 for v in range(len(net))])}


def coloured(net, found):
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


def downwards(net, edges):
    """Edges to larger nodes, and a cycle."""
    net = nx.create_empty_copy(net).to_directed()
    net.add_edges_from((min(edge), max(edge)) for edge in edges)
    net.add_edges_from([(33, 25), (25, 28), (28, 33)])
    return net


def generations(net, kernel, uid):
    if not nx.is_directed_acyclic_graph(net):
        return {}
    found = {v: k for k, some in enumerate(nx.topological_generations(net)) for v in some}
    return {"generation": by_node(net, found), "cycle": np.full(len(net), -1)}


def ordered(net, found):
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


def tree(net, pick):
    """Any node as the root of a tree, and each node's parent; or the parents with smaller numbers."""
    first = pick(sorted(net))
    above = predecessors(net, first)
    ordered = all(sum(u < v for u in net[v]) == 1 for v in range(1, len(net)))
    if ordered and pick(BOTH):
        return {}
    return {"root": first, "parents": [above.get(v, 0) for v in range(len(net))]}


def heavier(v):
    """A tree of the example's network whose edges weigh most."""
    from tests.support.references import network

    return parents(nx.maximum_spanning_tree(network("mst")))


def stable(name, card, other=None):
    """A card of a kernel that recovers from any state to a result of another kernel."""

    def parameters(net, pick):
        daemon = pick(DAEMONS)
        protocol = {"protocol": other} if other and daemon in ONE and pick(BOTH) else {}
        return {
            "daemon": daemon,
            "repeat": pick(BOTH),
            "after": pick([0, 2]),
            "faults": pick([None, {3: 0.5}, {4: 0.5}, {1: 0.2, 9: 1.0}]),
            **protocol,
            **(root(net, pick) if name == "bfs" else {}),
        }

    def rest(net, found):
        moves = {"moves": np.ones(N, int), "moved": np.array([0, N]), "enabled": [N, 0]}
        right = {**card.rest(net, found), **moves}
        return right | ({"parent": parents(net)} if name == "bfs" else {})

    many = {"moves": lambda v: at(v, 5, v[5] + 999), "moved": lambda v: at(v, -1, v[-1] + 999)}
    daemons = {"bfs": {}, "mis": {}, "colouring": {"daemon": "central"}}
    central = {"daemon": "central", "protocol": "hsu-huang"}
    return replace(
        card,
        parameters=parameters,
        rest=rest,
        example={**card.example, **daemons.get(name, central)},
        wrong={
            **card.wrong,
            "a step more": {"moved": lambda v: at(v, -1, v[-1] + 1)},
            "enabled at last": {"enabled": lambda v: at(v, -1, 1)},
            **({} if name == "bfs" else {"too many": many}),
        },
    )


def ring(net, pick):
    return {
        "k": pick([None, max(len(net), 2), 2 * len(net)]),
        "after": pick(range(6)),
        "begin": pick(["arbitrary", "legitimate"]),
        "daemon": pick(["synchronous", "distributed", "central"]),
        "probability": pick([0.2, 1.0]),
        "repeat": pick(BOTH),
    }


def handed_on(net, found):
    names = ("value", "moves", "privileges")
    return dict(zip(names, circulated(np.random.default_rng(5), N, N + 1), strict=True))


CARDS = {
    "bipartite": Card(
        oracle=halves,
        net=across,
        rest=coloured,
        wrong={
            "other colours": {"colour": lambda v: np.where(v < 0, v, 1 - v)},
            "of an odd cycle": {"colour": lambda v: np.abs(v)},
            "a node less": {"cycle": lambda v: at(v, np.argmax(v), -1)},
            "a node more": {"cycle": lambda v: at(v, 0, v.max() + 1)},
            "counted from 1": {"cycle": lambda v: v + (v >= 0)},
        },
    ),
    "colouring": Card(
        rest=colours,
        wrong={
            "a gap": {"colour": lambda v: v + (v == v.max())},
            "two merged": {"colour": lambda v: np.maximum(v - 1, 0)},
        },
    ),
    "ds": independent("in_ds"),
    "matching": Card(
        rest=mates,
        wrong={
            "own mate": {"mate": lambda v: at(v, 5, 5)},
            "a pair leaves": {"mate": lambda v: at(v, [v.max(), np.argmax(v)], -1)},
        },
    ),
    "mis": independent("in_mis"),
    "mst": Card(
        weights="signed",
        net=DISTANCES["dr"].net,
        rest=lambda net, found: {"parent": parents(nx.minimum_spanning_tree(net), 7)},
        wrong={
            "no root": {"parent": lambda v: at(v, np.argmin(v), max(v[0], 1))},
            "own parent": {"parent": lambda v: at(v, 5, 5)},
            "a cycle": {"parent": lambda v: at(v, v[5], 5)},
            "a heavier tree": {"parent": heavier},
            "a tree in two": {"parent": lambda v: at(v, -1 if v[-1] >= 0 else 0, -1)},
        },
    ),
    "token_ring": Card(
        ring,
        example={"begin": "arbitrary", "after": 10},
        rest=handed_on,
        wrong={
            "out of range": {"value": lambda v: at(v, 5, N + 1)},
            "two tokens": {"value": lambda v: np.where(np.arange(N) % 20 < 10, 3, 4)},
            "a move more": {"moves": lambda v: at(v, np.argmax(v), v.max() + 1)},
            "moves below zero": {"moves": lambda v: at(v, 5, -1)},
            "node 0 alone moves": {"moves": lambda v: at(v * 0, 0, 2)},
            "too many moves": {"moves": lambda v: v + 3 * N},
            "a privilege more on the way": {"privileges": lambda v: at(v, 3, v[2] + 1)},
            "no privilege": {"privileges": lambda v: at(v, -2, 0)},
            "two at the end": {"privileges": lambda v: np.maximum(v, 2)},
        },
        false={"begin": "legitimate"},
        free=("moves",),
        harmless=tuple(f"value {kind}" for kind in ("backwards", "none", "all one", "all higher")),
    ),
    "topological": Card(
        oracle=generations,
        net=downwards,
        rest=ordered,
        wrong={
            "one without": {"generation": lambda v: at(v, 0, -1)},
            "a cycle of one": {"cycle": lambda v: at(v * 0 - 1, 3, 0)},
            "a node less": {"cycle": lambda v: np.where(v == 0, -1, v)},
            "a node more": {"cycle": lambda v: at(v, 0, v.max() + 1)},
            "the other way": {"cycle": lambda v: np.where(v > 0, v.max() + 1 - v, v)},
            "counted from 1": {"cycle": lambda v: v + (v >= 0)},
        },
    ),
    "trial_colouring": Card(
        rest=tried,
        wrong={
            "no round": {"settled": lambda v: at(v, 5, -1)},
            "before the first round": {"settled": lambda v: at(v, 5, -2)},
            "that of a node that has crashed": {"crashed": lambda v: at(v, 9, -1)},
            "two merged": {"colour": lambda v: np.maximum(v - 1, 0)},
        },
        free=("settled",),
        harmless=("colour one higher", "colour most higher"),
    ),
    "vc": Card(
        tree,
        rest=lambda net, found: {"colour": hops_from(net, 0) % 2},
        wrong={"root flipped": {"colour": lambda v: at(v, 0, 1 - v[0])}},
        harmless=("colour doubled", "colour most higher", "colour all higher"),
    ),
}
CARDS |= {
    "stable_bfs": stable("bfs", DISTANCES["bfs"]),
    "stable_colouring": stable("colouring", CARDS["colouring"]),
    "stable_matching": stable("matching", CARDS["matching"], "hsu-huang"),
    "stable_mis": stable("mis", CARDS["mis"], "shukla"),
}
