"""Which kernels take which networks: declared, refused before a run, and the same for any cut."""

import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import dgsuite
from dgsuite import Byzantine, Crash, Graph, InputError, Network, RunError, lab
from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.parameters import make_kernel
from dgsuite.core.running.catalogue import networks_of
from dgsuite.kernels import KERNELS, bsp
from dgsuite.studies.network.node_states import take
from dgsuite.studies.network.strategies import bounded
from tests.support.faithful import FAITHFUL
from tests.support.networks import CUTS, NETWORKS, PARAMETERS, graph, outcome
from tests.support.patience import PATIENCE

ROOT = Path(__file__).parents[3]

TAKEN = {name: [k for k in NETWORKS if k not in KERNELS[name]().unfit()] for name in KERNELS}


def cases():
    """Each kernel with each kind that it takes; one of them is not long."""
    return [
        pytest.param(name, kind, marks=[] if k == j % len(kinds) else pytest.mark.long)
        for j, (name, kinds) in enumerate(sorted(TAKEN.items()))
        for k, kind in enumerate(kinds)
    ]


IDLE = {("scc", "loss"): "drops", ("scc", "liars"): "lies", ("wcc", "liars"): "lies"}
IDLE |= {("dijkstra_scholten", "duplicates"): "partitions", ("raft", "duplicates"): "partitions"}
IDLE |= {("paxos", "loss"): "drops", ("raft", "loss"): "drops", ("raft", "churn"): "away"}
"""Faults that find nothing to strike, by kernel and network."""


@pytest.mark.parametrize(("name", "kind"), cases())
def test_a_network_that_a_kernel_takes_has_one_outcome_for_any_cut(name, kind, ledger):
    if (name, kind) in IDLE:
        ledger.spares(IDLE[name, kind])
    first, *others = (outcome(name, NETWORKS[kind], cut) for cut in CUTS)
    assert "takes no network" not in first.get("error", "")
    for other in others:
        assert other == first


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_a_network_that_a_kernel_does_not_take_is_refused_before_the_run(name, monkeypatch):
    monkeypatch.setattr("dgsuite.core.engine.registry.send", None)  # nothing is sent
    for kind in NETWORKS.keys() - set(TAKEN[name]):
        for cut in CUTS:
            with pytest.raises(InputError, match=f"kernel '{name}' takes no network with"):
                dgsuite.run(name, graph(name, **cut), network=NETWORKS[kind], style="serial")


def test_a_refusal_names_the_kind_and_the_kernels_that_take_it():
    with pytest.raises(
        InputError, match=r"liars: its nodes take .*; kernels that do: abd, alpha, "
    ):
        dgsuite.run("mst", graph("mst"), network=NETWORKS["liars"])
    with pytest.raises(InputError, match="with loss: it reads what neighbours sent last"):
        lab.Execution("colouring", graph("colouring"), network=NETWORKS["loss"])


@pytest.mark.parametrize("name", ["itai_rodeh", "lamport_mutex"])
def test_kernels_that_need_an_order_take_networks_that_keep_it(name):
    for network in ({"delay": 3}, {"seed": 5}, {"delay": ("uniform", 1, 4), "fifo": True}):
        ds = dgsuite.run(name, graph(name), network=network)
        assert dgsuite.genval.validate(name, graph(name), ds).ok
    with pytest.raises(InputError, match="take fifo=True"):
        dgsuite.run(name, graph(name), network={"delay": ("uniform", 1, 4)})


def test_weights_decide_whether_ranks_take_faults():
    with_weights = Graph.from_edges([0, 1], [1, 2], weights=[1.0, 2.0])
    with pytest.raises(InputError, match="reads what neighbours sent last"):
        dgsuite.run("pagerank", with_weights, network=NETWORKS["loss"])
    ds = dgsuite.run("pagerank", with_weights, weighted=False, network=Network(loss=0.5))
    assert ds.lost.sum() > 0


KINDS = [
    (Network(), ("loss",)),
    (Network(crashes=0.1, churn=[(0, 1, 2)]), ("loss", "crashes", "churn")),
    (Network(crashes=[Crash(0, 1, until=2)]), ("loss", "crashes", "recovery")),
    (Network(byzantine=Byzantine([1], "silent")), ("loss",)),
    (Network(byzantine=Byzantine([1], "random")), ("loss", "liars")),
    (Network(adversary=dgsuite.Adversary("leader")), ("loss", "crashes")),
    (Network(adversary={"aim": "degree", "spends": "absences"}), ("loss", "churn")),
    (Network(delay=2), ("delays",)),
    (Network(duplicates=0.1), ("loss", "duplicates")),
    (Network(corruption=0.1), ("loss", "liars")),
    (Network(partitions=[(0, 1, [2])]), ("loss", "churn")),
]


@pytest.mark.parametrize(("network", "kinds"), KINDS)
def test_kinds_of_networks(network, kinds):
    assert network.kinds == kinds


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernels_whose_nodes_come_back_have_a_state_by_node(name):
    """Arrays that are not one entry for each node are seen where a cluster has more edges than nodes."""
    on = graph(name, 30, clusters=2)
    kernel = make_kernel(name, on, 1, PARAMETERS.get(name, {}))
    if "recovery" not in kernel.unfit():
        for cluster in on.gather():
            take(kernel.first_state(cluster), np.empty(0, np.int64), cluster.size)


@dataclass(eq=False)
class Heard(bsp.ClusterState):
    """What came."""

    value: np.ndarray = bsp.per_node(0)


@dataclass(frozen=True)
class Undeclared(bsp.Kernel):
    """It reads what came last, and does not say so."""

    name = "undeclared"
    outputs = {"value": bsp.Output("value")}
    fields = {"value": np.int64}
    state = Heard

    def program(self, net):
        yield bsp.Round(self.tell, self.hear)

    def tell(self, c, s, inbox):
        return bsp.broadcast(value=c.ids)

    def hear(self, c, s, inbox):
        inbox.latest("value")


def test_a_refusal_is_no_counterexample():
    with pytest.raises(InputError, match="takes no network with loss"):
        lab.search("colouring", tries=20)
    with pytest.raises(InputError, match=r"phase 'hear'.*refuses = bsp.no_faults"):
        dgsuite.run(Undeclared, graph("mis"), style="serial", network=Network(loss=0.1))


def test_what_is_declared_is_a_kind():
    own = {"refuses": {"lies": "it says so"}}
    wrong = dataclass(frozen=True)(type("Wrong", (Undeclared,), own))
    with pytest.raises(InputError, match="attribute 'refuses' must be a mapping from kinds"):
        dgsuite.run(wrong, graph("mis"), style="serial")


def test_the_page_lists_what_kernels_take():
    rows = defaultdict(list)
    for name in sorted(KERNELS):
        rows[networks_of(KERNELS[name])].append(f"`{name}`")
    page = (ROOT / "docs" / "howto" / "faults.md").read_text()
    listed = re.findall(r"^\| ((?:loss|delays|none)[^|]*) \| (`.*`) \|$", page, re.MULTILINE)
    assert dict(listed) == {kinds: ", ".join(names) for kinds, names in rows.items()}


def test_help_says_what_networks_a_kernel_takes():
    kernels = dgsuite.list_kernels()
    taken = "Networks that it takes, by ``network=``: loss, crashes, churn, duplicates, delays."
    assert taken in str(kernels.mst.__doc__)
    taken = "loss, crashes, churn, liars, duplicates, delays; with weights delays."
    assert taken in str(kernels.pagerank.__doc__)


def lies(every=()):
    """What a process says whose kernels' nodes lie."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.support.networks", *every]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20 * PATIENCE)
    said = done.stdout.splitlines() or [""]
    assert done.returncode == 0, f"{said[-1]}\n{done.stderr[-3000:]}"
    assert said[-1] == "END"
    assert [line for line in said if line.startswith("WRONG")] == []
    return said


@pytest.mark.parametrize("every", [(), pytest.param(("--every",), marks=pytest.mark.long)])
def test_lies_end_no_process_and_depend_on_no_cut(every):
    assert len(lies(every)) > 200


HELD = [
    (np.int32, [-1, 2**40, 5], (0, 9), [0, 9, 5]),
    (np.int64, [np.nan, np.inf, -np.inf], (-1, 9), [0, 9, -1]),
    (np.int64, [np.nan, 3.0, 4.0], (2, 9), [2, 3, 4]),
    (np.int64, [1e30, -1e30, 2.0**63], None, [2**63 - 1, -(2**63), 2**63 - 1]),
    (np.uint64, [-1, 2**62, 0], None, [0, 2**62, 0]),
    (np.int8, [300, -300, 7], None, [127, -128, 7]),
    (np.float32, [np.nan, 1e300, -0.5], None, [0, np.finfo(np.float32).max, -0.5]),
    (bool, [-1, 2, 0], None, [False, True, False]),
]


@pytest.mark.parametrize(("dtype", "said", "limits", "held"), HELD)
def test_a_lie_is_held_to_what_the_field_can_have(dtype, said, limits, held):
    found = bounded("field", np.array(said), np.zeros(3, dtype), limits)
    assert found.dtype == dtype
    assert found.tolist() == np.array(held, dtype).tolist()


WRONG = [
    (lambda sent: [1], "returns a mapping of fields"),
    (lambda sent: {}, "returns each field that was sent, and not 'distance'"),
    (lambda sent: {"distance": np.zeros(99)}, "for each message a value of field 'distance'"),
    (lambda sent: {"distance": "far"}, "returns numbers of field 'distance'"),
    (lambda sent: 1 // 0, "ZeroDivisionError"),
]


@pytest.mark.parametrize(("strategy", "message"), WRONG)
def test_wrong_strategies(strategy, message):
    network = Network(byzantine=Byzantine([0], strategy))
    with pytest.raises(RunError, match=f"strategy of byzantine fails: .*{message}"):
        dgsuite.run("bf", graph("bf"), network=network, style="serial")


def test_identifiers_of_no_node_are_none_where_nodes_have_labels():
    on = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], relabel=True)
    far = Byzantine(["a"], lambda sent: {"uid": np.full(len(sent.src), 2**63 - 1)})
    ds = dgsuite.run("floodmax", on, network=Network(byzantine=far), style="serial")
    assert ds.leader.values.tolist() == [""] * 4


FORMS = [*KERNELS.values(), *FAITHFUL]


@pytest.mark.parametrize("kernel", FORMS, ids=lambda kernel: kernel.__name__)
def test_what_kernels_send_lies_within_their_bounds(kernel, monkeypatch):
    """Else what a node that tells the truth would say could not be said by one that lies."""
    columns = Mailbox.columns

    def looked_at(self, step, k, fields, length, senders=()):
        found = columns(self, step, k, fields, length, senders)
        limits = self.kernel.limits(self.clusters[k].n)
        for name, values in found.items():
            if limits[name] is not None and values.size and values.dtype.kind in "iu":
                least, most = limits[name]
                assert least <= values.min() <= values.max() <= most, name
        return found

    if kernel.form != "iterative" or "liars" in kernel().unfit():
        pytest.skip("its nodes tell the truth")
    monkeypatch.setattr(Mailbox, "columns", looked_at)
    for n in (2, 3, 12):
        how = {**PARAMETERS.get(kernel.name, {}), "faithful": kernel.faithful}
        if "sources" in how:
            how["sources"] = 2
        dgsuite.run(kernel.name, graph(kernel.name, n, clusters=2), style="serial", **how)
