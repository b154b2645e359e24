"""The processor's fetch-and-add, for memory that processes share."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from dgsuite.base.compiling import compiled


@intrinsic
def add_one(typingctx, cell):
    """Add 1 to the first item of an array; what it was before."""

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", view.data, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(cell), generate


@compiled
def fetch_add(cell):
    """The value of a cell of 64 bits, which is one more afterwards; no other process comes in between."""
    return add_one(cell)
