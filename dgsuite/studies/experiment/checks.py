"""Checks of an experiment file beyond its shape."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from dgsuite.base.errors import InputError, hint
from dgsuite.core.engine.workload import Workload
from dgsuite.studies.experiment.model import SOURCES, Config, GraphSource, Run, Throttle, or_none
from dgsuite.studies.network.network import Network

ELSEWHERE = {
    "kind": "graph.generate",
    "n": "run.n",
    "seed": "experiment.seed",
    "family": "graph.family",
    "kernel": "run.kernel",
    "m": "graph.edges",
    "edges": "graph.edges",
    "partition": "graph.partition",
    "clusters": "run.clusters",
    "client": "cluster",
}
"""Where arguments of `genval.graph` are given that are no options of a generator."""


ALONE: dict[str, Any] = {
    **dict.fromkeys(("count_as", "clusters", "workers", "threads", "places", "hwts"), None),
    **dict.fromkeys(("runtime", "workload", "congest", "checkpoint"), None),
    "style": ["serial"],
    "form": ["iterative"],
    "trace": False,
}
"""Keys of a run that trials do not have, and what they may be all the same."""


def problems_of(config: Config, folder: Path) -> Iterator[str]:
    """What is wrong with an experiment of the right shape; some of it more than once."""
    from dgsuite.core.parameters import fitting
    from dgsuite.kernels import FORMS
    from dgsuite.kernels.own import is_own, named

    if config.throttle and config.throttle.means == "tc":
        yield from _check_tc(config, config.throttle)
    elif config.throttle and not _address(config).startswith("throttle+"):
        yield "throttle: needs a throttled transport: cluster.protocol = 'throttle+tcp'"
    if (t := config.throttle) and t.processes_per_node > 1 and t.scope != "process":
        yield (
            "throttle.scope: must be 'process' where processes_per_node is given; "
            "with 'link' each comm has the bandwidth to itself"
        )
    if config.cluster.scheduler is not None:
        yield from _check_address(config)
    if config.figure is not None:
        from dgsuite.studies.report.claims.data import setup_of
        from dgsuite.studies.report.forms import misfits

        number, study = config.figure.number, config.figure.study
        if setup_of(number, study) is None:
            yield f"figure.study: figure {number} has no study {study!r}"
        yield from misfits(number, config.run)
    for i, run in enumerate(config.run):
        for kernel, form in itertools.product(run.kernel, run.form):
            found = named(kernel) if is_own(kernel) else FORMS[form].get(kernel)
            if found is None or found.form != form:
                yield (
                    f"run.{i}.form: kernel {kernel!r} has no {form} form; "
                    f"those that have: {', '.join(FORMS[form])}"
                )
                continue
            allowed = [f.name for f in fields(found) if f.init and f.name != "seed"]
            for name, value in run.params.items():
                if name in allowed:
                    wrong = _refused(fitting, found, name, value)
                    yield from (f"run.{i}.params: {error}" for error in wrong)
                else:
                    which = f"kernel {kernel!r}" + f" in {form} form" * (form != "iterative")
                    yield (
                        f"run.{i}.params.{name}: {which} has no such parameter; "
                        f"{hint(name, allowed)}It has: {', '.join(allowed) or 'none'}"
                    )
        for given in run.workload or ():
            yield from (f"run.{i}.{error}" for error in _refused(Workload.make, given))
        for given in run.network or ():
            yield from (f"run.{i}.network: {error}" for error in _refused(Network.of, given))
        if run.trials is not None:
            yield from (f"run.{i}.{problem}" for problem in _check_trials(run))
        if run.places is not None:
            for name in ("clusters", "workers", "threads"):
                if getattr(run, name) is not None:
                    yield f"run.{i}.{name}: places say how many there are; leave one of the two out"
        for name in ("clusters", "workers", "threads", "places", "hwts"):
            if "n" in (getattr(run, name) or ()) and run.n is None:
                yield f"run.{i}.n: missing; {name} = 'n' needs a number of nodes"
        source = run.graph or config.graph
        where = f"run.{i}.graph" if run.graph else "graph"
        if source is None:
            yield f"run.{i}.graph: missing; give one here or a [graph] for all runs"
            continue
        ways = [k for k in SOURCES if getattr(source, k) is not None]
        if len(ways) != 1:
            yield f"{where}: must have exactly one of {', '.join(SOURCES)}; has {', '.join(ways) or 'none'}"
            continue
        yield from (f"{where}.{problem}" for problem in _check_named(source, ways[0], folder))
        if ways == ["generate"] and run.n is None:
            yield f"run.{i}.n: missing; a generated graph needs a number of nodes"
            continue
        for kernel, n, kind in itertools.product(run.kernel, *or_none(run.n, run.kind)):
            pattern = getattr(source, ways[0])
            try:
                name = pattern.format(n=n, kind=kind, kernel=kernel)
            except (KeyError, IndexError, ValueError, AttributeError, TypeError):
                yield f"{where}.{ways[0]} = {pattern!r}: only {{n}}, {{kind}} and {{kernel}} are filled in"
                break
            if ways == ["generate"]:
                yield from (f"{where}{problem}" for problem in _check_graph(source, name, n))
            elif not (folder / name).exists():
                yield f"{where}.{ways[0]} = {pattern!r}: there is no file {folder / name}"


def _refused(call: Callable[..., object], *given: Any) -> Iterator[InputError]:
    """The error of a call, if it raises one."""
    try:
        call(*given)
    except InputError as error:
        yield error


def _check_trials(run: Run) -> Iterator[str]:
    """What runs that are made together cannot have."""
    given = {name: getattr(run, name) for name in run.model_fields_set & ALONE.keys()}
    for name, value in given.items():
        if value not in (None, ALONE[name]):
            yield f"{name}: has no meaning with trials, which run in this process; leave it out"


def _address(config: Config) -> str:
    """What says how the workers talk; "" is Dask's choice."""
    return config.cluster.scheduler or config.cluster.protocol or ""


def _check_tc(config: Config, throttle: Throttle) -> Iterator[str]:
    """What links that the kernel limits cannot do."""
    if config.cluster.scheduler is not None:
        yield "throttle.means: 'tc' makes a cluster of its own; give no scheduler"
    elif _address(config).removeprefix("throttle+") not in ("", "tcp"):
        yield (
            f"throttle.means: 'tc' limits a network; cluster.protocol = {config.cluster.protocol!r} must be "
            f"'tcp', or 'throttle+tcp', which then has no limit of its own"
        )
    if throttle.scope != "process":
        yield "throttle.scope: must be 'process' with means = 'tc': a link is a worker's"


def _check_address(config: Config) -> Iterator[str]:
    """What a cluster at an address cannot do."""
    if config.experiment.fresh:
        yield (
            "experiment.fresh: a cluster at an address has no worker processes of a repeat's own; "
            "must be false there, or give no scheduler"
        )
        return
    for name in ("workers", "threads"):
        many = sorted(set(getattr(config.cluster, name)))
        if len(many) > 1:
            yield (
                f"cluster.{name} = {many}: a cluster at an address has the {name} it has; "
                f"give one number, or no scheduler"
            )
    for i, run in enumerate(config.run):
        for name in ("places", "hwts", "workers", "threads"):
            if getattr(run, name) is not None:
                what = name if name in ("workers", "threads") else "processes"
                yield (
                    f"run.{i}.{name}: a cluster at an address has the {what} it has; "
                    f"leave it out, or give no scheduler"
                )


def _check_named(source: GraphSource, way: str, folder: Path) -> Iterator[str]:
    """What is wrong with options that edge lists alone have."""
    for name in ("nodes", "relabel"):
        if getattr(source, name) not in (None, False) and way != "edge_list":
            yield f"{name}: is for an edge_list, and the graph is from {way}"
    named = source.nodes
    if isinstance(named, str) and not (path := folder / named).exists():
        yield f"nodes = {source.nodes!r}: there is no file {path}"
    if isinstance(source.nodes, int) and (source.relabel or source.nodes < 1):
        yield (
            f"nodes = {source.nodes}: relabel = true finds the nodes itself; give a file of nodes"
            if source.relabel
            else f"nodes = {source.nodes}: must be at least 1"
        )


def _check_graph(source: GraphSource, kind: str, n: int) -> Iterator[str]:
    """What is wrong with a graph that is to be generated."""
    from dgsuite.genval.families import plan

    kinds = _kinds(source.family)
    if kind not in kinds:
        yield (
            f".generate = {source.generate!r}: no kind {kind!r} in family "
            f"{source.family!r}; {hint(kind, kinds)}One of: {', '.join(kinds)}"
        )
    elif taken := source.options.keys() & ELSEWHERE:
        for option in sorted(taken):
            yield f".options.{option}: is no option of the generator; set {ELSEWHERE[option]}"
    elif source.family == "fast":
        for error in _refused(partial(plan, kind, n, m=source.edges, **source.options)):
            said = re.sub(r"\bm\b", "edges", str(error))  # genval's m are edges here
            yield f": {said}"
    elif source.edges is not None:
        yield f".edges: has no meaning in family {source.family!r}; the kind says how many"


def _kinds(family: str) -> list[str]:
    """Kinds of graphs that a family of generators has."""
    from dgsuite.genval import families, imsuite

    if family == "fast":
        return sorted(families.FAMILIES)
    if family == "paper":
        return sorted(imsuite.PAPER)
    return sorted({*imsuite.KINDS, *imsuite.COLOURING_KINDS, "ring"})
