"""Recursive kernels: the same outputs as the iterative ones, Figure 10's counts, and their ends."""

import os
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, genval
from dgsuite.kernels import RECURSIVE
from dgsuite.kernels.bsp import COUNTS, Finish, Kernel, Output, State, vote
from dgsuite.kernels.bsp.rounds import spawn
from tests.support.cases import cuts, inputs
from tests.support.clusters import assert_nothing_held, client_of, killed
from tests.support.examples import examples
from tests.support.faulty import EndlessTasks
from tests.support.patience import PATIENCE

NAMES = sorted(RECURSIVE)
STYLES = ["finish_async", "clocked"]
COUNTED = ("asyncs", "finishes", "comm", "barriers", "mutexes")


def recursive(kernel):
    """The recursive form of a kernel with its parameters."""
    return RECURSIVE[kernel.name](**kernel.__dict__)


def assert_same_outputs(a, b, kernel):
    for name in kernel.outputs:
        np.testing.assert_array_equal(a[name].values, b[name].values, err_msg=name)


@st.composite
def cases(draw):
    name = draw(st.sampled_from(NAMES))
    kernel, make = draw(inputs(name))
    return kernel, make, draw(cuts(make().n))


@examples(40)
@given(case=cases())
def test_outputs_are_those_of_the_iterative_form(case):
    kernel, make, cut = case
    graph = make(**cut)
    expected = dgsuite.run(kernel, make(), style="serial")
    found = dgsuite.run(recursive(kernel), graph, style="serial")
    if kernel.name == "by" and kernel.faithful:  # floods all the way, the iterative form does not
        assert genval.validate("by", graph, found).ok
    else:
        assert_same_outputs(expected, found, kernel)
    whole = dgsuite.run(recursive(kernel), make(), style="serial")
    assert_same_outputs(whole, found, kernel)
    for name in (*COUNTED, "messages", "bytes"):
        np.testing.assert_array_equal(whole[name], found[name], err_msg=name)


@pytest.mark.few(1)
@pytest.mark.parametrize("style", STYLES)
@examples(12)
@given(case=cases())
def test_outputs_on_workers(client, style, case):
    kernel, make, cut = case
    kernel = recursive(kernel)
    graph = make(**cut)
    expected = dgsuite.run(kernel, graph, style="serial", count_as=style)
    found = dgsuite.run(kernel, graph, style=style, client=client)
    assert found.sizes["cluster"] == expected.sizes["cluster"]
    if kernel.name == "by" and kernel.faithful:  # the first vote to arrive is believed
        assert genval.validate("by", graph, found).ok
    else:
        assert_same_outputs(expected, found, kernel)
    varies = found.attrs.get("schedule_dependent", "").split()
    assert not varies or style == "finish_async"
    assert (kernel.name in ("dst", "mst") or style == "clocked") == (not varies)
    for name in {*COUNTS, *kernel.outputs}.difference(varies):
        np.testing.assert_array_equal(expected[name], found[name], err_msg=name)


@pytest.fixture(scope="module")
def client_of_threads():
    """A client of one worker process with four threads."""
    with client_of(1, threads=4) as client:
        yield client


@pytest.mark.few(1)
@pytest.mark.parametrize("style", STYLES)
def test_threads_that_share_a_workload_change_nothing(client_of_threads, client_of_one, style):
    how = {"style": style, "workload": {"operations": 1000}}
    for name in NAMES:
        graph = genval.graph("mx", 32, family="paper", kernel=name).repartition(6)
        one, four = (
            dgsuite.run(name, graph, form="recursive", client=client, **how)
            for client in (client_of_one, client_of_threads)
        )
        for variable in {*COUNTED, "messages", "bytes", "active", *RECURSIVE[name].outputs}:
            np.testing.assert_array_equal(one[variable], four[variable], err_msg=variable)


# Depth.


CHAINS = [("serial", 2000), ("finish_async", 2000), ("clocked", 1000)]
CHAINS += [("serial", 10_000), ("finish_async", 10_000)]


@pytest.mark.few(3)
@pytest.mark.parametrize(("style", "depth"), CHAINS)
def test_a_long_chain(client, style, depth):
    graph = Graph.from_networkx(nx.path_graph(depth + 1), clusters=8)
    found = dgsuite.run("bf", graph, form="recursive", style=style, client=client)
    assert found.distance.values.tolist() == list(range(depth + 1))
    assert found.sizes["depth"] == depth + 2
    assert (found.messages[1:-2] == 2).all()


@dataclass(frozen=True)
class Descent(Kernel):
    """How many nodes hang below each in a path that begins at node 0: nested finishes, deep."""

    name = "descent"
    form = "recursive"
    outputs = {"below": Output("nodes below")}
    fields = {"count": np.int64}

    def program(self, net):
        done = yield Finish(self.begin)
        assert done.sum == net.n

    def start(self, c):
        return State(below=c.zeros())

    def begin(self, c, s, inbox):
        return self.descend(c, c.local(0)), vote(sum=len(c.local(0)))

    def visit(self, c, s, inbox):
        return self.descend(c, inbox.node), vote(sum=len(inbox))

    def descend(self, c, nodes):
        at, ends = c.edges(nodes)
        down = ends > c.ids[nodes[at]]
        return spawn(self.visit, ends[down], by=nodes, at=at[down], then=self.rise)

    def rise(self, c, s, inbox):
        nodes = inbox.node[c.ids[inbox.node] > 0]
        return spawn(self.add, c.ids[nodes] - 1, by=nodes, count=s.below[nodes] + 1)

    def add(self, c, s, inbox):
        nodes, count = inbox.sum("count")
        s.below[nodes] += count


@pytest.mark.few(1)
@pytest.mark.parametrize("style", ["serial", *STYLES])
def test_nested_finishes(client, style):
    for owner in (None, np.arange(100) % 3):
        how = {"clusters": 3} if owner is None else {"partition": owner}
        graph = Graph.from_networkx(nx.path_graph(100), **how)
        found = dgsuite.run(Descent(), graph, style=style, client=client)
        assert found.below.values.tolist() == list(range(99, -1, -1))


# Ends.


def test_a_worker_that_ends_first_is_not_lost():
    """Of four workers some detect the end before others, which must not take them for lost."""
    with client_of(4) as client:
        chain = Graph.from_networkx(nx.path_graph(64), client=client, clusters=4)
        for _ in range(20):
            ds = dgsuite.run("bf", chain, form="recursive", style="finish_async", client=client)
            assert ds.distance.values.tolist() == [*range(64)]


@pytest.mark.parametrize("style", STYLES)
def test_a_failing_task_is_named(client, style):
    ring = Graph.from_networkx(nx.cycle_graph(12), clusters=3)
    with pytest.raises(dgsuite.RunError, match=r"depth 5, phase 'read', cluster \d: ZeroDivision"):
        dgsuite.run(EndlessTasks(fail_at=5), ring, style=style, client=client)
    assert_nothing_held(client)


@pytest.mark.few(1)
@pytest.mark.parametrize("style", STYLES)
def test_a_killed_worker_is_named(own_client, style):
    ring = Graph.from_networkx(nx.cycle_graph(12), clusters=2)
    how = {"style": style, "client": own_client}
    dgsuite.run("bf", ring, form="recursive", **how)
    address, victim = sorted(own_client.run(os.getpid).items())[0]
    with pytest.raises(dgsuite.RunError, match=rf"worker {address} was lost"):
        dgsuite.run(EndlessTasks(), ring, **how, on_round=lambda depth: killed(victim))
    own_client.wait_for_workers(2, timeout=PATIENCE)
    assert dgsuite.run("bf", ring, form="recursive", **how).distance.max() == 6
    assert_nothing_held(own_client)


def test_unknown_forms():
    ring = Graph.from_networkx(nx.cycle_graph(4))
    for kernel, form, message in (
        ("bf", "recursve", "did you mean 'recursive'"),
        ("mis", "recursive", "'mis' has no recursive form; these kernels have one: bf"),
        (RECURSIVE["bf"], "iterative", "the given kernel 'bf' is recursive, not iterative"),
    ):
        with pytest.raises(dgsuite.InputError, match=message):
            dgsuite.run(kernel, ring, form=form)
