"""What the code of the product does alike everywhere."""

import ast
import gc
import importlib
import sys

import pytest

from tests.support.sources import calls, name_of, trees

THREADS = {
    "dgsuite/base/threads.py": "it is the place",
    "dgsuite/base/command.py": "a command is not yet a task",
    "dgsuite/core/running/progress.py": "a client draws it",
}
"""Files that make threads themselves, and why these are not bound with a task of a run."""

POOLS = {
    "dgsuite/core/engine/workload.py": "tasks with helpers are not bound",
    "dgsuite/studies/report/claims/scc_definitions.py": "a client measures",
}
"""The same of pools."""


@pytest.mark.parametrize(("kind", "places"), [("Thread", THREADS), ("ThreadPoolExecutor", POOLS)])
def test_threads_are_not_bound_with_the_task_that_starts_them(kind, places):
    assert {place.partition(":")[0] for place in calls(kind)} == {*places}


def with_del():
    """The classes that have `__del__`."""
    for path, tree in trees().items():
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and any(
                isinstance(each, ast.FunctionDef) and each.name == "__del__" for each in node.body
            ):
                name = module if module.startswith("dgsuite") else f"dgsuite.{module}"
                yield getattr(importlib.import_module(name), node.name)


def test_objects_that_were_not_made_whole_end_without_an_error(monkeypatch):
    """As where `__init__` has raised. A finalizer that is registered with what it ends needs no `__del__`."""
    unraised = []
    monkeypatch.setattr(sys, "unraisablehook", unraised.append)
    for kind in with_del():
        kind.__new__(kind)
    gc.collect()
    assert not [(hook.object, hook.exc_value) for hook in unraised]


SWALLOWED = {"dgsuite/studies/chem/molecule.py": "PySCF says that it lacks a set by any error"}
"""Files that take every error for an answer, and why."""

EVERY = {"Exception", "BaseException"}


def swallowing(tree):
    """Lines that catch every error, and neither raise one nor say what it was."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) == "suppress":
            if EVERY & set(map(name_of, node.args)):
                yield node.lineno
        elif isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            inside = [each for line in node.body for each in ast.walk(line)]
            names = {each.id for each in inside if isinstance(each, ast.Name)}
            raises = any(isinstance(each, ast.Raise) for each in inside)
            every = node.type is None or EVERY & set(map(name_of, kinds))
            if every and not (raises or node.name in names):
                yield node.lineno


def test_no_error_is_swallowed():
    found = {path for path, tree in trees().items() if [*swallowing(tree)]}
    assert found == {*SWALLOWED}
