"""Compiled loops over masks: to set, clear, list and intersect them."""

import sys

import numpy as np

from dgsuite.base.compiling import compiled, takes

ONE = np.uint64(1)
LITTLE = sys.byteorder == "little"


@takes("mask", "nodes", True)
@takes("counts", "nodes", 0)
@compiled
def fill(out, at, value):
    """``out[at] = value``"""
    for p in at:
        out[np.uint64(p)] = value


@takes("values", "columns", "values")
@takes("values", "nodes", "values")
@compiled
def gather(values, at, out):
    """``out[:] = values[at]``"""
    for i in range(len(at)):
        out[i] = values[np.uint64(at[i])]


@takes("counts", "nodes", "names")
@takes("counts", "nodes", "nodes")
@takes("offers", "nodes", "offers")
@takes("values", "columns", "values")
@compiled
def scatter(out, at, values):
    """``out[at] = values``"""
    for i in range(len(at)):
        out[np.uint64(at[i])] = values[i]


@takes("mask", "counts", 0, "nodes")
@compiled
def land(mask, at, first, out):
    """``out[:] = first + at; mask[at] = True``"""
    for i in range(len(at)):
        out[i] = first + at[i]
        mask[np.uint64(at[i])] = True


@takes("mask", "nodes")
@takes("mask", "names")
@compiled
def remove(mask, nodes):
    """Remove nodes from a mask; returns how many were in it."""
    count = 0
    for v in nodes:
        count += mask[np.uint64(v)]
        mask[np.uint64(v)] = False
    return count


@takes("mask", "nodes", "nodes")
@compiled
def keep(mask, nodes, out):
    """Put the nodes that are in a mask into `out`."""
    k = np.uint64(0)
    for v in nodes:
        out[k] = v
        k += np.uint64(mask[np.uint64(v)])


@takes("marks", "marks", "nodes")
@compiled
def both(one, other, out):
    """Put the indices where both masks hold into `out`; returns their number. Eight are tested at a time."""
    k = np.uint64(0)
    eights = len(one) // 8
    ones, others = one[: 8 * eights].view(np.uint64), other[: 8 * eights].view(np.uint64)
    for i in range(eights):
        hold = ones[i] & others[i]
        if hold:
            for j in range(8):
                out[k] = 8 * i + j
                k += (hold >> np.uint64(8 * j if LITTLE else 56 - 8 * j)) & ONE
    for i in range(8 * eights, len(one)):
        out[k] = i
        k += np.uint64(one[np.uint64(i)] & other[np.uint64(i)])
    return np.int64(k)


@takes("marks", "marks", "names", "nodes", "names")
@compiled
def collect(one, other, values, out, found):
    """As `both`; also puts the values at these indices into `found`."""
    k = both(one, other, out)
    for i in range(k):
        found[i] = values[np.uint64(out[i])]
    return k


@takes("out_indptr", "away", "nodes", 0, 0, "mask", 0, "nodes")
@compiled
def mark_rows(indptr, away, nodes, start, size, mask, first, slots):
    """Total number of entries in the rows of some nodes, and total of `away` over these rows.

    It puts the nodes' slots into `slots` and marks them in `mask`. It returns -1, -1 if a node is not below
    `size` or not above the one before. Node 0 has row `start`, and row 0 has slot `first`.
    """
    entries = np.int64(0)
    outside = np.int64(0)
    last = np.int64(-1)
    for i in range(len(nodes)):
        node = nodes[i]
        if node <= last or node >= size:
            return np.int64(-1), np.int64(-1)
        last = node
        at = np.uint64(start + node)
        entries += indptr[at + ONE] - indptr[at]
        outside += away[at]
        slots[i] = first + np.int64(at)
        mask[np.uint64(slots[i])] = True
    return entries, outside


@takes("values", "nodes", "mask", 0)
@compiled
def pick(values, at, among, count):
    """``values[at[among[at]]]``, which has `count` entries."""
    out = np.empty(count, values.dtype)
    k = 0
    for p in at:
        if among[p]:
            out[k] = values[p]
            k += 1
    return out


@takes("values", "mask", "values")
@compiled
def lay(values, where, out):
    """``out[where] = values``"""
    k = 0
    for i in range(len(where)):
        if where[i]:
            out[i] = values[k]
            k += 1
