"""The list of kernels, for people: `list_kernels()`, and what `help` says of each."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from textwrap import indent
from typing import TYPE_CHECKING, Any, NamedTuple

from dgsuite.base.aliases import ALIASES, kernel_of, unknown_kernel
from dgsuite.core.parameters import described
from dgsuite.kernels import KERNELS, forms_of
from dgsuite.kernels.bsp import NETWORKS, Kernel, Weighted

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.partition.graph.graph import Graph


HEADING = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
"""Where a section of a docstring begins."""


class Kernels(Mapping[str, Callable[..., "xr.Dataset"]]):
    """The kernels by their short names, as items and as attributes; each is a function that runs it."""

    def __getitem__(self, name: str) -> Callable[..., xr.Dataset]:
        if name not in KERNELS and name not in ALIASES:
            raise KeyError(name)
        return _function(kernel_of(name, KERNELS))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(KERNELS))

    def __len__(self) -> int:
        return len(KERNELS)

    def __getattr__(self, name: str) -> Callable[..., xr.Dataset]:
        if name in KERNELS or name in ALIASES:
            return self[name]
        raise AttributeError(unknown_kernel(name, KERNELS))

    def __dir__(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return listing()


def list_kernels() -> Kernels:
    """The kernels, with a line for each.

    Returns
    -------
    Kernels
        A mapping from short names to functions, which are its attributes as well. A function takes the graph,
        the kernel's parameters and those of `dgsuite.run`; ``help`` describes them.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> dgsuite.list_kernels().bfs(graph, root=1).level.values
    array([1, 0, 1, 2], dtype=int32)
    """
    return Kernels()


def listing() -> str:
    """The kernels as text, a line for each."""
    width = max(map(len, KERNELS))
    return "\n".join(f"{name:<{width}}  {summary(KERNELS[name])}" for name in sorted(KERNELS))


def summary(kernel: type[Kernel]) -> str:
    """The first line of a kernel's docstring."""
    return sections(kernel)[""].partition("\n")[0]


@cache
def _function(name: str) -> Callable[..., xr.Dataset]:
    """A function that runs a kernel, with the parameters and the docstring of the kernel."""
    kernel = KERNELS[name]

    def run(graph: Graph, **parameters: Any) -> xr.Dataset:
        from dgsuite.core.running.runner import run

        return run(name, graph, **parameters)

    given = inspect.Parameter
    defaults = {f.name: f.default for f in dataclasses.fields(kernel)}
    own = [given(name, given.KEYWORD_ONLY, default=defaults[name]) for name in _parameters(kernel)]
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [given("graph", given.POSITIONAL_OR_KEYWORD), *own, given("options", given.VAR_KEYWORD)]
    )
    run.__name__ = run.__qualname__ = name
    run.__doc__ = _help(kernel)
    return run


def _help(kernel: type[Kernel]) -> str:
    """What `help` says of a kernel."""
    said = sections(kernel)
    forms = "".join(
        f'\n\nIt also has a {form} form: ``form="{form}"``.'
        for form in forms_of(kernel.name)
        if form != kernel.form
    )
    outputs = "\n".join(
        f"    {name}: {output.long_name.format(none='no node')}"
        for name, output in kernel.outputs.items()
    )
    rest = "".join(
        f"\n{name}\n{'-' * len(name)}\n{text}\n"
        for name, text in said.items()
        if name not in ("", "Parameters")
    )
    return (
        f"{said['']}{forms}\n\nNetworks that it takes, by ``network=``: {networks_of(kernel)}.\n\n"
        f"Parameters\n----------\n"
        f"graph : dgsuite.Graph\n    Graph to run on.\n{parameters(kernel)}\n"
        f"options\n    Such as ``style=``, ``clusters=`` or ``client=``: see `dgsuite.run`.\n\n"
        f"Returns\n-------\nxarray.Dataset\n    As of `dgsuite.run`, with the outputs\n\n{outputs}\n{rest}"
    )


def parameters(kernel: type[Kernel]) -> str:
    """The entries of a section "Parameters", with types and defaults."""
    defaults = {f.name: f.default for f in dataclasses.fields(kernel)}
    return "\n".join(
        f"{name} : {described(kernel, name)}, default {defaults[name]!r}\n{indent(text, '    ')}"
        for name, text in _parameters(kernel).items()
    )


def _parameters(kernel: type[Kernel]) -> dict[str, str]:
    """Each parameter that makes a difference, and what the class says of it, or the first base that does."""
    said: dict[str, str] = {}
    for base in kernel.__mro__:
        if issubclass(base, Kernel):
            said = {**_section(base), **said}
    own = [f.name for f in dataclasses.fields(kernel) if f.init]
    order = sorted(own, key=lambda name: name in ("seed", "faithful"))
    return {
        name: said.get(name, "")
        for name in order
        if name != "faithful" or kernel.both_forms() is not None
    }


def sections(kernel: type[Kernel]) -> dict[str, str]:
    """What a class's own docstring says, by heading; what comes before the first heading is ``""``."""
    first, *rest = HEADING.split(inspect.cleandoc(kernel.__dict__.get("__doc__") or ""))
    named = {name: text.strip() for name, text in zip(rest[::2], rest[1::2], strict=True)}
    return {"": first.strip(), **named}


BOUND = re.compile(r"(at most|exactly) (?:``([^`]+)``|`(\w+)`)(?![^:;,.])")
"""A sentence that says how many there are, in the letters of docs/kernels.md."""


class Claim(NamedTuple):
    """What a kernel's docstring says of a count of its runs."""

    status: str
    """"exactly" or "at most", of every graph; "expected", as the mean over seeds; or "measured": it is known
    from runs alone.
    """
    bound: str = ""
    """In the letters of docs/kernels.md; "" where there is none for every graph."""


def claims(kernel: type[Kernel]) -> dict[str, Claim]:
    """What a kernel's docstring says of its rounds, exchanges and messages."""
    said = costs(kernel)
    found = {}
    for what in ("Rounds", "Exchanges", "Messages"):
        sentence = said.get(what, "")
        if bound := BOUND.match(sentence):
            found[what.lower()] = Claim(bound[1], bound[2] or bound[3])
        else:
            found[what.lower()] = Claim("expected" if "expected" in sentence else "measured")
    return found


def costs(kernel: type[Kernel]) -> dict[str, str]:
    """What a kernel's docstring says of its "Rounds", "Exchanges" and "Messages"."""
    lines = sections(kernel).get("Notes", "").split("\n\n")
    return {name: " ".join(text.split()) for name, _, text in (x.partition(": ") for x in lines)}


def _section(kernel: type[Kernel]) -> dict[str, str]:
    """The parameters that a class's own docstring describes."""
    said: dict[str, list[str]] = {}
    for line in sections(kernel).get("Parameters", "").splitlines():
        if line.startswith(" "):
            list(said.values())[-1].append(line.strip())
        else:
            said[line] = []
    return {name: "\n".join(lines) for name, lines in said.items()}


def takers(kind: str) -> list[str]:
    """Kernels that take networks of a kind, by name; of `NETWORKS`."""
    return [name for name in sorted(KERNELS) if kind not in KERNELS[name]().unfit()]


def networks_of(kernel: type[Kernel]) -> str:
    """The kinds of networks that a kernel takes, for people."""
    taken = kinds_of(kernel())
    if not issubclass(kernel, Weighted):
        return ", ".join(taken) or "none"
    weighted = kinds_of(kernel(weighted=True))
    with_weights = "" if weighted == taken else f"; with weights {', '.join(weighted) or 'none'}"
    return (", ".join(taken) or "none") + with_weights


def kinds_of(kernel: Kernel) -> list[str]:
    """The kinds of networks that a kernel takes."""
    unfit = kernel.unfit()
    return [kind for kind in NETWORKS if kind not in unfit]
