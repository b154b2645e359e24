"""Histories, clocks and all orders of events: each checked by hand, and by what could deny it."""

from itertools import permutations

import numpy as np
import pytest

import dgsuite
from dgsuite import InputError, Network, genval
from dgsuite.kernels.events.detector import ChandraToueg
from dgsuite.kernels.events.mutex import LamportMutex, RicartAgrawala
from dgsuite.kernels.events.paxos import Paxos
from dgsuite.kernels.events.raft import Raft
from dgsuite.studies.lab import (
    Execution,
    Replay,
    RoundRobin,
    arrives_in_order,
    clocks,
    exclusive,
    explore,
    linearizable,
    repeat,
    search,
)


def complete(n, **how):
    return genval.graph("cplt", n, **how)


def history(*operations):
    names = "begin", "end", "writes", "value"
    return {
        name: np.array(column)
        for name, column in zip(names, zip(*operations, strict=True), strict=True)
    }


def by_hand(operations, model):
    """Whether some order of some operations, all that ended among them, is right."""
    for order in permutations(range(len(operations))):
        for count in range(len(order) + 1):
            some, held, fits = order[:count], 0, True
            if any(op[1] >= 0 and i not in some for i, op in enumerate(operations)):
                continue
            for place, i in enumerate(some):
                begin, _, writes, value = operations[i]
                fits &= not any(0 <= operations[j][1] < begin for j in some[place + 1 :])
                if writes:
                    held = held + value if model == "counter" else value
                else:
                    fits &= held == value
            if fits:
                return True
    return False


@pytest.mark.parametrize("model", ["register", "counter"])
@pytest.mark.parametrize("seed", range(60))
def test_linearizable_is_that_by_hand(model, seed):
    rng = np.random.default_rng(seed)
    operations = []
    for _ in range(5):
        begin = int(rng.integers(0, 8))
        end = int(rng.choice([-1, begin + rng.integers(0, 5)], p=[0.2, 0.8]))
        operations.append((begin, end, bool(rng.integers(2)), int(rng.integers(0, 3))))
    assert linearizable(history(*operations), model) == by_hand(operations, model)


def test_histories_of_both_kinds_are_among_them():
    rng = np.random.default_rng(0)
    found = set()
    for _ in range(60):
        begin = rng.integers(0, 8, 4)
        table = zip(
            begin,
            begin + rng.integers(0, 5, 4),
            rng.integers(0, 2, 4),
            rng.integers(0, 3, 4),
            strict=True,
        )
        found.add(linearizable(history(*table)))
    assert found == {True, False}


def test_an_operation_that_ends_before_it_begins_is_refused():
    with pytest.raises(InputError, match="operation 1 begins at 7, and ends at 5"):
        linearizable(history((0, 1, True, 1), (7, 5, False, 1)))
    with pytest.raises(InputError, match="model"):
        linearizable(history((0, 1, True, 1)), "queue")


class Careless(dgsuite.kernels.ABD):
    """Two nodes are enough."""

    def majority(self, c, votes, nodes):
        return votes[nodes].sum(axis=1) >= 2


def test_a_register_is_linearizable_and_that_of_a_minority_is_not():
    slow = Network(delay=("geometric", 0.05), loss=0.02, seed=5)
    found = {}
    for kernel in ("abd", Careless):
        how = {"operations": 6, "think": 3, "patience": 200, "ticks": 3000, "validate": False}
        ds = repeat(kernel, complete(5), 100, network=slow, **how)
        found[kernel] = {linearizable(ds.isel(run=k)) for k in range(100)}
    assert found == {"abd": {True}, Careless: {True, False}}


class Rude(RicartAgrawala):
    """It does not wait for the last reply."""

    def may_enter(self, c, s, nodes):
        return s.replies[nodes].sum(axis=1) >= c.degree[nodes]


@pytest.mark.parametrize("kernel", ["ricart_agrawala", "lamport_mutex", Rude])
def test_stays_do_not_overlap_and_those_of_a_rude_kernel_do(kernel):
    slow = Network(delay=("uniform", 1, 9), fifo=True)
    found = {
        exclusive(dgsuite.run(kernel, complete(5), requests=3, seed=seed, network=slow))
        for seed in range(10)
    }
    assert found == ({False} if kernel is Rude else {True})


def clocks_by_hand(execution):
    """Vector clocks, message by message; without counting moments in which a node only computes."""
    n = execution.graph.n
    vectors, lamport, flying, found = [[0] * n for _ in range(n)], [0] * n, [], []
    for now, moment in enumerate(execution.moments()):
        m = moment.messages
        acts = {*m.sender.tolist()}
        for _, dst, vector, clock in [one for one in flying if one[0] == now]:
            acts.add(dst)
            vectors[dst] = [*map(max, vectors[dst], vector)]
            lamport[dst] = max(lamport[dst], clock)
        flying = [one for one in flying if one[0] > now]
        for v in acts:
            vectors[v][v] += 1
            lamport[v] += 1
        for i, (src, dst) in enumerate(zip(m.sender.tolist(), m.receiver.tolist(), strict=True)):
            if not m.lost[i] and not m.unheard[i]:
                due = int(m.fields["due"][i]) if "due" in m.fields else now + 1
                flying.append((due, dst, [*vectors[src]], lamport[src]))
        found.append(([*lamport], [[*v] for v in vectors]))
    return found


@pytest.mark.parametrize(
    ("kernel", "network"),
    [
        ("ricart_agrawala", {"delay": ("uniform", 1, 9)}),
        ("paxos", {"delay": ("uniform", 1, 5), "loss": 0.2}),
        ("floodmax", None),
    ],
)
def test_clocks_are_those_by_hand(kernel, network):
    execution = Execution(kernel, complete(4), network=Network(**network) if network else None)
    ds, by_hand = clocks(execution), clocks_by_hand(execution)
    assert ds.lamport.values.tolist() == [lamport for lamport, _ in by_hand]
    assert ds.vector.values.tolist() == [vectors for _, vectors in by_hand]


def test_messages_arrive_in_order_where_the_network_says_so():
    orders = {}
    for fifo in (True, False):
        network = Network(delay=("uniform", 1, 30), fifo=fifo)
        execution = Execution("ricart_agrawala", complete(4), requests=3, network=network)
        orders[fifo] = arrives_in_order(execution), arrives_in_order(execution, "causal")
    assert orders == {True: (True, False), False: (False, False)}
    one_tick = Execution("ricart_agrawala", complete(4), network=Network(delay=1))
    assert arrives_in_order(one_tick, "causal")


class Hasty(Paxos):
    """Half of the nodes are enough."""

    def majority(self, c, votes, nodes):
        return 2 * votes[nodes].sum(axis=1) >= c.degree[nodes] + 1


class Forgetful(Paxos):
    """A node forgets what it has promised."""

    def on_message(self, c, s, e):
        s.promised[e.node] = -1
        yield from super().on_message(c, s, e)


def agree(graph, held):
    decided = np.asarray(held["decision"])
    return len(np.unique(decided[decided >= 0])) <= 1


def test_all_orders_of_two_nodes():
    pair = complete(2)
    for kernel in (RicartAgrawala, LamportMutex):
        found = explore(kernel, pair, lambda graph, held: held["inside"].sum() <= 1, timeouts=4)
        assert found.holds
    assert explore(Paxos, pair, agree, timeouts=2, losses=1).holds
    found = explore(Hasty, pair, agree, timeouts=2)
    assert not found.holds
    assert found.steps == ["retry of 0 ends", "retry of 1 ends"]


def test_executions_are_counted():
    """Two nodes that start at the same time: 2 messages, each of which is answered by one."""
    pair = complete(2)
    found = explore("ricart_agrawala", pair, timeouts=0)
    assert found.holds
    assert found.executions == 1
    found = explore("ricart_agrawala", pair, timeouts=1)  # either wakes, asks, and gets its reply
    assert found.executions == 2


def test_the_rule_knows_the_parameters():
    assert explore("paxos", complete(2), timeouts=1, inputs=[7, 5]).holds
    assert explore("bracha", complete(2), timeouts=0, sender=1, value=0).holds


def test_a_space_that_is_too_large_is_refused():
    with pytest.raises(InputError, match="more than most=10"):
        explore(Paxos, complete(3), agree, timeouts=2, most=10)


@pytest.mark.long
def test_all_orders_of_three_nodes():
    found = explore(
        RicartAgrawala, complete(3), lambda graph, held: held["inside"].sum() <= 1, timeouts=4
    )
    assert found.holds
    assert (found.executions, found.looked_at) == (15_487_272, 23_052)
    assert explore(Paxos, complete(3), agree, timeouts=1).holds


def right(graph, ds):
    """No two nodes lead a term, and logs agree as far as they are committed."""
    led = ds.led.values[ds.led.values > 0]
    least = np.minimum.outer(ds.committed.values, ds.committed.values)
    same = ds.log_term.values[:, None] == ds.log_term.values[None]
    within = np.arange(ds.sizes["entry"]) < least[..., None]
    return len(np.unique(led)) == len(led) and bool((same | ~within).all())


RAFT = {"patience": 4, "beat": 4, "ticks": 40}


class HastyRaft(Raft):
    """Half of the nodes are enough."""

    majority = Hasty.majority


class ForgetfulRaft(Raft):
    """A node forgets whom it has voted for."""

    def on_message(self, c, s, e):
        s.voted[e.node] = -1
        yield from super().on_message(c, s, e)


@pytest.mark.parametrize(
    ("kernel", "property", "how"),
    [
        (Hasty, agree, {"proposers": 2, "patience": 3}),
        pytest.param(Forgetful, agree, {"proposers": 2, "patience": 3}, marks=pytest.mark.long),
        pytest.param(HastyRaft, right, RAFT, marks=pytest.mark.long),
        pytest.param(ForgetfulRaft, right, RAFT, marks=pytest.mark.long),
    ],
)
def test_a_search_finds_what_is_wrong_and_nothing_on_the_sound_side(kernel, property, how):
    given = {"graphs": "complete", "faults": ("drops", "delays"), "max_rounds": 60, **how}
    found = search(kernel, property, nodes=4, tries=600, **given)
    assert found is not None
    assert not property(found.graph, found.dataset)
    sound = Paxos if issubclass(kernel, Paxos) else Raft
    assert search(sound, property, nodes=4, tries=60, **given) is None


def test_nodes_get_messages_in_turns():
    execution = Execution("ricart_agrawala", complete(5), network=Network(delay=RoundRobin(5)))
    sent = [moment.messages for moment in execution.moments() if len(moment.messages)]
    due = [(messages.fields["due"], messages.receiver) for messages in sent]
    arrivals, nodes = map(np.concatenate, zip(*due, strict=True))
    assert len(nodes) == 40
    assert (arrivals % 5 == nodes).all()


@pytest.mark.parametrize("kernel", ["paxos", "raft", "abd", "lamport_mutex"])
def test_an_execution_is_replayed(kernel):
    slow = Network(delay=("uniform", 1, 30), fifo=True, seed=7)
    again = Network(delay=Replay(Execution(kernel, complete(5), network=slow)), fifo=True)
    found = [dgsuite.run(kernel, complete(5), network=network) for network in (slow, again)]
    assert found[0].messages.equals(found[1].messages)
    other = dgsuite.run(kernel, complete(5), network=Network(delay=("uniform", 1, 30), fifo=True))
    assert not found[0].messages.equals(other.messages)


def suspicions(network, **how):
    """Whom nodes suspect at the end of a run that decides nothing."""
    execution = Execution(Undecided, complete(4), network=Network(**network), ticks=400, **how)
    *_, last = execution.moments()
    return last.states["suspects"]


class Undecided(ChandraToueg):
    """Its nodes watch each other, and do nothing else."""

    def on_message(self, c, s, e):
        self.hear(s, e, self.member(c, s, e))

    def on_timer(self, c, s, e, timer):
        return self.beat(c, s, e)


@pytest.mark.parametrize("oracle", [None, {2: 30}])
def test_a_detector_suspects_those_that_have_crashed_and_no_others(oracle):
    for delay in (1, ("uniform", 1, 60)):
        found = suspicions({"delay": delay, "crashes": {2: 30}}, oracle=oracle)
        assert found[[0, 1, 3]].tolist() == [[False, False, True, False]] * 3


def test_a_detector_that_is_hasty_learns_to_wait():
    execution = Execution(
        Undecided, complete(3), network=Network(delay=("uniform", 1, 60)), patience=5, ticks=2000
    )
    wrong = [int(moment.states["suspects"].sum()) for moment in execution.moments()]
    assert max(wrong[:100]) > 0
    assert max(wrong[-500:]) == 0


@pytest.mark.parametrize("network", [{"delay": ("uniform", 1, 60)}, {"crashes": {0: 1, 3: 3}}])
def test_consensus_with_a_detector_agrees_and_decides(network):
    for seed in range(20):
        ds = dgsuite.run("chandra_toueg", complete(5), seed=seed, network=network)
        live = ds.crashed.values < 0 if "crashed" in ds else np.ones(5, bool)
        assert len(np.unique(ds.decision.values[live])) == 1
        assert ds.decision.values[live][0] in ds.input.values
        assert agree(None, {"decision": ds.decision.values})
