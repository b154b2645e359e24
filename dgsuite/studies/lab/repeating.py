"""Many independent runs on a small graph at once: copies of the graph in one, or run after run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite import genval
from dgsuite.base.version import __version__
from dgsuite.base.warning import warn
from dgsuite.core.results.dataset import coordinate, variable
from dgsuite.core.running.runner import run
from dgsuite.genval.validation import VALIDATORS
from dgsuite.kernels.bsp.kernel import Kernel, Output
from dgsuite.kernels.events.kernel import EventKernel
from dgsuite.kernels.own import named
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.comparing import changed
from dgsuite.studies.lab.executions import Execution, States
from dgsuite.studies.network.faults import Faults
from dgsuite.studies.network.names import whole
from dgsuite.studies.network.network import Network

TILED = {f.name for f in fields(Network)} - {"adversary", "synchroniser"}
"""Parameters of a network that copies of a graph can have each for itself."""


def repeat(
    kernel: str | type[Kernel],
    graph: Graph,
    times: int,
    *,
    network: Network | Mapping[str, Any] | None = None,
    validate: bool = True,
    **how: Any,
) -> xr.Dataset:
    """Run a kernel many times on a small graph, each time with other random numbers and faults.

    Where the kernel works on each component by itself (`Kernel.by_component`, as "mis" does), the runs are
    one, on a graph of that many copies: 10,000 runs on 100 nodes take about as long as one on a million.
    Random numbers and faults are functions of the node, so each copy has its own: run k has those of nodes
    ``k * n`` to ``k * n + n - 1``.

    All others run one after the other in this process: run k is that of `dgsuite.run` with the seed
    ``seed + k``. A network that has a seed of its own has it plus k, too.

    Parameters
    ----------
    kernel
        Name of a kernel, its class, or ``"FILE.py:Class"``.
    graph
        A graph.
    times
        Number of runs.
    network
        The network of each run. Crashes, drops and absences that are listed happen in every one.
    validate
        Whether each result is checked by the kernel's rule, if it has one.
    how
        Parameters of the kernel, ``seed`` and ``max_rounds``.

    Returns
    -------
    Dataset with the dims run and node: the kernel's outputs, and of a network with faults ``crashed``; by run
    ``rounds``, what the kernel says of a run as an attribute, such as ``legitimate_round`` of "token_ring",
    and ``valid``, 1 if the rule accepts the result, 0 if not. The attribute ``struck`` is how often
    faults struck in all runs; if never, a warning says so. The coordinate ``seed`` is there where runs
    have their own.

    Raises
    ------
    InputError
        A parameter is wrong, or the kernel cannot run on the graph or the network.

    Examples
    --------
    How often Luby's algorithm finds an independent set although one message in a hundred is lost:

    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = genval.graph("er", 20, seed=1)
    >>> ds = dgsuite.lab.repeat("mis", graph, 1000, network=dgsuite.Network(loss=0.01))
    >>> int(ds.valid.sum()), int(ds.rounds.max())
    (922, 3)
    """
    chosen = named(kernel)
    whole("times", times, 1)
    network = Network.of(network)
    one = Execution(chosen, graph, network=network, **how)
    name = one.kernel.name
    validate &= name in VALIDATORS
    if _in_copies(one, graph, network):
        made, seeds = _at_once(one, times, validate, how), None
    else:
        seeds = one.kernel.seed + np.arange(times)
        made = _in_turn(one, seeds, validate, how)
    attrs: dict[str, Any] = {
        "title": f"{times} runs of {name} on {graph.n} nodes",
        "source": f"dgsuite {__version__}",
        "Conventions": "CF-1.11",
    }
    attrs |= {"kernel": name, "n": graph.n, "m": graph.m, "seed": one.kernel.seed}
    if network is not None:
        attrs["network"] = network.described()
    nodes = np.arange(graph.n) if graph.labels is None else graph.labels.array
    if network is not None and network.has_faults:
        attrs["struck"] = made.pop("struck")
        if not attrs["struck"]:
            warn(f"kernel {name!r}: no fault struck in any of {times} runs", UserWarning)
    ds = xr.Dataset(made, {"node": coordinate("node", nodes, "node")[1]}, attrs)
    if seeds is not None:
        ds.coords["seed"] = "run", seeds, {"long_name": "seed of the run", "units": "1"}
    return ds


def _in_copies(one: Execution, graph: Graph, network: Network | None) -> bool:
    """Whether runs can be one, on copies of the graph."""
    if not one.kernel.by_component or graph.directed or graph.labels is not None:
        return False
    faults = one.spec.faults
    if network is None or (faults is None and not isinstance(one.kernel, EventKernel)):
        return network is None
    if isinstance(faults, Faults) and any(crash.until is not None for crash in faults.crashes):
        return False  # copies end at other times
    liars = network.byzantine
    named = liars is None or isinstance(getattr(liars, "strategy", None), str)
    named = named and getattr(liars, "adds", None) is None
    return named and json.loads(network.described()).keys() <= TILED


def _in_turn(
    one: Execution, seeds: NDArray[np.int64], validate: bool, how: Mapping[str, Any]
) -> dict[str, Any]:
    """What is found of runs with these seeds, one after the other."""
    kernel, graph = one.kernel, one.graph
    network: Any = one.network
    found: dict[str, list[Any]] = {}
    struck = 0
    outputs = {name: o for name, o in kernel.outputs.items() if not o.tabular}
    faulty = network is not None and network.has_faults
    for k, seed in enumerate(seeds.tolist()):
        net = network
        if network is not None and network.seed is not None:
            net = replace(network, seed=network.seed + k)
        ds = run(type(kernel), graph, style="serial", network=net, **{**how, "seed": seed})
        noted = {name: ds[name].values for name in kernel.notes}
        values: dict[str, Any] = {name: ds[name].values for name in outputs}
        values |= {"rounds": ds.sizes["round"]} | kernel.attributes(graph.n, noted)
        if faulty:
            values["crashed"] = ds["crashed"].values
            struck += int(ds["struck"].values.sum())
        if validate:
            values["valid"] = int(genval.validate(kernel.name, graph, ds).ok)
        for name, value in values.items():
            found.setdefault(name, []).append(value)
    return _variables(found, outputs) | ({"struck": struck} if faulty else {})


def _variables(
    found: Mapping[str, Sequence[Any] | NDArray], outputs: Mapping[str, Output]
) -> dict[str, Any]:
    """Variables with a dimension for the run, by name."""
    dims = {"crashed": ("node",), **{name: output.dims for name, output in outputs.items()}}
    texts = {"crashed": "round in which it crashed, -1 for none"}
    texts |= {name: output.long_name for name, output in outputs.items()}
    texts |= {"rounds": "rounds of the run", "valid": "1 if the rule accepts the result, 0 if not"}
    return {
        name: variable(("run", *dims.get(name, ())), np.asarray(values), texts.get(name, name))
        for name, values in found.items()
    }


def _at_once(one: Execution, times: int, validate: bool, how: Mapping[str, Any]) -> dict[str, Any]:
    """What is found of runs on copies of the graph, as one."""
    graph, copies = one.graph, _copies(one.graph, times)
    for need in one.kernel.needs:  # each copy has what the graph has
        copies.cache.get(need, lambda: None)
    execution = Execution(one.kernel, copies, **how)
    execution.kernel = one.kernel  # as it runs on the network
    n, faults = graph.n, one.spec.faults
    if isinstance(faults, Faults):
        faults = _tiled(faults, n, times)
        execution.spec = replace(one.spec, faults=faults)
    before: States = {}
    states: States = {}
    rounds, first, lists = np.ones(times, np.int64), dict[int, int](), execution.lists()
    phases: list[int] = []
    for step, states in execution.phases():
        phases.append(step.round)
        busy = execution.senders().reshape(times, n).any(axis=1)
        if isinstance(one.kernel, EventKernel):
            busy |= execution.waiting().reshape(times, n).any(axis=1)
            rounds[busy] = step.round + 2  # there is another tick
            continue
        if step.last:
            busy |= changed(before, states, times * n).reshape(times, n).any(axis=1)
            before = {x: v.copy() for x, v in states.items() if x not in lists}
        opened = first.setdefault(step.round, step.turn)
        if step.turn == opened:  # a later one closes the run, when all copies are over
            rounds[busy] = step.round + 1
    rounds = np.minimum(rounds, step.round + 1)
    outputs = execution.kernel.outputs
    found = execution.outputs()
    if isinstance(faults, Faults):
        when = faults.of_run(one.kernel.seed).crash_rounds(n * times, phases)
        in_time = when < np.repeat(rounds, n)  # others crash when the copy is over
        struck = execution.struck() + int(np.count_nonzero(in_time))
        over = np.flatnonzero(~in_time)
        for name in outputs:
            found[name][over] = states[name][over]
        found["crashed"] = np.where(in_time, when, -1).reshape(times, n)
    for name, output in outputs.items():
        values = found[name].reshape(times, -1, *found[name].shape[1:])
        ids = output.nodes  # those of the graph, and not of the copies
        found[name] = np.where(values >= 0, values % n, values) if ids else values
    found["rounds"] = rounds
    if validate:
        known = [name for name in found if name != "rounds"]
        each = [{**how, **{name: found[name][k] for name in known}} for k in range(times)]
        reports = [genval.validate(one.kernel.name, graph, result) for result in each]
        found["valid"] = np.array([int(report.ok) for report in reports])
    return _variables(found, outputs) | ({"struck": struck} if isinstance(faults, Faults) else {})


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

    def everywhere(nodes: Any) -> NDArray:
        return (shift[:, None] + nodes).ravel()

    liars, drops, churn = faults.liars, faults.drops, faults.churn
    if liars is not None and not isinstance(liars.nodes, float):
        liars = replace(liars, nodes=everywhere(liars.nodes))
    other = np.where(np.tile(churn[3], times) < 0, -1, everywhere(churn[3]))
    crashes = [
        replace(c, node=c.node + first, receivers=c.receivers and [v + first for v in c.receivers])
        for first in shift.tolist()
        for c in faults.crashes
    ]
    return replace(
        faults,
        loss=np.tile(faults.loss, times) if faults.loss.ndim else faults.loss,
        drops=np.array([np.tile(drops[0], times), *map(everywhere, drops[1:])]),
        churn=np.array([*np.tile(churn[:2], times), everywhere(churn[2]), other]),
        crashes=crashes,
        liars=liars,
        splits=[replace(one, nodes=np.tile(np.asarray(one.nodes), times)) for one in faults.splits],
    )
