"""What rules are made of: a job over all clusters, and violations of masks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genval.report import LISTED, Found, Violation
from partition.client.waiting import Watch
from partition.cluster import Cluster
from partition.errors import InputError
from partition.graph import Graph
from partition.labels import Labels, from_json

Outputs = dict[str, NDArray]


class Job:
    """A graph and the outputs to check on it.

    Attributes
    ----------
    graph
        The graph, in this process or on workers.
    outputs
        Every output that the rules need, checked for shape and kind.
    """

    def __init__(self, graph: Graph, outputs: Outputs, results: Any) -> None:
        self.graph = graph
        self.outputs = outputs
        self._results = results
        self._shared: Any = None

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.graph.n

    def each(self, rule: Callable[..., Any], **more: Any) -> list[Any]:
        """``rule(cluster, outputs, **more)`` of every cluster, where the cluster is."""
        if (client := self.graph.client) is None:
            return [rule(part, self.outputs, **more) for part in self.graph.parts]
        watch = Watch(client, "validating", inputs=self.graph.parts)
        if self._shared is None:
            self._shared = watch.scatter(self.outputs)
        extra = watch.scatter(more) if more else {}
        futures = [
            client.submit(_apply, rule, part, self._shared, extra, pure=False)
            for part in self.graph.parts
        ]
        return watch.gather(futures)

    def given(self, name: str) -> NDArray | None:
        """An array of the results that a rule can do without."""
        return np.asarray(self._results[name]) if name in self._results else None

    def fact(self, name: str, default: Any = None) -> Any:
        """Something that was given to the run: of the results, its parameters, or the graph."""
        if isinstance(self._results, Mapping) and name in self._results:
            value = self._results[name]
            if np.ndim(value) == 0:
                return value
        attrs = getattr(self._results, "attrs", {})
        for facts in (attrs, json.loads(attrs.get("parameters", "{}")), self.graph.attrs):
            if facts.get(name) is not None:
                return facts[name]
        return default

    def root(self) -> int:
        """The node that the run began at, by default the first.

        Raises
        ------
        InputError
            It is no node.
        """
        given = self.fact("root")
        if self.graph.labels is None or given is None:
            return self.whole("root", 0, 0, self.n - 1)
        try:
            return _named(given, self.graph.labels)
        except InputError as error:
            raise InputError(f"root {error}") from None

    def nodes(self, name: str) -> NDArray[np.int64] | None:
        """Nodes that a fact lists; None where it lists none.

        Raises
        ------
        InputError
            One of them is no node.
        """
        given = self.fact(name)
        if not isinstance(given, list | tuple | np.ndarray):
            return None
        if (labels := self.graph.labels) is None:
            return np.asarray(given, np.int64)
        try:
            return np.array([_named(value, labels) for value in given], np.int64)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """A fact that is a whole number.

        Raises
        ------
        InputError
            It is not one from `low` to `high`.
        """
        value = self.fact(name, default)
        if not isinstance(value, int | np.integer) or not low <= value <= high:
            what = f"nodes are 0 to {self.n - 1}" if name == "root" else f"it is {low} to {high}"
            raise InputError(
                f"{name} {value!r} is not {'a node' if name == 'root' else 'right'}: {what}"
            )
        return int(value)


def _named(value: Any, labels: Labels) -> int:
    """The node that a label names, or the JSON of one in a run's parameters."""
    if isinstance(value, dict):
        if "node" in value:
            return int(value["node"])
        value = from_json(value)
    return labels.node(value)


def _apply(rule: Callable[..., Any], part: Cluster, outputs: Outputs, more: dict[str, Any]) -> Any:
    return rule(part, outputs, **more)


Rule = tuple[str, NDArray, Callable[[int], str], Callable[[int], str]]
"""What it is about, a mask of the nodes that break it, what was expected there, what was found."""


def collect(ids: NDArray, *rules: Rule) -> Found:
    """Violations of some rules by the nodes `ids`."""
    count = 0
    first: list[Violation] = []
    for what, broken, expected, found in rules:
        where = np.flatnonzero(broken)
        count += len(where)
        first += [
            Violation(what, int(ids[i]), expected(i), found(i)) for i in where[:LISTED].tolist()
        ]
    return Found(count, first)


def ends(c: Cluster) -> tuple[NDArray, NDArray]:
    """Both ends of each edge: the row in the cluster, and the other end's node id."""
    return np.repeat(np.arange(c.size, dtype=c.indices.dtype), c.degree), c.indices


def addable(c: Cluster, name: str, values: NDArray) -> NDArray:
    """The weights of a cluster, float64 if they or some values are, else int64; 1 where there are none.

    Raises
    ------
    InputError
        The weights are whole numbers, and their sums with the values would not be exact.
    """
    weights = np.ones(len(c.indices), np.int64) if c.weights is None else c.weights
    if weights.dtype.kind == "f":
        return weights.astype(np.float64)
    if values.dtype.kind == "f":
        digits = np.finfo(values.dtype).nmant + 1
        if (np.abs(values[np.isfinite(values)]) >= 2.0**digits).any():
            raise InputError(
                f"{name!r} has values of 2^{digits} and more, which {values.dtype} rounds, and the "
                f"weights are whole numbers: it must be int64"
            )
        return weights.astype(np.float64)
    most = int(weights.max(initial=0)) + int(values.max(initial=0))
    if most > np.iinfo(np.int64).max:
        raise InputError(f"{name!r} and the weights add up to {most}, which does not fit 64 bits")
    return weights.astype(np.int64)


def occurs(c: Cluster, rows: NDArray) -> NDArray[np.bool_]:
    """Nodes of the cluster that occur in `rows`."""
    out = np.zeros(c.size, bool)
    out[rows] = True
    return out


def first(row: NDArray, i: int, among: NDArray) -> int:
    """The first edge of a row that is among some."""
    return int(np.argmax((row == i) & among))
