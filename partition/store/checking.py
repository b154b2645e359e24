"""What is checked of a file whose checksum is right: a checksum shows damage, not forgery.

Compiled loops index with the numbers of a graph, and do not look whether they are in range. So each file is
checked once, when it is loaded: the names, sizes and dtypes of its arrays, row pointers, the range and order
of neighbours, labels and the map of nodes to clusters. Each check is a pass or two over arrays that were just
read, 64 Ki numbers at a time, so that they stay in the processor's cache.

Not checked, since it takes longer than reading: that an undirected graph has each edge at both ends, with the
same weight, that no node is its own neighbour, and that identifiers (`uid`) are distinct. A graph that is
wrong there gives wrong results, or runs without end.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.names import RULES
from dgsuite.partition.clusters.partitioners import MOST_CLUSTERS, Partition
from dgsuite.partition.sources.piece import MOST_NODES

FOREIGN = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(RecursionError, NotImplementedError, AssertionError, struct.error, zipfile.BadZipFile),
)
"""What code raises that is given values which no dgsuite wrote."""

AT_ONCE = 1 << 16
"""Numbers that are checked at a time: 256 KiB stay in the processor's cache."""


@contextmanager
def sound(path: str) -> Iterator[None]:
    """Replace what checks, and code that trusts them, raise by `InputError` that names the file."""
    try:
        yield
    except InputError as error:
        if path in str(error):
            raise
        raise InputError(f"{path}: {error}") from None
    except FOREIGN as error:
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise InputError(f"{path}: is damaged or forged: {reason}") from None


def refuse(wrong: Any, what: str) -> None:
    """Raise `ValueError` if something is wrong."""
    if wrong:
        raise ValueError(what)


# Values in JSON

Kind = type | Callable[[Any], bool]
"""The type that a value is of, or a function that says whether it is right."""


def is_count(value: Any) -> bool:
    """Whether it is an integer from 0 that fits into 64 bits."""
    return type(value) is int and 0 <= value < 2**63


def is_counts(value: Any) -> bool:
    return _is_list(value, is_count)


def _is_list(value: Any, of: Kind) -> bool:
    return type(value) is list and all(_is(item, of) for item in value)


def _is(value: Any, kind: Kind) -> bool:
    return type(value) is kind if isinstance(kind, type) else kind(value)


def is_built(value: Any) -> bool:
    """Whether it is what `dgsuite.partition.sources.duplicates.Built` is made of, or null."""
    if type(value) is not list or not 6 <= len(value) <= 8:
        return value is None
    right = is_counts(value[:3] + value[6:7]) and value[3] in RULES and _is_list(value[4:6], bool)
    return right and all(_is_list(kinds, str) for kinds in value[7:])


def is_weight_dtype(value: Any) -> bool:
    """Whether it is a dtype that weights can have, as text, or null."""
    if type(value) is not str:
        return value is None
    dtype = np.dtype(value)
    return dtype.kind in "iuf" and dtype.itemsize <= 8 and dtype.isnative


def facts(found: Any, needed: Mapping[str, Kind]) -> None:
    """Check the values of a list of files.

    Parameters
    ----------
    needed
        By name, what a value must be.
    """
    refuse(type(found) is not dict, "its facts are no table")
    for name, kind in needed.items():
        refuse(name not in found, f"{name!r} is missing")
        refuse(not _is(found[name], kind), f"{name} cannot be {repr(found[name])[:80]}")


# Arrays


def column(
    arrays: Mapping[str, NDArray], name: str, kinds: Sequence[str], length: int | None = None
) -> NDArray | None:
    """An array of a file, if it is there, which must be one-dimensional, and of one of some dtypes."""
    array = arrays.get(name)
    if array is None:
        return None
    kind = f"{array.dtype.kind}{array.dtype.itemsize}"
    refuse(
        array.ndim != 1 or kind not in kinds or not array.dtype.isnative,
        f"{name} has {array.ndim} dimensions of dtype {array.dtype}, must have one of "
        f"{' or '.join(kinds)}",
    )
    wrong = length is not None and len(array) != length
    refuse(wrong, f"{name} has {len(array)} entries, must have {length}")
    return array


def needed(arrays: Mapping[str, NDArray], name: str, *given: Any) -> NDArray:
    """As `column`, of an array that must be there."""
    found = column(arrays, name, *given)
    if found is None:
        raise ValueError(f"there is no array {name!r}")
    return found


def pointer(indptr: NDArray, entries: int, what: str = "indptr") -> None:
    """Check a row pointer: from 0, not descending, to the number of entries."""
    wrong = not len(indptr) or indptr[0] or indptr[-1] != entries
    wrong = wrong or (indptr[1:] < indptr[:-1]).any()
    refuse(wrong, f"{what} must go from 0 to {entries}, and not descend")


def rows(indptr: NDArray, numbers: NDArray, n: int, what: str = "neighbours") -> None:
    """Check that numbers ascend in each row, and are from 0 to ``n - 1``. `indptr` is right.

    In rows that ascend, the first number is the least, and the last is the greatest. So it is enough to look
    at those, and that numbers descend nowhere else than between rows.
    """
    starts = indptr[:-1][indptr[1:] > indptr[:-1]]
    firsts = range(0, len(numbers), AT_ONCE)
    cuts = [*np.searchsorted(starts, firsts).tolist(), len(starts)]
    descents, between, before = 0, 0, n - 1
    least, most = 0, -1
    for first, (lo, hi) in zip(firsts, pairwise(cuts), strict=True):
        part = numbers[first : first + AT_ONCE]
        descents += int(np.count_nonzero(part[1:] <= part[:-1])) + int(part[0] <= before)
        if lo < hi:
            here = starts[lo:hi] - first
            heads, tails = part[here], part[here - 1]
            if not here[0]:
                tails[0] = before
            between += int(np.count_nonzero(heads <= tails))
            least, most = min(least, int(heads.min())), max(most, int(tails.max()))
        before = int(part[-1])
    most = max(most, before)
    refuse(
        least < 0 or most >= n or descents != between,
        f"{what} must ascend in each row, and be from 0 to {n - 1}",
    )


def finite(weights: NDArray, what: str) -> None:
    """Check that weights are numbers."""
    if weights.dtype.kind == "f":
        for at in range(0, len(weights), AT_ONCE):
            wrong = not np.isfinite(weights[at : at + AT_ONCE]).all()
            refuse(wrong, f"{what} must be finite")


class Form(NamedTuple):
    """What the list of a graph's files says of all clusters.

    Attributes
    ----------
    entries
        Number of entries of the adjacency of each cluster.
    weight_dtype
        As text; None without weights.
    keeps_loops
        Whether self-loops are kept.
    directed
        Whether rows hold out-edges only.
    """

    entries: Sequence[int]
    weight_dtype: str | None
    keeps_loops: bool
    directed: bool


def cluster(arrays: Mapping[str, NDArray], partition: Partition, index: int, form: Form) -> None:
    """Check the arrays of a cluster's file."""
    size = int(partition.offsets[index + 1] - partition.offsets[index])
    entries = form.entries[index]
    indptr = needed(arrays, "indptr", ["i4", "i8"], size + 1)
    pointer(indptr, entries)
    rows(indptr, needed(arrays, "indices", ["i4", "i8"], entries), partition.n)
    column(arrays, "uid", ["i8"], size)
    directions = column(arrays, "directions", ["u1"], entries)
    if directions is not None and len(directions):
        right = 1 <= directions.min() <= directions.max() <= 3
        refuse(not right, "directions must be from 1 to 3")
    loops = column(arrays, "loops", ["i8"])
    refuse((loops is not None) != form.keeps_loops, "loops must be there if they are kept")
    if loops is not None:
        rows(np.array([0, len(loops)]), loops, size, "loops")
    weighted = {
        "weights": entries,
        "weights_in": None if directions is None else entries,
        "loop_weights": None if loops is None else len(loops),
    }
    for name, length in weighted.items():
        there = form.weight_dtype is not None and length is not None
        refuse((name in arrays) != there, f"{name} must {'' if there else 'not '}be there")
        if there:
            given = np.dtype(form.weight_dtype)
            finite(needed(arrays, name, [f"{given.kind}{given.itemsize}"], length), name)


def partition(offsets: Sequence[int], order: NDArray | None) -> Partition:
    """The map of nodes to clusters that a list of files and the file of the nodes describe."""
    refuse(
        not 1 < len(offsets) <= MOST_CLUSTERS + 1 or not 0 < offsets[-1] <= MOST_NODES,
        f"there cannot be {len(offsets) - 1} clusters",
    )
    found = Partition(np.array(offsets, np.int64), order)
    pointer(found.offsets, found.n, "offsets")
    if order is not None:
        needed({"order": order}, "order", ["i8"], found.n)
        rows(found.offsets, order, found.n, "order")
        seen = np.zeros(found.n, bool)
        seen[order] = True
        refuse(not seen.all(), "order must name each node once")
    return found


def ascending(values: Any, what: str = "labels") -> None:
    """Check that labels ascend: an array, or text in Arrow."""
    if isinstance(values, np.ndarray):
        refuse(not (values[1:] > values[:-1]).all(), f"{what} must ascend")
        return
    from pyarrow import compute

    some = compute.less(values.slice(0, max(len(values) - 1, 0)), values.slice(1))
    refuse(len(some) and not compute.all(some).as_py(), f"{what} must ascend")
