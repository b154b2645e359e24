"""Products and shifts of whole numbers in arrays that stay in 32 bits or fewer: ids would wrap.

    python -m tests.support.products

runs every kernel and its rule on small graphs, with all modules of dgsuite changed so that each product and
shift to the left looks at the type of its result; prints where that is an array of at most 32 bits. Compiled
loops are left as they are: Numba makes whole numbers 64 bits wide.
"""

from __future__ import annotations

import ast
import builtins
import json
import operator
import warnings
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
MIXES = ("dgsuite.base.mixing", "dgsuite.studies.network.chances")
"""Modules of functions that are compiled elsewhere."""

narrow: dict[str, list[str]] = {}
"""By place: types of the factors and of the result."""


class Looks(ast.NodeTransformer):
    """Has each product and shift look at its result."""

    def __init__(self, path):
        self.path, self.inside = path, []

    def visit_FunctionDef(self, node):
        if any("compiled" in ast.unparse(each) for each in node.decorator_list):
            return node
        self.inside.append(node.name)
        found = self.generic_visit(node)
        self.inside.pop()
        return found

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Mult | ast.LShift):
            return node
        how = "mul" if isinstance(node.op, ast.Mult) else "lshift"
        what = [ast.Constant(how), ast.Constant(f"{self.path}:{'.'.join(self.inside)}")]
        call = ast.Call(ast.Name("product_seen", ast.Load()), [*what, node.left, node.right], [])
        return ast.copy_location(call, node)


def product_seen(how, place, left, right):
    found = getattr(operator, how)(left, right)
    if isinstance(found, np.ndarray) and found.dtype.kind in "iu" and found.itemsize < 8:
        types = [str(getattr(x, "dtype", type(x).__name__)) for x in (left, right, found)]
        narrow[place] = types
    return found


def get_code(self, name, plain=SourceFileLoader.get_code):
    if not name.startswith("dgsuite.") or name in MIXES:
        return plain(self, name)
    path = Path(self.get_filename(name))
    tree = Looks(path.relative_to(ROOT).as_posix()).visit(ast.parse(path.read_text()))
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def main():
    builtins.product_seen = product_seen
    SourceFileLoader.get_code = get_code
    warnings.simplefilter("ignore")
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    import dgsuite
    from dgsuite import genval
    from tests.support import cases

    quiet = settings(
        max_examples=2,
        phases=(Phase.generate,),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[*HealthCheck],
    )

    def tried(name):
        @quiet
        @given(st.data())
        def runs(data):
            kernel, make = data.draw(cases.inputs(name))
            try:
                graph = make()
                ds = dgsuite.run(kernel, graph, style="serial", trace=True)
                genval.validate(name, graph, ds)
            except (dgsuite.RunError, dgsuite.InputError):
                return  # values that do not converge

        runs()

    for name in cases.NAMES:
        tried(name)
    print(json.dumps(narrow))


if __name__ == "__main__":
    main()
