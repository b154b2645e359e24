"""Finding kernels and parameters: `dgsuite.kernels`, `help` and completion."""

from __future__ import annotations

import dataclasses
import inspect
import pydoc

import pytest

import dgsuite
import genval
from dgsuite.accessor import Accessor, Plots
from kernels import KERNELS, MIS


def public():
    """The functions, methods and kernels that people call, by name."""
    for package in (dgsuite, genval):
        for name in package.__all__:
            if inspect.isfunction(value := getattr(package, name)):
                yield f"{package.__name__}.{name}", value
    for cls in (dgsuite.Graph, Accessor, Plots):
        for name in dir(cls):
            if not name.startswith("_") and inspect.isroutine(value := getattr(cls, name)):
                yield f"{cls.__name__}.{name}", value
    yield from KERNELS.items()


@pytest.mark.parametrize(("name", "function"), list(public()))
def test_public_functions_have_examples(name, function):
    """`make docs` runs them."""
    text = inspect.getdoc(function)
    assert "Examples\n--------\n" in text, name
    assert ">>> " in text.partition("Examples\n--------\n")[2]
    taken = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
    if taken and name not in KERNELS:
        assert "Parameters\n----------\n" in text, name


def test_completion_offers_public_names():
    assert dir(dgsuite) == sorted(dgsuite.__all__)
    assert all(hasattr(dgsuite, name) for name in dir(dgsuite))


def test_kernels_are_listed_with_a_line_each():
    kernels = dgsuite.kernels()
    lines = repr(kernels).splitlines()
    assert [line.split()[0] for line in lines] == list(kernels) == dir(kernels) == sorted(KERNELS)
    for line in lines:
        assert line.endswith("."), "the first line of a docstring is a sentence"
        assert len(line) <= 110
    page = kernels._repr_html_()
    assert page.count("<tr>") == 1 + len(KERNELS)
    assert "<td style='text-align:left'>root, direction, seed</td>" in page


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_help_describes_each_parameter_and_output(name):
    kernel, function = KERNELS[name], getattr(dgsuite.kernels(), name)
    text = pydoc.render_doc(function, renderer=pydoc.plaintext)
    for field in dataclasses.fields(kernel):
        if field.name == "faithful" and kernel._forms is None:
            assert "faithful" not in inspect.signature(function).parameters
            continue
        assert inspect.signature(function).parameters[field.name].default == field.default
        (line,) = (
            line for line in text.splitlines() if line.strip().startswith(f"{field.name} : ")
        )
        after = text.partition(line)[2].splitlines()[1]
        assert after.startswith(8 * " "), f"no class describes {field.name}"
    assert all(f"{output}: " in text for output in kernel.outputs)


def test_a_kernel_of_the_list_runs():
    graph = dgsuite.Graph.from_edges([0, 1], [1, 2], clusters=2, client=None)
    found = dgsuite.kernels().bfs(graph, root=2, style="serial")
    assert found.attrs["title"] == "bfs on 3 nodes, serial"
    assert found.level.values.tolist() == [2, 1, 0]
    with pytest.raises(AttributeError, match="did you mean 'pagerank'"):
        _ = dgsuite.kernels().pagerankk
    with pytest.raises(KeyError):
        dgsuite.kernels()["pagerankk"]


def test_help_of_run_lists_the_kernels():
    text = pydoc.render_doc(dgsuite.run, renderer=pydoc.plaintext)
    assert "{kernels}" not in text
    assert all(line in text for line in repr(dgsuite.kernels()).splitlines())
    assert '>>> ds = dgsuite.run("bfs", graph, root=1)' in text
    assert inspect.cleandoc(MIS.__doc__).splitlines()[0] in text
