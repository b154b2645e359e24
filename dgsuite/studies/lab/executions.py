"""Executions phase by phase, with the state of every node, and where two of them differ."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import fields
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.program import Step, reduce_votes, steps
from dgsuite.core.engine.site import Site
from dgsuite.core.parameters import make_kernel
from dgsuite.core.results.dataset import coordinate, variable
from dgsuite.core.running.attempt import as_seen
from dgsuite.core.running.options import RunOptions
from dgsuite.core.running.runner import OPTIONS
from dgsuite.kernels.bsp import Kernel, Vote
from dgsuite.kernels.bsp.state import INITIAL
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.subset import Subset
from dgsuite.partition.graph.graph import Graph

States = dict[str, NDArray]
"""What the nodes know, by field: arrays with an entry for each node."""


class Execution:
    """A run that is repeated phase by phase in this process, with the state of every node.

    Any run can be: in every style and on any workers it goes through the same states.

    Parameters
    ----------
    kernel, graph
        As of `dgsuite.run`; the kernel's form is the iterative one.
    how
        Parameters of the kernel, and of the options of `dgsuite.run` ``seed``, ``network`` and
        ``max_rounds``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> states = dgsuite.lab.Execution("bfs", graph, root=1).states(round=0)
    >>> states.level.values
    array([ 1,  0,  1, -1], dtype=int32)
    """

    def __init__(self, kernel: str | type[Kernel] | Kernel, graph: Graph, **how: Any) -> None:
        wrong = sorted(how.keys() & OPTIONS - {"seed", "network", "max_rounds"})
        if wrong:
            raise InputError(
                f"{wrong[0]} is no option of an execution; it has seed, network, max_rounds and "
                f"the parameters of the kernel"
            )
        options = RunOptions(**{name: how.pop(name) for name in OPTIONS & how.keys()})
        self.kernel = make_kernel(kernel, graph, options.seed, how, "iterative")
        self.graph = graph
        self.guard = options.guard(graph)
        (self._cluster,) = as_seen(graph, self.kernel).repartition(1).gather()

    def __repr__(self) -> str:
        return f"Execution({self.kernel.name!r}, {self.graph!r})"

    def phases(self) -> Iterator[tuple[Step, States]]:
        """Each phase, and what the nodes know after it.

        Yields
        ------
        The phase, with its `round` and its name, `phase`. The arrays are those of the run: copy what is to be
        kept.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> for step, states in dgsuite.lab.Execution("bfs", graph).phases():
        ...     print(step.round, step.phase, states["level"])
        0 wake [ 0 -1 -1 -1]
        0 visit [ 0  1 -1 -1]
        1 visit [ 0  1  2 -1]
        2 visit [0 1 2 3]
        """
        bounds, votes = np.array([0, 1]), list[Vote]()
        lists = _lists(self.kernel, self._cluster)
        site = Site(self.kernel, [self._cluster], bounds, 0, guard=self.guard)

        def reply(over: Sequence[Vote]) -> Callable[[], Vote]:
            reduced = reduce_votes([*over, *votes])
            votes.clear()
            return lambda: reduced

        for step in steps(self.kernel, self.graph.n, reply, self.guard):
            site.step(step)
            votes.append(site.tally.vote)
            site.deliver({})
            yield step, _flat(site.states[0], self._cluster.size, lists)

    def states(self, round: int, phase: str | None = None) -> xr.Dataset:
        """What the nodes know after a phase.

        Parameters
        ----------
        round
            From 0.
        phase
            Name of a phase of that round; by default the last one.

        Raises
        ------
        InputError
            The run has no such phase.
        """
        found, last = None, -1
        for step, states in self.phases():
            if step.round > round:
                break
            last = step.round
            if step.round == round and phase in (None, step.phase):
                found = {name: values.copy() for name, values in states.items()}
        if found is None:
            which = f"round {round}" if phase is None else f"phase {phase!r} of round {round}"
            raise InputError(f"there is no {which}; the last round looked at is {last}")
        dims = ("node", *(f"item_{k}" for k in range(9)))
        nodes = np.arange(self.graph.n) if self.graph.labels is None else self.graph.labels.array
        made = {
            name: variable(dims[: values.ndim], values, f"{name}, of the kernel's state")
            for name, values in found.items()
        }
        return xr.Dataset(made, {"node": coordinate("node", nodes, "node")[1]})


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
        step, differing = mine[0], np.zeros(one.graph.n, bool)
        named = []
        for name in mine[1].keys() | yours[1].keys():
            rows = _rows(mine[1].get(name), yours[1].get(name), one.graph.n)
            if rows.any():
                named.append(name)
                differing |= rows
        if named:
            nodes: NDArray = np.flatnonzero(differing)
            if one.graph.labels is not None:
                nodes = one.graph.labels.array[nodes]
            return Difference(step.round, step.phase, tuple(sorted(named)), nodes)
    return None


def _rows(mine: NDArray | None, yours: NDArray | None, n: int) -> NDArray[np.bool_]:
    """Which nodes have other values."""
    if mine is None or yours is None or mine.shape != yours.shape:
        return np.ones(n, bool)
    return np.any(~same(mine, yours).reshape(n, -1), axis=1)  # type: ignore[no-any-return]


def same(mine: NDArray, yours: NDArray) -> NDArray[np.bool_]:
    """Which values of two arrays are the same; NaN is the same as NaN."""
    found: NDArray[np.bool_] = np.equal(mine, yours)
    if mine.dtype.kind == "f" and yours.dtype.kind == "f":
        np.logical_or(found, np.isnan(mine) & np.isnan(yours), out=found)
    return found


def _lists(kernel: Kernel, cluster: Cluster) -> set[str]:
    """Fields of a kernel's state that are lists of nodes: those that are empty at first (`bsp.no_nodes`)."""
    state = getattr(kernel, "state", None)
    made = {} if state is None else {f.name: f.metadata.get(INITIAL) for f in fields(state)}
    return {name for name, make in made.items() if make and np.shape(make(cluster)) == (0,)}


def _flat(state: Any, size: int, lists: Container[str] = (), before: str = "") -> States:
    """The arrays of a state that have an entry for each node; sets and lists of nodes as masks."""
    found: States = {}
    for name, value in vars(state).items():
        if isinstance(value, Subset):
            found[before + name] = value.mask
        elif name in lists:
            found[before + name] = np.zeros(size, bool)
            found[before + name][value] = True
        elif isinstance(value, np.ndarray) and value.shape[:1] == (size,):
            found[before + name] = value
        elif not before and hasattr(value, "__dict__"):
            found |= _flat(value, size, before=f"{name}.")
    return found
