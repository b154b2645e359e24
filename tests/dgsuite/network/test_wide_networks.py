"""Faults on graphs of so many nodes that products of their ids need more than 32 bits."""

from dataclasses import dataclass
from itertools import cycle, product
from math import floor, log1p
from typing import ClassVar

import numpy as np
import pytest

import dgsuite
from dgsuite import Adversary, Byzantine, Crash, Graph, Network
from dgsuite.base import thresholds
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.kernels import bsp
from dgsuite.partition.construction import build
from dgsuite.partition.graph.views import incoming
from dgsuite.studies.network.faults import REWRITTEN
from tests.support.cases import in_turn
from tests.support.message_by_message import Oracle
from tests.support.sites import simulate
from tests.support.synchronisers import GOLDEN, first_word, mixed

SIZES = (50_000, 65_537, 70_000, 1 << 20)
SEED, ROUNDS = 7, 3
WAYS = ("first", "along", "min", "sum", "list")
WORD = 1 << 64
VALUES = 1 << 40


@dataclass(eq=False)
class State(bsp.ClusterState):
    heard: np.ndarray = bsp.per_node(0)


@dataclass(frozen=True)
class Hears(bsp.Kernel):
    """Nodes with neighbours tell them a number in each round, and make one of all that they hear."""

    way: str = "list"

    name: ClassVar = "hears"
    outputs: ClassVar = {"heard": bsp.Output("a number made of all that the node heard")}
    fields: ClassVar = {"value": np.int64}
    ranges: ClassVar = {"value": bsp.values(VALUES)}
    state: ClassVar = State
    obeys: ClassVar = bsp.Model("edges")
    undirected: ClassVar = False
    pulls: ClassVar = True

    def program(self, net):
        for r in range(ROUNDS):
            yield bsp.Round(self.tell, r=r)
        yield bsp.Round(self.end)

    def tell(self, c, s, inbox, r):
        self.end(c, s, inbox)
        nodes = np.flatnonzero(c.degree)
        return bsp.broadcast(nodes, value=c.ids[nodes] * 8 + r)

    def end(self, c, s, inbox):
        nodes, more = getattr(self, f"by_{self.way}")(c, inbox)
        s.heard[nodes] = s.heard[nodes] * 31 + more

    def by_first(self, c, inbox):
        nodes, src, _ = inbox.first()
        return nodes, src.astype(np.int64) + 1

    def by_along(self, c, inbox):
        came, values = inbox.along("value")
        row = np.repeat(np.arange(c.size), c.degree)[came]
        total = np.zeros(c.size, np.int64)
        np.add.at(total, row, values[came])
        nodes = np.unique(row)
        return nodes, total[nodes]

    def by_min(self, c, inbox):
        return inbox.min("value")

    def by_sum(self, c, inbox):
        return inbox.sum("value")

    def by_list(self, c, inbox):
        total = np.zeros(c.size, np.int64)
        np.add.at(total, inbox.node, inbox.src * 3 + inbox["value"])
        nodes = np.unique(inbox.node)
        return nodes, total[nodes]


FOLDED = {
    "first": lambda some: some[0][0] + 1,
    "along": lambda some: sum(dict(some).values()),  # an edge has one message in it
    "min": lambda some: min(value for _, value in some),
    "sum": lambda some: sum(value for _, value in some),
    "list": lambda some: sum(3 * src + value for src, value in some),
}


def edges(n):
    """Some edges between nodes of small and great ids, with probabilities as weights."""
    luck = np.random.default_rng(n)
    nodes = [0, 1, n - 1, n - 2, n // 2, 46_340, 46_341, 32_768, *luck.integers(n // 3, n, 20)]
    ends = np.unique(np.sort(luck.choice(nodes, (90, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] < ends[:, 1]]
    weights = luck.choice([0.0, 0.25, 0.5, 1.0], len(ends))
    return [(*pair, weight) for pair, weight in zip(ends.tolist(), weights.tolist(), strict=True)]


def neighbours(along, directed):
    """Those that a node's messages go to, with weights."""
    found = {node: {} for u, v, _ in along for node in (u, v)}
    for u, v, weight in along:
        found[u][v] = weight
        if not directed:
            found[v][u] = weight
    return found


def by_degree(net, count):
    """Edges, both ways, from the nodes with most neighbours; of equal ones those of the smallest ids."""
    ways = [(u, v) for u in net for v in net[u]]
    return sorted(ways, key=lambda way: (-len(net[way[0]]), *way))[:count]


def crashing(net, rate):
    """When nodes crash, by the definition."""
    found = {}
    for v in net:
        luck = (mixed(first_word(SEED, 4, 0) + v * GOLDEN) >> 11) * 2.0**-53
        found[v] = floor(log1p(-luck) / log1p(-rate))
    return found


def of_drops(n, net):
    drops = [(r, u, v) for r, (u, v) in product((0, 1), by_degree(net, 60)) if (u + v + r) % 2]
    return {"drops": drops}, {"drops": set(drops)}


def of_churn(n, net):
    ways = by_degree(net, 12)[::2]
    out = {(r, *way) for u, v in ways for r in (0, 1) for way in ((u, v), (v, u))}
    node = min(net)
    churn = [*((0, 2, u, v) for u, v in ways), (1, 2, node)]
    return {"churn": churn}, {"drops": out, "away": {node: {1}}}


def of_adversary(n, net):
    """One that sees nothing strikes the same edges in each round."""
    adversary = Adversary("degree", spends="drops", budget=14, each=7)
    drops = {(r, *way) for r in (0, 1) for way in by_degree(net, 7)}
    return {"adversary": adversary}, {"drops": drops}


def of_cut(n, net):
    """One that sees what was sent strikes from round 1 on."""
    side = {v for v in net if v > n // 2}
    ways = [(u, v) for u, v in by_degree(net, 1 << 20) if (u in side) != (v in side)]
    adversary = Adversary("cut", nodes=side, budget=10, each=5)
    return {"adversary": adversary}, {"drops": {(r, *way) for r in (1, 2) for way in ways[:5]}}


def of_liars(n, net):
    liars = sorted(net)[-5:]
    fooled = {(u, v) for u in liars for v in net[u] if v % 2}

    def fork(sent):
        ends = zip(sent.src.tolist(), sent.dst.tolist(), strict=True)
        more = np.array([1000 * (way in fooled) for way in ends])
        assert (sent.src * n + sent.dst >= 0).all()  # ids that one may multiply
        return {"value": sent.fields["value"] + more}

    def told(value, src, dst, word):
        return value + 1000 * ((src, dst) in fooled)

    return {"byzantine": Byzantine(liars, fork)}, {"lies": dict.fromkeys(liars, told)}


def of_random_lies(n, net):
    liars = sorted(net)[::3]

    def told(value, src, dst, word):
        return mixed(mixed(word + GOLDEN) + 0) % VALUES

    return {"byzantine": Byzantine(liars, "random")}, {"lies": dict.fromkeys(liars, told)}


def of_crashes(n, net):
    first, second, third, *_ = sorted(net)[::-1]
    listed = [Crash(first, 1), Crash(second, 2, partial=True), Crash(third, 0, partial=True)]
    return {"crashes": listed, "loss": 0.2}, {
        "gone": {first: 1},
        "falling": {second: 2, third: 0},
        "loss": lambda src, dst, weight: 0.2,
    }


def of_silence(n, net):
    mute = {*sorted(net)[::4]}
    return {"byzantine": Byzantine([*mute], "silent")}, {"loss": lambda src, *_: float(src in mute)}


def of_receivers(n, net):
    """Nodes that crash after they have told every second neighbour."""
    told = {v: (r, sorted(net[v])[1::2]) for r, v in enumerate(sorted(net)[-2:])}
    listed = [Crash(v, r, receivers=some) for v, (r, some) in told.items()]
    return {"crashes": listed}, {"told": told}


def of_partition(n, net, one_way=False):
    side = sorted(net)[::3]
    split = (1, 3, {*side}, one_way)
    return {"partitions": [(1, 3, side, one_way)]}, {"split": split}


def by_node(n):
    return np.arange(n) % 5 / 5


NETWORKS = {
    "drops": of_drops,
    "loss": lambda n, net: ({"loss": 0.3}, {"loss": lambda src, dst, weight: 0.3}),
    "sending": lambda n, net: ({"loss": by_node(n)}, {"loss": lambda src, *_: src % 5 / 5}),
    "receiving": lambda n, net: (
        {"loss": by_node(n), "omission": "receiving"},
        {"loss": lambda src, dst, weight: dst % 5 / 5},
    ),
    "weight": lambda n, net: ({"loss": "weight"}, {"loss": lambda src, dst, weight: weight}),
    "churn": of_churn,
    "crashes": of_crashes,
    "rate": lambda n, net: ({"crashes": 0.3}, {"falling": crashing(net, 0.3)}),
    "adversary": of_adversary,
    "cut": of_cut,
    "liars": of_liars,
    "random": of_random_lies,
    "silent": of_silence,
    "receivers": of_receivers,
    "partition": of_partition,
    "one way": lambda n, net: of_partition(n, net, one_way=True),
    "duplicates": lambda n, net: ({"duplicates": 0.3}, {"twice": 0.3}),
    "corruption": lambda n, net: ({"corruption": 0.3}, {"noise": (0.3, VALUES)}),
}


def folded(net, way, oracle, rounds):
    """By node, what it makes of all that it hears."""
    found = dict.fromkeys(net, 0)
    for r, heard in enumerate(rounds):
        for node, some in heard.items():
            # its outputs are those of its crash
            falls = min(oracle.falling.get(node, WORD), *oracle.told.get(node, (WORD,))[:1], WORD)
            if oracle.gone.get(node, WORD) > r + 1 and falls > r:
                found[node] = (found[node] * 31 + FOLDED[way](some)) % WORD
    return found


def check(n, along, kind, cuts, ways=WAYS, directed=False):
    """Each way of reading on one of some cuts, with one site and with a site for each cluster."""
    net = neighbours(along, directed)
    network, of_oracle = NETWORKS[kind](n, net)
    network, oracle = Network(**network, seed=SEED), Oracle(net, seed=SEED, **of_oracle)
    heard = [oracle.heard(r, lambda src, r: 8 * src + r) for r in range(ROUNDS)]
    assert (oracle.lost > 0) == (kind not in ("liars", "random", "duplicates", "corruption"))
    how = {"n": n, "weights": [weight for *_, weight in along], "directed": directed}
    src, dst = np.array([ends for *ends, _ in along]).T
    graphs = {k: incoming(Graph.from_edges(src, dst, clusters=k, **how)) for k in cuts}
    nodes = np.array([*net])
    for way, clusters in zip(ways, cycle(cuts), strict=False):
        graph, wanted = graphs[clusters], folded(net, way, oracle, heard)
        ds = dgsuite.run(Hears, graph, way=way, style="serial", network=network)
        assert ds.lost.sum() == oracle.lost
        by_kind = ds.struck.sum("round").to_series()
        assert by_kind.drop(["crashes", *REWRITTEN]).sum() <= oracle.lost
        assert by_kind.any()
        spec = RunSpec(max_rounds=100, faults=network.faults(graph))
        many, _ = simulate(Hears(way=way), graph, clusters, spec=spec)
        for found in (ds.heard.values, many["heard"]):
            values = found[nodes].view(np.uint64).tolist()
            assert dict(zip(nodes.tolist(), values, strict=True)) == wanted
            assert np.count_nonzero(found) == np.count_nonzero(list(wanted.values()))


@pytest.mark.parametrize(("kind", "n"), in_turn(NETWORKS, SIZES))
def test_each_fault_strikes_what_it_names(kind, n):
    """However nodes read what they hear, on any cut, with one site and with several."""
    check(n, edges(n), kind, (5, 2, 1) if n < 1 << 20 else (2,))


@pytest.mark.parametrize("kind", NETWORKS)
def test_compiled_loops_strike_the_same(kind, monkeypatch):
    """Where so many nodes send that the loops look at all edges, and where few do."""
    monkeypatch.setattr(thresholds, "compile_from", -1)
    n = 50_000
    ends = np.sort(np.random.default_rng(3).integers(0, n, (3300, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    check(n, [(u, v, 0.25) for u, v in ends.tolist()], kind, (2, 1), WAYS[:4])
    check(n, edges(n), kind, (2, 5), WAYS[:4])


@pytest.mark.parametrize("kind", ["drops", "weight", "churn", "adversary"])
def test_edges_of_one_way(kind):
    """A site knows those that leave its nodes, and those that come in."""
    along = [edge[::-1][1:] + edge[2:] if k % 2 else edge for k, edge in enumerate(edges(SIZES[2]))]
    check(SIZES[2], along, kind, (2, 5), ("first", "min", "sum", "list"), directed=True)


@pytest.mark.parametrize("kind", ["drops", "weight", "churn", "adversary", "liars", "crashes"])
def test_ids_of_64_bits(kind, monkeypatch):
    monkeypatch.setattr(build, "MOST_SHORT", 1)
    check(SIZES[2], edges(SIZES[2]), kind, (2, 1, 5))
