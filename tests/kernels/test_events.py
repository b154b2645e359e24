"""Event-driven kernels are the textbooks' programs, message by message, whatever the network does."""

from dataclasses import dataclass
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import dgsuite
from dgsuite import Byzantine, Crash, InputError, Network, RunError, lab
from dgsuite.base import thresholds
from dgsuite.core.engine.unicasts import Unicasts
from dgsuite.kernels import KERNELS, bsp
from dgsuite.kernels.events.kernel import EventKernel, EventState, timer
from dgsuite.partition.graph.graph import Graph
from tests.support.by_events import PROGRAMS
from tests.support.by_events.world import World

PARAMETERS = {
    "abd": {"operations": 3, "share": 0.5, "think": 10, "patience": 15, "ticks": 300},
    "bracha": {"sender": 0, "value": 1, "f": None, "ticks": 300},
    "chandra_toueg": {"inputs": None, "oracle": None, "beat_ticks": 5, "patience": 8, "ticks": 200},
    "itai_rodeh": {"numbers": 3, "ticks": 300},
    "lamport_mutex": {"requests": 2, "think": 10, "stay": 3, "ticks": 300},
    "paxos": {"inputs": None, "proposers": 2, "patience": 12, "ticks": 300},
    "raft": {"entries": 4, "patience": 16, "beat": 6, "ticks": 150},
    "ricart_agrawala": {"requests": 2, "think": 10, "stay": 3, "ticks": 300},
}
"""All that a program has."""

pytestmark = pytest.mark.filterwarnings("ignore:.*faults that struck nothing")

IN_ORDER = "itai_rodeh", "lamport_mutex"
"""Messages must arrive in the order of sending."""


def uneven(src, dst, tick):
    """Ticks that a message takes."""
    return 1 + (3 * src + 5 * dst + 7 * tick) % 6


def slow(src, dst, tick):
    return 1 + (11 * src + 7 * dst + 5 * tick) % 40


CHANNELS = {
    "at once": {"delay": 1},
    "alike": {"delay": 3},
    "uneven": {"delay": uneven},
    "in order": {"delay": slow, "fifo": True},
    "bounded": {"delay": slow, "gst": 40, "bound": 3},
    "narrow": {"delay": slow, "capacity": 1},
    "narrow, in order": {"delay": slow, "capacity": 2, "fifo": True},
}


def drops(n):
    """Some of the messages of the first ticks."""
    some = ((t, u, v) for t in range(60) for u in range(n) for v in range(n))
    return [
        one for one in some if (3 * one[0] + 5 * one[1] + 7 * one[2]) % 8 == 0 and one[1] != one[2]
    ]


def crashes(n, memory=None):
    """The first node crashes in the middle, the last one before it starts; they come back, if they have a
    memory or are known to have none.
    """
    first, last = (None, None) if memory is None else (33, 5)
    more = {} if memory is None else {"memory": memory}
    found = {n - 1: Crash(n - 1, 0, until=last, **more), 0: Crash(0, 7, until=first, **more)}
    return [*found.values()]


FAULTS = {
    "none": lambda n: {},
    "drops": lambda n: {"drops": drops(n)},
    "crashes": lambda n: {"crashes": crashes(n)},
    "memory": lambda n: {"crashes": crashes(n, True)},
    "partial": lambda n: {"crashes": [Crash(0, 7, receivers=range(1, n, 2), until=33)]},
    "oblivion": lambda n: {"crashes": crashes(n, False), "drops": drops(n)},
}


def net_of(name, n):
    return nx.cycle_graph(n) if name == "itai_rodeh" else nx.complete_graph(n)


def graph_of(net, **cut):
    ends = np.array([*net.edges], np.int64).reshape(-1, 2).T
    return Graph.from_edges(*ends, n=len(net), client=None, **{"clusters": 1, **cut})


def compare(name, net, seed, network, cut=(), program=None, **how):
    """A run has the outputs, the ticks and the messages of each tick that the program has."""
    network = network | ({"fifo": True} if name in IN_ORDER else {})
    world = World(
        program or PROGRAMS[name], {"seed": seed} | PARAMETERS[name], net, **network
    ).run()
    how = {
        "style": "serial",
        "network": Network(**network),
        "seed": seed,
        **PARAMETERS[name],
        **how,
    }
    ds = dgsuite.run(name, graph_of(net, **dict(cut)), **how)
    for output in KERNELS[name].outputs:
        found = [getattr(node, output) for node in world.nodes]
        assert ds[output].values.tolist() == found, output
    assert ds.messages.values.tolist() == world.messages
    if "capacity" in network:
        found = ds.struck.sel(fault="capacity").values.tolist()
        assert found[:-1] == world.refused[:-1]  # nothing is read after the last tick
    return ds


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_are_those_of_the_programs(name, fault):
    sizes = (3, 5, 8) if name == "itai_rodeh" else (1, 2, 3, 5, 8)
    for number, channel in enumerate(CHANNELS.values()):
        n = sizes[(number + len(fault)) % len(sizes)]
        compare(name, net_of(name, n), 100 + n, channel | FAULTS[fault](n))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_of_more_seeds(name, seed):
    for channel in CHANNELS.values():
        for fault in FAULTS.values():
            for n in (1, 2, 4, 8) if name != "itai_rodeh" else (4, 8):
                compare(name, net_of(name, n), seed, channel | fault(n))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_of_any_cut_they_are_the_same(name, fault):
    n = 8
    for cut in {"clusters": 2}, {"clusters": 3, "partition": "hash"}, {"clusters": n}:
        compare(name, net_of(name, n), 3, CHANNELS["uneven"] | FAULTS[fault](n), cut)


@pytest.mark.parametrize(
    ("style", "fault", "clusters"),
    [
        ("clocked", "drops", 4),
        ("clocked", "oblivion", 4),
        # a task in each of many ticks
        pytest.param("finish_async", "oblivion", 2, marks=pytest.mark.wide),
    ],
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_of_other_styles_they_are_the_same(client, name, style, fault, clusters):
    network = CHANNELS["uneven"] | FAULTS[fault](5)
    how = {"cut": {"clusters": clusters}, "style": style, "client": client}
    compare(name, net_of(name, 5), 4, network, **how)


def half(self, votes):
    """Whether these are half of the group, which is too few."""
    return 2 * len(votes) >= self.size


def stay_active(self, src, m):
    if m.hops < self.n:
        return self.pass_on(draw=m.draw, hops=m.hops + 1, alone=m.alone)
    self.leader = True


OTHERS = {
    "abd": {"majority": half},
    "chandra_toueg": {"majority": half},
    "bracha": {"start": lambda self: PROGRAMS["bracha"].start(self) or setattr(self, "f", 0)},
    "itai_rodeh": {"on_message": stay_active},
    "lamport_mutex": {"may_enter": PROGRAMS["ricart_agrawala"].may_enter},
    "paxos": {"majority": half},
    "raft": {"majority": half},
    "ricart_agrawala": {"may_enter": lambda self: len(self.replied) >= self.size - 1},
}
"""Programs that are wrong in one place."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_is_another_is_noticed(name):
    other = type("Other", (PROGRAMS[name],), OTHERS[name])
    with pytest.raises(AssertionError):
        compare(name, net_of(name, 4), 5, {"delay": uneven}, program=other)


LATE = {(2, 0, 2): 2, (1, 2, 1): 15, (1, 2, 3): 17}
LATE |= dict.fromkeys([(0, 1, 1), (0, 1, 4), (0, 1, 6), (0, 2, 6), (1, 0, 3)], 50)
"""Of two ballots of Paxos, the lower one is voted for last. Ticks that messages take that are late."""


def late(src, dst, tick):
    ends = zip(*map(np.atleast_1d, (src, dst, tick)), strict=True)
    found = np.array([LATE.get(tuple(map(int, one)), 1) for one in ends], int)
    return found if np.ndim(src) else int(found[0])


def test_a_proposer_keeps_a_promise_that_it_has_made_to_another():
    """Node 0 promises node 1 to take no lower ballot than its, and then gets the promise of node 2 for its
    own ballot. If it took that, nodes 0 and 2 would choose its value, and then nodes 1 and 2 another.
    """

    class Forgets(PROGRAMS["paxos"]):
        def accept(self, ballot, value):
            if ballot == self.ballot:
                self.promised = ballot
            return super().accept(ballot, value)

    three, parameters = nx.complete_graph(3), {"seed": 1, **PARAMETERS["paxos"], "patience": 100}
    forgetful = World(Forgets, parameters, three, late).run()
    assert [node.decision for node in forgetful.nodes] == [0, 1, 1]
    ds = dgsuite.run("paxos", graph_of(three), network=Network(delay=late), **parameters)
    right = World(PROGRAMS["paxos"], parameters, three, late).run()
    assert ds.decision.values.tolist() == [node.decision for node in right.nodes] == [1, 1, 1]


@dataclass(eq=False)
class Heard(EventState):
    beat: NDArray[np.int64] = timer()
    latest: NDArray[np.int64] = bsp.per_node(-1)
    overtaken: NDArray[np.int64] = bsp.per_node(0)
    longest: NDArray[np.int64] = bsp.per_node(0)


@dataclass(frozen=True)
class Says(EventKernel):
    """Nodes say when they speak, in each of some ticks, and note what they hear."""

    first: int = 0
    ticks: int = 500

    name = "says"
    outputs = {
        "overtaken": bsp.Output("messages that a later one came before"),
        "longest": bsp.Output("ticks that a message took which was sent since then"),
    }
    fields = {"tick": np.int64}
    timers = ("beat",)
    state = Heard

    def on_start(self, c, s, e):
        self.set_timer(c, s, e, "beat", 1)

    def on_timer(self, c, s, e, timer):
        if e.tick < 200:
            self.set_timer(c, s, e, "beat", 1)
        return self.tell(c, e.node, tick=e.tick)

    def on_message(self, c, s, e):
        s.overtaken[e.node] += e["tick"] < s.latest[e.node]
        s.latest[e.node] = np.maximum(s.latest[e.node], e["tick"])
        took = np.where(e["tick"] >= self.first, e.tick - e["tick"], 0)
        s.longest[e.node] = np.maximum(s.longest[e.node], took)


PAIR = nx.path_graph(2)


@pytest.mark.parametrize("delay", [("uniform", 1, 20), ("geometric", 0.2), slow])
def test_messages_overtake_each_other_unless_they_are_in_order(delay):
    for fifo in False, True:
        ds = dgsuite.run(Says, graph_of(PAIR), network=Network(delay=delay, fifo=fifo), seed=2)
        assert ((ds.overtaken == 0) == fifo).all()


@pytest.mark.parametrize("fifo", [False, True])
def test_from_some_tick_on_no_message_takes_longer_than_the_bound(fifo):
    for since, most in ((0, 40), (90, 4)):
        for gst in None, 90:
            network = Network(delay=("uniform", 1, 40), fifo=fifo, gst=gst, bound=4)
            ds = dgsuite.run(Says, graph_of(PAIR), network=network, first=since, seed=2)
            longest = int(ds.longest.max())
            assert longest <= most if gst else longest > 30
    assert dgsuite.run(Says, graph_of(PAIR), network=network, seed=2).longest.max() > 4


def test_clocks_drift_no_more_than_they_may():
    network, graph = Network(drift=0.3), graph_of(nx.complete_graph(6))
    ds = dgsuite.run("ricart_agrawala", graph, network=network, requests=3, stay=100)
    stays = (ds.leave - ds.enter).values
    assert ((stays >= 70) & (stays <= 130)).all()
    assert (stays == stays[:, :1]).all()  # a clock is as fast all the time
    assert len({*stays[:, 0].tolist()}) > 3
    exact = dgsuite.run("ricart_agrawala", graph, requests=3, stay=100)
    assert (exact.leave - exact.enter == 100).all()


@dataclass(eq=False)
class Diary(EventState):
    beat: NDArray[np.int64] = timer()
    kept: NDArray[np.int64] = bsp.per_node(0)
    known: NDArray[np.int64] = bsp.per_node(0)


@dataclass(frozen=True)
class Counts(EventKernel):
    """Nodes count the ticks in which they act, on disk and in memory."""

    ticks: int = 20

    name = "counts"
    outputs = {"kept": bsp.Output("on disk"), "known": bsp.Output("in memory")}
    fields = {}
    timers = ("beat",)
    stable = ("kept",)
    state = Diary

    def on_start(self, c, s, e):
        return self.on_timer(c, s, e, "beat")

    def on_timer(self, c, s, e, timer):
        s.kept[e.node] += 1
        s.known[e.node] += 1
        self.set_timer(c, s, e, "beat", 1)


@pytest.mark.parametrize("clusters", [1, 2])
def test_a_node_without_memory_has_its_disk_and_starts_again(clusters):
    """Node 1 acts in ticks 0 to 4, and 9 to 19."""
    graph = graph_of(PAIR, clusters=clusters)
    for memory, known in ((False, 11), (True, 16)):
        network = Network(crashes=[Crash(1, 5, until=9, memory=memory)])
        ds = dgsuite.run(Counts, graph, network=network)
        assert ds.kept.values.tolist() == [20, 16]
        assert ds.known.values.tolist() == [20, known]
    ds = dgsuite.run(Counts, graph, network=Network(crashes={1: 5}))
    assert ds.known.values.tolist() == [20, 5]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["abd", "bracha", "paxos", "raft"])
def test_messages_that_arrive_twice_do_no_harm(name, seed):
    network = Network(delay=("uniform", 1, 9), duplicates=0.5)
    how = {"network": network, "seed": seed, "style": "serial"} | PARAMETERS[name]
    ds = dgsuite.run(name, graph_of(nx.complete_graph(5)), **how)
    assert int(ds.struck.sel(fault="duplicates").sum()) > 0
    if name == "abd":
        assert lab.linearizable(ds)
        assert (ds.end >= 0).all()
    elif name == "raft":
        logs = [*zip(ds.log.values, ds.log_term.values, ds.committed.values.tolist(), strict=True)]
        for log, terms, count in logs:
            for other, other_terms, far in logs:
                both = min(count, far)
                assert (log[:both] == other[:both]).all()
                assert (terms[:both] == other_terms[:both]).all()
        assert ds.committed.max() > 0
        led = [term for term in ds.led.values.tolist() if term]
        assert len({*led}) == len(led)
    else:
        (value,) = {*ds["decision" if name == "paxos" else "delivered"].values.tolist()}
        assert value >= 0


def extra(tick, src, dst):
    """Whether a node that lies sends another a message beside its own, and what."""
    which = (tick < 12) & ((3 * src + 5 * dst + 7 * tick) % 4 == 0)
    return which, {"kind": (src + dst + tick) % 3, "value": (dst + tick // 3) % 2}


LYING = (0, 3)


def adds(sent):
    return extra(sent.round, sent.src, sent.dst)


def added(tick, node):
    """The same in a simulation."""
    for dst in range(7) if node in LYING else ():
        which, said = extra(tick, node, dst)
        if which and dst != node:
            kind = ("initial", "echo", "ready")[said["kind"]]
            yield dst, SimpleNamespace(kind=kind, value=said["value"])


@pytest.mark.parametrize("clusters", [1, 3])
@pytest.mark.parametrize("channel", CHANNELS)
def test_nodes_that_lie_add_messages(channel, clusters):
    """A run has the outputs, the ticks and the messages of each tick of a simulation."""
    net, more = nx.complete_graph(7), {"seed": 5, **PARAMETERS["bracha"], "sender": 1}
    struck = CHANNELS[channel] | {"crashes": [Crash(3, 5)]}
    world = World(PROGRAMS["bracha"], more, net, adds=added, **struck).run()
    network = Network(byzantine=Byzantine(LYING, "truth", adds), **struck)
    ds = dgsuite.run("bracha", graph_of(net, clusters=clusters), network=network, **more)
    assert ds.delivered.values.tolist() == [node.delivered for node in world.nodes]
    assert ds.messages.values.tolist() == world.messages
    plain = World(PROGRAMS["bracha"], more, net, **struck).run()
    assert sum(world.messages) > sum(plain.messages)


@pytest.mark.parametrize("strategy", ["random", "two-faced"])
def test_what_is_added_is_the_same_on_any_cut(strategy):
    network = Network(
        delay=("uniform", 1, 5), byzantine=Byzantine([0, 3], strategy, adds), loss=0.1
    )
    graph = nx.complete_graph(7)
    runs = [
        dgsuite.run("bracha", graph_of(graph, clusters=k), network=network, seed=2) for k in (1, 4)
    ]
    for name in ("delivered", "messages", "struck", "lost", "lies"):
        assert runs[0][name].values.tolist() == runs[1][name].values.tolist()
    how = {"sender": 1, "f": 2, "network": network}
    ds = dgsuite.lab.repeat("bracha", graph_of(graph), 20, **how)
    assert ds.valid.all()


@pytest.mark.parametrize(
    ("strategy", "more", "message"),
    [
        ("silent", adds, "that are not 'silent'"),
        ("truth", 0.5, "must be a function"),
    ],
)
def test_what_cannot_be_added(strategy, more, message):
    with pytest.raises(InputError, match=message):
        Byzantine([0], strategy, more)


def test_kernels_of_rounds_refuse_added_messages():
    network = Network(byzantine=Byzantine([0], "truth", adds))
    with pytest.raises(InputError, match="event-driven kernels alone"):
        dgsuite.run("benor", graph_of(nx.complete_graph(4)), network=network)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda sent: (True, {"due": 3}), "'due'"),
        (lambda sent: None, "the adds of byzantine fails: TypeError"),
        (lambda sent: (True, {"value": [1, 2]}), "an array of shape"),
    ],
)
def test_functions_that_add_what_they_may_not(wrong, message):
    network = Network(byzantine=Byzantine([0], "truth", wrong))
    with pytest.raises(RunError, match=message):
        dgsuite.run("bracha", graph_of(nx.complete_graph(4)), network=network)


@pytest.mark.parametrize("capacity", [0, 1.5, "many"])
def test_capacities_that_are_none(capacity):
    with pytest.raises(InputError, match="capacity must be a whole number from 1"):
        Network(capacity=capacity)


def test_kernels_of_rounds_have_no_capacity():
    with pytest.raises(InputError, match="capacity is of event-driven kernels alone"):
        dgsuite.run("bfs", graph_of(PAIR), network=Network(capacity=2))


@dataclass(eq=False)
class Heard(EventState):
    """What nodes have heard, each message with a weight of its own."""

    total: NDArray[np.int64] = bsp.per_node(0)


@dataclass(frozen=True)
class Hears(EventKernel):
    """Nodes tell their neighbours who they are, and these tell all of theirs when they heard so."""

    name = "hears"
    at_once = True
    outputs = {"total": bsp.Output("sum over messages")}
    fields = {"id": np.int64, "again": np.bool_}
    state = Heard

    def on_start(self, c, s, e):
        return self.tell(c, e.node, id=c.ids[e.node], again=True)

    def on_message(self, c, s, e):
        np.add.at(s.total, e.node, (3 + e["id"]) * (7 + e.src) * (1 + e.tick))
        again = np.unique(e.node[e["again"]])
        return self.tell(c, again, id=e.tick + c.ids[again], again=False)


@pytest.mark.parametrize("compile_from", [thresholds.compile_from, -1])
def test_messages_of_a_tick_at_once(monkeypatch, compile_from):
    """Messages that are not sorted by receiver get to their clusters; draws are the same if compiled."""
    net = nx.gnm_random_graph(60, 200, seed=2)
    network = Network(delay=("uniform", 1, 6), loss=0.1, duplicates=0.1)
    first = dgsuite.run(Hears, graph_of(net), style="serial", network=network)
    monkeypatch.setattr(thresholds, "compile_from", compile_from)
    for cut in {"clusters": 1}, {"clusters": 5, "partition": "hash"}, {"clusters": 60}:
        ds = dgsuite.run(Hears, graph_of(net, **cut), style="serial", network=network)
        for name in "total", "messages", "lost":
            np.testing.assert_array_equal(ds[name].values, first[name].values, err_msg=name)


def test_bytes_that_travel_do_not_depend_on_the_cut(monkeypatch):
    """Receivers are of one type, whether a node sends to its neighbours or answers a message."""
    pack, types = Unicasts.pack, set()

    def spy(self, messages):
        types.add(messages.dst.dtype)
        return pack(self, messages)

    monkeypatch.setattr(Unicasts, "pack", spy)
    for clusters in (1, 4):
        dgsuite.run("paxos", graph_of(nx.complete_graph(8), clusters=clusters), style="serial")
    assert types == {np.dtype(np.int32)}
