"""Finding kernels and parameters: `dgsuite.kernels`, `help` and completion."""

import dataclasses
import inspect
import pydoc
import re
from types import FunctionType

import pytest

import dgsuite
from dgsuite import genval
from dgsuite.kernels import KERNELS
from tests.support.paths import ROOT

HEADING = "Examples\n--------\n"


def public():
    """What the reference pages list: name, value, and which methods of a class."""
    pages = sorted((ROOT / "docs" / "api").glob("*.md"))
    assert pages
    for page in pages:
        for kind, name, options in re.findall(
            r"^\.\. auto(\w+):: (\S+)((?:\n   :.*)*)", page.read_text(), re.MULTILINE
        ):
            value, members = pydoc.locate(name), re.search(":members:(.*)", options)
            if kind != "module":
                chosen = re.findall(r"\w+", members[1]) if members else []
                yield name, value, chosen or (methods(value, options) if members else [])
            elif members:
                here = [n for n, v in vars(value).items() if getattr(v, "__module__", "") == name]
                for each in getattr(value, "__all__", here):
                    if each[0] != "_" and callable(found := getattr(value, each)):
                        yield f"{name}.{each}", found, methods(found, options)
    for name, kernel in KERNELS.items():
        yield name, kernel, []


def methods(cls, options):
    """Names of a class's public methods and properties that a page lists."""
    classes = getattr(cls, "__mro__", ())[: None if "inherited" in options else 1]
    ours = [c for c in classes if c.__module__.split(".")[0] == "dgsuite"]
    kinds = property | classmethod | staticmethod | FunctionType
    return [n for c in ours for n, v in vars(c).items() if n[0] != "_" and isinstance(v, kinds)]


@pytest.mark.parametrize(("name", "value", "members"), list(public()))
def test_public_names_have_examples(name, value, members):
    """`make docs` runs them. Those of a class may show its methods."""
    text = inspect.getdoc(value)
    shown = text.partition(HEADING)[2]
    assert ">>> " in shown, name
    if not inspect.isclass(value) and inspect.signature(value).parameters:
        assert "Parameters\n----------\n" in text, name
    for method in members:
        function = getattr(value, method)
        alone = inspect.getdoc(function) or ""
        assert HEADING in alone or re.search(rf"\b{method}\b", shown), f"{name}.{method}"
        if HEADING in alone and callable(function):
            taken = [p for p in inspect.signature(function).parameters if p != "self"]
            assert "Parameters\n----------\n" in alone or not taken, f"{name}.{method}"


def test_functions_for_users_are_on_the_reference_pages():
    listed = {value for _, value, _ in public()}
    for package in (dgsuite, genval):
        for name in package.__all__:
            value = getattr(package, name)
            assert not inspect.isfunction(value) or value in listed, f"{package.__name__}.{name}"


def test_completion_offers_public_names():
    assert dir(dgsuite) == sorted(dgsuite.__all__)
    assert all(hasattr(dgsuite, name) for name in dir(dgsuite))


def test_kernels_are_listed_with_a_line_each():
    kernels = dgsuite.list_kernels()
    lines = repr(kernels).splitlines()
    assert [line.split()[0] for line in lines] == list(kernels) == dir(kernels) == sorted(KERNELS)
    for line in lines:
        assert line.endswith("."), "the first line of a docstring is a sentence"
        assert len(line) <= 110


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_help_describes_each_parameter_and_output(name):
    kernel, function = KERNELS[name], getattr(dgsuite.list_kernels(), name)
    text = pydoc.render_doc(function, renderer=pydoc.plaintext)
    for field in dataclasses.fields(kernel):
        if not field.init or (field.name == "faithful" and kernel.both_forms() is None):
            assert field.name not in inspect.signature(function).parameters
            continue
        assert inspect.signature(function).parameters[field.name].default == field.default
        (line,) = (row for row in text.splitlines() if row.strip().startswith(f"{field.name} : "))
        after = text.partition(line)[2].splitlines()[1]
        assert after.startswith(8 * " "), f"no class describes {field.name}"
    assert all(f"{output}: " in text for output in kernel.outputs)


def test_a_kernel_of_the_list_runs():
    graph = dgsuite.Graph.from_edges([0, 1], [1, 2], clusters=2, client=None)
    found = dgsuite.list_kernels().bfs(graph, root=2, style="serial")
    assert found.attrs["title"] == "bfs on 3 nodes, serial"
    assert found.level.values.tolist() == [2, 1, 0]
    with pytest.raises(AttributeError, match="did you mean 'pagerank'"):
        _ = dgsuite.list_kernels().pagerankk
    with pytest.raises(KeyError):
        dgsuite.list_kernels()["pagerankk"]
