"""Trials of GAP's kernels, each validated if that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from distributed import Client

from dgsuite.base.errors import InputError
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.measures import look
from dgsuite.suites import running, sources
from dgsuite.suites.gap.graphs import weighted
from dgsuite.suites.gap.options import BENCHMARKS, Options, asked


@dataclass
class Trials:
    """What the trials of a kernel measured: an entry a trial.

    Attributes
    ----------
    each
        Parameters, such as the root.
    seconds
        Of the rounds.
    processor
        Processor time of the phases of all workers, in seconds.
    """

    each: list[dict[str, Any]]
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    wire: list[int] = field(default_factory=list)
    validated: int = 0


def pick(graph: Graph, options: Options) -> list[Any]:
    """Sources for all kernels, as parameters of runs name nodes: random nodes with an edge that leaves them.

    Raises
    ------
    InputError
        The graph has no edges, and a kernel has sources.
    """
    plans = [BENCHMARKS[name] for name in asked(options)]
    count = max(plan.sources * (options.trials or plan.trials) for plan in plans)
    found = sources.choose(sources.able(graph), count, options.seed)
    if count and not found:
        raise InputError("the graph has no edges, so there are no sources")
    nodes = [found[k % len(found)] for k in range(count)]
    return nodes if graph.labels is None else [graph.labels[node] for node in nodes]


def plans(picked: Sequence[Any], options: Options) -> dict[str, list[dict[str, Any]]]:
    """The parameters of each kernel's trials."""
    return {name: BENCHMARKS[name].each(picked, options.trials) for name in asked(options)}


def task(name: str, graph: Graph, seed: int) -> tuple[Graph, dict[str, Any]]:
    """The graph that a kernel runs on, and its parameters: GAP counts triangles without directions."""
    plan = BENCHMARKS[name]
    on = weighted(graph, seed) if plan.weighted else graph
    if graph.directed and name == "tc":
        on = graph.to_undirected()
    how = dict(plan.parameters)
    if name == "sssp" and look(on).yes:
        how["form"] = "block"  # GAP asks for distances, not for one of several trees
    return on, how


def run(
    graph: Graph, picked: Sequence[Any], options: Options, client: Client
) -> Iterator[tuple[str, Trials]]:
    """Make one trial after another; yields the trials of its kernel so far after each.

    Raises
    ------
    RunError
        An output is wrong.
    """
    for name, each in plans(picked, options).items():
        plan = BENCHMARKS[name]
        on, how = task(name, graph, options.seed)
        found = Trials(each)
        turn = running.turn(on, len(found.each))
        runs = running.trials(plan.kernel, on, found.each, client, turn, **how)
        for ds in runs:
            found.seconds.append(float(ds.attrs["seconds"]))
            found.processor.append(float(ds.cpu_seconds.sum()))
            found.rounds.append(ds.sizes["round"])
            found.wire.append(int(ds.wire_bytes.sum()))
            if options.validate_outputs:
                running.check(plan.kernel, on, ds, f"trial {len(found.seconds)} of {name}")
                found.validated += 1
            del ds  # before the next one comes
            yield name, found
