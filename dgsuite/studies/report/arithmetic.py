"""Formulas of the papers as text, and their values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
"""What formulas may do."""


def evaluate(formula: str, names: Mapping[str, Any]) -> float:
    """The value of a formula: numbers, names, functions by name, parentheses, ``+ - * / // **``.

    Raises
    ------
    ValueError
        There is something else in it.
    """

    def value(node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.Call(func=ast.Name(id=name), args=[given], keywords=[]) if name in names:
                return names[name](value(given))
            case ast.BinOp(left, operation, right) if type(operation) in OPERATIONS:
                return OPERATIONS[type(operation)](value(left), value(right))
        raise ValueError(f"{ast.unparse(node)!r} in the formula {formula!r} cannot be evaluated")

    found: float = value(ast.parse(formula, mode="eval").body)
    return found
