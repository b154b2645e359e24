"""Modules do not import each other in circles, not even for types."""

import ast
from graphlib import TopologicalSorter

import pytest

from tests.support.paths import ROOT


def imports(file):
    """Names of what a module imports, at its top, in functions and for types; also by ``import_module``."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            found |= {ast.unparse(each).strip("'") for each in node.args}
    return found


FOLDERS = [
    *(f"dgsuite/core/{name}" for name in ("engine", "exchange", "executors", "running", "workers")),
    *("partition/client", "partition/graph"),
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_circle(folder):
    package = f"dgsuite.{folder.removeprefix('dgsuite/').replace('/', '.')}"
    files = {f"{package}.{file.stem}": file for file in (ROOT / folder).glob("*.py")}
    graph = {name: imports(file) & files.keys() - {name} for name, file in files.items()}
    assert [*TopologicalSorter(graph).static_order()]  # raises CycleError
