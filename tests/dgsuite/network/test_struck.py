"""What faults struck, and what is said of those that strike nothing; what an adversary may see and do."""

import json
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

import dgsuite
from dgsuite import Adversary, Byzantine, Crash, Graph, InputError, Network, Partition, RunError
from dgsuite.kernels import KERNELS, bsp

PATH = Graph.from_edges([0, 1, 2], [1, 2, 3])


def struck(network, kernel="bf", graph=PATH, **how):
    ds = dgsuite.run(kernel, graph, network=network, **how)
    found = ds.struck.sum("round").to_series()
    return {kind: int(times) for kind, times in found.items() if times}


STRUCK = [
    (Network(drops=[(0, 0, 1), (0, 1, 2)]), {"drops": 1}),  # node 1 says nothing in round 0
    (Network(crashes={2: 1}), {"crashes": 1}),
    (Network(crashes=[Crash(1, 1, receivers=[2])]), {"crashes": 1}),
    (Network(churn=[(0, 1, 2)]), {}),  # what a node that is away is sent is not lost on its way
    (Network(churn=[(1, 2, 2)]), {"churn": 2}),
    (Network(churn=[(1, 2, 2, 3)]), {"churn": 1}),
    (Network(partitions=[(1, 2, [3])]), {"partitions": 1}),
    (Network(partitions=[(1, 2, [3], True)]), {}),
    (Network(duplicates=1), {"duplicates": 5}),
    (Network(corruption=1), {"corruption": 5}),
    (Network(byzantine=Byzantine([1], "silent")), {"byzantine": 2}),
    (Network(byzantine=Byzantine([1], lambda sent: sent.fields)), {"byzantine": 2}),
    (Network(loss=1), {"loss": 1}),
]


@pytest.mark.filterwarnings("ignore:kernel 'bf'. faults that struck nothing")
@pytest.mark.parametrize(("network", "found"), STRUCK)
def test_what_took_effect_is_counted_by_kind(network, found, ledger):
    if network.partitions and not found:
        ledger.spares("partitions")
    if callable(getattr(network.byzantine, "strategy", None)):
        ledger.spares("lies")  # it says the truth
    assert struck(network) == found


IDLE = [
    ({"drops": [(0, 0, 3)]}, "drops: no message went along"),
    ({"drops": [(9, 0, 1)]}, r"drops from round 9 on, and the run has \d"),
    ({"crashes": {3: 50}}, "crashes from round 50 on"),
    ({"churn": [(40, 41, 2)]}, "churn from round 40 on"),
    ({"partitions": [(30, None, [2])]}, "partitions from round 30 on"),
]


@pytest.mark.parametrize(("network", "said"), IDLE)
def test_faults_that_strike_nothing_are_said(network, said, ledger):
    ledger.spares("drops", "crashes", "away", "partitions")
    with pytest.warns(UserWarning, match=said):
        dgsuite.run("bfs", PATH, network=network)


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_of_faults_that_strike():
    dgsuite.run("bfs", PATH, network={"drops": [(0, 0, 1)]})


def test_a_partition_heals():
    for end, last in ((2, 3), (None, -1)):
        ds = dgsuite.run(
            "floodmax", PATH, iterations=6, network=Network(partitions=[Partition(0, end, [3])])
        )
        assert ds.leader.values.tolist() == ([3] * 4 if last == 3 else [2, 2, 2, 3])
    said = json.loads(
        dgsuite.run("bf", PATH, network={"partitions": [(0, 1, [1])]}).attrs["network"]
    )
    assert said["partitions"] == [{"first": 0, "end": 1, "nodes": [1], "one_way": False}]


def test_a_duplicate_adds_twice():
    ring = Graph.from_edges([0, 1, 2], [1, 2, 0])
    once, twice = (
        dgsuite.run("pagerank", ring, iterations=1, network=Network(duplicates=d)) for d in (0, 1)
    )
    assert (twice["rank"] > 1.5 * once["rank"]).all()
    assert int(twice.messages.sum()) == int(once.messages.sum())


@dataclass(eq=False)
class Two(bsp.ClusterState):
    own: np.ndarray = bsp.initial(lambda c: c.ids.copy())
    said: np.ndarray = bsp.per_node(-9)


@dataclass(frozen=True)
class Signed(bsp.Kernel):
    """Nodes tell each other who they are, which they cannot forge, and a number."""

    far: int = 0

    name = "signed"
    outputs = {"own": bsp.Output("the last node heard"), "said": bsp.Output("what it said")}
    fields = {"own": np.int64, "said": np.int64}
    ranges = {"own": bsp.nodes, "said": bsp.values(8)}
    unforgeable = ("own",)
    state = Two
    obeys = bsp.Model("edges")

    def program(self, net):
        yield bsp.Round(self.tell)
        yield bsp.Round(self.hear)

    def tell(self, c, s, inbox):
        return bsp.broadcast(own=s.own, said=s.own * 0 + self.far)

    def hear(self, c, s, inbox):
        s.own[inbox.node], s.said[inbox.node] = inbox["own"], inbox["said"]


@pytest.mark.parametrize("network", [{"corruption": 1}, {"byzantine": Byzantine([0, 1])}])
def test_what_is_signed_is_not_forged(network):
    pair = Graph.from_edges([0], [1])
    found = [dgsuite.run(Signed, pair, network=network, seed=s) for s in range(9)]
    assert all(ds.own.values.tolist() == [1, 0] for ds in found)
    assert len({int(ds.said[0]) for ds in found}) > 2


@pytest.mark.parametrize("how", [{"check": True}, {"congest": 9}])
def test_values_are_those_that_are_declared(how):
    dgsuite.run(Signed, PATH, far=7, **how)
    said = r"phase 'tell'.*sends 'said' = 8 of node 0; declared are 0 to 7"
    with pytest.raises(RunError, match=said):
        dgsuite.run(Signed, PATH, far=8, **how)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_ranges_count_all_values_between_bounds(name):
    """So that bits which edges carry are not too few."""
    kernel = KERNELS[name]()
    for field, limits in kernel.limits(50).items():
        if limits is not None and field in kernel.ranges and (name, field) != ("hs", "way"):
            least, most = limits
            assert kernel.ranges[field](50) >= most - least + 1, field


def test_sets_of_values_take_a_bit_each():
    graph = dgsuite.genval.graph("cplt", 6)
    for inputs, bits in ((2, 2), (9, 9), ([0, 1, 2, 0, 1, 2], 3)):
        ds = dgsuite.run("floodset", graph, inputs=inputs, congest=9)
        assert int(ds.edge_bits.max()) == bits
    assert int(dgsuite.run("floodset", graph, opt=True, inputs=9, congest=9).edge_bits.max()) == 4


def test_the_end_of_a_path_tells_its_length():
    path = Graph.from_edges(range(7), range(1, 8))
    assert int(dgsuite.run("bf", path, congest=9).edge_bits.max()) == 4
    with pytest.raises(RunError, match="sends 4 bits"):
        dgsuite.run("bf", path, congest=1)


def test_an_adversary_cannot_change_what_it_sees():
    def writes(view):
        view.state.leader[:] = 99
        return view.cluster.zeros()

    with pytest.raises(RunError, match=r"the adversary fails: ValueError: .*read-only"):
        dgsuite.run("floodmax", PATH, network=Network(adversary=Adversary(writes)))


def test_what_sees_history_sees_no_seed(ledger):
    ledger.spares("adversary")
    seeds = []

    def looks(view):
        seeds.append(view.kernel.seed)
        return np.full(view.cluster.size, -np.inf)

    for sees in ("history", "states"):
        adversary = Adversary(looks, sees=sees)
        dgsuite.run("mis", PATH, seed=7, network=Network(adversary=adversary))
    assert {*seeds} == {0, 7}


def test_a_swizzle_cuts_nodes_off_one_by_one_and_lets_them_back():
    ring = Graph.from_edges(range(9), [*range(1, 9), 0])
    away, orders = [], set()
    for seed in range(20):
        network = Network(adversary=Adversary("swizzle", budget=4, start=1), seed=seed)
        execution = dgsuite.lab.Execution("floodmax", ring, network=network, iterations=12)
        ends = [moment for moment in execution.moments() if moment.step.last]
        away = [np.flatnonzero(moment.away).tolist() for moment in ends]
        count = [*map(len, away)]
        assert count[:9] == [0, 1, 2, 3, 4, 3, 2, 1, 0]
        assert execution.dataset().spent.values[:9].tolist() == count[:9]
        steps = [(set(b) - set(a), set(a) - set(b)) for a, b in pairwise(away[:9])]
        out, back = [some for some, _ in steps[:4]], [some for _, some in steps[4:]]
        assert sorted(map(min, out)) == sorted(map(min, back)) == away[4]
        orders.add((tuple(map(min, out)), tuple(map(min, back))))
    assert len(orders) > 15
    assert any(out != back for out, back in orders)


def test_who_lies_is_in_the_dataset():
    ds = dgsuite.run("bf", PATH, network=Network(byzantine=Byzantine([2])))
    assert ds.lies.values.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("receivers", [[], [1], [0, 2, 3]])
def test_a_crash_after_some_neighbours_are_told(receivers):
    graph = Graph.from_edges(*np.triu_indices(5, 1))
    network = Network(crashes=[Crash(4, 0, receivers=receivers)])
    ds = dgsuite.run("floodmax", graph, iterations=1, network=network)
    told = np.isin(np.arange(5), [4, *receivers])
    assert ds.leader.values.tolist() == np.where(told, 4, 3).tolist()
    with pytest.raises(InputError, match="is not a node"):
        dgsuite.run("floodmax", graph, network=Network(crashes=[Crash(4, receivers=[5])]))
