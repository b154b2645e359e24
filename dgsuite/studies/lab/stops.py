"""What is shown of an execution: a stop after each phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.messages import NONE, Messages

if TYPE_CHECKING:
    from dgsuite.studies.lab.executions import Execution, States

MOST_NODES = 300
"""Nodes of an execution that can be shown."""

MOST_MESSAGES = 200_000
"""Messages of an execution that can be shown, and states of single nodes."""


class Stop(NamedTuple):
    """Where a slider can stop: after a phase, or before the first one."""

    round: int
    phase: str
    states: States
    messages: Messages
    crashed: NDArray[np.bool_]
    away: NDArray[np.bool_]


def stops_of(execution: Execution) -> list[Stop]:
    """What is shown of an execution, from before its first phase on.

    Raises
    ------
    InputError
        It is too long.
    """
    nobody = np.zeros(execution.graph.n, bool)
    found = [Stop(0, "", execution.initial(), NONE, nobody, nobody)]
    count = 0
    for step, states, sent, crashed, away in execution.moments():
        count += len(sent) + execution.graph.n
        if count > MOST_MESSAGES:
            raise InputError(
                f"the execution is too long to show: by round {step.round} it has more than {MOST_MESSAGES} "
                f"messages and states; end it before with max_rounds={max(step.round, 1)}"
            )
        found.append(Stop(step.round, step.phase, states, sent, crashed, away))
    return found


def check_size(execution: Execution) -> None:
    """Check that an execution can be shown.

    Raises
    ------
    InputError
        Its graph is too large.
    """
    if (n := execution.graph.n) > MOST_NODES:
        raise InputError(
            f"an execution on {n} nodes is too large to show; take a graph of up to {MOST_NODES}"
        )


def names(graph: Graph) -> list[str]:
    """What the nodes are called."""
    found = np.arange(graph.n) if graph.labels is None else graph.labels.array
    return [str(label) for label in found.tolist()]
