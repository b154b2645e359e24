"""Repeated edges: the rule by which they are merged, and what is counted of them.

A rule does not depend on how the edge list is divided. A sum of floats depends on the order of its terms,
and whether a sum of integers overflows depends on all of them. So repeated edges are merged once all rows of
an edge are together, in the order of the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, one_of
from dgsuite.base.names import RULES
from dgsuite.base.thresholds import compiles
from dgsuite.base.warning import warn
from dgsuite.partition.arrays.loops import loops
from dgsuite.partition.arrays.segments import ranges

if TYPE_CHECKING:
    from dgsuite.partition.graph.data import GraphData


DEFAULT = "min"
"""The rule where none is given."""

LOOPS = ("drop", "keep")
"""What may become of self-loops."""

LOW = 0xFFFFFFFF
"""The lower half of 64 bits."""


class Tally(NamedTuple):
    """What is counted of some rows of the adjacency before repeated edges are merged.

    Attributes
    ----------
    ends
        Edge ends: two for each edge of an undirected graph, one of a directed graph. Without self-loops.
    loops
        Self-loops.
    wrong
        The first edge, by node ids, that breaks the rule: by "error" one that is repeated, by "sum" one whose
        sum does not fit. None if there is none.
    kept
        Nodes with a self-loop, where these are kept; else None.
    missing
        Rows without a value, which were dropped before.
    """

    ends: int
    loops: int
    wrong: tuple[int, int] | None = None
    kept: int | None = None
    missing: int = 0


def tallied(found: Iterable[Tally]) -> Tally:
    """The tally of all rows."""
    some = list(found)
    return Tally(
        sum(each.ends for each in some),
        sum(each.loops for each in some),
        min((each.wrong for each in some if each.wrong is not None), default=None),
        None if any(each.kept is None for each in some) else sum(each.kept or 0 for each in some),
        sum(each.missing for each in some),
    )


class Built(NamedTuple):
    """What a table of edges became when a graph was built: its text says it in one line.

    Attributes
    ----------
    rows
        Edges that were read.
    merged
        Rows that repeat the edge of another row, and were merged into it.
    loops
        Self-loops: rows that were dropped, or nodes with one where they are kept.
    duplicates
        The rule by which rows were merged: "sum", "min", "max", "first" or "error".
    weighted
        Whether rows had weights.
    kept
        Whether self-loops are kept.
    missing
        Rows without a value, which were dropped.
    kinds
        What the ends of edges and the weights were read as: "ids" where nodes are numbers from 0, else
        "integers", "text" or the name of a type such as "UUID"; and the dtype of the weights, or "".

    Examples
    --------
    >>> from dgsuite import Graph
    >>> graph = Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 2], weights=[5, 7, 1, 1], duplicates="sum")
    >>> print(graph.built)
    4 rows read, 1 merged (weights summed), 1 self-loop dropped
    >>> graph.built.rows, graph.built.merged, graph.built.loops
    (4, 1, 1)
    >>> graph.built.kinds
    ('ids', 'int64')
    """

    rows: int
    merged: int
    loops: int
    duplicates: str
    weighted: bool
    kept: bool = False
    missing: int = 0
    kinds: tuple[str, str] = ("", "")

    def __str__(self) -> str:
        how = f" ({RULES[self.duplicates]})" if self.weighted and self.merged else ""
        loops = "self-loop" if self.loops == 1 else "self-loops"
        return (
            f"{self.rows:,} rows read, {self.merged:,} merged{how}, "
            f"{self.loops:,} {loops} {'kept' if self.kept else 'dropped'}"
            f"{f', {self.missing:,} without a value dropped' if self.missing else ''}"
        )

    @property
    def changed(self) -> bool:
        """Whether there are fewer edges than rows."""
        return bool(self.merged or self.missing or (self.loops and not self.kept))


def check(rule: Any) -> str:
    """The rule that is meant by an argument `duplicates`, where None means the default.

    Raises
    ------
    InputError
        There is no such rule.
    """
    if rule is None:
        return DEFAULT
    one_of("duplicates", rule, RULES)
    return str(rule)


def keeps(loops: Any) -> bool:
    """Whether an argument `loops` says that self-loops are kept.

    Raises
    ------
    InputError
        It is neither "drop" nor "keep".
    """
    one_of("loops", loops, LOOPS)
    return loops == "keep"


def built(tally: Tally, graph: GraphData, duplicates: str | None) -> Built:
    """What became of a table; warns where rows are no edges and no rule was given.

    Parameters
    ----------
    tally
        What was counted of the table.
    duplicates
        The argument of the constructor.

    Raises
    ------
    InputError
        An edge breaks the rule, or there are no weights to add.
    """
    rule = check(duplicates)
    if tally.wrong is not None:
        u, v = tally.wrong
        refuse(rule, (u, v) if graph.labels is None else (graph.labels[u], graph.labels[v]))
    if rule == "sum" and tally.ends and not graph.weighted:
        raise InputError(
            "duplicates='sum' adds weights, but the edges have none; give weights, or name their column"
        )
    edges = tally.ends if graph.directed else -(-tally.ends // 2)
    loops = tally.loops if tally.kept is None else tally.kept
    rows, kept, missing = edges + tally.loops, tally.kept is not None, tally.missing
    counts = rows + missing, rows - graph.m - loops, loops
    found = Built(*counts, rule, graph.weighted, kept, missing, _kinds(graph))
    if duplicates is None:
        warn_of(found)
    return found


def _kinds(graph: GraphData) -> tuple[str, str]:
    """What the ends of edges and the weights were read as: see `Built`."""
    kind = "ids" if graph.labels is None else type(graph.labels.example).__name__
    ends = {"int": "integers", "str": "text"}.get(kind, kind)
    return ends, "" if graph.weight_dtype is None else graph.weight_dtype.name


def warn_of(found: Built) -> None:
    """Say how many rows are no edges of the graph, where no rule was given."""
    if found.merged:
        unweighted = (
            ", which counts once; duplicates='min' says that this is meant, and duplicates='error' refuses "
            "repeated edges"
        )
        weighted = (
            ": each edge keeps its smallest weight, and the others are lost. Choose by duplicates='sum', "
            "'min', 'max' or 'first', or refuse repeated edges by duplicates='error'"
        )
        what = weighted if found.weighted else unweighted
        warn(f"{found.merged:,} of {found.rows:,} rows repeat an edge{what}", UserWarning)
    if found.loops and not found.kept:
        what = "is a self-loop" if found.loops == 1 else "are self-loops"
        warn(
            f"{found.loops:,} of {found.rows:,} rows {what}, and dropped; graph.built counts them, and any "
            f"rule of duplicates, such as 'min', says that this is meant; loops='keep' keeps them",
            UserWarning,
        )


def refuse(rule: str, edge: tuple[Any, Any]) -> None:
    """Raise the error about an edge that breaks a rule.

    Raises
    ------
    InputError
        Always.
    """
    if rule == "error":
        raise InputError(
            f"edge ({edge[0]!r}, {edge[1]!r}) is there more than once; duplicates='sum', 'min', 'max' or "
            f"'first' merges repeated edges"
        )
    raise InputError(
        f"the weights of edge ({edge[0]!r}, {edge[1]!r}) have a sum that their dtype does not hold; "
        f"convert them first, for example by weights.astype(float)"
    )


def ordered(
    keys: NDArray[np.int64], weights: NDArray | None, rule: str
) -> tuple[NDArray, NDArray | None]:
    """Sort edges by key, possibly in place; equal ones keep their order where the rule needs it."""
    if compiles(len(keys)):
        spare = np.empty_like(keys)
        order: NDArray | None = None
        other: NDArray | None = None
        if weights is not None:
            dtype = np.uint32 if len(keys) < 1 << 32 else np.int64
            order, other = np.arange(len(keys), dtype=dtype), np.empty(len(keys), dtype)
        if loops().sort(keys, spare, order, other):
            keys, order = spare, other
        return keys, None if weights is None else weights[order]
    if weights is None:
        keys.sort()
        return keys, None
    order = np.argsort(keys, kind="stable" if rule in ("sum", "first") else None)
    return keys[order], weights[order]


def merged(
    keys: NDArray, weights: NDArray | None, rule: str
) -> tuple[NDArray, NDArray | None, NDArray]:
    """Merge equal ones of keys that `ordered` has sorted, possibly in place.

    Returns
    -------
    keys, weights
        Of each edge once. Sums of integers are int64 or uint64.
    wrong
        Keys of the edges that break the rule.
    """
    if weights is None and rule != "error" and compiles(len(keys)):
        return keys[: loops().squeeze(keys)], None, keys[:0]
    fresh = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    wrong = keys[~fresh] if rule == "error" else keys[:0]
    if fresh.all():
        if weights is not None:
            weights = weights.astype(summed(weights.dtype, rule), copy=False)
        return keys, weights, wrong
    if weights is not None:
        starts = np.flatnonzero(fresh)
        if rule == "sum":
            weights, bad = _sums(weights, starts)
            wrong = keys[starts[bad]]
        else:
            best = {"min": np.minimum, "max": np.maximum}.get(rule)
            weights = weights[starts] if best is None else best.reduceat(weights, starts)
    return keys[fresh], weights, wrong


def summed(dtype: np.dtype, rule: str) -> np.dtype:
    """Dtype of merged weights."""
    wide = {"i": np.int64, "u": np.uint64} if rule == "sum" else {}
    return np.dtype(wide.get(dtype.kind, dtype))


def _sums(weights: NDArray, starts: NDArray) -> tuple[NDArray, NDArray]:
    """Sum of each run of weights, and the runs whose sum does not fit.

    Floats are added one after the other in 64 bits.
    """
    dtype = summed(weights.dtype, "sum")
    counts = np.diff(starts, append=len(weights))
    sums = weights[starts].astype(dtype)
    several = np.flatnonzero(counts > 1)
    if not len(several):
        return sums, several
    run, entry = ranges(starts[several], counts[several])
    values = weights[entry]
    if dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            added = np.bincount(run, values, len(several)).astype(dtype)
        fits = np.isfinite(added)
    else:
        added, fits = _exact(values.astype(dtype), np.searchsorted(run, np.arange(len(several))))
    sums[several] = added
    return sums, several[~fits]


def _exact(values: NDArray, starts: NDArray) -> tuple[NDArray, NDArray]:
    """Sums of runs of 64-bit integers, and whether each fits, whatever the order of its terms."""
    low = np.add.reduceat(values & values.dtype.type(LOW), starts)
    high = np.add.reduceat(values >> values.dtype.type(32), starts) + (low >> low.dtype.type(32))
    limits = np.iinfo(values.dtype)
    fits = (high >= limits.min >> 32) & (high <= limits.max >> 32)
    return (high << high.dtype.type(32)) | (low & low.dtype.type(LOW)), fits
