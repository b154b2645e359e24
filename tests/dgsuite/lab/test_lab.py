"""Executions phase by phase, where two differ, and small ones that break a property."""

from __future__ import annotations

import numpy as np
import pytest

import dgsuite
from dgsuite import Crash, InputError, Network, experiment, genval
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab import Execution, compare, repeat, search


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
    with pytest.raises(InputError, match="there is no round 9; the last round looked at is"):
        execution.states(9)
    with pytest.raises(InputError, match="there is no phase 'jump' of round 0"):
        execution.states(0, "jump")


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


def test_executions_have_few_options():
    with pytest.raises(InputError, match="style is no option of an execution"):
        Execution("mis", random(), style="clocked")
    with pytest.raises(InputError, match="executions on 40 and 41 nodes"):
        compare(Execution("mis", random()), Execution("mis", random(n=41)))


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


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"graphs": "trees"}, "unknown graphs 'trees'"),
        ({"faults": ("lies",)}, "unknown fault 'lies'"),
        ({"nodes": 1}, "nodes must be 2 at least, got 1"),
    ],
)
def test_wrong_searches(how, message):
    with pytest.raises(InputError, match=message):
        search("mis", **how)
    with pytest.raises(InputError, match="unknown kernel 'miss'"):
        search("miss")


def test_runs_that_are_repeated():
    graph = genval.graph("er", 20, seed=1)
    ds = repeat("mis", graph, 50, network=Network())
    assert ds.valid.all()
    assert len({tuple(row) for row in ds.in_mis.values}) > 10
    alone = dgsuite.run(
        "mis", graph
    )  # the first copy has the nodes, and so the numbers, of the graph itself
    assert np.array_equal(ds.in_mis[0], alone.in_mis)
    assert ds.rounds[0] == alone.sizes["round"]
    assert ds.identical(repeat("mis", graph, 50, network=Network()))


def test_faults_of_runs_that_are_repeated():
    graph = genval.graph("er", 30, seed=2)
    lossy = Network(loss=0.01)
    share = float(repeat("mis", graph, 400, network=lossy).valid.mean())
    seeds = [{"seed": seed} for seed in range(200)]
    runs = dgsuite.run_each("mis", graph, seeds, network=lossy)
    each = [genval.validate("mis", graph, ds).ok for ds in runs]
    assert abs(share - np.mean(each)) < 5 * (0.25 / 200 + 0.25 / 400) ** 0.5
    cut = Network(
        crashes=[Crash(3)], loss=np.where(np.arange(30) == 7, 1.0, 0.0), drops=[(0, 1, 2)]
    )
    ds = repeat("wcc", graph, 20, network=cut)
    assert (ds.component[:, 3] == 3).all()  # it crashed before it told anybody
    assert ((ds.component == 3).sum("node") == 1).all()


@pytest.mark.parametrize(
    ("name", "graph", "times", "message"),
    [
        ("bfs", random(), 2, "kernel 'bfs' has the parameter root, which names a node"),
        ("mis", random(), 0, "times must be a whole number from 1, got 0"),
        ("mis", random(directed=True), 2, "only an undirected graph without labels"),
        ("miss", random(), 2, "unknown kernel 'miss'"),
    ],
)
def test_what_cannot_be_repeated(name, graph, times, message):
    with pytest.raises(InputError, match=message):
        repeat(name, graph, times)
