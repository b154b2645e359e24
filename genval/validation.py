"""Validators: they check that an output has the properties that define a correct answer.

They do not compare with results of dgsuite's own algorithms. The rules are in `dgsuite.genval.rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.aliases import ALIASES
from dgsuite.base.errors import InputError
from dgsuite.genval.report import Report
from dgsuite.genval.rules.base import Job
from dgsuite.genval.rules.registry import Validator, validators
from dgsuite.partition.graph.checks import check_graph
from dgsuite.partition.graph.dask_views import here
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.labels.labels import Labels

NODES = (
    *("parent", "mate", "component", "label", "community", "committee"),
    *("source", "target", "member", "next_hop", "walk"),
)
"""Names of the outputs that hold nodes."""


VALIDATORS: dict[str, Validator] = validators()
"""Validators by kernel, as the rules declare them."""


def validate(kernel: str, graph: Graph, results: Any) -> Report:
    """Check the output of a kernel.

    Parameters
    ----------
    kernel
        Name of the kernel, or of the function of networkx that it answers.
    graph
        The graph it ran on, in this process or on workers.
    results
        A mapping, such as the dataset of a run, from the name of each output to one value per node (for
        "dr" one row per node). Parameters such as ``root`` and ``k`` are taken from it, from its attributes
        or from the attribute ``parameters``; otherwise from the graph. If the graph has labels, they name
        nodes.

    Returns
    -------
    Report, which counts all violations and lists the first.

    Raises
    ------
    InputError
        There is no validator for this kernel; an output is missing or has the wrong shape or dtype; a
        parameter has an invalid value.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("mis", graph)
    >>> genval.validate("mis", graph, ds).ok
    True
    >>> ds.in_mis[:] = False
    >>> print(genval.validate("mis", graph, ds).violations[0])
    node 0: domination: expected itself or a neighbour in the set, found neither
    """
    check_graph(graph)
    if not isinstance(results, Mapping):
        raise InputError(
            f"results must be a mapping from names of outputs to values, such as the dataset of a run, "
            f"got {type(results).__name__}"
        )
    if isinstance(kernel, str):
        kernel = ALIASES.get(kernel, kernel)
    if not isinstance(kernel, str) or kernel not in VALIDATORS:
        raise InputError(f"no validator for kernel {kernel!r}; there are {', '.join(VALIDATORS)}")
    asked = VALIDATORS[kernel]
    outputs = {name: _output(kernel, graph, name, results) for name in asked.outputs}
    table = {name: len(outputs[name]) for name, nodes in asked.outputs.items() if not nodes}
    if len({*table.values()}) > 1:
        sizes = ", ".join(f"{name!r} has {rows}" for name, rows in table.items())
        raise InputError(f"columns of a table must have the same number of rows: {sizes}")
    report = Report(kernel, labels=graph.labels)
    job = Job(graph, outputs, results)
    checked = asked.rule(job)
    for stage in [checked] if isinstance(checked, list) else checked:
        for found in stage:
            report.add(found)
        if report.count:
            break
    report.level = "necessary" if job.left_out else "complete"
    return report


def _output(kernel: str, graph: Graph, name: str, results: Any) -> NDArray:
    """One output as numbers, one per node or one per pair of nodes."""
    asked = VALIDATORS[kernel]
    n, dimensions = graph.n, asked.outputs[name]
    if name not in results:
        raise InputError(f"the results of {kernel!r} have no {name!r}")
    values = np.asarray(here(results[name]))
    fits = values.shape == (n,) * dimensions if dimensions else values.ndim == 1
    fits |= asked.sampled and values.ndim == dimensions and len(values) == n
    if asked.columns is not None and asked.columns in results:
        several = n, np.size(results[asked.columns])
        fits |= values.ndim == dimensions + 1 and values.shape[:2] == several
    if not fits:
        what = "each pair" if dimensions == 2 else "each"
        raise InputError(
            f"{name!r} must have one value for {what} of {n} nodes, got shape {values.shape}"
        )
    by_label = name in NODES or (name == asked.identifiers and not graph.identified)
    if by_label and graph.labels is not None:
        return _nodes(values, graph.labels)
    if values.dtype.kind not in ("biuf" if name in asked.real else "biu"):
        raise InputError(f"{name!r} must be integers or booleans, got dtype {values.dtype}")
    if values.dtype.kind == "u":  # differences of unsigned numbers wrap
        if values.max(initial=0) > np.iinfo(np.int64).max:
            raise InputError(f"{name!r} must be below 2^63, got {values.max()}")
        return values.astype(np.int64)
    return values


def _nodes(values: NDArray, labels: Labels) -> NDArray[np.int64]:
    """Node ids of labels: -1 for "no node", and -2 for values that are not labels."""
    found = labels.nodes(values, missing=True)
    none = values == None if labels.none is None else values == labels.none  # noqa: E711
    found[(found < 0) & ~none] = -2
    return found
