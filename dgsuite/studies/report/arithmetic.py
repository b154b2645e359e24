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
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
"""What formulas, and relations of two of them, may do."""


def names_in(formula: str) -> set[str]:
    """The names that a formula or a relation has."""
    nodes = ast.walk(ast.parse(formula, mode="eval"))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def evaluate(formula: str, names: Mapping[str, Any]) -> Any:
    """The value of a formula: numbers, names, functions by name, parentheses, ``+ - * / // % **``.

    Of two formulas with ``== != < <= > >=`` between them it is whether that holds.

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
            case ast.Compare(left, [operation], [right]) if type(operation) in OPERATIONS:
                return OPERATIONS[type(operation)](value(left), value(right))
        raise ValueError(f"{ast.unparse(node)!r} in the formula {formula!r} cannot be evaluated")

    return value(ast.parse(formula, mode="eval").body)
