"""Executions phase by phase, where two differ, and small ones that break a property."""

import numpy as np
import pytest
from scipy.stats import binomtest

import dgsuite
from dgsuite import Graph, InputError, Network, experiment, genval
from dgsuite.kernels import KERNELS
from dgsuite.studies.lab import Execution, compare, repeat, search, wilson


def random(seed=1, n=40, m=60, **how):
    luck = np.random.default_rng(seed)
    return Graph.from_edges(*luck.integers(0, n, (2, m)), n=n, duplicates="min", **how)


@pytest.mark.parametrize("name", ["bf", "mis", "pagerank", "mst"])
def test_an_execution_is_that_of_the_run(name):
    how = {"network": Network(loss=0.1, crashes=0.02), "max_rounds": 20}
    graph = random(clusters=4)
    ds = dgsuite.run(name, graph, style="serial", **how)
    execution = Execution(name, graph, **how)
    states = execution.states(ds.sizes["round"] - 1)
    alive = ds.crashed.values < 0
    for output, variable in ds.data_vars.items():
        if output in execution.kernel.outputs:
            assert np.array_equal(states[output].values[alive], variable.values[alive])


def test_states_of_a_round_and_phase():
    path = Graph.from_edges(list("abc"), list("bcd"), relabel=True)
    execution = Execution("bfs", path, root="b")
    assert execution.states(0).level.sel(node="a") == 1
    assert execution.states(0).level.sel(node="d") == -1
    assert execution.states(1, "visit").level.sel(node="d") == 2


def test_the_first_difference():
    graph = random()
    same = [Execution("mis", random(clusters=k), seed=3) for k in (1, 5)]
    assert compare(*same) is None
    whole = dgsuite.run("bfs", graph)
    sender = int(np.flatnonzero(whole.level.values == 2)[0])
    receiver = int(whole.parent.values[sender])
    lossy = Execution("bfs", graph, network=Network(drops=[(0, receiver, sender)]))
    found = compare(Execution("bfs", graph), lossy)
    assert (found.round, found.nodes.tolist()) == (1, [sender])
    assert "level" in found.fields
    assert str(found).startswith("round 1, phase 'visit': level, ")


def test_an_execution_that_ends_before():
    graph = Graph.from_edges(np.arange(9), np.arange(1, 10))
    short = Execution("bfs", graph, network=Network(), max_rounds=3)
    found = compare(Execution("bfs", graph), short)
    assert (found.round, found.fields) == (3, ())
    assert "only one execution has it" in str(found)


def test_luby_breaks_by_one_lost_message(tmp_path, monkeypatch):
    found = search("mis", nodes=5, faults=("drops",))
    assert (found.graph.n, found.graph.m, len(found.network.drops)) == (2, 1, 1)
    assert "independence" in found.why
    monkeypatch.chdir(tmp_path)
    found.write("found.toml")
    assert experiment.main(["found.toml", "-q"]) == 0
    again = dgsuite.open("results/found.nc")
    assert again.attrs["valid"] == 0
    assert np.array_equal(again.in_mis, found.dataset.in_mis)


def test_a_ring_without_a_leader():
    found = search("lcr", graphs="ring", faults=("drops",), nodes=3, most=2, tries=500)
    assert found.graph.n == 3
    assert 1 <= len(found.network.drops) <= 2


def test_what_holds_is_not_broken():
    assert search("mis", lambda graph, ds: True, nodes=3, tries=30) is None
    assert search("mis", nodes=4, faults=(), tries=30) is None


def test_a_property_of_ones_own():
    found = search("bfs", lambda graph, ds: (ds.level >= 0).all(), graphs="path", nodes=6)
    assert found.graph.n == 2
    assert found.why == "the property does not hold"
    assert not genval.validate("bfs", found.graph, found.dataset).ok


def test_runs_that_are_repeated():
    graph = genval.graph("er", 20, seed=1)
    ds = repeat("mis", graph, 50, network=Network())
    assert ds.valid.all()
    assert len({tuple(row) for row in ds.in_mis.values}) > 10
    assert ds.identical(repeat("mis", graph, 50, network=Network()))


@pytest.mark.parametrize("name", ["mis", "bf"])
def test_runs_without_a_fault_are_said(name):
    """As copies of the graph, and one after the other."""
    graph = genval.graph("er", 20, seed=1)
    with pytest.warns(UserWarning, match="no fault struck in any of 3 runs"):
        assert repeat(name, graph, 3, network=Network(loss=1e-9)).struck == 0
    found = repeat(name, graph, 3, network=Network(loss=0.2, crashes=0.05))
    assert found.struck > found.crashed.values.max() > -1


CRASHES = {"loss": 0.05, "crashes": 0.1, "byzantine": {"nodes": 0.1, "strategy": "random"}}
LISTED = {"loss": 0.1, "drops": [(0, 1, 2)], "churn": [(0, 1, 5)], "crashes": {3: 1}}
"""Networks with faults that are drawn, and with some that are listed."""


COPIES = [("mis", None), ("mis", CRASHES), ("mis", LISTED), ("matching", None), ("colouring", None)]


@pytest.mark.parametrize(("name", "network"), COPIES)
def test_a_copy_does_what_it_does_alone(name, network):
    """Among nodes without neighbours in place of the other copies."""
    n, times = 40, 5
    graph = random(m=45)
    ds = repeat(name, graph, times, network=network, seed=7)
    (output,) = KERNELS[name].outputs
    ends = np.stack(graph.to_scipy().nonzero())
    for k in range(times):
        alone = Graph.from_edges(*(ends + k * n), n=n * times, duplicates="min")
        there = network
        if network is LISTED:
            there = {"loss": 0.1, "drops": [(0, 1 + k * n, 2 + k * n)]}
            there |= {"churn": [(0, 1, 5 + k * n)], "crashes": {3 + k * n: 1}}
        one = dgsuite.run(name, alone, network=Network.of(there), seed=7)
        one = one.isel(node=slice(k * n, k * n + n))
        found = one[output].values
        if KERNELS[name].outputs[output].nodes:
            found = np.where(found >= 0, found - k * n, found)
        assert np.array_equal(ds[output][k], found)
        assert ds.rounds[k] == one.sizes["round"]
        if network is not None:
            assert np.array_equal(ds.crashed[k], one.crashed)


SLOW = {"delay": ("uniform", 1, 6), "fifo": True, "seed": 3}
"""Messages that take time."""


@pytest.mark.parametrize(
    ("name", "network", "how"),
    [
        ("paxos", {**SLOW, "loss": 0.1, "crashes": 0.01}, {"inputs": [5, 6, 7, 5, 6]}),
        ("raft", {**SLOW, "loss": 0.1}, {}),
        ("abd", {**SLOW, "drift": 0.2}, {}),
        ("lamport_mutex", SLOW, {"requests": 2}),
    ],
)
def test_copies_of_a_complete_graph_are_groups_of_their_own(name, network, how):
    """The first is the run itself."""
    graph = genval.graph("cplt", 5)
    ds = repeat(name, graph, 4, network=network, seed=7, **how)
    assert "seed" not in ds.coords
    assert ds.valid.values.tolist() == [1] * 4
    one = dgsuite.run(name, graph, network=network, seed=7, **how)
    assert ds.rounds[0] == one.sizes["round"]
    for output in KERNELS[name].outputs:
        assert np.array_equal(ds[output][0], one[output])


def test_runs_one_after_the_other_are_those_of_their_seeds():
    """Where copies would not do what a graph does alone."""
    graph, crashes = genval.graph("cplt", 7), Network(crashes=0.05, seed=3)
    ds = repeat("benor", graph, 4, network=crashes, seed=20)
    assert ds.seed.values.tolist() == [20, 21, 22, 23]
    for k in range(4):
        one = dgsuite.run("benor", graph, seed=20 + k, network=Network(crashes=0.05, seed=3 + k))
        for name in ("decision", "decided", "crashed"):
            assert np.array_equal(ds[name][k], one[name])
        assert ds.rounds[k] == one.sizes["round"]
        assert ds.valid[k] == genval.validate("benor", graph, one).ok
    ring = repeat("token_ring", genval.graph("ring", 5), 3, after=0)
    assert ring.legitimate_round.values.tolist() == (ring.rounds.values - 1).tolist()
    path = Graph.from_edges(list("abc"), list("bcd"), relabel=True)
    assert repeat("bfs", path, 2, root="b").level.sel(node="d").values.tolist() == [2, 2]


def test_intervals_of_probabilities():
    for right, runs, level in ((0, 10, 0.95), (5, 9, 0.9), (997, 1000, 0.99)):
        there = binomtest(right, runs).proportion_ci(level, method="wilson")
        assert wilson(right, runs, level)[1:] == pytest.approx(tuple(there), abs=1e-12)
    assert wilson(7, 7).high == 1


WRONG = [
    (lambda: Execution("bfs", random()).states(99), "there is no round 99; the last round"),
    (lambda: Execution("bfs", random()).states(0, "jump"), "no phase 'jump' of round 0"),
    (lambda: Execution("mis", random(), style="clocked"), "style is no option of an execution"),
    (
        lambda: compare(Execution("mis", random()), Execution("mis", random(n=41))),
        "executions on 40 and 41 nodes",
    ),
    (lambda: search("mis", graphs="trees"), "unknown graphs 'trees'"),
    (lambda: search("mis", faults=("lies",)), "unknown fault 'lies'"),
    (lambda: search("mis", nodes=1), "nodes must be 2 at least, got 1"),
    (lambda: search("miss"), "unknown kernel 'miss'"),
    (lambda: repeat("mis", random(), 0), "times must be a whole number from 1, got 0"),
    (lambda: repeat("mis", random(directed=True), 2), "'mis' needs an undirected graph"),
    (lambda: repeat("miss", random(), 2), "unknown kernel 'miss'"),
    *((lambda w=w: wilson(*w), "from 0 to runs") for w in ((3, 2), (-1, 2), (0, 0))),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_what_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
