"""Operations on ragged rows (CSR): the loops that every message goes through.

Each has a NumPy form for small inputs, which saves a small run the half second that importing Numba takes,
and a compiled one (`dgsuite.partition.arrays._compiled`) for more elements (see `thresholds`); where that
is imported already, some take it for any number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.thresholds import compiles
from dgsuite.partition.arrays.loops import fast, loops
from dgsuite.partition.arrays.mapped import empty, windows

SORTED_FRACTION = 32
"""Where a mask has more than one place in so many, it is quicker to look at all than to sort these."""


NARROW = 1 << 16
"""Keys below it have 16 bits."""


def are_taken(values: NDArray) -> bool:
    """Whether compiled loops take such values: numbers of a type that Numba has, not rows of numbers."""
    return values.ndim == 1 and values.dtype != np.float16


def expand(indptr: NDArray, rows: NDArray) -> tuple[NDArray, NDArray]:
    """Entries of some rows.

    Returns
    -------
    at
        For each entry, which of `rows` it belongs to (an index into `rows`).
    entry
        For each entry, its index into the CSR's `indices`.
    """
    first = indptr[rows]
    return ranges(first, indptr[rows + 1] - first)


def ranges(first: NDArray, counts: NDArray) -> tuple[NDArray, NDArray]:
    """Entries of ranges that start at `first` and have `counts` entries; see `expand`."""
    total = int(counts.sum())
    if compiles(total):
        return loops().expand(first, counts, total)
    at = np.repeat(np.arange(len(first)), counts)
    ends = np.cumsum(counts)
    entry = np.arange(total) + np.repeat(first - (ends - counts), counts)
    return at, entry


def tally(values: NDArray, nodes: NDArray) -> int:
    """Sum of a quantity over some nodes."""
    if (compiled := fast(len(nodes))) is not None:
        return int(compiled.tally(lent(values), nodes))
    return int(values[nodes].sum())


def ascending(nodes: NDArray, size: int) -> None:
    """See that nodes ascend, each named once, from 0 to ``size - 1``.

    Raises
    ------
    InputError
        They do not.
    """
    if not len(nodes):
        return
    wrong = np.flatnonzero(nodes[1:] <= nodes[:-1])
    if len(wrong):
        raise InputError(
            f"node {nodes[wrong[0] + 1]} after node {nodes[wrong[0]]}; nodes must ascend, each named once"
        )
    for node in (nodes[0], nodes[-1]):
        if not 0 <= node < size:
            raise InputError(f"node {node}, which does not exist: there are {size}")


def mark_rows(
    indptr: NDArray, away: NDArray, nodes: NDArray, block: slice, mask: NDArray, first: int
) -> tuple[int, int, NDArray[np.int64]]:
    """Set a mask at the slots of some nodes of a block of rows.

    Parameters
    ----------
    nodes
        int64, counted within the block; ascending, each named once.
    first
        Slot of row 0.

    Returns
    -------
    entries, outside
        How many entries their rows have, and how many of these lead away (`away` of each), together.
    slots
        Of the nodes.

    Raises
    ------
    InputError
        The nodes do not ascend, or are none of the block's.
    """
    start, size = block.start, block.stop - block.start
    if (compiled := fast(len(nodes))) is not None:
        slots = np.empty(len(nodes), np.int64)
        entries, outside = compiled.mark_rows(indptr, away, nodes, start, size, mask, first, slots)
        if entries < 0:
            ascending(nodes, size)
        return entries, outside, slots
    ascending(nodes, size)
    rows = nodes + start
    slots = rows + first
    mask[slots] = True
    return int((indptr[rows + 1] - indptr[rows]).sum()), tally(away, rows), slots


def single(indptr: NDArray, rows: NDArray) -> bool:
    """Whether no row has more than one entry."""
    if (compiled := fast(len(rows))) is not None:
        return bool(compiled.single(indptr, rows))
    return bool((indptr[rows + 1] - indptr[rows] <= 1).all())


def group(keys: NDArray, size: int) -> tuple[NDArray, NDArray, NDArray]:
    """Group positions by key, keeping their order within a group.

    Parameters
    ----------
    keys
        Integers from 0 to ``size - 1``.

    Returns
    -------
    unique
        The keys that occur, ascending.
    starts
        Shape (len(unique) + 1,): group i is ``order[starts[i]:starts[i + 1]]``.
    order
        A stable sorting permutation of `keys`.
    """
    if compiles(len(keys)) and size < 64 * len(keys):
        return loops().group(keys, size)
    # numbers of 16 bits are sorted in linear time
    order = np.argsort(keys.astype(np.uint16) if size <= NARROW else keys, kind="stable")
    ordered = keys[order]
    heads = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts = np.concatenate([[0], heads, [len(keys)]]) if len(keys) else np.zeros(1, np.int64)
    return ordered[starts[:-1]], starts, order


def first_marked(
    indptr: NDArray, indices: NDArray, rows: NDArray, mask: NDArray
) -> tuple[NDArray, NDArray, int]:
    """The first marked entry of each of some rows, without compiled loops.

    Returns
    -------
    found
        Which of `rows` have a marked entry (indices into `rows`).
    entries
        The first marked one of each of them.
    looked
        How many entries a search that stops at the first marked one of each row looks at.
    """
    at, entry = expand(indptr, rows)
    hits = np.flatnonzero(mask[indices[entry]])
    found, firsts = np.unique(at[hits], return_index=True)
    firsts = entry[hits[firsts]]
    counts = indptr[rows + 1] - indptr[rows]
    counts[found] = firsts - indptr[rows[found]] + 1
    return found, indices[firsts], int(counts.sum())


def add(values: NDArray, starts: NDArray) -> NDArray:
    """Sum of each run of values along the first axis, ``starts[i]`` to ``starts[i + 1]``.

    Floats are added one after the other in 64 bits, from 0, as `_compiled.pull_sum` does; integers
    in 64 bits.
    """
    if values.dtype.kind != "f":
        return np.add.reduceat(values, starts[:-1], dtype=wide(values.dtype).dtype)
    count = len(starts) - 1
    run = np.repeat(np.arange(count), starts[1:] - starts[:-1])
    if values.ndim == 1:
        return np.bincount(run, values, count).astype(values.dtype, copy=False)
    width = math.prod(values.shape[1:])
    run = (run[:, None] * width + np.arange(width)).ravel()
    sums = np.bincount(run, values.ravel(), count * width)
    return sums.reshape(count, *values.shape[1:]).astype(values.dtype)


def weigh(
    indptr: NDArray, indices: NDArray, weights: NDArray, values: NDArray
) -> NDArray[np.float64]:
    """For each row, the sum of the values at its entries times the entries' weights, added one by one.

    Parameters
    ----------
    indptr
        Row pointer, of the rows from ``indptr[0]`` on.
    weights
        One for each entry from ``indptr[0]`` on.
    """
    rows = len(indptr) - 1
    if compiles(len(weights)):
        return loops().weigh(indptr, indices, weights, values, np.zeros(rows))
    row = np.repeat(np.arange(rows), np.diff(indptr))
    terms = values[indices[indptr[0] : indptr[-1]]] * weights
    return np.bincount(row, terms, rows).astype(np.float64)


def wide(dtype: np.dtype) -> Any:
    """A zero of the kind in which values of a dtype are added."""
    return {"f": np.float64, "u": np.uint64}.get(dtype.kind, np.int64)(0)


def outside(indptr: NDArray, indices: NDArray, lo: int, hi: int) -> NDArray[np.int32]:
    """For each row, how many of its entries lie outside ``lo <= entry < hi``."""
    if compiles(len(indices)):
        return loops().outside(lent(indptr), lent(indices), lo, hi)
    away = np.concatenate([[0], np.cumsum((indices < lo) | (indices >= hi))])
    return (away[indptr[1:]] - away[indptr[:-1]]).astype(np.int32)


def pick(values: NDArray, places: NDArray, among: NDArray, count: int) -> NDArray:
    """Values at those places that are among some (a mask); `count` says how many these are."""
    if compiles(len(places)) and are_taken(values):
        return loops().pick(values, places, among, count)
    return values[places[among[places]]]


def lay(values: NDArray, where: NDArray, out: NDArray) -> None:
    """Put values, in order, into `out` where a mask holds."""
    if compiles(len(where)) and are_taken(out):
        loops().lay(values, where, out)
    else:
        out[where] = values


def remove(mask: NDArray, nodes: NDArray) -> int:
    """Take nodes, each named once, out of a mask; returns how many were in."""
    if (compiled := fast(len(nodes))) is not None:
        return int(compiled.remove(mask, nodes))
    count = int(np.count_nonzero(mask[nodes]))
    mask[nodes] = False
    return count


def lent(values: NDArray) -> NDArray:
    """A read-only view of an array, for clusters that share it and for compiled loops.

    Numba compiles a loop for read-only arrays apart from that for others. An array that is read-only in some
    runs alone, since processes share it, is passed as read-only in all runs.
    """
    view = values.view()
    view.flags.writeable = False
    return view


def lend_all(thing: object) -> None:
    """Have all arrays that are attributes of an object be read-only views."""
    for name, value in vars(thing).items():
        if isinstance(value, np.ndarray):
            object.__setattr__(thing, name, lent(value))


def members(mask: NDArray, count: int) -> NDArray[np.int64]:
    """Where a mask holds, which is at `count` places."""
    if (compiled := fast(len(mask))) is None:
        return np.flatnonzero(mask)
    out, mask = np.empty(count + 1, np.int64), lent(mask)
    compiled.both(mask, mask, out)
    return out[:count]


def keep(mask: NDArray, nodes: NDArray, count: int) -> NDArray:
    """Those of some nodes that are in a mask; `count` says how many these are."""
    if (compiled := fast(len(nodes))) is None:
        return nodes[mask[nodes]]
    out = np.empty(count + 1, nodes.dtype)
    compiled.keep(mask, nodes, out)
    return out[:count]


def put(out: NDArray, places: NDArray, values: Any) -> None:
    """Put values, or one, at some places."""
    if not compiles(len(places)) or not are_taken(out):
        out[places] = values
    elif np.ndim(values):
        loops().scatter(out, places, values)
    else:
        loops().fill(out, places, values)


def listed(places: NDArray[np.int64], mask: NDArray) -> NDArray[np.int64]:
    """The places that a mask has, ascending: given in any order, each once."""
    return np.sort(places) if SORTED_FRACTION * len(places) < len(mask) else np.flatnonzero(mask)


def mark(mask: NDArray, places: NDArray) -> None:
    """Set a mask at some places."""
    if (compiled := fast(len(places))) is not None:
        compiled.fill(mask, places, True)
    else:
        mask[places] = True


def distinct(numbers: NDArray, runs: bool = False) -> NDArray:
    """The different ones of some numbers, ascending: ten times as fast as `numpy.unique`, which hashes.

    Parameters
    ----------
    runs
        Whether to merge runs that ascend, which is faster where they are text.
    """
    found = np.sort(numbers, kind="stable" if runs else None)
    return found[np.append(True, found[1:] != found[:-1])] if len(found) else found


def land(mask: NDArray, places: NDArray, first: int) -> NDArray[np.int64]:
    """Set a mask at some places; returns them plus `first`."""
    if (compiled := fast(len(places))) is None:
        found = first + places.astype(np.int64)
        mask[places] = True
    else:
        found = np.empty(len(places), np.int64)
        compiled.land(mask, places, first, found)
    return found


def look_up(table: NDArray, places: NDArray) -> Any:
    """``table[places]``; of places there may be as many as a graph has edges."""
    if compiles(len(places)) and are_taken(table):
        out = empty(len(places), table.dtype, places)
        loops().gather(table, places, out)
        return out
    return table[places]


def transpose_outside(
    indptr: NDArray, indices: NDArray, lo: int, hi: int, columns: int
) -> tuple[NDArray, NDArray]:
    """Row pointer and row numbers of a matrix's columns outside ``lo <= column < hi``.

    Rows ascend in each column; the columns from `hi` on follow those before `lo`.
    """
    start = np.zeros(columns - (hi - lo) + 1, indptr.dtype)
    if len(start) == 1:
        return start, np.empty(0, indices.dtype)
    if compiles(len(indices)):
        loops().count_outside(indices, lo, hi, start)
        np.cumsum(start, out=start)
        rows = empty(int(start[-1]), indices.dtype, indices)
        for window in windows(start, rows):
            loops().transpose_outside(indptr, indices, lo, hi, *window, start, rows)
        loops().rewind(start)
        return start, rows
    rows = np.repeat(np.arange(len(indptr) - 1, dtype=indices.dtype), np.diff(indptr))
    away = (indices < lo) | (indices >= hi)
    column = np.where(indices < lo, indices, indices - (hi - lo))[away]
    np.cumsum(np.bincount(column, minlength=len(start) - 1), out=start[1:])
    return start, rows[away][np.argsort(column, kind="stable")]
