"""Self-stabilising kernels do as their authors say, and come to what is right under the daemons that they are
made for, as fast as is proved. Under others they may not.
"""

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.kernels.lab import state_model
from tests.cards.sets import DAEMONS
from tests.support import stabilising
from tests.support.cases import STABLE
from tests.support.stabilising import ANY, ONE, connected, every_state, moves_of, worst

PROTOCOLS = {
    ("stable_bfs", None): stabilising.stable_bfs,
    ("stable_colouring", None): stabilising.stable_colouring,
    ("stable_matching", "manne"): stabilising.stable_matching,
    ("stable_matching", "hsu-huang"): stabilising.hsu_huang,
    ("stable_mis", "turau"): stabilising.stable_mis,
    ("stable_mis", "shukla"): stabilising.shukla,
}

VARIABLES = {
    "stable_bfs": ("level", "parent"),
    "stable_colouring": ("colour",),
    "stable_matching": ("mate", "married"),
    "stable_mis": ("in_mis",),
}


def run(kernel, net, **how):
    graph = dgsuite.Graph.from_networkx(net) if isinstance(net, nx.Graph) else net
    return dgsuite.run(kernel, graph, style="serial", **how)


def random_graph(n, m, seed=1):
    return genval.graph("spmax", n, m=m, seed=seed, client=None)


def columns(kernel, at):
    """A state of the definitions as values of the kernel's variables."""
    names = VARIABLES[kernel]
    values = zip(*at, strict=True) if len(names) > 1 else [at]
    return {name: [*map(int, one)] for name, one in zip(names, values, strict=True)}


@pytest.mark.parametrize(("kernel", "protocol"), PROTOCOLS)
def test_kernels_move_as_their_authors_say(kernel, protocol):
    """From any state the same nodes are enabled, and come to the same, in each step in which all move."""
    rule = PROTOCOLS[kernel, protocol]
    how = {} if protocol is None else {"protocol": protocol}
    if kernel == "stable_colouring":
        how["coin"] = 1.0
    nets = [nx.path_graph(3), nx.complete_graph(3), nx.cycle_graph(4), nx.star_graph(3)]
    for k, net in enumerate(nets):
        graph = dgsuite.Graph.from_networkx(net)
        states = [*every_state(kernel, net)]
        for at in states[k :: max(len(states) // 12, 1)]:
            begin = columns(kernel, at)
            execution = dgsuite.lab.Execution(kernel, graph, begin=begin, **how)
            for step, found in execution.phases():
                if not step.last:
                    continue
                if step.round > 0:
                    moves = moves_of(rule, net, at)
                    at = stabilising.after(at, moves, moves)
                expected = columns(kernel, at)
                assert {name: found[name].tolist() for name in expected} == expected
                assert np.flatnonzero(found["enabled"]).tolist() == [*moves_of(rule, net, at)]
                if step.round == 8:  # some go on for ever
                    break


FIRST = (None, "turau", "manne")
"""Protocols that run where none is chosen."""

EXECUTIONS = [
    ("stable_mis", "turau", ANY, lambda n, m: 3 * n),
    ("stable_mis", "shukla", ONE, lambda n, m: 2 * n),
    ("stable_mis", "shukla", ANY, None),
    ("stable_colouring", None, ONE, lambda n, m: n + 2 * m),
    ("stable_colouring", None, ANY, None),
    ("stable_matching", "manne", ANY, lambda n, m: 3 * n + 2 * m),
    ("stable_matching", "hsu-huang", ONE, lambda n, m: n + 2 * m),
    ("stable_matching", "hsu-huang", ANY, None),
    ("stable_bfs", None, ANY, lambda n, m: np.inf),
]
"""What daemons do, and how many moves a graph takes at most; None if it may take any number."""

BOUNDS = {name: most for name, protocol, _, most in EXECUTIONS if protocol in FIRST and most}


@pytest.mark.few(3)
@pytest.mark.parametrize(("kernel", "protocol", "daemon", "bound"), EXECUTIONS)
def test_all_executions_of_small_graphs_end_as_is_proved(kernel, protocol, daemon, bound):
    """Whatever the daemon picks, from any state; or, if the protocol is not made for it, some never end."""
    sizes = (3,) if kernel == "stable_bfs" else (3, 4)
    most = [
        (worst(PROTOCOLS[kernel, protocol], every_state(kernel, net), net, daemon), net)
        for n in sizes
        for net in connected(n)
    ]
    if bound is None:
        assert any(found is None for found, _ in most)
    else:
        assert all(0 < found <= bound(len(net), net.size()) for found, net in most)


@pytest.mark.few(7)
@pytest.mark.parametrize("kernel", STABLE)
@pytest.mark.parametrize("daemon", DAEMONS)
def test_kernels_recover_as_fast_as_is_proved(kernel, daemon):
    """From any state, and from a fault in the third round after that."""
    n, m = 20, 36
    graph = random_graph(n, m)
    for seed in range(2):
        struck = run(kernel, graph, daemon=daemon, seed=seed, after=2).sizes["round"]
        ds = run(kernel, graph, daemon=daemon, seed=seed, faults={struck: 0.4}, after=3)
        assert genval.validate(kernel, graph, ds).ok
        assert ds.enabled.values[struck - 3 : struck].tolist() == [0, 0, 0]
        assert ds.enabled.values[-4:].tolist() == [0, 0, 0, 0]
        assert ds.legitimate_round + 4 == ds.sizes["round"]
        assert ds.steps_to_legitimacy == ds.legitimate_round - struck
        assert ds.closure == 1
        assert ds.rounds_to_legitimacy <= ds.steps_to_legitimacy
        if (
            kernel == "stable_bfs"
        ):  # asynchronous rounds, with any daemon: hops from the root, and one
            level = run("bfs", graph).level
            assert (ds.level == level).all()
            assert ds.rounds_to_legitimacy <= level.max() + 1
        first, again = int(ds.moved.values[:struck].sum()), ds.moves_to_legitimacy
        assert int(ds.moves.sum()) == first + again
        if daemon in state_model.ONE:
            assert ds.moved.values.max() == 1
        if daemon in state_model.ONE or kernel != "stable_colouring":
            assert max(first, again) <= BOUNDS[kernel](n, m)


def test_levels_without_a_root_rise_to_the_end():
    graph = dgsuite.Graph.from_edges([0, 2, 3], [1, 3, 4], n=6)
    ds = run("stable_bfs", graph, begin={"level": 0, "parent": -1})
    assert ds.level.values.tolist() == [0, 1, -1, -1, -1, -1]
    assert ds.parent.values.tolist() == [-1, 0, -1, -1, -1, -1]
    assert ds.steps_to_legitimacy == 6


def test_daemons_pick_as_they_say():
    graph, picked = random_graph(12, 20), {}
    for daemon in ("largest", "busiest"):
        picked[daemon], before, enabled = [], np.zeros(12, int), None
        execution = dgsuite.lab.Execution("stable_bfs", graph, daemon=daemon)
        for step, found in execution.phases():
            if step.phase == "move":
                (node,) = np.flatnonzero(found["moves"] != before)
                picked[daemon].append((enabled, before, int(node)))
            if step.last:
                enabled, before = np.flatnonzero(found["enabled"]), found["moves"].copy()
    assert all(node == enabled[-1] for enabled, _, node in picked["largest"])
    for enabled, moves, node in picked["busiest"]:
        assert node == max(enabled, key=lambda v: (moves[v], v))
    assert any(node != enabled[-1] for enabled, _, node in picked["busiest"])


def test_faults_strike_a_share_of_nodes_which_do_not_move():
    graph = random_graph(300, 600)
    ds = run("stable_mis", graph, begin={"in_mis": 0}, faults={20: 0.25, 40: 0.0})
    assert ds.moved.values[[20, 40]].tolist() == [0, 0]
    assert 0.15 < ds.messages.values[20] / ds.messages.values[0] < 0.35
    assert ds.messages.values[40] == 0
    assert ds.enabled.values[19] == 0 < ds.enabled.values[20]
    assert (ds.legitimate_round, ds.steps_to_legitimacy, ds.closure) == (40, 0, 1)
    ring = genval.graph("ring", 12, client=None)
    ds = run("token_ring", ring, faults={30: 1.0})
    assert ds.privileges.values[29] == 1 < ds.privileges.values[30]
    assert ds.legitimate_round > 30
    assert genval.validate("token_ring", ring, run("token_ring", ring)).ok


@pytest.mark.parametrize(
    ("kernel", "how", "net"),
    [
        ("stable_mis", {"protocol": "shukla", "begin": {"in_mis": 0}}, nx.path_graph(4)),
        ("stable_matching", {"protocol": "hsu-huang", "begin": {"mate": -1}}, nx.cycle_graph(4)),
        ("stable_colouring", {"coin": 1.0, "begin": {"colour": 0}}, nx.complete_graph(3)),
    ],
)
def test_protocols_for_one_node_at_a_time_go_on_for_ever_if_all_move(kernel, how, net):
    graph = dgsuite.Graph.from_networkx(net)
    with pytest.raises(dgsuite.RunError, match="max_rounds=60"):
        run(kernel, graph, max_rounds=60, **how)
    found = dgsuite.lab.legitimacy(kernel, graph, max_rounds=60, **how)
    assert not found.legitimate.any()
    assert (found.moved[1:] > 0).all()
    assert (found.convergence, found.terminated, found.sizes["round"]) == (-1, 0, 60)
    for daemon in ("central", "largest", "busiest"):
        ds = run(kernel, graph, daemon=daemon, **how)
        assert genval.validate(kernel, graph, ds).ok


@pytest.mark.parametrize("kernel", STABLE)
def test_states_are_legitimate_when_no_node_is_enabled(kernel):
    """By the validators of kernels that do not recover; and they stay so until a fault."""
    graph = random_graph(14, 24)
    how = {"faults": {40: 0.6}, "seed": 3, "after": 2}
    ds = run(kernel, graph, **how)
    found = dgsuite.lab.legitimacy(kernel, graph, **how)
    assert found.sizes["round"] == ds.sizes["round"]
    assert (found.moved == ds.moved).all()
    assert (found.legitimate.values >= (ds.enabled.values == 0)).all()
    assert found.legitimate.values[[0, 39, 40, -1]].tolist() == [0, 1, 0, 1]
    assert (found.closure, found.terminated) == (1, 1)
    assert 40 < found.convergence <= ds.legitimate_round
    if kernel != "stable_matching":  # which moves, too, to say that it is married
        assert (found.changed[1:] >= found.moved[1:]).all()


def test_legitimacy_of_other_kernels_and_names():
    """Of a kernel that only is right at its end, and of a graph with labels."""
    graph = dgsuite.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], relabel=True)
    found = dgsuite.lab.legitimacy("bfs", graph, root="b")
    assert found.legitimate.values.tolist() == [0, 1, 1][: found.sizes["round"]]
    assert "moved" not in found
    assert dgsuite.lab.legitimacy("stable_bfs", graph, root="d").convergence > 0
    assert dgsuite.lab.legitimacy("mis", graph, judged_as="mis").legitimate.values[-1] == 1
    with pytest.raises(dgsuite.InputError, match="max_rounds must be a whole number from 1, got 0"):
        dgsuite.lab.legitimacy("mis", graph, max_rounds=0)
    with pytest.raises(dgsuite.InputError, match="has no value for each node"):
        dgsuite.lab.legitimacy("similarity", graph)


def test_told_again_nodes_recover_from_losses():
    graph = random_graph(30, 60)
    how = {"network": dgsuite.Network(loss=0.1), "after": 30, "max_rounds": 400}
    lost = [run("stable_mis", graph, seed=seed, **how) for seed in range(4)]
    found = [run("stable_mis", graph, seed=seed, repeat=True, **how) for seed in range(4)]
    assert all(genval.validate("stable_mis", graph, ds).ok for ds in found)
    assert not all(genval.validate("stable_mis", graph, ds).ok for ds in lost)
