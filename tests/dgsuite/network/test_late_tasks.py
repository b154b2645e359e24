"""Recursive forms on a network whose messages take time."""

import heapq
from collections import Counter
from dataclasses import dataclass, field

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import Crash, InputError, Partition, RunError, genval
from dgsuite.base.ticks import Law
from dgsuite.kernels import RECURSIVE, bsp
from tests.support.message_by_message import LOSS, ONE_WAY
from tests.support.synchronisers import GOLDEN, first_word, mixed

STYLES = [("clocked", "dst"), ("finish_async", "bf"), ("in_turn", "bf")]
LAWS = [0, 1, ("uniform", 0, 6), ("geometric", 0.2)]
MORE = [{"fifo": True}, {"gst": 4, "bound": 2}]
TIMES = ("compute_seconds", "cpu_seconds", "exchange_seconds", "wire_bytes", "remote_messages")
"""What depends on the cut."""


def random(n=60, m=150, seed=1, **cut):
    return genval.graph("spmax", n, m=m, seed=seed, **cut)


def paper(kernel, **cut):
    """One of the paper's graphs of 16 nodes, as a kernel needs it."""
    return genval.graph("mx", 16, family="paper", kernel=kernel, **cut)


def run(name, graph, delay, **how):
    how = {"style": "serial", "network": {"delay": delay, "seed": 3}} | how
    return dgsuite.run(name, graph, form="recursive", **how)


def assert_same(a, b):
    for name in {*a.data_vars}.difference(TIMES):
        np.testing.assert_array_equal(a[name].values, b[name].values, err_msg=name)


def waits(law, seed=3):
    """How long a message takes: a function of the tick at which it is sent, the sender and the receiver."""
    law = Law.of(*law)

    def wait(source, target, tick):
        word = first_word(seed, 7, tick)
        for number in (source, target):
            word = mixed(word + number * GOLDEN)
        return int(law.ticks(np.array([word], np.uint64))[0])

    return wait


@dataclass
class Faults:
    """Faults of tasks one by one; crashes are by node."""

    loss: float = 0.0
    crashes: list = field(default_factory=list)
    partitions: list = field(default_factory=list)
    drops: list = field(default_factory=list)
    seed: int = 3

    def __post_init__(self):
        self.crashed = {crash.node: crash for crash in self.crashes}
        self.fallen = {}

    def down(self, node):
        return node in self.fallen

    def falls(self, node, tick):
        crash = self.crashed.get(node)
        return crash and crash.partial and self.fallen.get(node) == tick

    def begin(self, tick):
        """Let nodes crash whose time has come: all that were to crash since the tick before."""
        for crash in self.crashes:
            if crash.round <= tick:
                self.fallen.setdefault(crash.node, tick)

    def strikes(self, source, target, tick):
        """Whether a task that is spawned in a tick is lost on its way."""
        word = mixed(first_word(self.seed, LOSS, tick) - GOLDEN)
        luck = mixed(mixed(word + target * GOLDEN) + source * GOLDEN) >> 11
        limit = int(self.loss * ONE_WAY)
        if self.falls(source, tick):
            limit = ONE_WAY // 2 + limit // 2
        cut = ((source in p.nodes) != (target in p.nodes) and p.first <= tick < p.end
               for p in self.partitions)  # fmt: skip
        return luck < limit or (tick, source, target) in self.drops or any(cut)


def flooded(net, root, wait, fifo=False, gst=None, bound=1, faults=None):
    """Recursive BF event by event: distances, and by tick the messages that are sent and lost."""
    faults = faults or Faults()
    distance, sent, lost, latest = {root: 0}, Counter(), Counter(), Counter()
    events, tick = [], 0

    def tell(node, tick):
        for other in net[node]:
            sent[tick] += 1
            if faults.down(other):
                continue
            if faults.strikes(node, other, tick):
                lost[tick] += 1
                continue
            due = tick + wait(node, other, tick)
            if gst is not None:
                due = min(due, max(tick, gst) + bound)
            if fifo:
                latest[node, other] = due = max(due, latest[node, other])
            heapq.heappush(events, (due, distance[node] + 1, other))

    sent[0] = 0
    faults.begin(0)
    tell(root, 0)
    while events:
        tick = events[0][0]
        faults.begin(tick)
        sent[tick] += 0
        while events and events[0][0] == tick:
            _, hops, node = heapq.heappop(events)
            if faults.down(node) and not faults.falls(node, tick):
                continue
            if hops < distance.get(node, len(net)):
                distance[node] = hops
                tell(node, tick)
    return distance, sent, lost


@pytest.mark.parametrize("law", [("uniform", 1, 60, 0.5), ("geometric", 1, 1, 0.2)])
@pytest.mark.parametrize("more", [{}, *MORE])
def test_events_are_those_of_a_simulation_message_by_message(law, more):
    graph = random()
    delay = law[:3] if law[0] == "uniform" else (law[0], law[3])
    ds = run("bf", graph, delay, network={"delay": delay, "seed": 3} | more)
    distance, sent, _ = flooded(graph.to_networkx(), 0, waits(law), **more)
    assert ds.distance.values.tolist() == [distance[v] for v in range(graph.n)]
    times = ds.virtual_time.values.tolist()
    assert dict(zip(times, ds.messages.values.tolist(), strict=True)) == sent


MIDDLE = range(20)
FAULTS = [
    {"loss": 0.2},
    {"loss": 0.05, "drops": [(0, 0, v) for v in range(30)]},
    {"crashes": [Crash(3, 9), Crash(7, 21), Crash(12, 40)]},
    {"loss": 0.1, "crashes": [Crash(v, 5 + 3 * v, partial=True) for v in range(1, 40)]},
    {"crashes": [Crash(v, v) for v in range(20, 60)]},
    {"partitions": [Partition(2, 50, [*MIDDLE])]},
    {"loss": 0.1, "partitions": [Partition(4, 30, [*MIDDLE])], "crashes": [Crash(9, 11)]},
]


@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("more", [{}, MORE[0]])
def test_faults_are_those_of_a_simulation_message_by_message(faults, more):
    graph = random()
    delay = ("uniform", 1, 60)
    ds = run("bf", graph, 1, network={"delay": delay, "seed": 3} | more | faults)
    law, told = waits(("uniform", 1, 60, 0.5)), Faults(**faults)
    distance, sent, lost = flooded(graph.to_networkx(), 0, law, faults=told, **more)
    assert ds.distance.values.tolist() == [distance.get(v, -1) for v in range(graph.n)]
    times = ds.virtual_time.values.tolist()
    assert dict(zip(times, ds.messages.values.tolist(), strict=True)) == sent
    assert Counter(dict(zip(times, ds.lost.values.tolist(), strict=True))) == lost
    assert ds.crashed.values.tolist() == [told.fallen.get(v, -1) for v in range(graph.n)]
    unharmed, _, _ = flooded(graph.to_networkx(), 0, law, **more)
    assert (distance, +lost) != (unharmed, Counter())  # the faults are some


KINDS = [
    FAULTS[0],
    *FAULTS[2:4],
    *FAULTS[5:],
    {"crashes": 0.02},
    {"churn": [(3, 30, 2), (0, 20, 1, 5)]},
    {"duplicates": 0.3},
    {"corruption": 0.1},
    {"byzantine": {"nodes": [3], "strategy": "random"}},
]


def harmed(name, faults, cut, **how):
    """A run on a network with faults, or how it fails."""
    network = {"delay": ("uniform", 1, 9), "seed": 3} | faults
    try:
        return run(name, paper(name, **cut), 1, network=network, max_rounds=25, **how)
    except RunError as error:
        return str(error).partition(", cluster")[0]


@pytest.mark.parametrize("name", ["bf", "by", "dst", "mst"])
@pytest.mark.parametrize("faults", KINDS)
def test_faults_are_the_same_of_any_cut(name, faults):
    small = {key: [one for one in of if getattr(one, "node", 0) < 16] if key == "crashes" and
             isinstance(of, list) else of for key, of in faults.items()}  # fmt: skip
    if "partitions" in small:
        small["partitions"] = [Partition(2, 30, [0, 1, 2, 3])]
    kernel = RECURSIVE[name]()
    refused = {"duplicates": "duplicates", "corruption": "liars", "byzantine": "liars"}
    if {refused.get(key) for key in small} & kernel.unfit().keys():
        with pytest.raises(InputError, match="takes no network with"):
            harmed(name, small, {"clusters": 1})
        return
    whole = harmed(name, small, {"clusters": 1})
    for cut in ({"clusters": 3, "partition": "hash"}, {"clusters": 7}):
        found = harmed(name, small, cut)
        if isinstance(whole, str):
            assert found == whole
        else:
            assert_same(whole, found)


@pytest.mark.parametrize(("style", "name"), STYLES)
def test_faults_are_the_same_of_any_style(client, style, name):
    faults = {"loss": 0.1, "crashes": [Crash(3, 9), Crash(5, 4, partial=True)]}
    expected = harmed(name, faults, {"clusters": 1}, count_as=style)
    found = harmed(name, faults, {"clusters": 5}, style=style, client=client)
    assert_same(expected, found)
    assert expected.lost.sum() > 0


@pytest.mark.parametrize("name", sorted(RECURSIVE))
def test_outputs_are_those_of_the_plain_run_and_bits_those_of_any_cut(name):
    plain = dgsuite.run(name, paper(name), form="recursive", style="serial")
    for delay in LAWS if name == "bf" else LAWS[2:3]:
        whole = run(name, paper(name, clusters=1), delay, count_as="finish_async")
        for output in RECURSIVE[name].outputs:
            np.testing.assert_array_equal(plain[output].values, whole[output].values)
        assert (np.diff(whole.virtual_time) > 0).all()
        for cut in ({"clusters": 2, "partition": "hash"}, {"clusters": 7}):
            assert_same(whole, run(name, paper(name, **cut), delay, count_as="finish_async"))
    for more in MORE:
        network = {"delay": ("uniform", 1, 30), "seed": 3} | more
        runs = [run(name, paper(name, clusters=k), 1, network=network) for k in (1, 3)]
        assert_same(*runs)
        for output in RECURSIVE[name].outputs:
            np.testing.assert_array_equal(plain[output].values, runs[0][output].values)


@pytest.mark.parametrize(("style", "name"), STYLES)
def test_styles(client, style, name):
    """No style has an order of its own: nothing depends on the schedule."""
    graph = paper(name, clusters=5)
    network = {"delay": ("uniform", 0, 6), "fifo": True, "gst": 40, "bound": 2, "seed": 3}
    expected = run(name, graph, 1, network=network, count_as=style)
    found = run(name, graph, 1, network=network, style=style, client=client)
    assert_same(expected, found)
    assert "schedule_dependent" not in found.attrs


def test_a_fixed_delay_is_that_of_each_hop():
    path = dgsuite.Graph.from_networkx(nx.path_graph(6))
    ds = run("bf", path, 7)
    assert ds.virtual_time.values.tolist() == [0, 7, 14, 21, 28, 35, 42]
    assert ds.messages.values.tolist() == [1, 2, 2, 2, 2, 1, 0]
    assert run("bf", path, 0).virtual_time.values.tolist() == [*range(7)]  # a tick at least


def test_the_longer_edge_arrives_later_and_is_corrected():
    """Two hops of 1 tick arrive before one of 9, whose distance is less."""
    graph = dgsuite.Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 3], weights=[1, 1, 9, 1])
    ds = run("bf", graph, "weight")
    assert ds.distance.values.tolist() == [0, 1, 1, 2]
    assert ds.virtual_time.values.tolist() == [0, 1, 2, 3, 4, 9, 10, 11, 18]
    plain = dgsuite.run("bf", graph, form="recursive", style="serial")
    assert ds.messages.sum() > plain.messages.sum()


@dataclass(frozen=True)
class Chain(bsp.Kernel):
    """A path of questions, each under the finish of the one before."""

    name = "chain"
    form = "recursive"
    outputs = {"over": bsp.Output("whether what the node asked is over")}

    def program(self, net):
        yield bsp.Finish(self.begin)

    def start(self, c):
        return bsp.State(over=c.zeros())

    def begin(self, c, s, inbox):
        return self.on(c, c.local(0))

    def on(self, c, nodes):
        to = c.ids[nodes] + 1
        nodes, to = nodes[to < c.n], to[to < c.n]
        return bsp.spawn(self.ask, to, by=nodes, then=self.end)

    def ask(self, c, s, inbox):
        return self.on(c, inbox.node)

    def end(self, c, s, inbox):
        s.over[inbox.node] = 1


@dataclass(frozen=True)
class Twice(bsp.Kernel):
    """Node 0 asks node 1, and once more when it knows that the task there has ended."""

    name = "twice"
    form = "recursive"
    outputs = {"asked": bsp.Output("how often the node was asked")}
    undirected = False

    def program(self, net):
        yield bsp.Finish(self.begin)

    def start(self, c):
        return bsp.State(asked=c.zeros())

    def begin(self, c, s, inbox):
        root = c.local(0)
        return bsp.spawn(self.ask, root * 0 + 1, by=root, then=self.again)

    def ask(self, c, s, inbox):
        np.add.at(s.asked, inbox.node, 1)

    def again(self, c, s, inbox):
        return bsp.spawn(self.ask, inbox.node * 0 + 1, by=inbox.node)


def test_a_notice_of_an_end_is_a_message():
    graph = dgsuite.Graph.from_edges([0], [1])
    for cut in (1, 2):
        ds = run(Twice, graph.repartition(cut), lambda src, dst, tick: 5 + 2 * src)
        assert ds.asked.values.tolist() == [0, 2]
        assert ds.virtual_time.values.tolist() == [0, 5, 12, 17]  # the notice takes 7
        assert ds.messages.values.tolist() == [1, 0, 1, 0]


LOSSES = [
    ({"loss": 1.0}, [0, 0], [0], [2]),
    ({"drops": [(12, 0, 1)]}, [0, 1], [0, 5, 12], [1, 0, 1]),
    ({"crashes": {1: 3}}, [0, 0], [0, 5, 12], [1, 0, 1]),
    ({"crashes": {1: 8}}, [0, 1], [0, 5, 12], [1, 0, 1]),
    ({"crashes": {0: 8}}, [0, 1], [0, 5, 12], [1, 0, 0]),
    ({"duplicates": 1.0}, [0, 4], [0, 5, 12, 17], [1, 0, 1, 0]),
]


@pytest.mark.parametrize(("faults", "asked", "ticks", "sent"), LOSSES)
def test_a_finish_does_not_wait_for_what_is_lost(faults, asked, ticks, sent):
    """What is lost on its way is over at once; what finds its node down, when a notice tells."""
    graph = dgsuite.Graph.from_edges([0], [1])
    network = {"delay": lambda src, dst, tick: 5 + 2 * src, "seed": 3} | faults
    for cut in (1, 2):
        ds = run(Twice, graph.repartition(cut), 1, network=network)
        assert ds.asked.values.tolist() == asked
        assert ds.virtual_time.values.tolist() == ticks
        assert ds.messages.values.tolist() == sent


def test_a_finish_above_one_that_nobody_ends_is_over():
    """Node 1 has asked node 2 when it crashes: node 0 goes on, though node 1 never answers."""
    path = dgsuite.Graph.from_edges([0, 1], [1, 2])
    for crash, last in ((1, 2), (3, 4), (9, 4)):
        for cut in (1, 3):
            ds = run(Chain, path.repartition(cut), 1, network={"delay": 1, "crashes": {1: crash}})
            assert ds.over.values.tolist() == [1, crash == 9, 0]
            assert ds.virtual_time.values.tolist() == [*range(last + 1)]


@pytest.mark.parametrize(
    "faults", [{"crashes": 0.1, "crash_by": "phase"}, {"crashes": [Crash(1, 1, "ask")]}]
)
def test_tasks_have_no_phases(faults):
    with pytest.raises(InputError, match="crash at a tick, for good"):
        run("bf", random(), 1, network={"delay": 1} | faults)


def test_what_rounds_between_finishes_send_is_in_their_tick():
    once, twice = (run("mst", paper("mst"), delay) for delay in (1, 2))
    assert (twice.virtual_time == 2 * once.virtual_time).all()
    assert twice.messages.equals(once.messages)
    assert once.messages.values[2] > 16  # fragments, which the second of the rounds tells


def test_delays_by_a_function():
    """Of the edge and the time: those of odd nodes take the longer the later it is."""
    path = dgsuite.Graph.from_networkx(nx.path_graph(4))

    def late(src, dst, tick):
        assert src.dtype == dst.dtype == tick.dtype == np.int64
        return np.where(src % 2 == 0, 1, 1 + 10 * tick)

    ds = run("bf", path, late)
    assert ds.virtual_time.values.tolist() == [0, 1, 12, 13, 144]
    assert '"kind": "late"' in ds.attrs["network"]


WRONG = [
    ("bf", {"delay": "often"}, "delay must be a whole number of ticks"),
    ("bf", {"delay": 1, "adversary": {"budget": 1}}, "leave out adversary="),
    ("bf", {"delay": 1, "crashes": [Crash(1, 2, until=4)]}, "phase and until"),
    ("bf", {"delay": 1, "capacity": 2}, "capacity is of event-driven kernels alone"),
    ("bf", {"delay": 1, "synchroniser": "alpha"}, "leave out synchroniser="),
    ("bf", {"delay": "weight"}, "needs a graph with weights"),
    ("bf", {"loss": 0.1}, "take form='iterative'"),
]


@pytest.mark.parametrize(("name", "network", "message"), WRONG)
def test_wrong_networks(name, network, message):
    with pytest.raises(InputError, match=message):
        run(name, random(), 1, network=network)


NO_DELAYS = [
    (lambda src, dst, tick: src * 0.5, "must return a whole number .* 1 messages, got float64"),
    (lambda src, dst: 1, r"\(src, dst, tick\): TypeError: .* 2 positional arguments but 3"),
    (lambda src, dst, tick: src - 1, "must be from 0 to 2147483648 ticks, got -1"),
    (lambda src, dst, tick: np.ones((2, 2), int), r"got int64 of shape \(2, 2\)"),
]


@pytest.mark.parametrize(("delay", "message"), NO_DELAYS)
def test_functions_that_return_no_delays(delay, message):
    path = dgsuite.Graph.from_networkx(nx.path_graph(4))
    with pytest.raises(RunError, match=f"kernel 'bf', depth 1, phase 'arrive', .*{message}"):
        run("bf", path, delay)


def test_weights_are_of_edges():
    """Tasks of dr go to nodes that are no neighbours, too: these take a tick, as messages of events do."""
    path = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[1, 2, 3])
    plain = dgsuite.run("dr", path, form="recursive", style="serial")
    ds = run("dr", path, "weight")
    assert ds.next_hop.equals(plain.next_hop)
    assert ds.virtual_time[-1] > run("dr", path, 1).virtual_time[-1]
