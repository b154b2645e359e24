"""What is shown of an execution: a stop after each phase."""

from __future__ import annotations

import numpy as np

from dgsuite.base.errors import InputError
from dgsuite.core.engine.program import Step
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.executions import Execution, Moment
from dgsuite.studies.lab.messages import NONE

MOST_NODES = 300
"""Nodes of an execution that can be shown."""

MOST_MESSAGES = 200_000
"""Messages of an execution that can be shown, and states of single nodes."""


def stops_of(execution: Execution) -> list[Moment]:
    """What is shown of an execution, from before its first phase on.

    Raises
    ------
    InputError
        Its graph is too large, or it is too long.
    """
    if (n := execution.graph.n) > MOST_NODES:
        raise InputError(
            f"an execution on {n} nodes is too large to show; take a graph of up to {MOST_NODES}"
        )
    nobody = np.zeros(n, bool)
    found = [Moment(Step(0, "", False, 0), execution.initial(), NONE, nobody, nobody)]
    count = 0
    for moment in execution.moments():
        count += len(moment.messages) + n
        if count > MOST_MESSAGES:
            now = moment.step.round
            raise InputError(
                f"the execution is too long to show: by round {now} it has more than {MOST_MESSAGES} "
                f"messages and states; end it before with max_rounds={max(now, 1)}"
            )
        found.append(moment)
    return found


def names(graph: Graph) -> list[str]:
    """What the nodes are called."""
    found = np.arange(graph.n) if graph.labels is None else graph.labels.array
    return [str(label) for label in found.tolist()]
