"""Many independent runs on a small graph at once: copies of the graph in one."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, get_type_hints

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite import genval
from dgsuite.base.errors import InputError
from dgsuite.core.network.faults import Faults
from dgsuite.core.network.network import Network
from dgsuite.core.results.dataset import variable
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp.kernel import Node, NodeOrNone, Output, Pairs
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.comparing import same
from dgsuite.studies.lab.executions import Execution, States


def repeat(
    kernel: str,
    graph: Graph,
    times: int,
    *,
    network: Network | None = None,
    validate: bool = True,
    **how: Any,
) -> xr.Dataset:
    """Run a kernel many times on a small graph, each time with other random numbers and faults.

    The runs are one, on a graph of that many copies: 10,000 runs on 100 nodes take about as long as one on a
    million. Random numbers are functions of the node, so each copy has its own.

    Parameters
    ----------
    kernel
        Name of a kernel that has no parameter which names a node, as there is one in one copy alone.
    graph
        An undirected graph, without labels.
    times
        Number of runs.
    network
        The network of each run. Crashes and drops that are listed happen in every one.
    validate
        Whether each result is checked by the kernel's rule.
    how
        Parameters of the kernel, ``seed`` and ``max_rounds``.

    Returns
    -------
    Dataset with dims run and node: the kernel's outputs; by run ``rounds``, the rounds up to the last in
    which a state changed, and ``valid``, 1 if the rule accepts the result, 0 if not.

    Raises
    ------
    InputError
        The kernel or the graph cannot be repeated so, or a parameter is wrong.

    Examples
    --------
    How often Luby's algorithm finds an independent set although one message in a hundred is lost:

    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = genval.graph("er", 20, seed=1)
    >>> ds = dgsuite.lab.repeat("mis", graph, 1000, network=dgsuite.Network(loss=0.01))
    >>> int(ds.valid.sum()), int(ds.rounds.max())
    (912, 4)
    """
    if kernel not in KERNELS:
        raise InputError(f"unknown kernel {kernel!r}; dgsuite.list_kernels() lists them")
    hints = get_type_hints(KERNELS[kernel], include_extras=True)
    for field in fields(KERNELS[kernel]):
        if any(str(kind) in str(hints[field.name]) for kind in (Node, NodeOrNone, Pairs)):
            raise InputError(
                f"kernel {kernel!r} has the parameter {field.name}, which names a node; repeat it with "
                f"dgsuite.run_each"
            )
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise InputError(f"times must be a whole number from 1, got {times!r}")
    if graph.directed or graph.labels is not None:
        raise InputError("only an undirected graph without labels can be repeated")
    execution = Execution(kernel, _copies(graph, times), **how)
    if network is not None:
        limits = Execution(kernel, graph, network=network, **how).guard
        assert limits.faults is not None
        if limits.faults.adversary is not None:
            raise InputError(
                "an adversary has one budget, and a run on many copies is one run: leave out adversary=, "
                "or use dgsuite.run_each"
            )
        faults = _tiled(limits.faults, graph.n, times)
        execution.guard = limits._replace(faults=faults)
    n, before = graph.n, dict[str, NDArray]()
    rounds = np.zeros(times, np.int64)
    states: States = {}
    for step, states in execution.phases():
        if step.last:
            rounds[_changed(states, before, times)] = step.round + 1
            before = {name: values.copy() for name, values in states.items()}
    outputs = {name: output for name, output in execution.kernel.outputs.items() if name in states}
    made = {
        name: variable(
            ("run", *output.dims), _by_run(states[name], output, times), output.long_name
        )
        for name, output in outputs.items()
    }
    made["rounds"] = variable("run", rounds, "rounds until the last in which a state changed")
    if validate:
        verdicts = [
            genval.validate(kernel, graph, {name: made[name].values[k] for name in outputs}).ok
            for k in range(times)
        ]
        made["valid"] = variable("run", np.array(verdicts, np.int64), "whether the rule accepts it")
    attrs = {"kernel": kernel, "n": n, "m": graph.m, "seed": execution.kernel.seed}
    if network is not None:
        attrs["network"] = network.described()
    return xr.Dataset(made, attrs=attrs)


def _copies(graph: Graph, times: int) -> Graph:
    """A graph of so many copies, one after the other."""
    (cluster,) = graph.repartition(1).gather()
    row = np.repeat(np.arange(graph.n), cluster.degree)
    once = row < cluster.indices
    shift = np.repeat(np.arange(times) * graph.n, np.count_nonzero(once))
    src, dst = (np.tile(ends[once], times) + shift for ends in (row, cluster.indices))
    weights = None if cluster.weights is None else np.tile(cluster.weights[once], times)
    return Graph.from_edges(src, dst, n=graph.n * times, weights=weights, clusters=1)


def _tiled(faults: Faults, n: int, times: int) -> Faults:
    """The faults of each copy of a graph of n nodes."""
    shift = np.arange(times) * n

    def everywhere(nodes: NDArray) -> NDArray:
        return (shift[:, None] + nodes).ravel()

    crashes, liars, drops, churn = faults.crashes, faults.liars, faults.drops, faults.churn
    if liars is not None and liars.nodes is not None:
        liars = replace(liars, nodes=everywhere(liars.nodes))
    return replace(
        faults,
        loss=np.tile(faults.loss, times) if faults.loss.ndim else faults.loss,
        drops=np.array([np.tile(drops[0], times), *map(everywhere, drops[1:])]),
        churn=np.array(
            [
                *(np.tile(churn[k], times) for k in (0, 1)),
                everywhere(churn[2]),
                np.where(np.tile(churn[3], times) < 0, -1, everywhere(churn[3])),
            ]
        ),
        crashes=replace(
            crashes,
            listed=[
                crash._replace(node=crash.node + first)
                for first in shift.tolist()
                for crash in crashes.listed
            ],
        ),
        liars=liars,
    )


def _by_run(values: NDArray, output: Output, times: int) -> NDArray:
    """An output of each copy, in which node ids are those of the graph."""
    found = values.reshape(times, -1, *values.shape[1:])
    if output.nodes:
        n = found.shape[1]
        found = np.where(found >= 0, found % n, found)
    return found


def _changed(states: States, before: States, times: int) -> NDArray[np.bool_]:
    """Which copies have a node whose state is another than before."""
    found = np.zeros(times, bool)
    for name, values in states.items():
        if name not in before:
            found[:] = True
        else:
            found |= ~same(values, before[name]).reshape(times, -1).all(axis=1)
    return found
