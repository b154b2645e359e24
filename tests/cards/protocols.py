"""Leaders, agreement, waves, rumours and clocks."""

import networkx as nx
import numpy as np

from dgsuite.kernels.tools import rng as counters
from tests.cards.card import UID, Card, N, at, at_round, by_node, swapped
from tests.cards.distances import PARENTS, hops
from tests.cards.picks import BOTH, root, weighing
from tests.support.definitions import committees
from tests.support.synchronisers import AlphaEvents, BetaEvents, delays

LEADERS = {"second best": {"leader": lambda v: v * 0 + v.max() - 1}}
LEADER = Card(
    oracle=lambda net, kernel, uid: {"leader": np.full(len(net), uid.max())}, wrong=LEADERS
)

AGREEMENT = {
    "nobody's input": {"input": lambda v: v * 0, "inputs": [0] * N},
    "other inputs": {"inputs": lambda v: v[::-1]},
    "one lives": {"crashed": lambda v: at(v, 5, 3), "decision": lambda v: at(v, [5, 6], 0)},
}


def bits(net, pick):
    return pick([None, [pick([0, 1]) for _ in net], [(v + pick([0, 1])) % 2 for v in net]])


def agreed(net, found):
    """Nodes decide for 1, some of them a round late."""
    held, late = np.arange(N) % 2, np.arange(N) % 5 == 0
    decided = {"decision": np.ones(N, int), "decided": np.where(late, 2, 1)}
    return {**decided, "input": held, "inputs": held.tolist(), "crashed": np.full(N, -1)}


def flooded(net, pick):
    """Node failures that the kernel stands: any number; on complete graphs also fewer."""
    complete = net.number_of_edges() == len(net) * (len(net) - 1) // 2
    early = complete and pick(BOTH)
    return {
        "f": pick([0, 1, 2, 3, 4]) if complete else len(net),
        "early": early,
        "opt": not early and pick(BOTH),
        "inputs": pick([1, 4, 64, [pick(range(64)) for _ in net]]),
        "default": pick(range(64)),
    }


def spread(net, found):
    own, crashed = np.arange(N) % 3, at_round(9, 1)
    decision = np.where(crashed < 0, 1, -1)
    return {"decision": decision, "input": own, "inputs": own, "default": 1, "crashed": crashed}


def announced(net, found):
    """Every node told once; the root knows five rounds after the last."""
    distance, degree = found["distance"], by_node(net, dict(net.degree))
    last = distance + 2
    over = np.where(distance == 0, last.max() + 5, -1)
    told = {"told": degree * 0 + 1, "acknowledged": degree}
    return {**told, "last": last, "announced": over}


def waved(net, found):
    """The tree of smallest parents, and what its subtrees add up to."""
    level = nx.single_source_shortest_path_length(net, 0)
    above = {v: min(u for u in net[v] if level[u] < level[v]) for v in net if v}
    tree = nx.DiGraph((u, v) for v, u in above.items())
    below = [{v, *nx.descendants(tree, v)} for v in net]
    return {
        "parent": by_node(net, above, -1),
        "level": by_node(net, level),
        "size": np.array([*map(len, below)]),
        "total": np.array([sum(net.degree(u) for u in nodes) for nodes in below]),
        "decided": np.arange(N) == 0,
    }


def later_parent(parent):
    """A node has another parent that is as near to the root, and the sums are not said to change."""
    from tests.support.references import network

    net = network("echo")
    level = nx.single_source_shortest_path_length(net, 0)
    ways = {v: [u for u in net[v] if level[u] < level[v]] for v in net}
    node = next(v for v in net if len(ways[v]) > 1)
    return at(parent, node, max(ways[node]))


def rumoured(net, found):
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
    return {"informed": by_node(net, informed)}


def averaged(net, found):
    own = np.arange(N) % 7 / 4
    weight = 0.5 + np.arange(N) / (N - 1)
    mass = weight * (own.sum() / N)
    return {"average": mass / weight, "mass": mass, "weight": weight, "input": own, "inputs": own}


def paid(net, found):
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
        to = {v: sorted(net[v])[int(way[v] * len(net[v]))] for v in net}
        coming = [(v, to[v], int(luck[v] * (money[v] + 1))) for v in net]
        for v, _, amount in coming:
            money[v] -= amount
    arrays = {"recorded": had, "in_transit": late, "when": when}
    right = {name: by_node(net, each) for name, each in arrays.items()}
    return {"input": np.array(given), "inputs": np.array(given), "done": np.ones(N, bool), **right}


def synchroniser(kind, **more):
    """A card of a synchroniser, whose events are worked out one by one."""

    def parameters(net, pick):
        laws = [2, "uniform", "geometric", *(["weight"] if weighing(net) else [])]
        ways = {"rounds": pick([1, 2, 3, 4]), "high": pick([1, 5, 900]), "delay": pick(laws)}
        return ways | (root(net, pick) if kind is BetaEvents else {})

    def rest(net, found):
        events = kind(net, 3, delays(net, delay="uniform"))
        time, ends, _ = events.run()
        found = {"time": np.array(time), "pulse_time": np.array(ends)}
        above = {"parent": by_node(net, events.parent, -1)} if kind is BetaEvents else {}
        return {**found, **above}

    wrong = {
        "all at once": {"time": lambda v: v * 0 + v.max()},
        "a pulse later": {"pulse_time": lambda v: at(v, 1, v[1] + 1)},
        "a pulse earlier": {"pulse_time": lambda v: at(v, -1, v[-1] - 1)},
        "a pulse less": {"rounds": 2, "pulse_time": lambda v: v[:-1]},
        **more,
    }
    example, false = {"rounds": 3, "delay": "uniform"}, {"delay": "geometric"}
    return Card(parameters, "whole", example=example, rest=rest, wrong=wrong, false=false)


def largest(committee):
    """The largest committee's leader, and its members from the leader on."""
    leader = int(np.bincount(committee).argmax())
    members = np.flatnonzero(committee == leader)
    return leader, [leader, *members[members != leader].tolist()]


def alone(committee):
    """Nodes that are a committee of their own."""
    size = np.bincount(committee, minlength=len(committee))
    return np.flatnonzero((size[committee] == 1) & (committee == np.arange(len(committee))))


CARDS = {
    "alpha": synchroniser(AlphaEvents),
    "benor": Card(
        lambda net, pick: {"model": pick(["crash", "byzantine"]), "inputs": bits(net, pick)},
        rest=agreed,
        free=("decided",),
        harmless=("decision none",),
        wrong={
            **AGREEMENT,
            "never": {"decided": lambda v: at(v, 9, -1)},
            "two rounds late": {"decided": lambda v: at(v, 9, 3)},
            "all but one late": {"decided": lambda v: at(v + 1, 9, 0)},
            "late, with one input": {"input": lambda v: v | 1, "inputs": [1] * N},
        },
    ),
    "beta": synchroniser(BetaEvents, **PARENTS),
    "by": Card(
        rest=lambda net, found: {
            "decision": np.where(np.arange(N) < 4, 0, 1),
            "vote": np.arange(N) % 2,
            "traitor": np.arange(N) < 4,
        },
        wrong={
            "as voted": {"decision": lambda v: 1 - np.arange(N) % 2},
            "against all votes": {"vote": lambda v: v * 0},
            "many traitors": {"traitor": lambda v: np.arange(N) < 9},
        },
        free=("vote",),
        harmless=("decision none", "decision all one"),
    ),
    "dijkstra_scholten": Card(
        lambda net, pick: {**root(net, pick), "work": pick(range(1, 7))},
        oracle=hops("distance"),
        example={"root": 0},
        rest=announced,
        wrong={
            "one that goes on": {"last": lambda v: at(v, 5, 99)},
            "one that never begins": {"last": lambda v: at(v, 5, -1)},
            "too early": {"announced": lambda v: at(v, 0, v[0] - 6)},
            "much later": {"announced": lambda v: at(v, 0, v[0] + N)},
            "over at another node": {"announced": lambda v: at(v, 5, v[0])},
            "nobody told": dict.fromkeys(("told", "acknowledged"), lambda v: v * 0),
            "acknowledged elsewhere": {"acknowledged": lambda v: v + (v == v[5]) - (v == v[5] + 1)},
        },
        false={"root": 5},
        free=("last",),
        harmless=("announced first lower", "announced most higher", "announced most lower"),
    ),
    "dp": LEADER,
    "echo": Card(
        lambda net, pick: {**root(net, pick), "value": pick(["degree", "uid"])},
        example={"value": "degree"},
        rest=waved,
        wrong={
            "a leaf of two": {"size": lambda v: at(v, np.argmin(v), 2)},
            "a parent at the root": {"parent": lambda v: at(v, 0, 0)},
            "own parent": {"parent": lambda v: at(v, 5, 5)},
            "a larger parent": {"parent": later_parent},
        },
        false={"value": "uid"},
        harmless=("decided no flag", "decided negative"),
    ),
    "floodmax": Card(
        lambda net, pick: {"iterations": pick([None, len(net)]), "opt": pick(BOTH)},
        rest=lambda net, found: {"leader": np.full(N, N - 1), "crashed": at_round(UID.argmax(), 0)},
        wrong={
            **LEADERS,
            "no such node": {"leader": lambda v: v * 0 + N + 1},
            "no crash": {"crashed": lambda v: v * 0 - 1},
            "one that has crashed, as some say": {"leader": lambda v: at(v, 3, N)},
        },
        harmless=("leader all higher",),
    ),
    "floodset": Card(
        flooded,
        rest=spread,
        wrong={
            "one disagrees": {"decision": lambda v: at(v, 6, 0)},
            "no crash": {"crashed": lambda v: v * 0 - 1},
            "drawn inputs": {"inputs": 3},
            "inputs that are all the same": dict.fromkeys(("input", "inputs"), lambda v: v * 0),
        },
        false={"default": 2},
        harmless=("decision all one",),
    ),
    "gossip": Card(
        lambda net, pick: {**root(net, pick), "mode": pick(["push", "pull", "push-pull"])},
        example={"root": 0, "mode": "push-pull", "seed": 7},
        rest=rumoured,
        wrong={
            "all at once": {"informed": lambda v: np.minimum(v, 1)},
            "only the root": {"informed": lambda v: np.where(v == 0, 0, -1)},
            "two roots": {"informed": lambda v: at(v, 5, 0)},
            "two swapped": {"informed": lambda v: swapped(v, np.argmax(v), np.argmax(v == 1))},
            "of pulls": {"mode": "pull"},
        },
        false={"root": 1, "mode": "push", "seed": 8},
    ),
    "hs": LEADER,
    "kc": Card(
        lambda net, pick: {"k": pick(range(1, 6))},
        oracle=lambda net, kernel, uid: (
            {} if kernel.faithful else {"committee": committees(net, uid, kernel.k)}
        ),
        example={"k": 4},
        wrong={
            "in a member's": {"committee": lambda v: at(v, 5, largest(v)[1][1])},
            "a leader leaves": {"committee": lambda v: at(v, largest(v)[0], alone(v)[0])},
            "a leader lost": {"committee": lambda v: at(v, largest(v)[0], largest(v)[1][1])},
            "pairs": {"committee": lambda v: np.arange(N) // 2 * 2},
        },
        false={"k": 2},
        harmless=("committee one higher", "committee one lower"),
    ),
    "lcr": LEADER,
    "phase_king": Card(
        lambda net, pick: {"inputs": bits(net, pick)},
        rest=agreed,
        wrong=AGREEMENT,
        harmless=("decision none",),
    ),
    "push_sum": Card(
        lambda net, pick: {
            "tolerance": pick([0.001, 0.01, 0.1]),
            "inputs": pick([None, [pick(range(-8000, 8000)) / 8 for _ in net]]),
        },
        example={"tolerance": 1e-6, "iterations": 1000},
        rest=averaged,
        wrong={
            "lost mass": {"mass": lambda v: at(v, 5, v[5] / 2)},
            "mass of another": {"mass": lambda v: swapped(v, 5, 6)},
            "inputs that are not given": {"inputs": lambda v: v + 1},
            "not mixed": {
                **dict.fromkeys(("average", "mass"), lambda v: np.arange(N) % 7 / 4),
                "weight": lambda v: v * 0 + 1,
            },
            "degrees": {"inputs": None},
        },
    ),
    "snapshot": Card(
        lambda net, pick: {
            **root(net, pick),
            "inputs": pick([*range(100), [pick(range(51)) for _ in net]]),
            "after": pick(range(6)),
        },
        example={"root": 0, "after": 3, "seed": 7},
        rest=paid,
        wrong={
            "money counted twice": {"recorded": lambda v: v + v[5] * (np.arange(N) == 7)},
            "all at once": {"when": lambda v: v * 0 + 3},
            "inputs that are not given": {"inputs": lambda v: v + 1},
        },
        false={"after": 4, "root": 5, "seed": 8},
        harmless=("done no flag", "done negative"),
    ),
}
