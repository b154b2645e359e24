"""Helpers for rules: a job that runs them on all clusters, and violations from masks."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.genval.report import LISTED, Found, Violation
from dgsuite.partition.client.tasks import submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.construction.build import id_dtype
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.labels.labels import Labels, from_json

Outputs = dict[str, NDArray]


SAMPLE = 64
"""Nodes on which a result is looked at, at most, where there are too many to look at all."""

LEAST = 8
"""Nodes on which it is looked at in any case, if there are so many."""


class Job:
    """A graph and the outputs to check on it.

    Attributes
    ----------
    graph
        The graph, in this process or on workers.
    outputs
        The outputs that the rules need, with checked shapes and dtypes.
    left_out
        What was not looked at: then what was is necessary for a right result, and may not suffice.
    """

    def __init__(
        self, graph: Graph, outputs: Outputs, results: Any, left_out: list[str] | None = None
    ) -> None:
        self.graph = graph
        self.outputs = outputs
        self.left_out: list[str] = [] if left_out is None else left_out
        self._results = results
        self._shared: Any = None

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.graph.n

    def each(self, rule: Callable[..., Any], **more: Any) -> list[Any]:
        """Results of ``rule(cluster, outputs, **more)`` for every cluster, computed where it is."""
        if (client := self.graph.client) is None:
            return [rule(part, self.outputs, **more) for part in self.graph.parts]
        watch = Watch(client, "validating", inputs=self.graph.parts)
        if self._shared is None:
            self._shared = watch.scatter(self.outputs)
        extra = watch.scatter(more) if more else {}
        futures = [
            submitted(client, _apply, rule, part, self._shared, extra, part="validate")
            for part in self.graph.parts
        ]
        return watch.gather(futures)

    def values(self, rule: Callable[..., Any], dtype: Any = np.int64, **more: Any) -> NDArray:
        """A value for each node, where a rule returns a cluster's nodes and the value of each."""
        found = np.zeros(self.n, dtype)
        for ids, values in self.each(rule, **more):
            found[ids] = values
        return found

    def whole(self, what: str, broken: Any, expected: str, found: str) -> Found:
        """Whether a rule of the outputs as a whole is broken; it is told at node 0."""
        mask = np.array([bool(broken) and self.n > 0])
        return collect(np.zeros(1, np.int64), (what, mask, expected, found))

    def integers(self, *names: str) -> list[NDArray[np.int64]]:
        """Some outputs as integers of 64 bits."""
        return [self.outputs[name].astype(np.int64) for name in names]

    def floats(self, *names: str) -> list[NDArray[np.float64]]:
        """Some outputs as floats of 64 bits."""
        return [self.outputs[name].astype(np.float64) for name in names]

    def found(self, *rules: Rule) -> Found:
        """Violations of rules whose masks refer to all nodes."""
        return collect(np.arange(self.n), *rules)

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which nodes have not crashed in the run."""
        crashed = self.given("crashed")
        return np.ones(self.n, bool) if crashed is None else crashed < 0

    @property
    def honest(self) -> NDArray[np.bool_]:
        """Which nodes do not lie."""
        lies = self.given("lies")
        return np.ones(self.n, bool) if lies is None else lies == 0

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which nodes do not fail."""
        return self.alive & self.honest

    @property
    def identifiers(self) -> NDArray[np.int64]:
        """The nodes' identifiers."""
        return self.values(_identifiers)

    def with_outputs(self, outputs: Outputs) -> Job:
        """The same job with other outputs."""
        return Job(self.graph, outputs, self._results, self.left_out)

    def on(self, graph: Graph) -> Job:
        """The same job on another view of the graph."""
        return Job(graph, self.outputs, self._results, self.left_out)

    def some(self, values: NDArray, most: int) -> NDArray[np.int64]:
        """Some entries of an output, ascending, on which alone it is looked at: those with the greatest
        values, and as many that are drawn, by the number of entries.

        Parameters
        ----------
        most
            As many as the work allows; there are `LEAST` in any case, and no more than `SAMPLE`.
        """
        self.left_out.append("entries that were not drawn")
        count = min(max(most, LEAST), SAMPLE, len(values))
        drawn = np.random.default_rng(len(values)).choice(len(values), count - count // 2, False)
        return np.union1d(drawn, np.argsort(-values, kind="stable")[: count // 2])

    def given(self, name: str) -> NDArray | None:
        """An optional array of the results, or None."""
        return np.asarray(self._results[name]) if name in self._results else None

    def fact(self, name: str, default: Any = None) -> Any:
        """A parameter of the run, from the results, their attributes, their parameters, or the graph."""
        if isinstance(self._results, Mapping) and name in self._results:
            value = self._results[name]
            if np.ndim(value) == 0:
                return value
        attrs = getattr(self._results, "attrs", {})
        for facts in (attrs, json.loads(attrs.get("parameters", "{}")), self.graph.attrs):
            if facts.get(name) is not None:
                return facts[name]
        return default

    def by_node(self, name: str, otherwise: NDArray) -> NDArray:
        """A parameter that has a value for each node, if the results tell them all."""
        values = self.fact(name, self.given(name))
        if isinstance(values, list | tuple | np.ndarray) and len(values) == self.n:
            return np.asarray(values)
        return otherwise

    def listed(self, name: str, default: Sequence[float]) -> list[Any]:
        """A parameter that is a list of numbers."""
        given = self.given(name)
        return [*self.fact(name, default if given is None else given)]

    @property
    def weighted(self) -> bool:
        """Whether weights counted in the run: by default where the graph has some."""
        return self.graph.weighted and bool(self.fact("weighted", True))

    def root(self) -> int:
        """The root of the run, by default node 0.

        Raises
        ------
        InputError
            It is not a node.
        """
        given = self.fact("root")
        if self.graph.labels is None or given is None:
            return self.integer("root", 0, 0, self.n - 1)
        try:
            return _named(given, self.graph.labels)
        except InputError as error:
            raise InputError(f"root {error}") from None

    def nodes(self, name: str) -> NDArray[np.int64] | None:
        """A parameter that is a list of nodes; None if it is not a list.

        Raises
        ------
        InputError
            An item is not a node.
        """
        given = self.fact(name, self.given(name))
        if not isinstance(given, list | tuple | np.ndarray):
            return None
        if (labels := self.graph.labels) is None:
            return np.asarray(given, np.int64)
        try:
            return np.array([_named(value, labels) for value in given], np.int64)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None

    def node(self, named: Any) -> int:
        """The node that a parameter names: by its label, if the graph has labels."""
        return int(named) if self.graph.labels is None else _named(named, self.graph.labels)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """A parameter that is an integer.

        Raises
        ------
        InputError
            It is not an integer from `low` to `high`.
        """
        value = self.fact(name, default)
        if not isinstance(value, int | np.integer) or not low <= value <= high:
            raise InputError(
                f"root {value!r} is not a node: nodes are 0 to {self.n - 1}"
                if name == "root"
                else f"{name} must be an integer from {low} to {high}, got {value!r}"
            )
        return int(value)


def _named(value: Any, labels: Labels) -> int:
    """The node with a label, which may be in the JSON form of a run's parameters."""
    if isinstance(value, dict):
        if "node" in value:
            return int(value["node"])
        value = from_json(value)
    return labels.node(value)


def _identifiers(c: Cluster, outputs: Outputs) -> tuple[NDArray, NDArray]:
    return c.ids, c.uid


def _apply(rule: Callable[..., Any], part: Cluster, outputs: Outputs, more: dict[str, Any]) -> Any:
    return rule(part, outputs, **more)


Text = str | NDArray | Callable[[int], str]
"""What is said of a node: the same of all, the node's value, or what a function of its index returns."""

Rule = tuple[str, NDArray, Text, Text]
"""Name of the rule, mask of the nodes that break it, and what was expected and found at a node."""


def exactly(what: str, found: NDArray, right: NDArray) -> Rule:
    """The rule that values are the right ones."""
    return what, found != right, right, found


def closely(
    what: str, found: NDArray, right: NDArray, relative: float, absolute: float = 0
) -> Rule:
    """The rule that values are the right ones up to rounding."""
    off = ~np.isclose(found, right, relative, absolute)
    return what, off, says("{:.15g}", right), says("{:.15g}", found)


def says(text: str, *values: NDArray) -> Callable[[int], str]:
    """A text with places for a node's values."""
    return lambda i: text.format(*(value[i] for value in values))


def _said(text: Text, i: int) -> str:
    return text if isinstance(text, str) else str(text(i) if callable(text) else text[i])


def collect(ids: NDArray, *rules: Rule) -> Found:
    """Violations of rules whose masks refer to the nodes `ids`."""
    count = 0
    first: list[Violation] = []
    for what, broken, expected, found in rules:
        where = np.flatnonzero(broken)
        count += len(where)
        first += [
            Violation(what, int(ids[i]), _said(expected, i), _said(found, i))
            for i in where[:LISTED].tolist()
        ]
    return Found(count, first)


def ends(c: Cluster) -> tuple[NDArray, NDArray]:
    """Both ends of each edge: row in the cluster, and node id of the other end."""
    return np.repeat(np.arange(c.size, dtype=c.indices.dtype), c.degree), c.indices


def at_edges(
    c: Cluster, what: str, bad: NDArray, expected: Text, found: str, *values: NDArray
) -> Rule:
    """The rule that none of a cluster's edges is bad.

    Parameters
    ----------
    bad
        Mask of the edges that break the rule.
    found
        Text with places for some values of a node's first bad edge.
    values
        These values, one per edge.
    """
    row = ends(c)[0]

    def told(i: int) -> str:
        edge = np.argmax((row == i) & bad)
        return found.format(*(value[edge] for value in values))

    return what, marked(c.size, row[bad]), expected, told


def strange(n: int, *columns: NDArray) -> Found:
    """Violations of the rule that columns of a table name nodes."""
    wrong = np.any([(column < 0) | (column >= n) for column in columns], axis=0)
    found = says(" and ".join(["{}"] * len(columns)), *columns)
    return collect(
        np.clip(columns[0], 0, n - 1), ("node", wrong, f"nodes from 0 to {n - 1}", found)
    )


def rows(n: int, source: NDArray, target: NDArray, wanted: NDArray) -> list[Found]:
    """Violations of the rule that a table has the wanted rows, each once and ascending.

    Parameters
    ----------
    source, target
        The columns of the table.
    wanted
        For each row that must be there ``source * n + target``.
    """
    real = (source >= 0) & (source < n) & (target >= 0) & (target < n)
    keys = np.where(real, source * n + target, -1)
    missing = np.setdiff1d(wanted, keys)
    return [
        collect(
            np.clip(source, 0, n - 1),
            ("row", ~np.isin(keys, wanted), "another row, or none", target),
            ("order", np.diff(keys, prepend=-1) <= 0, "rows that ascend, each once", target),
        ),
        absent(missing // n, "missing", missing % n),
    ]


def absent(nodes: NDArray, what: str, wanted: Text) -> Found:
    """Nodes without a row that they must have."""
    return collect(nodes, (what, np.ones(len(nodes), bool), wanted, "no such row"))


MODERATE = 400
"""Where the greatest weight is from 2^-400 to 2^400, sums of products of two weights fit a float64."""


def exponent(job: Job) -> int:
    """The power of two to divide weights by, so that the greatest is about 1; 0 where that is moderate."""
    power = math.frexp(max(job.each(_greatest)))[1]
    return power if abs(power) > MODERATE else 0


def _greatest(c: Cluster, outputs: Outputs) -> float:
    found = [1.0 if a is None else float(a.max(initial=0)) for a in (c.weights, c.loop_weights)]
    return found[0] if c.loop_weights is None else max(found)


def lengths(c: Cluster, weighted: bool, power: int) -> NDArray[np.float64]:
    """Weights of a cluster divided by 2 to a power; 1 where there are none, or they do not count."""
    return _scaled(c.weights if weighted else None, len(c.indices), power)


def loop_lengths(c: Cluster, weighted: bool, power: int) -> NDArray[np.float64]:
    """The same of the self-loops of a cluster that has some."""
    assert c.loops is not None
    return _scaled(c.loop_weights if weighted else None, len(c.loops), power)


def _scaled(weights: NDArray | None, count: int, power: int) -> NDArray[np.float64]:
    return np.ones(count) if weights is None else np.ldexp(weights.astype(np.float64), -power)


def addable(c: Cluster, name: str, values: NDArray) -> NDArray:
    """Weights of a cluster, in a dtype in which sums with `values` are exact; 1 if there are none.

    They are float64 if the weights or the values are floats, else int64.

    Raises
    ------
    InputError
        The weights are integers, and sums with the values would not be exact.
    """
    weights = np.ones(len(c.indices), np.int64) if c.weights is None else c.weights
    if weights.dtype.kind == "f":
        return weights.astype(np.float64)
    if values.dtype.kind == "f":
        digits = np.finfo(values.dtype).nmant + 1
        if (np.abs(values[np.isfinite(values)]) >= 2.0**digits).any():
            raise InputError(
                f"{name!r} has values of 2^{digits} and more, which {values.dtype} rounds, and the "
                f"weights are integers: it must be int64"
            )
        return weights.astype(np.float64)
    most = int(weights.max(initial=0)) + int(values.max(initial=0))
    if most > np.iinfo(np.int64).max:
        raise InputError(f"{name!r} and the weights add up to {most}, which does not fit 64 bits")
    return weights.astype(np.int64)


def parts(one: NDArray, other: NDArray, size: int) -> NDArray:
    """The number of the connected part that each node is in, by both ends of each edge."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    links = sp.csr_array((np.ones(len(one), bool), (one, other)), shape=(size, size))
    return connected_components(links, directed=False)[1]


def forest(
    n: int, one: NDArray, other: NDArray, weights: NDArray
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray]:
    """Ends and weights of the edges of a minimum spanning forest, given edges."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import minimum_spanning_tree

    values, rank = np.unique(weights, return_inverse=True)
    small = id_dtype(n)  # 64 bits are too many for this function of SciPy 1.15
    edges: Any = rank + 1.0, (one.astype(small), other.astype(small))  # it takes 0 for no edge
    tree = minimum_spanning_tree(sp.csr_array(edges, shape=(n, n))).tocoo()
    ends = tree.row.astype(np.int64), tree.col.astype(np.int64)
    return *ends, values[tree.data.astype(np.int64) - 1]


def marked(size: int, places: NDArray | int) -> NDArray[np.bool_]:
    """Mask of some places."""
    mask = np.zeros(size, bool)
    mask[places] = True
    return mask
