"""Compiled loops over triangles.

A node's *rank* is its degree, then its id; its *list* holds its neighbours of higher rank. The *core* of a
cluster's neighbourhood are the nodes of highest rank; a node's *place* counts from the highest rank down.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from dgsuite.base.compiling import compiled
from dgsuite.partition.arrays._compiled import bit

FEW = 20
"""Neighbours in the core up to which testing pairs of them takes less time than reading rows of bits."""

AHEAD = 4
"""Lists that are fetched from memory before they are read."""

ONE, WORD, LOW = np.uint64(1), np.uint64(6), np.uint64(63)


@intrinsic
def ones(typingctx, word):
    """Number of ones in a word, by the processor's instruction."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), generate


@intrinsic
def prefetch(typingctx, array, index):
    """Have the processor fetch an item of an array into its cache; it does not wait."""

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        item = builder.bitcast(builder.gep(view.data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        builder.call(
            fetch, [item, *(ir.Constant(number, k) for k in (0, 3, 1))]
        )  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, index), generate


@compiled
def above(indptr, indices, theirs, nodes, lengths, found):
    """Entries of the adjacency that lead to neighbours of higher rank.

    Parameters
    ----------
    theirs
        By entry, the degree of the neighbour.
    nodes
        By row, its node id.
    lengths, found
        Filled with their number by row, and with the entries.

    Returns
    -------
    How many there are.
    """
    count = 0
    for row in range(len(nodes)):
        before, mine = count, indptr[row + 1] - indptr[row]
        for e in range(indptr[row], indptr[row + 1]):
            if theirs[e] > mine or (theirs[e] == mine and indices[e] > nodes[row]):
                found[count] = e
                count += 1
        lengths[row] = count - before
    return count


@compiled
def rows_of(core, starts, ends, values, place):
    """Lists of the core as rows of bits, by place.

    Parameters
    ----------
    core
        Node id at each place.
    place
        By node id, its place, or -1 outside the core.
    """
    rows = np.zeros((len(core), (len(core) + 63) // 64), np.uint64)
    for p in range(len(core)):
        for k in range(starts[core[p]], ends[core[p]]):
            if place[values[k]] >= 0:
                q = np.uint64(place[values[k]])
                rows[p, q >> WORD] |= ONE << (q & LOW)
    return rows


@compiled
def closed(indptr, indices, starts, ends, values, place, rows):
    """For each row, how many items of its neighbours' lists are its neighbours, too.

    The list of a neighbour in the core is a row of bits, since all of it is in the core. The others are read
    item by item.

    Parameters
    ----------
    starts, ends, values
        The lists, by node id.
    place, rows
        See `rows_of`.
    """
    count = np.zeros(len(indptr) - 1, np.int64)
    near = np.zeros(len(place) // 8 + 1, np.uint8)
    bits = np.zeros(rows.shape[1], np.uint64)
    inner = np.empty(len(rows), np.int64)
    most = 0
    for row in range(len(count)):
        most = max(most, indptr[row + 1] - indptr[row])
    outer = np.empty(most, np.int64)
    for row in range(len(count)):
        low, high = indptr[row], indptr[row + 1]
        total, k, others = np.uint64(0), 0, 0
        for e in range(low, high):
            u = np.int64(indices[e])
            if place[u] >= 0:
                inner[k] = place[u]
                k += 1
            else:
                prefetch(starts, u)
                prefetch(ends, u)
                outer[others] = u
                others += 1
        if k < FEW:
            for i in range(k):
                for j in range(k):
                    q = np.uint64(inner[j])
                    total += rows[inner[i], q >> WORD] >> (q & LOW) & ONE
        else:
            for i in range(k):
                q = np.uint64(inner[i])
                bits[q >> WORD] |= ONE << (q & LOW)
            for i in range(k):
                row_of_bits = rows[inner[i]]
                for j in range((inner[i] >> 6) + 1):  # places of higher rank are lower
                    total += ones(row_of_bits[j] & bits[j])
            for i in range(k):
                bits[inner[i] >> 6] = 0
        if others:
            for e in range(low, high):
                v = np.uint32(indices[e])
                near[v >> 3] |= np.uint8(1 << (v & 7))
            for i in range(others):
                if i + AHEAD < others:
                    first = starts[outer[i + AHEAD]]
                    prefetch(values, first)
                    prefetch(values, first + 16)  # the next cache line
                for j in range(starts[outer[i]], ends[outer[i]]):
                    total += np.uint64(bit(near, values[j]))
            for e in range(low, high):
                near[np.uint32(indices[e]) >> 3] = 0
        count[row] = total
    return count
