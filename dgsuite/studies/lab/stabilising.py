"""Whether the states of an execution are legitimate, round by round, by the rule of a validator."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import xarray as xr

from dgsuite import genval
from dgsuite.base.errors import InputError
from dgsuite.core.results.dataset import variable
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.comparing import changed
from dgsuite.studies.lab.executions import Execution, States
from dgsuite.studies.network.names import whole

ROUNDS = 10_000
"""After which an execution is left, by default."""


def legitimacy(
    kernel: str | type[Kernel] | Kernel,
    graph: Graph,
    *,
    judged_as: str | None = None,
    max_rounds: int = ROUNDS,
    **how: Any,
) -> xr.Dataset:
    """Whether the outputs after each round are right, by a validator that knows nothing of the algorithm.

    For small graphs: every state is validated.

    Parameters
    ----------
    kernel, graph
        As of `dgsuite.run`. Outputs must have a value for each node.
    judged_as
        The kernel whose validator judges; by default that of the kernel itself.
    max_rounds
        Rounds after which the execution is left, if it has not ended. That is no error.
    how
        Parameters of the kernel, ``seed`` and ``network``.

    Returns
    -------
    Dataset with dim round: ``legitimate``, 1 if the outputs are right and 0 if not; ``violations`` of the
    rule; ``changed``, the nodes whose outputs have changed, in round 0 all; and ``moved``, of kernels that
    count moves. Attributes: ``convergence``, the first round from which on the outputs are right up to the
    end, -1 if there is none; ``closure``, 1 if right outputs stayed right in every round in which no fault of
    the kernel struck; ``terminated``, 1 if the execution has ended by itself.

    Raises
    ------
    InputError
        A parameter is wrong, the kernel has no validator, or an output is no array by node.

    Examples
    --------
    A set that is wrong at first becomes right, and is broken by a fault in round 8:

    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.lab.legitimacy("stable_mis", graph, begin={"in_mis": 1}, faults={8: 0.5})
    >>> ds.legitimate.values, ds.convergence, ds.closure
    (array([0, 0, 0, 0, 0, 0, 1, 1, 0, 1]), 9, 1)
    """
    execution = Execution(kernel, graph, **how)
    made, plain = execution.kernel, graph
    if graph.labels is not None:  # kernels see node ids for labels
        plain = graph.like(graph.parts, graph.entries, labels=None)
    name = made.name if judged_as is None else judged_as
    whole("max_rounds", max_rounds, 1)
    facts = {f.name: getattr(made, f.name) for f in fields(made)}
    facts = {key: value for key, value in facts.items() if value is not None}
    columns: dict[str, list[int]] = {"violations": [], "changed": [], "moved": []}
    before: States | None = None
    terminated = 1
    for step, states in execution.phases():
        if not step.last:
            continue
        outputs = {key: states[key].copy() for key in made.outputs if key in states}
        if missing := made.outputs.keys() - outputs.keys():
            raise InputError(f"{min(missing)!r} of kernel {made.name!r} has no value for each node")
        columns["violations"].append(genval.validate(name, plain, {**facts, **outputs}).count)
        told = {key: values for key, values in outputs.items() if key != "moves"}
        new = graph.n if before is None else int(changed(before, told, graph.n).sum())
        columns["changed"].append(new)
        if "moves" in outputs:
            earlier = 0 if before is None else int(before["moves"].sum())
            columns["moved"].append(int(outputs["moves"].sum()) - earlier)
        before = outputs
        if step.round + 1 == max_rounds:
            terminated = 0
            break
    return _dataset(made, graph, columns, terminated)


def _dataset(
    kernel: Kernel, graph: Graph, columns: dict[str, list[int]], terminated: int
) -> xr.Dataset:
    violations, changed, moved = (np.array(column, np.int64) for column in columns.values())
    right = violations == 0
    struck = [r for r in getattr(kernel, "struck", ()) if r < len(right)]
    kept = right[1:] | ~right[:-1]
    kept[np.array(struck, np.int64) - 1] = True
    wrong = np.flatnonzero(~right)
    first = int(wrong[-1]) + 1 if len(wrong) else 0
    made = {
        "legitimate": variable("round", right.astype(np.int64), "whether the outputs are right"),
        "violations": variable("round", violations, "violations of the rule"),
        "changed": variable("round", changed, "nodes whose outputs have changed"),
    }
    if len(moved):
        made["moved"] = variable("round", moved, "moves of nodes")
    attrs = {"kernel": kernel.name, "n": graph.n, "m": graph.m, "seed": kernel.seed}
    attrs |= {"convergence": first if first < len(right) else -1}
    return xr.Dataset(made, attrs={**attrs, "closure": int(kept.all()), "terminated": terminated})
