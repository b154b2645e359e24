"""What kernels declare of themselves: what an author is told whose class lacks something, and the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import dgsuite
from dgsuite import Graph, RunError, genval
from dgsuite.kernels import BLOCK, KERNELS, RECURSIVE, SINCE, bsp
from dgsuite.kernels.bsp import UNLIMITED, Model
from dgsuite.kernels.bsp.declared import check_declared
from tests.support.faithful import FAITHFUL
from tests.support.toys import Toy


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    value: NDArray[np.int64] = bsp.per_node(7)


class Undecorated(bsp.ClusterState):
    """A state without the decorator."""

    value: NDArray[np.int64] = bsp.per_node(7)


@dataclass(frozen=True)
class Whole(bsp.Kernel):
    """A kernel that lacks nothing."""

    root: bsp.Node = bsp.FIRST
    roots: Sequence[bsp.Node] = ()
    either: int | Sequence[bsp.Node] | None = None
    parents: Sequence[bsp.NodeOrNone] | None = None

    name = "whole"
    outputs = {"value": bsp.Output("a value")}
    fields = {"id": np.int64}
    state = State

    def program(self, net):
        yield bsp.Round(self.rest)

    def rest(self, c, s, inbox):
        return None


@dataclass(frozen=True)
class Nameless(bsp.Kernel):
    """A kernel that lacks all."""


def path(**how):
    return Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], clusters=2, **how)


def run(kernel, graph=None, **how):
    return dgsuite.run(kernel, path() if graph is None else graph, style="serial", **how)


def with_(**attributes):
    """The kernel with other attributes of its class."""
    return dataclass(frozen=True)(type("Made", (Whole,), attributes))


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"name": None}, "class Made: attribute 'name' must be text, such as .*; got None"),
        ({"name": ""}, "attribute 'name' must be text"),
        ({"form": "round"}, "'form' must be one of iterative, recursive, block; got 'round'"),
        ({"state": None}, "class Made: attribute 'state' must be .* bsp.ClusterState, .* got None"),
        ({"state": "State"}, "attribute 'state' must be a dataclass derived from bsp.ClusterState"),
        ({"state": int}, "attribute 'state' must be .*; got <class 'int'>"),
        ({"state": Undecorated}, r"Undecorated: attr.*'value' is no field.*@dataclass\(eq=False\)"),
        ({"outputs": ["value"]}, r"attribute 'outputs' must be a map.*bsp.Output\(.*'value'\]"),
        ({"outputs": {"value": "a value"}}, r"'outputs' must be .*; got \{'value': 'a value'\}"),
        ({"fields": ["id"]}, r"attribute 'fields' must be .* dtypes, .*; got \['id'\]"),
        ({"fields": {"id": "integer"}}, "'fields' must be a mapping from names to dtypes"),
    ],
)
def test_a_wrong_attribute_is_named(attributes, message):
    with pytest.raises(dgsuite.InputError, match=message):
        run(with_(**attributes))
    if "state" in attributes:  # not needed where start makes it
        run(with_(start=lambda self, c: State.of(c), **attributes))


@pytest.mark.parametrize("name", ["name", "outputs", "program", "state"])
def test_a_missing_attribute_is_named(name):
    order = {"name": "k", "outputs": {}, "program": Whole.program, "state": State}
    given = {key: order[key] for key in [*order][: [*order].index(name)]}
    made = dataclass(frozen=True)(type("Made", (Nameless,), given))
    with pytest.raises(dgsuite.InputError, match=f"class Made: attribute '{name}' is missing"):
        run(made)


def test_a_forgotten_decorator_is_named():
    class Plain(Whole):
        steps: int = 3

    message = r"class .*Plain: attribute 'steps' is no para.*@dataclass\(frozen=True\) above it"
    for how in ({"steps": 4}, {}):
        with pytest.raises(dgsuite.InputError, match=message):
            run(Plain, **how)

    class Same(Whole):
        """Without parameters of its own it needs no decorator."""

        name = "same"

    assert run(Same).value.values.tolist() == [7] * 5


def test_all_kernels_declare_what_they_must():
    for kernel in (*KERNELS.values(), *RECURSIVE.values(), *BLOCK.values(), *FAITHFUL, Whole):
        check_declared(kernel)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"root": 99}, "kernel 'whole': root 99 is not a node: nodes are 0 to 4"),
        ({"root": -1}, "root -1 is not a node"),
        ({"roots": [0, 5]}, "roots 5 is not a node"),
        ({"roots": np.array([-1])}, "roots -1 is not a node"),
        ({"roots": ["a"]}, r"roots must be a sequence of nodes, got \['a'\]"),
        ({"roots": [[0, 1]]}, "roots must be a sequence of nodes"),
        ({"roots": np.ma.array([0, 1], mask=[0, 1])}, "roots must not be masked: 1 of 2 values"),
        ({"either": [5]}, "either 5 is not a node"),
        ({"parents": [-1, -2]}, "parents -2 is not a node"),
    ],
)
def test_a_parameter_that_names_nodes_names_some(wrong, message):
    for kernel, how in ((Whole, wrong), (Whole(**wrong), {})):
        with pytest.raises(dgsuite.InputError, match=message):
            run(kernel, **how)


def test_a_default_that_is_no_node_is_named_on_graphs_with_labels_too():
    @dataclass(frozen=True)
    class Far(Whole):
        root: bsp.Node = 9

    for graph in (path(), path(labels=[*"abcde"])):
        with pytest.raises(dgsuite.InputError, match="root 9 is not a node"):
            run(Far, graph)
    assert run(Far, path(labels=[*"abcde"]), root="e").attrs["root"] == "e"


def test_nodes_that_are_some():
    run(Whole, root=4, roots=np.ma.array([0, 4]), either=99, parents=[-1, 4])


ALL = [kernels[name] for kernels in (KERNELS, RECURSIVE, BLOCK, SINCE) for name in kernels]


@pytest.mark.parametrize("kernel", sorted({*ALL}, key=str), ids=lambda kernel: kernel.__name__)
def test_every_kernel_declares_its_model(kernel):
    forms = kernel._forms or [kernel]
    assert all(form.obeys is not UNLIMITED for form in forms)


@dataclass(frozen=True)
class Sends(Toy):
    """Does one thing that a model may exclude."""

    what: str = ""

    obeys: ClassVar = Model("edges")

    def program(self, net):
        reply = yield bsp.Round(self.send, self.read)
        if self.what.startswith("reply."):
            getattr(reply, self.what.removeprefix("reply."))

    def send(self, c, s, inbox):
        beside, own = (c.ids + 1) % c.n, np.arange(c.size)
        return {
            "to neighbours": lambda: bsp.unicast(beside, value=1),
            "to itself": lambda: bsp.unicast(c.ids, value=1),
            "beyond": lambda: bsp.unicast((c.ids + 2) % c.n, value=1),
            "twice": lambda: bsp.unicast(beside.repeat(2), own.repeat(2), value=1),
            "repeated": lambda: bsp.broadcast(repeat=c.full(2), value=1),
            "lists": lambda: bsp.share(own, c.full(2), value=np.arange(2 * c.size)),
            "to all": lambda: bsp.announce(own, value=c.ids),
            "to clusters": lambda: bsp.ship(np.zeros(c.size, int), value=1),
        }.get(self.what, lambda: None)()

    def read(self, c, s, inbox):
        return bsp.vote(any=True, sum=c.size, min=c.ids, max=c.ids)


@dataclass(frozen=True)
class Several(Sends):
    obeys: ClassVar = Model("edges", 2)


@dataclass(frozen=True)
class Lists(Sends):
    obeys: ClassVar = Model("edges", None)


@dataclass(frozen=True)
class Overlay(Sends):
    obeys: ClassVar = Model("nodes", None, "control")


@dataclass(frozen=True)
class Clusters(Sends):
    obeys: ClassVar = Model("clusters", None, "data")


MODELS = (Sends, Several, Lists, Overlay, Clusters)
REFUSED = {
    "to neighbours": ((), ""),
    "to itself": ((), ""),
    "beyond": (MODELS[:3], "cluster 0: sends from node 0 to node 2, which is no neighbour"),
    "twice": (MODELS[:1], "sends 2 messages from node 0 to node 1"),
    "repeated": (MODELS[:1], "broadcasts 2 times from node 0"),
    "lists": (MODELS[:2], "shares lists"),
    "to all": (MODELS[:3], "announces to all nodes"),
    "to clusters": (MODELS[:4], "ships items to clusters"),
    "reply.any": (MODELS[:3], "the program reads reply.any"),
}
for vote in ("sum", "min", "max"):
    REFUSED[f"reply.{vote}"] = MODELS[:4], f"the program reads reply.{vote}"
"""By what is done: whose models exclude it, and the error."""


@pytest.mark.parametrize("kernel", MODELS)
@pytest.mark.parametrize("what", REFUSED)
def test_a_checked_run_refuses_what_is_not_declared(kernel, what):
    (by, message), ring = REFUSED[what], genval.graph("ring", 6, clusters=2)
    run(kernel, ring, what=what, check=kernel not in by)
    if kernel not in by:
        return
    phase = "kernel 'toy', round 0, phase"
    with pytest.raises(RunError, match=f"{phase}.*{message}.*{kernel.obeys.sends}"):
        run(kernel, ring, what=what, check=True)


@dataclass(frozen=True)
class Spawns(Sends):
    form: ClassVar = "recursive"

    def program(self, net):
        yield bsp.Finish(self.send)

    def send(self, c, s, inbox):
        return bsp.spawn(self.read, (c.ids + 2) % c.n, by=np.arange(c.size))

    def read(self, c, s, inbox):
        return None


def test_tasks_go_where_the_model_says():
    with pytest.raises(RunError, match="sends from node 0 to node 2, which is no neighbour"):
        run(Spawns, genval.graph("ring", 6, clusters=2), check=True)


def test_names_of_the_field():
    assert [k().field_model for k in MODELS] == ["CONGEST", "CONGEST", "LOCAL", "", ""]
    assert KERNELS["by"]().field_model == ""


# Exchanges, reductions and the radius.


@pytest.mark.parametrize(
    ("kernel", "n", "rounds", "exchanges"),
    [
        ("dst", 64, 63, 4_032),
        pytest.param("dst", 256, 255, 65_280, marks=pytest.mark.long),
        ("mst", 256, 1, 257),
        ("beta", 256, 1, 769),
    ],
)
def test_exchanges_are_the_rounds_of_the_textbook(kernel, n, rounds, exchanges):
    ds = run(kernel, Graph.from_edges(np.arange(n - 1), np.arange(1, n)))
    assert (ds.sizes["round"], ds.attrs["exchanges"]) == (rounds, exchanges)
    assert ds["exchanges"].dims == ("round",)
    assert int(ds["exchanges"].sum()) == exchanges


def test_reductions_cost_a_convergecast_and_a_broadcast_each():
    ds = run("floodmax", Graph.from_edges([0, 1, 2], [1, 2, 3]))
    assert ds.reductions.values.tolist() == [1] * ds.sizes["round"]
    assert ds.reduction_messages.values.tolist() == [6] * ds.sizes["round"]
    assert ds.reduction_exchanges.values.tolist() == [2] * ds.sizes["round"]
    assert not run("hs", genval.graph("ring", 6, clusters=2)).reductions.any()


@pytest.mark.parametrize("name", ["wcc", "bf", "pagerank", "floodset"])
def test_no_radius_where_information_goes_another_way(name):
    long = Graph.from_edges(np.arange(299), np.arange(1, 300))
    assert "radius" not in run(name, long, congest=np.inf).attrs


@pytest.mark.parametrize(("name", "more"), [("alpha", {"rounds": 2}), ("kc", {"k": 2})])
def test_outputs_depend_on_nodes_within_the_radius(name, more):
    """Two graphs are the same within the radius of node 0, and differ beyond."""
    line = np.arange(40)
    ds = run(name, Graph.from_edges(line[:-1], line[1:], n=40), congest=np.inf, **more)
    radius = ds.attrs["radius"]
    assert 0 < radius < 38
    other = Graph.from_edges(np.append(line[:-1], radius + 1), np.append(line[1:], 39), n=40)
    changed = run(name, other, congest=np.inf, **more)
    for output in KERNELS[name].outputs:
        assert ds[output].values[0] == changed[output].values[0]
