"""Compiled loops: have the processor fetch into its cache what a loop reads soon."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from dgsuite.base.compiling import compiled

NEAR, FAR = 8, 16
"""Rows that are fetched before they are read; where they begin, so many before."""


@intrinsic
def prefetch(typingctx, array, index):
    """Have the processor fetch an item of an array into its cache; it does not wait."""

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        item = builder.bitcast(builder.gep(view.data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        # read, keep, data
        builder.call(fetch, [item, *(ir.Constant(number, k) for k in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, index), generate


@compiled
def fetch_row(rows, i, shift, indptr, items):
    """Fetch the items of a row that is read soon, where the i-th of some rows is read now.

    Parameters
    ----------
    rows, shift
        These rows, counted from `shift` on.
    """
    if i + FAR < len(rows):
        prefetch(indptr, np.uint64(rows[i + FAR] - shift))
    if i + NEAR < len(rows):
        prefetch(items, np.uint64(indptr[np.uint64(rows[i + NEAR] - shift)]))
