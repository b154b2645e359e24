"""What the tests know of a kernel, and changes of outputs that every rule must see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np

from tests.cards.picks import Pick
from tests.support.definitions import predecessors

N = 40
"""Nodes of the network of an example."""

UID = np.random.default_rng(5).permutation(N) + 1
"""Their identifiers."""

Results = Mapping[str, Any]


def nothing(*_: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Card:
    """What the tests know of a kernel. Its examples are on a network of 40 nodes, `network` in
    `tests/support/references.py`.

    Attributes
    ----------
    parameters
        Parameters for a network, some of them picked. Edges of the network have weights if the graph has.
    weights
        Weights that the kernel takes, if any: "any", not below zero; "positive"; "whole"; or "signed".
    oracle
        The only right outputs, as far as there are such: given a network without loops, the kernel's
        instance and the identifiers of nodes, by networkx or a few lines of Python.
    net
        Makes the network of the example from a random connected one and a list of its edges.
    example
        Parameters of the example.
    rest
        What else is in a right result of the example: given its network and what the oracle says.
    wrong
        Changes of that result which the rule must see, besides those of `common`: by kind and name, a new
        value or a function of the right one.
    false
        Parameters with which the result is not that of the example.
    free
        Outputs of which many are right; changes of `common` are tried with the others.
    harmless
        Changes of `common`, each of an output, after which the result is still a right one.
    """

    parameters: Callable[[nx.Graph, Pick], Mapping[str, Any]] = nothing
    weights: str = ""
    oracle: Callable[[nx.Graph, Any, np.ndarray], dict[str, Any]] = nothing
    net: Callable[[nx.Graph, list[tuple[int, int]]], nx.Graph] = lambda net, edges: net
    example: Mapping[str, Any] = field(default_factory=dict)
    rest: Callable[[nx.Graph, dict[str, Any]], dict[str, Any]] = nothing
    wrong: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    false: Mapping[str, Any] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()

    def corruptions(self, right: Results, outputs: Results) -> Iterator[tuple[str, Results]]:
        """Kinds of wrong results, and what each changes in a right one."""
        for name in (name for name in outputs if name not in self.free):
            for kind, values in common(np.asarray(right[name])).items():
                yield f"{name} {kind}", {name: values}
        for name, value in self.false.items():
            yield f"another {name}", {name: value}
        for kind, changes in self.wrong.items():
            called = {name: new for name, new in changes.items() if callable(new)}
            yield kind, {**changes, **{name: new(right[name]) for name, new in called.items()}}


def common(v: np.ndarray) -> dict[str, np.ndarray]:
    """Changes of an output, by kind; those that leave it as it is are left out."""
    five = (5, 1)[: v.ndim] if len(v) > 5 else (0,) * v.ndim
    first, last = (0,) * v.ndim, (-1,) * v.ndim
    least, most = (np.unravel_index(find(v), v.shape) for find in (np.argmin, np.argmax))
    found = {"shifted": np.roll(v, 1, 0), "backwards": v[::-1], "none": v * 0}
    found["moved"] = swapped(v, least, most)
    if v.dtype == bool:
        found |= {
            "all": v | True,
            "flipped": ~v,
            "one more": at(v, least, True),
            "last one more": at(v, len(v) - 1 - np.argmin(v[::-1]), True),
            "one less": at(v, most, False),
            "last one less": at(v, len(v) - 1 - np.argmax(v[::-1]), False),
            "every fourth": np.arange(len(v)) % 4 == 0,
            "no flag": v * 2,
            "negative": v * -1,
        }
    else:
        found |= {"all one": v * 0 + 1, "doubled": v * 2}
    if v.dtype.kind == "i":
        found |= {
            "one higher": at(v, five, v[five] + 1),
            "one lower": at(v, five, v[five] - 1),
            "first lower": at(v, first, v[first] - 1),
            "last higher": at(v, last, v[last] + 1),
            "most higher": at(v, most, v[most] + 1),
            "most lower": at(v, most, v[most] - 1),
            "all higher": v + 1,
            "negative": at(v, five, -1),
            "below none": at(v, five, -2),
            "too large": at(v, five, 400),
            "all negative": v * 0 - 1,
            "ids": np.arange(v.size).reshape(v.shape) % len(v),
        }
    if v.dtype.kind == "f":
        little = np.abs(v).max() * 1e-8
        found |= {
            "a little higher": at(v, five, v[five] + little),
            "a little lower": at(v, last, v[last] - little),
            "negative": at(v, five, -v[five]),
            "no number": at(v, five, np.nan),
            "infinite": at(v, five, np.inf),
            "first zero": at(v, first, 0),
            "of three digits": v.round(3),
        }
    return {kind: values for kind, values in found.items() if not np.array_equal(values, v)}


def at(values, place, value):
    """A copy in which some values are others."""
    changed = np.array(values)
    changed[place] = value
    return changed


def swapped(values, a, b):
    """A copy in which two values have changed places."""
    changed = np.array(values)
    changed[a], changed[b] = values[b], values[a]
    return changed


def rows(*names):
    """Changes of the rows of a table."""
    return {
        "a row twice": dict.fromkeys(names, lambda v: np.append(v[:1], v)),
        "a row less": dict.fromkeys(names, lambda v: v[:-1]),
        "first row less": dict.fromkeys(names, lambda v: v[1:]),
        "no row": dict.fromkeys(names, lambda v: v[:0]),
        "rows backwards": dict.fromkeys(names, lambda v: v[::-1]),
    }


def by_node(net, found, otherwise=0):
    """Values of a dictionary, for each node."""
    return np.array([found.get(v, otherwise) for v in range(len(net))])


def smallest(net, parts):
    """For each node the smallest of its part."""
    return by_node(net, {v: min(part) for part in parts for v in part})


def columns(names, found):
    """Rows as an array of each column."""
    table = [*found]
    each = zip(*table, strict=True) if table else [[] for _ in names]
    return dict(zip(names, map(np.array, each), strict=True))


def parents(net, root=0, otherwise=-1):
    """Of each node the one that found it in a breadth-first search."""
    return by_node(net, predecessors(net, root), otherwise)


def at_round(node, number):
    """The round in which each node of an example crashes: one does, and the others do not."""
    return at(np.full(N, -1), node, number)


def hops_from(net, node, most=None, otherwise=-1):
    """Hops from a node to each."""
    return by_node(net, nx.single_source_shortest_path_length(net, node, most), otherwise)
