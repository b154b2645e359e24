"""Histories of executions: linearizable operations, stays that do not overlap, orders of messages, clocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, one_of
from dgsuite.core.results.dataset import variable
from dgsuite.genval.rules.events import overlapping
from dgsuite.studies.lab.executions import Execution

MODELS: dict[str, Callable[[int, bool, int], int | None]] = {
    "register": lambda held, writes, value: value if writes else held if held == value else None,
    "counter": lambda held, adds, value: held + value if adds else held if held == value else None,
}
"""What an object holds after an operation, given what it held, or None if the operation cannot be next."""


def linearizable(
    history: Mapping[str, Any] | xr.Dataset, model: str = "register", initial: int = 0
) -> bool:
    """Whether operations could have been one after the other, each at a moment between its two ends.

    All orders that keep to real time are tried, depth first; what was reached once is not tried again (Wing
    and Gong, Testing and verifying concurrent objects, JPDC 1993; Lowe 2017).

    Parameters
    ----------
    history
        ``begin`` and ``end``, ticks, or -1 for never; ``writes``, whether it changes the object; and
        ``value``, what is written, added or read. Arrays of one shape, such as the outputs of "abd".
        An operation without an end may have had its effect, or not.
    model
        "register", or "counter", to which values are added.
    initial
        What the object holds at first.

    Raises
    ------
    InputError
        There is no such model, or an operation ends before it begins.

    Examples
    --------
    A value cannot be read before it is written:

    >>> import dgsuite
    >>> history = {"begin": [1, 5], "end": [3, 9], "writes": [False, True], "value": [7, 7]}
    >>> dgsuite.lab.linearizable(history)
    False
    >>> dgsuite.lab.linearizable({**history, "end": [6, 9]})
    True
    """
    one_of("model", model, MODELS)
    columns = (np.asarray(history[name]).ravel() for name in ("begin", "end", "writes", "value"))
    begin, end, writes, value = columns
    wrong = np.flatnonzero((end >= 0) & ((begin < 0) | (end < begin)))
    if len(wrong):
        raise InputError(
            f"operation {wrong[0]} begins at {begin[wrong[0]]}, and ends at {end[wrong[0]]}"
        )
    some = np.flatnonzero((end >= 0) | ((begin >= 0) & (writes != 0)))
    some = some[np.argsort(begin[some], kind="stable")]
    first, last = begin[some].tolist(), np.where(end[some] < 0, np.inf, end[some]).tolist()
    changes, values = (writes[some] != 0).tolist(), value[some].tolist()
    after, must = MODELS[model], sum(1 << i for i, tick in enumerate(last) if tick < np.inf)
    stack, seen = [(0, initial)], {(0, initial)}
    while stack:
        done, held = stack.pop()
        if done & must == must:
            return True
        bound = np.inf
        for i in range(len(first)):  # by beginning: none after the bound can be next
            if done >> i & 1:
                continue
            if first[i] > bound:
                break
            bound = min(bound, last[i])
            new = after(held, changes[i], values[i])
            key = done | 1 << i, new
            if new is not None and key not in seen:
                seen.add(key)  # type: ignore[arg-type]
                stack.append(key)  # type: ignore[arg-type]
    return False


def exclusive(history: Mapping[str, Any] | xr.Dataset) -> bool:
    """Whether no two stays overlap.

    Parameters
    ----------
    history
        ``enter`` and ``leave``, ticks, or -1 for never: arrays of one shape, such as the outputs of
        "ricart_agrawala".

    Examples
    --------
    >>> import dgsuite
    >>> dgsuite.lab.exclusive({"enter": [1, 4], "leave": [4, -1]})
    True
    >>> dgsuite.lab.exclusive({"enter": [1, 3], "leave": [4, -1]})
    False
    """
    return not len(overlapping(*(np.asarray(history[name]) for name in ("enter", "leave"))))


def clocks(execution: Execution) -> xr.Dataset:
    """The logical clocks of an execution: Lamport's (1978), and vectors (Fidge 1988, Mattern 1989).

    A node's clocks go on when messages arrive at it and when it sends.

    Parameters
    ----------
    execution
        Of any kernel.

    Returns
    -------
    ``lamport``, by moment and node, and ``vector``, by moment, node and other node, as they are after each
    phase.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.lab.clocks(dgsuite.lab.Execution("bfs", graph))
    >>> ds.lamport.values[-1]
    array([3, 4, 3, 4])
    """
    *_, lamport, vector = _timed(execution)
    return xr.Dataset(
        {
            "lamport": variable(("moment", "node"), lamport, "Lamport's clock"),
            "vector": variable(("moment", "node", "other"), vector, "vector clock"),
        }
    )


def arrives_in_order(execution: Execution, order: str = "fifo") -> bool:
    """Whether messages arrive in the order of sending.

    Parameters
    ----------
    execution
        Of any kernel.
    order
        "fifo": those from one node to another. "causal": also those from several, where the sending of one
        has happened before that of the other (Lamport 1978).

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> slow = dgsuite.Network(delay=("uniform", 1, 9), fifo=True)
    >>> execution = dgsuite.lab.Execution("ricart_agrawala", genval.graph("cplt", 4), network=slow)
    >>> dgsuite.lab.arrives_in_order(execution), dgsuite.lab.arrives_in_order(execution, "causal")
    (True, False)
    """
    one_of("order", order, ("fifo", "causal"))
    sent, due, src, dst, _, vector = _timed(execution)
    own = vector[sent, src, src]
    for node in np.unique(dst):
        at = np.flatnonzero(dst == node)
        knows = vector[sent[at][:, None], src[at][:, None], src[at][None, :]]  # of one, by another
        before = knows >= own[at][None, :]
        before &= (sent[at][:, None] > sent[at][None, :]) | (knows > own[at][None, :])
        if order == "fifo":
            before &= src[at][:, None] == src[at][None, :]
        if (before & (due[at][:, None] < due[at][None, :])).any():
            return False
    return True


def _timed(execution: Execution) -> tuple[NDArray, ...]:
    """Moments of sending and arrival, senders and receivers of messages that arrive; then both clocks."""
    n = execution.graph.n
    lamport, vector = np.zeros(n, np.int64), np.zeros((n, n), np.int64)
    kept: list[tuple[NDArray, NDArray]] = []
    messages = [np.empty(0, np.int64)] * 4
    for now, moment in enumerate(execution.moments()):
        sent, due, src, dst = messages
        here = due == now
        acts = np.zeros(n, bool)
        acts[dst[here]] = acts[moment.messages.sender] = True
        for at in np.unique(sent[here]):
            these = here & (sent == at)
            np.maximum.at(lamport, dst[these], kept[at][0][src[these]])
            np.maximum.at(vector, dst[these], kept[at][1][src[these]])
        lamport[acts] += 1
        vector[acts, acts] += 1
        kept.append((lamport.copy(), vector.copy()))
        m = moment.messages
        there = ~(m.lost | m.unheard)
        arrival = m.fields.get("due", np.full(len(m), now + 1))[there]
        new = np.full(len(arrival), now), arrival, m.sender[there], m.receiver[there]
        messages = [np.append(old, more) for old, more in zip(messages, new, strict=True)]
    clock = zip(*kept, strict=True) if kept else (np.empty((0, n)), np.empty((0, n, n)))
    return *messages, *map(np.array, clock)
