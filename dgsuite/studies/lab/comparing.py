"""Where two executions first differ."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.studies.lab.executions import Execution, States


class Difference(NamedTuple):
    """Where two executions first differ.

    Attributes
    ----------
    round, phase
        After which phase.
    fields
        Fields of the kernel's state that differ; none where one execution has another phase, or ended before.
    nodes
        Nodes whose states differ: labels, or node ids.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> runs = [dgsuite.lab.Execution("mis", graph, seed=seed) for seed in (1, 2)]
    >>> dgsuite.lab.compare(*runs).fields
    ('number',)
    """

    round: int
    phase: str
    fields: tuple[str, ...]
    nodes: NDArray

    def __str__(self) -> str:
        if not self.fields:
            return f"round {self.round}, phase {self.phase!r}: only one execution has it"
        some = ", ".join(map(str, self.nodes[:5].tolist())) + ", ..." * (len(self.nodes) > 5)
        return (
            f"round {self.round}, phase {self.phase!r}: {', '.join(self.fields)} of "
            f"{len(self.nodes)} nodes ({some})"
        )


def compare(one: Execution, other: Execution) -> Difference | None:
    """The first phase after which two executions differ, and the nodes whose states do.

    Parameters
    ----------
    one, other
        Of kernels with the same state, on graphs with as many nodes.

    Returns
    -------
    None where all nodes know the same after every phase.

    Raises
    ------
    InputError
        The graphs have not as many nodes.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> lossy = dgsuite.Network(drops=[(0, 1, 2)])
    >>> runs = [dgsuite.lab.Execution("bfs", graph, network=n) for n in (None, lossy)]
    >>> print(dgsuite.lab.compare(*runs))
    round 1, phase 'visit': level, parent, unseen of 1 nodes (2)
    """
    if one.graph.n != other.graph.n:
        raise InputError(
            f"executions on {one.graph.n} and {other.graph.n} nodes have no states in common"
        )
    for mine, yours in zip_longest(one.phases(), other.phases()):
        if mine is None or yours is None or mine[0][:2] != yours[0][:2]:
            step, _ = mine or yours
            return Difference(step.round, step.phase, (), np.empty(0, np.int64))
        step, apart = mine[0], np.zeros(one.graph.n, bool)
        named = []
        for name in mine[1].keys() | yours[1].keys():
            rows = differing(mine[1].get(name), yours[1].get(name), one.graph.n)
            if rows.any():
                named.append(name)
                apart |= rows
        if named:
            nodes: NDArray = np.flatnonzero(apart)
            if one.graph.labels is not None:
                nodes = one.graph.labels.array[nodes]
            return Difference(step.round, step.phase, tuple(sorted(named)), nodes)
    return None


def changed(before: States, states: States, n: int) -> NDArray[np.bool_]:
    """Which nodes have another value of a field that both states have."""
    found = np.zeros(n, bool)
    for name in before.keys() & states.keys():
        found |= differing(before[name], states[name], n)
    return found


def differing(mine: NDArray | None, yours: NDArray | None, n: int) -> NDArray[np.bool_]:
    """Which nodes have other values."""
    if mine is None or yours is None or mine.shape != yours.shape:
        return np.ones(n, bool)
    return np.any(~same(mine, yours).reshape(n, -1), axis=1)  # type: ignore[no-any-return]


def same(mine: NDArray, yours: NDArray) -> NDArray[np.bool_]:
    """Which values of two arrays are the same; NaN is the same as NaN."""
    return (mine == yours) | ((mine != mine) & (yours != yours))
