"""Whether a kernel keeps the promises that all kernels make: `dgsuite.check_kernel`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from dgsuite.base.aliases import kernel_of
from dgsuite.base.errors import DgsuiteError, InputError, RunError
from dgsuite.core.running.runner import run
from dgsuite.genval import graph as generate
from dgsuite.genval import validate
from dgsuite.genval.validation import VALIDATORS
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import UNLIMITED, Kernel
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.comparing import same

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client

GRAPHS: dict[str, dict[str, Any]] = {
    "one node": {"kind": "chain", "n": 1},
    "path": {"kind": "chain", "n": 9},
    "star": {"kind": "star", "n": 8},
    "ring": {"kind": "ring", "n": 8},
    "complete": {"kind": "cplt", "n": 5},
    "tree": {"kind": "tree", "n": 12},
    "random": {"kind": "spmax", "n": 24, "m": 40, "weights": 9},
    "in parts": {"kind": "er", "n": 20, "m": 12},
}
"""Arguments of `dgsuite.genval.graph`."""

FITTING = {
    "ring": ("ring",),
    "complete": ("one node", "complete"),
    "tree": ("one node", "path", "star", "tree"),
    "connected": tuple(name for name in GRAPHS if name != "in parts"),
}
"""By what a kernel needs of a graph: those of `GRAPHS` that have it."""

CUTS: tuple[dict[str, Any], ...] = (
    {"clusters": 2},
    {"clusters": 5},
    {"clusters": 3, "partition": "hash"},
)
"""How nodes are divided among clusters, besides all in one."""

COUNTED = ("messages", "bytes", "exchanges")

FAULTY: dict[str, dict[str, Any]] = {
    "loss": {"loss": 0.2},
    "crashes": {"crashes": 0.2},
    "liars": {"byzantine": {"nodes": 0.2}},
}
"""Networks by kind of fault."""

ROUNDS = 200
"""Rounds at most on a network with faults."""


Chosen = type[Kernel] | Kernel
"""A kernel, or its class."""

Make = Callable[..., Graph]
"""Makes a graph, given how it is cut."""

Given = Mapping[str, Any]
"""Parameters, by name."""


class Check(NamedTuple):
    """One promise, tried on one graph.

    Examples
    --------
    >>> import dgsuite
    >>> dgsuite.check_kernel("mis")[1]
    Check(promise='runs', graph='one node', error='')
    """

    promise: str
    graph: str
    error: str = ""
    """What was wrong; "" if the kernel keeps it."""


def check_kernel(
    kernel: str | type[Kernel] | Kernel,
    *,
    graphs: Mapping[str, Callable[..., Graph]] | None = None,
    client: Client | None = None,
    on_fail: Literal["raise", "return"] = "raise",
    **parameters: Any,
) -> list[Check]:
    """Check that a kernel keeps the promises that all kernels make, on small graphs of several kinds.

    - It does what its model allows (`Kernel.obeys`), and what a checked run allows.
    - Outputs, rounds and counts are the same for any clusters, and again in a second run; with a client, also
      in each style.
    - Its rule, if `dgsuite.genval` has one, finds the outputs valid.
    - A parameter of a wrong type, and one that it does not have, is an `InputError` that names it.
    - On networks with faults it ends, or the kernel says that it does not take them (`Kernel.refuses`).

    Parameters
    ----------
    kernel
        A class, an instance, or the name of one that is listed.
    graphs
        By name, functions that make a graph, given ``clusters=`` and perhaps ``partition=`` or ``client=``.
        By default paths, stars, rings, trees, complete and random graphs: those of them that have what the
        kernel needs.
    client
        With one, the kernel also runs on its workers.
    on_fail
        "raise" the first failure as an error, or "return" all checks.
    parameters
        Of the kernel.

    Returns
    -------
    list of Check
        What was tried, with errors.

    Raises
    ------
    RunError
        The kernel does not keep a promise. The message names it, the graph, and what differs.

    Examples
    --------
    >>> import dgsuite
    >>> checks = dgsuite.check_kernel("mis")
    >>> sorted({check.promise for check in checks})[:3]
    ['declares its model', 'ends on networks with faults', 'is the same again']
    """
    chosen = KERNELS[kernel_of(kernel, KERNELS)] if isinstance(kernel, str) else kernel
    found = []
    for check in _checks(chosen, graphs or _graphs(chosen), client, parameters):
        if check.error and on_fail == "raise":
            where = f"kernel {chosen.name!r}, on graph {check.graph!r}"
            raise RunError(f"{where}: not true that it {check.promise}: {check.error}")
        found.append(check)
    return found


def _graphs(kernel: Chosen) -> dict[str, Make]:
    """What makes the graphs for a kernel, by name."""
    fit = [all(name in FITTING.get(need, GRAPHS) for need in kernel.needs) for name in GRAPHS]
    names = [*compress(GRAPHS, fit)]
    found: dict[str, Make] = {name: partial(generate, **GRAPHS[name]) for name in names}
    if not kernel.undirected:
        found |= {f"{name}, directed": partial(found[name], directed=True) for name in names}
    return found


def _checks(
    kernel: Chosen, graphs: Mapping[str, Make], client: Client | None, parameters: Given
) -> Iterator[Check]:
    """All checks, one by one."""
    undeclared = "declare obeys = bsp.Model(...)" if kernel.obeys is UNLIMITED else ""
    yield Check("declares its model", "any", undeclared)
    for name, make in graphs.items():
        yield from _on(kernel, name, make, client, parameters)
    name, make = next(iter(graphs.items()))
    yield from _refused(kernel, make(clusters=1), name, parameters)


def _on(
    kernel: Chosen, name: str, make: Make, client: Client | None, parameters: Given
) -> Iterator[Check]:
    """The checks on one graph."""
    graph = make(clusters=1)
    checked: Any = partial(run, kernel, **{**parameters, "style": "serial", "check": True})
    try:
        whole = checked(graph)
    except DgsuiteError as error:
        yield Check("runs", name, str(error))
        return
    yield Check("runs", name)
    runs = [("is the same again", partial(checked, graph))]
    runs += [("is the same for any clusters", partial(checked, make(**cut))) for cut in CUTS]
    for style in () if client is None else ("clocked", "finish_async"):
        more: dict[str, Any] = {**parameters, "style": style, "client": client}
        spread: Any = partial(run, kernel, make(clusters=2, client=client), **more)
        runs.append(("is the same in every style", spread))
    for promise, again in runs:
        try:
            found = different(kernel, whole, again())
        except DgsuiteError as error:
            found = str(error)
        yield Check(promise, name, found)
    rule = VALIDATORS.get(kernel.name)
    if rule is not None and kernel.outputs.keys() >= rule.outputs.keys():
        report = validate(kernel.name, graph, whole)
        yield Check("obeys its rule", name, "" if report.ok else str(report))
    for kind, network in FAULTY.items():
        found = _under(kernel, make(clusters=2), kind, network, parameters)
        yield Check("ends on networks with faults", name, found)


def different(kernel: Chosen, one: xr.Dataset, other: xr.Dataset) -> str:
    """Where two results of a kernel differ, but for what depends on the clusters; "" if nowhere."""
    varying = one.attrs.get("cut_dependent", "").split()
    for name in (*kernel.outputs, *COUNTED):
        if name not in one or name in varying:
            continue
        a, b = one[name].values, other[name].values
        if a.shape != b.shape:
            return f"{name!r} has shapes {a.shape} and {b.shape}"
        apart = np.argwhere(~same(a, b))
        if len(apart):
            at = tuple(apart[0].tolist())
            return f"{name!r} at {', '.join(map(str, one[name].dims))} {at} is {a[at]} and {b[at]}"
    return ""


def _under(kernel: Chosen, graph: Graph, kind: str, network: Given, parameters: Given) -> str:
    """What is wrong with a run on a network with faults."""
    try:
        run(kernel, graph, style="serial", network=network, max_rounds=ROUNDS, **parameters)
    except InputError:  # it says that it does not take them
        return ""
    except Exception as error:
        return f"{kind}: {type(error).__name__}: {error}"
    return ""


def _refused(kernel: Chosen, graph: Graph, name: str, parameters: Given) -> Iterator[Check]:
    """Whether wrong parameters are refused."""
    for parameter in (*(field.name for field in fields(kernel)), "no_parameter"):
        try:
            run(kernel, graph, style="serial", **{**parameters, parameter: object()})
        except InputError as error:
            named = parameter in str(error)
            told = "" if named else f"{parameter!r}: the error does not name it: {error}"
        except Exception as error:
            told = f"{parameter!r}: {type(error).__name__}: {error}"
        else:
            told = f"{parameter!r} is taken, whatever its type"
        yield Check("refuses wrong parameters by an InputError", name, told)
