"""The code of the product, as syntax trees."""

from __future__ import annotations

import ast
from functools import cache

from tests.support.paths import ROOT

FOLDERS = ("dgsuite", "partition", "kernels", "genval")


@cache
def trees() -> dict[str, ast.Module]:
    """By path within the project, of each module of the product."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            found[str(path.relative_to(ROOT))] = ast.parse(path.read_text())
    return found


def name_of(node: ast.AST) -> str:
    """The last part of a name, as ``Thread`` of ``threading.Thread``; empty if it is none."""
    return getattr(node, "attr", getattr(node, "id", ""))


def calls(name: str) -> list[str]:
    """Places that call something of a name, as "path:line"."""
    return [
        f"{path}:{node.lineno}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and name_of(node.func) == name
    ]
