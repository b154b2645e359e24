"""Validators: whether an output has the property that defines a right answer.

None compares with an algorithm of our own. The rules are in `genval.rules`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from genval.report import Found, Report
from genval.rules import committees, leaders, paths, routing, search, sets, trees
from genval.rules.base import Job
from partition.errors import InputError
from partition.graph import Graph


class Validator(NamedTuple):
    """The outputs that a rule needs, with their numbers of dimensions, the rule, and which of the
    outputs need not be whole numbers.
    """

    outputs: dict[str, int]
    rule: Callable[[Job], list[Found]]
    real: str | None = None


VALIDATORS: dict[str, Validator] = {
    "bc": Validator({"betweenness": 1}, paths.bc, "betweenness"),
    "bf": Validator({"distance": 1}, search.bf),
    "bfs": Validator({"level": 1, "parent": 1}, search.bfs),
    "bfs2d": Validator({"level": 1, "parent": 1}, search.bfs),
    "by": Validator({"decision": 1, "vote": 1, "traitor": 1}, leaders.by),
    "dp": Validator({"leader": 1}, leaders.leader),
    "dr": Validator({"cost": 2, "next_hop": 2}, routing.dr, "cost"),
    "ds": Validator({"in_ds": 1}, sets.ds),
    "dst": Validator({"distance": 1, "parent": 1}, search.dst),
    "hs": Validator({"leader": 1}, leaders.leader),
    "kc": Validator({"committee": 1}, committees.kc),
    "lcr": Validator({"leader": 1}, leaders.leader),
    "mis": Validator({"in_mis": 1}, sets.mis),
    "mst": Validator({"parent": 1}, trees.mst),
    "sssp": Validator({"distance": 1, "parent": 1}, search.sssp, "distance"),
    "vc": Validator({"colour": 1}, sets.vc),
}
"""Validators by kernel."""


def validate(kernel: str, graph: Graph, results: Any) -> Report:
    """Check the output of a kernel.

    Parameters
    ----------
    kernel
        Its name.
    graph
        The graph it ran on, in this process or on workers.
    results
        A mapping, such as the dataset of a run, from each output's name to one value a node (for
        "dr" a row a node). Facts such as ``root`` and ``k`` are taken from it, its attributes or its
        parameters; otherwise from the graph.

    Returns
    -------
    Report, which lists the first violations and counts all.

    Raises
    ------
    InputError
        No validator for this kernel; an output is missing, has the wrong shape, or is of a kind
        that no output of this kernel is; a fact is not possible.
    """
    if kernel not in VALIDATORS:
        raise InputError(f"no validator for kernel {kernel!r}; there are {', '.join(VALIDATORS)}")
    names, rule, real = VALIDATORS[kernel]
    outputs = {
        name: _output(kernel, graph.n, name, d, results, "f" if name == real else "")
        for name, d in names.items()
    }
    report = Report(kernel)
    for found in rule(Job(graph, outputs, results)):
        report.add(found)
    return report


def _output(kernel: str, n: int, name: str, dimensions: int, results: Any, more: str) -> NDArray:
    """One output as numbers, one a node or one a pair of nodes; whole ones, or of `more` kinds."""
    if name not in results:
        raise InputError(f"the results of {kernel!r} have no {name!r}")
    values = np.asarray(results[name])
    if values.shape != (n,) * dimensions:
        what = "each" if dimensions == 1 else "each pair"
        raise InputError(
            f"{name!r} must have one value for {what} of {n} nodes, its shape is {values.shape}"
        )
    if values.dtype.kind not in "biu" + more:
        raise InputError(f"{name!r} must be whole numbers or flags, its dtype is {values.dtype}")
    if values.dtype.kind == "u":  # differences of unsigned numbers wrap
        if values.max(initial=0) > np.iinfo(np.int64).max:
            raise InputError(f"{name!r} must be below 2^63, it has {values.max()}")
        return values.astype(np.int64)
    return values
