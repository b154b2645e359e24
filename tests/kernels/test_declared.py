"""What a kernel's author is told whose class lacks something: class, attribute, and what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

import dgsuite
from dgsuite.kernels import BLOCK, KERNELS, RECURSIVE, bsp
from dgsuite.kernels.bsp.declared import check_declared
from dgsuite.partition.graph.graph import Graph
from tests.support.faithful import FAITHFUL


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
        (
            {"form": "round"},
            "attribute 'form' must be one of iterative, recursive, block; got 'round'",
        ),
        ({"state": None}, "class Made: attribute 'state' must be .* bsp.ClusterState, .* got None"),
        ({"state": "State"}, "attribute 'state' must be a dataclass derived from bsp.ClusterState"),
        ({"state": int}, "attribute 'state' must be .*; got <class 'int'>"),
        (
            {"state": Undecorated},
            r"class Undecorated: .*'value' is no field.*@dataclass\(eq=False\)",
        ),
        (
            {"outputs": ["value"]},
            r"attribute 'outputs' must be a mapping .*bsp.Output\(.*'value'\]",
        ),
        ({"outputs": {"value": "a value"}}, r"'outputs' must be .*; got \{'value': 'a value'\}"),
        ({"fields": ["id"]}, r"attribute 'fields' must be .* dtypes, .*; got \['id'\]"),
        (
            {"fields": {"id": "integer"}},
            "attribute 'fields' must be a mapping from names to dtypes",
        ),
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

    message = (
        r"class .*Plain: attribute 'steps' is no parameter.*@dataclass\(frozen=True\) above it"
    )
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
