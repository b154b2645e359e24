"""Runs on networks that lose messages, and whose nodes crash or lie."""

import json
from itertools import product

import numpy as np
import pytest

import dgsuite
from dgsuite import Adversary, Byzantine, Crash, Graph, InputError, Network, RunError
from dgsuite.base import thresholds
from dgsuite.kernels import KERNELS as ALL
from dgsuite.studies.network.faults import NEVER
from tests.support.cases import in_turn


def sly(view):
    """Those that have sent, by the first output: a strong adversary."""
    values = getattr(view.state, next(iter(view.kernel.outputs)))
    return np.where(view.sent > 0, values.astype(float) % 3, -np.inf)


NETWORKS = {
    "loss": Network(loss=0.2, seed=1),
    "loss by sender": Network(loss=np.linspace(0, 1, 40)),
    "loss by receiver": Network(loss=np.linspace(0, 1, 40), omission="receiving"),
    "crashes": Network(crashes=0.1, seed=2),
    "listed": Network(crashes=[Crash(3, 1, partial=True), Crash(5), Crash(9, 0, "draw")]),
    "silent": Network(byzantine=Byzantine([4, 9], "silent")),
    "constant": Network(byzantine=Byzantine(0.2, "constant")),
    "random": Network(byzantine=Byzantine([4, 9], "random")),
    "two-faced": Network(byzantine=Byzantine(0.1, "two-faced"), seed=3),
    "churn": Network(churn=[(1, 3, 5), (0, 2, 1, 2), (2, 9, 30), (1, 2, 7)]),
    "away": Network(churn=[(0, 2, 5), (1, 2, 7)], crashes=0.05),
    "drops": Network(drops=[(0, 0, 1), (1, 2, 1), (1, 2, 3)]),
    "all": Network(loss=0.1, crashes=0.02, byzantine=Byzantine([7], "random")),
    "told": Network(crashes=[Crash(3, 1, receivers=[1, 5, 9]), Crash(5, 0, receivers=[])]),
    "partitions": Network(partitions=[(0, 2, range(9)), (1, None, range(20), True)]),
    "duplicates": Network(duplicates=0.2),
    "corruption": Network(corruption=0.2, loss=0.1, seed=4),
    "swizzle": Network(adversary=Adversary("swizzle", budget=12), seed=6),
    "delays": Network(delay="geometric"),
    "late": Network(delay=2, adversary=Adversary(sly, budget=50, each=7, ticks=9, spends="delays")),
    "struck degree": Network(adversary=Adversary("degree", budget=3)),
    "struck frontier": Network(adversary=Adversary("frontier", budget=4, each=2), loss=0.05),
    "struck cut": Network(adversary=Adversary("cut", budget=9, each=3, nodes=range(12))),
    "struck absences": Network(adversary=Adversary(sly, budget=5, each=2, spends="absences")),
    "struck drops": Network(adversary=Adversary(sly, budget=50, each=7, spends="drops")),
    "back": Network(crashes=[Crash(3, 1, until=3), Crash(5, until=2, partial=True), Crash(9, 1)]),
    "forgets": Network(crashes=[Crash(v, 1, until=3, memory=False) for v in (0, 3, 9)], loss=0.05),
}

KERNELS = {name: {} for name in ("bf", "bfs", "by", "ds", "mis", "pagerank", "mst", "wcc")}
KERNELS |= {"mis": {"faithful": True}, "pagerank": {"iterations": 5}}  # which adds all that it gets
"""Those whose messages go by each of the ways that there are."""

IDLE = {("struck frontier", name): "adversary" for name in ("ds", "mis", "pagerank")}
IDLE |= {("struck " + what, "mst"): "adversary" for what in ("cut", "absences", "drops")}
IDLE |= {("late", "mst"): "adversary", ("drops", "wcc"): "drops"}
IDLE |= {("away", "bf"): "away", ("away", "bfs"): "away"}
"""Faults that find nothing to strike, by network and kernel."""


def spare(ledger, kind, name):
    """Messages of WCC have no fields on a connected graph: that they come is what they say."""
    if name == "wcc":
        ledger.spares("lies", "corruption")
    if (kind, name) in IDLE:
        ledger.spares(IDLE[kind, name])


def random(seed=1, n=40, m=60, **how):
    """A connected graph."""
    luck = np.random.default_rng(seed)
    chain = np.stack([np.arange(n - 1), np.arange(1, n)])
    ends = np.concatenate([chain, luck.integers(0, n, (2, m))], axis=1)
    return Graph.from_edges(*ends, n=n, duplicates="min", **how)


OF_CUT = {"remote_messages", "wire_bytes", "examined", "bottom_up"}


def found(name, graph, network, **how):
    """What a run has found and counted, or how it failed."""
    if ALL[name]().unfit().keys() & {*network.kinds}:
        pytest.skip("the kernel does not take such a network")
    how = {"network": network, "max_rounds": 30, **KERNELS[name], **how}
    try:
        ds = dgsuite.run(name, graph, **how)
    except RunError as error:
        return {"error": str(error).partition(", cluster")[0]}
    values = {v: ds[v].values for v in ds.data_vars if "seconds" not in v and v not in OF_CUT}
    return values | {"terminated": ds.attrs.get("terminated")}


def same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)


@pytest.mark.parametrize(("kind", "name"), in_turn(NETWORKS, [*KERNELS]))
def test_any_cut_has_the_same_faults(name, kind, monkeypatch, ledger):
    spare(ledger, kind, name)
    check_cuts(name, NETWORKS[kind], monkeypatch)


def check_cuts(name, network, monkeypatch):
    """Any cut has the same faults, also where loops are compiled."""
    expected = found(name, random(clusters=1), network, style="serial")
    for how in ({"clusters": 4, "partition": "hash"}, {"clusters": 7}):
        same(found(name, random(**how), network, style="serial"), expected)
    monkeypatch.setattr(thresholds, "compile_from", -1)
    how = {"clusters": 3, "partition": "hash"}
    same(found(name, random(**how), network, style="serial"), expected)


KINDS = ["loss", "crashes", "two-faced", "all", "delays", "late", "struck frontier", "forgets"]
WAYS = [*product(("clocked", "finish_async"), (1, 2), KINDS)]


@pytest.mark.few(3)
@pytest.mark.parametrize(("name", "way"), in_turn(KERNELS, WAYS))
def test_any_style_has_the_same_faults(client, threaded, name, way, ledger):
    style, threads, kind = way
    spare(ledger, kind, name)
    on = client if threads == 1 else threaded
    expected = found(name, random(clusters=1), NETWORKS[kind], style="serial")
    graph = random(clusters=5, client=on)
    same(
        found(name, graph, NETWORKS[kind], style=style, client=on, count_as="serial"),
        found(name, random(clusters=5), NETWORKS[kind], style="serial", count_as="serial"),
    )
    if "lost" in expected:
        lost = found(name, graph, NETWORKS[kind], style=style, client=on)["lost"]
        assert np.array_equal(lost, expected["lost"])


def test_a_perfect_network_changes_nothing():
    for name, how in KERNELS.items():
        graph = random(clusters=3)
        plain = dgsuite.run(name, graph, **how)
        ds = dgsuite.run(name, graph, network=Network(), **how)
        for each in (*plain.data_vars,):
            if "seconds" not in each and each not in ("examined", "bottom_up"):
                assert np.array_equal(plain[each], ds[each]), (name, each)
        assert not ds.lost.any()
        assert (ds.crashed == -1).all()
        assert ds.attrs["terminated"] == 1
        assert "lost" not in plain
        assert "network" not in plain.attrs


@pytest.mark.parametrize(("name", "directed"), [("bfs", True), ("mis", False)])
def test_messages_are_lost_by_the_weights_of_edges(name, directed):
    """Broadcasts along out-edges, and unicasts."""
    luck = np.random.default_rng(2)
    ends, weights = luck.integers(0, 40, (2, 300)), luck.random(300) / 3
    how = {"weights": weights, "directed": directed, "n": 40, "duplicates": "min"}
    one, cut = (
        found(name, Graph.from_edges(*ends, **how, **cut), Network(loss="weight"), style="serial")
        for cut in ({"clusters": 1}, {"clusters": 5, "partition": "hash"})
    )
    assert one["lost"].sum() > 5
    same(one, cut)


def test_a_run_ends_after_its_rounds():
    path = Graph.from_edges(np.arange(60), np.arange(1, 61))
    ds = dgsuite.run("bfs", path, network=Network(), max_rounds=5)
    assert ds.attrs["terminated"] == 0
    assert ds.sizes["round"] == 5
    assert ds.level.max() == 5


def test_a_phase_is_named():
    graph = random()
    first = dgsuite.run("mis", graph, network=Network(crashes=[Crash(0, 0, "draw")]))
    last = dgsuite.run("mis", graph, network=Network(crashes=[Crash(0, 0, "prune")]))
    assert int(first.messages[0]) < int(last.messages[0])


def test_the_seed_is_that_of_the_run_or_its_own():
    graph = random(n=400, m=400)

    def lost(of_run, **how):
        ds = dgsuite.run("bf", graph, seed=of_run, network=Network(loss=0.1, **how))
        return ds.lost.values.tolist()

    assert lost(1) != lost(2)
    assert lost(1, seed=5) == lost(2, seed=5) == lost(5)


def test_labels_name_nodes():
    graph = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], relabel=True)
    ds = dgsuite.run("bfs", graph, root="a", network=Network(crashes={"c": 0}))
    assert ds.level.sel(node="d") == -1
    assert ds.crashed.sel(node="c") == 0
    with pytest.raises(InputError, match="'x'"):
        dgsuite.run("bfs", graph, root="a", network=Network(crashes={"x": 0}))


def test_what_nodes_say_twice_is_lost_apart():
    """Each of several messages from a node to another has a fate of its own."""
    graph = Graph.from_edges([0, 0, 0], [1, 2, 3])
    networks = (Network(loss=0.5, seed=seed) for seed in range(8))
    lost = {tuple(dgsuite.run("ds", graph, network=n, max_rounds=3).lost.values) for n in networks}
    assert len(lost) > 3


def test_the_network_is_written_down():
    ds = dgsuite.run("mis", random(), network=Network(loss=0.25, byzantine={"nodes": [3]}))
    said = json.loads(ds.attrs["network"])
    assert said["loss"] == 0.25
    assert said["byzantine"] == {"nodes": [3], "strategy": "random"}
    crashes = dict.fromkeys(range(5000), 1)
    many = dgsuite.run("mis", random(n=5000), network=Network(crashes=crashes))
    assert len(many.attrs["network"]) < 300
    assert "5000" in many.attrs["network"]
    assert len(repr(Network(crashes=crashes))) < 300
    away = [(0, 2, node) for node in range(9)]
    assert "churn=<9 values>" in repr(Network(churn=away))
    assert "(0, 2, 7)" in repr(Network(churn=away[:8]))


WRONG = [
    ({"loss": 1.5}, "loss must be a probability from 0 to 1"),
    ({"loss": "often"}, "loss must be a probability from 0 to 1"),
    ({"loss": "weight"}, "loss='weight' needs a graph with weights"),
    ({"loss": [0.1, 0.2]}, r"a probability for each of 40 nodes, got shape \(2,\)"),
    ({"omission": "both"}, "unknown omission 'both'"),
    ({"crashes": -0.1}, "crashes must be a probability"),
    ({"crashes": "3"}, "crashes must be a probability from 0 to 1, a mapping"),
    ({"crashes": {40: 1}}, "crashes: 40 is not a node: nodes are 0 to 39"),
    ({"crashes": {4: -1}}, "round of a crash must be a whole number from 0, got -1"),
    ({"crashes": [{"node": 3, "when": 2}]}, "unknown parameter of crashes 'when'"),
    ({"crashes": [Crash(3), Crash(3, 2)]}, "crashes names node 3 twice"),
    ({"byzantine": {"nodes": [1], "strategy": "rude"}}, "unknown strategy of byzantine 'rude'"),
    ({"byzantine": {"nodes": 1.5}}, "nodes of byzantine must be a probability"),
    ({"byzantine": {"strategy": "random"}}, "byzantine: .*nodes"),
    ({"drops": [(1, 2)]}, "drops must be triples of round"),
    ({"drops": [(0, 2, 40)]}, "drops: 40 is not a node"),
    ({"churn": [(3, 2, 1)]}, "churn must be triples of first round, end"),
    ({"churn": [(0, 2, 40)]}, "churn: 40 is not a node"),
    ({"duplicates": 2}, "duplicates must be a probability"),
    ({"drift": 2}, "drift must be a probability"),
    ({"fifo": "yes"}, "fifo must be True or False, got 'yes'"),
    ({"gst": -1}, "gst must be a whole number from 0, got -1"),
    ({"bound": 0.5}, "bound must be a whole number from 1, got 0.5"),
    ({"fifo": True}, "fifo is of event-driven kernels and late tasks alone"),
    ({"corruption": "some"}, "corruption must be a probability"),
    ({"partitions": [(2, 2, [1])]}, "end of a partition, a round after its first, must be"),
    ({"partitions": [(0, 2, [])]}, "a partition needs nodes"),
    ({"partitions": [(0, 2, [40])]}, "nodes of a partition: 40 is not a node"),
    ({"crashes": [{"node": 3, "receivers": [40]}]}, "receivers of a crash: 40 is not a node"),
    ({"delay": 2, "duplicates": 0.1}, "either duplicates or delay"),
    ({"adversary": {"aim": "swizzle", "spends": "drops"}}, "aim 'swizzle' .* spends absences"),
    ({"seed": 0.5}, "seed of a network must be a whole number"),
    ({"lost": 0.5}, "unknown parameter of network 'lost'; did you mean 'loss'"),
    (0.5, "network must be a dgsuite.Network or a mapping"),
    ({"delay": 2, "loss": 0.1}, "either loss or delay: a synchroniser waits for each message"),
    ({"delay": 2, "crashes": {3: 1}}, "either crashes or delay"),
    ({"delay": "often"}, "delay must be a whole number of ticks"),
    ({"delay": ("uniform", 5, 1)}, "delay: "),
    ({"delay": "weight"}, "delay='weight' needs a graph with weights"),
    ({"delay": 1, "synchroniser": "gamma"}, "unknown synchroniser 'gamma'"),
    ({"adversary": {"aim": "weakest"}}, "unknown aim of an adversary 'weakest'"),
    ({"adversary": {"budget": 0}}, "budget of an adversary must be a whole number from 1"),
    ({"adversary": {"each": 3, "budget": 2}}, "each=3 in a round is beyond its budget=2"),
    ({"adversary": {"budget": 41}}, "a budget of 41 crashes, and the graph has 40 nodes"),
    ({"adversary": {"spends": "time"}}, "unknown spends of an adversary 'time'"),
    ({"adversary": {"aim": "degree", "sees": "states"}}, "aims at 'degree' sees nothing"),
    ({"adversary": {"aim": "cut"}}, "aim 'cut' of an adversary needs nodes"),
    ({"adversary": {"nodes": [1]}}, "no other aim has nodes"),
    ({"adversary": {"aim": "cut", "nodes": [40]}}, "nodes of an adversary: 40 is not a node"),
    ({"adversary": {"aim": "frontier", "spends": "drops"}}, "spends crashes or absences"),
    ({"adversary": {"aim": "leader"}}, "for kernels whose outputs name nodes"),
    ({"adversary": {"goal": "degree"}}, "unknown parameter of adversary 'goal'"),
    ({"adversary": "degree"}, "adversary must be a dgsuite.Adversary or a mapping"),
    ({"crashes": [{"node": 3, "round": 4, "until": 4}]}, "until .* must be a round after 4"),
    ({"crashes": [{"node": 3, "until": "soon"}]}, "until of a crash must be a round after 0"),
    ({"adversary": {"spends": "delays"}}, "that spends 'delays' needs delay="),
    ({"delay": 1, "adversary": {"spends": "absences"}}, "either adversary or delay: .* 'delays'"),
    ({"delay": 1, "loss": 0.5, "adversary": {"spends": "delays"}}, "either loss or delay"),
    ({"adversary": {"ticks": 3}}, "ticks=3 with spends='crashes'"),
    ({"delay": 1, "adversary": {"spends": "delays", "ticks": 0}}, "whole number from 1 to"),
    ({"delay": 1, "adversary": {"spends": "delays", "ticks": 0.5}}, "got ticks=0.5"),
    ({"delay": 1, "adversary": {"aim": "leader", "spends": "delays"}}, "whose outputs name"),
]


@pytest.mark.parametrize(("network", "message"), WRONG)
def test_wrong_networks(network, message):
    with pytest.raises(InputError, match=message):
        dgsuite.run("mis", random(), network=network)


WITHOUT = [
    ("bf", {"form": "recursive"}, "take form='iterative'"),
    ("wcc", {"form": "block"}, "its clusters send messages to clusters"),
    ("sssp", {}, "take 'bf' for shortest paths"),
    ("mis", {"checkpoint": "folder"}, "leave out checkpoint="),
    ("motifs", {}, "its nodes share lists, which go whole to each worker"),
    ("dr", {}, "it announces to all nodes, which is along no edge"),
    ("cdlp", {}, "it reads what neighbours sent last"),
]


@pytest.mark.parametrize(("name", "how", "message"), WITHOUT)
def test_runs_that_have_no_network(name, how, message):
    refused = f"kernel '{name}'(: network=| takes no network with) .*{message}"
    with pytest.raises(InputError, match=refused):
        dgsuite.run(name, random(), **{"network": Network(loss=0.1)} | how)


def test_weights_that_are_no_probabilities():
    heavy = Graph.from_edges([0, 1], [1, 2], weights=[2.0, 1.0])
    with pytest.raises(InputError, match=r"weights from 0 to 1, and an edge has 2\.0"):
        dgsuite.run("bfs", heavy, network=Network(loss="weight"))


def test_a_run_with_crashes_is_traced():
    graph = random(clusters=3)
    ds = dgsuite.run("mis", graph, network=Network(crashes=0.1), trace=True)
    assert ds.traffic.sum() == ds.messages.sum()


@pytest.mark.parametrize("name", ["bf", "bfs", "cdlp", "mis", "triangles"])
def test_delays_change_no_output_and_tell_when_rounds_are_over(name):
    graph = random(clusters=1)
    plain = dgsuite.run(name, graph, style="serial")
    delays = {"delay": ("uniform", 1, 6), "seed": 3}
    ds = dgsuite.run(name, graph, style="serial", network=delays)
    assert not [v for v in plain.data_vars if "seconds" not in v and not ds[v].equals(plain[v])]
    times = ds.virtual_time.values
    assert (np.diff(times) > 0).all()
    phases = times[-1] / 18  # a pulse takes from 3 to 18 ticks
    assert phases <= times[-1] / 3
    for how in ({"clusters": 4, "partition": "hash"}, {"clusters": 7}):
        cut = dgsuite.run(name, random(**how), style="serial", network=delays)
        assert cut.virtual_time.equals(ds.virtual_time)
        assert cut.synchroniser_messages.equals(ds.synchroniser_messages)


def test_a_fixed_delay():
    """A pulse is an exchange, and takes three delays with alpha."""
    net = random()
    ds = dgsuite.run("pagerank", net, iterations=4, network=Network(delay=5))
    pulses = ds.virtual_time.values[-1] / 15
    assert pulses == int(pulses) >= ds.sizes["round"]
    assert (ds.messages + ds.synchroniser_messages).sum() == pulses * 6 * net.m
    tree = dgsuite.run("pagerank", net, iterations=4, network=Network(delay=5, synchroniser="beta"))
    assert tree.virtual_time[-1] > ds.virtual_time[-1]
    assert tree.synchroniser_messages.sum() < ds.synchroniser_messages.sum()
    assert json.loads(tree.attrs["network"])["synchroniser"] == "beta"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("rate", "last"), [(1.0, 0), (1e-300, NEVER)])
def test_the_least_and_the_highest_rate_of_crashes_give_no_warning(rate, last):
    found = Network(crashes=rate).faults(random()).of_run(2).crash_rounds(50)
    assert found.max() == found.min() == last
