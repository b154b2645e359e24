"""Experiment files: their shape, and errors that say what would be right. No heavy imports."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WrapValidator

from dgsuite.toml import checked, override, put, read
from dgsuite.workload import Workload
from partition.errors import InputError, hint, unknown

Style = Literal["serial", "finish_async", "clocked"]
Form = Literal["iterative", "recursive"]
SOURCES = ("imsuite", "edge_list", "matrix_market", "generate")
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

T = TypeVar("T")


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Many = Annotated[list[T], BeforeValidator(_listed), Field(min_length=1)]
"""One value, or several to sweep over."""

Count = Annotated[int, Field(ge=1)]

Clusters = Annotated[
    Count, WrapValidator(lambda value, check: value if value == "n" else check(value))
]
"""A number of clusters, or "n": as many as nodes."""


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, and so are numbers in quotes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Experiment(Section):
    """The experiment as a whole."""

    name: str = Field(default="experiment", pattern=r"^[\w.-]+$")
    output: str | None = None
    """NetCDF file; by default ``results/<name>.nc``."""
    seed: Many[int] = [101]
    repeats: Count = 1
    fresh: bool = False
    """Whether each repeat gets worker processes of its own."""
    warmup: Annotated[int, Field(ge=0)] = 0
    """Runs of a kernel that are thrown away before the first that counts, on each set of workers."""
    iterations: Count = 1
    """Runs of a short point on the same workers, at most, of whose times the mean counts."""
    validate_results: bool = Field(default=True, alias="validate")
    plot: bool = True


class Cluster(Section):
    """Where to run: a cluster of its own, or one at an address."""

    workers: Many[Count] = [2]
    threads: Many[Count] = [1]
    scheduler: str | None = None
    memory_limit: str = "auto"
    protocol: str | None = None
    """Transport of a cluster of its own, such as "throttle+tcp"."""


class Throttle(Section):
    """How fast workers may send, over a throttled protocol; see `dgsuite.transports.throttle`."""

    nominal: str
    """Bytes a second that count as 100 %, such as "400 MB"."""
    percent: Many[Annotated[float, Field(gt=0, le=100)]] = [100.0]
    latency: str = "0s"
    scope: Literal["link", "process"] = "link"


class GraphSource(Section):
    """Where a graph comes from: one of the first four, in which {n}, {kind} and {kernel} are filled in."""

    imsuite: str | None = None
    edge_list: str | None = None
    matrix_market: str | None = None
    generate: str | None = None
    """A kind of `genval.graph`."""
    family: Literal["fast", "imsuite", "paper"] = "fast"
    """Whose generator: the fast ones, the original's, or that with the paper's names of inputs."""
    edges: Annotated[int, Field(ge=0)] | None = None
    """Number of edges, for kinds that have a choice."""
    options: dict[str, Any] = {}
    """Of the generator, such as ``k``, ``max`` or ``weights``."""
    partition: Literal["nodes", "edges", "hash", "metis"] = "nodes"


class Run(Section):
    """Runs: the product of all lists."""

    kernel: Many[str]
    style: Many[Style] = ["serial", "clocked"]
    form: Many[Form] = ["iterative"]
    count_as: Many[Style] | None = None
    n: Many[Count] | None = None
    kind: Many[str] | None = None
    clusters: Many[Clusters] | None = None
    """With "n" each node is a cluster of its own: the UP model. 1 is SP, anything between MP."""
    workload: Many[dict[str, Any]] | None = None
    """Work added to every task: see `dgsuite.workload.Workload`."""
    graph: GraphSource | None = None
    params: dict[str, Any] = {}


class Figure(Section):
    """Which figure of the IMSuite paper the results are for."""

    number: Annotated[int, Field(ge=7, le=19)]


class Config(Section):
    """An experiment file."""

    experiment: Experiment = Experiment()
    cluster: Cluster = Cluster()
    throttle: Throttle | None = None
    graph: GraphSource | None = None
    figure: Figure | None = None
    full: dict[str, Any] = {}
    """Values by dotted key that ``--full`` puts in place of the quick setting's."""
    run: list[Run] = Field(min_length=1)


class Point(BaseModel):
    """One run of a sweep."""

    model_config = ConfigDict(frozen=True)

    kernel: str
    style: str
    form: str = "iterative"
    count_as: str | None
    n: int | None
    kind: str | None
    clusters: int | None
    workers: int
    threads: int
    seed: int
    repeat: int
    bandwidth: float | None = None
    """Per cent of the nominal bandwidth."""
    workload: str = ""
    """As JSON."""
    graph: GraphSource
    params: dict[str, Any]

    def source(self) -> tuple[str, str]:
        """Which reader the graph's file needs, and its path; or "generate", and the kind."""
        reader, pattern = next((s, p) for s in SOURCES if (p := getattr(self.graph, s)) is not None)
        return reader, pattern.format(n=self.n, kind=self.kind, kernel=self.kernel)

    def describe(self) -> str:
        """A line for people."""
        parts = [self.kernel, self.style]
        if self.form != "iterative":
            parts.insert(0, self.form)
        for name in (
            "count_as",
            "n",
            "kind",
            "clusters",
            "workers",
            "threads",
            "seed",
            "repeat",
            "bandwidth",
            "workload",
        ):
            value = getattr(self, name)
            if value not in (None, ""):
                parts.append(f"{name}={value}")
        return " ".join(parts)


def load(
    path: str, overrides: list[str], scheduler: str | None = None, full: bool = False
) -> tuple[Config, Path]:
    """Read and check an experiment file.

    Parameters
    ----------
    overrides
        ``key.subkey=value`` with values in TOML syntax; what is not TOML is taken as text.
    full
        Whether the file's table ``[full]`` holds.

    Returns
    -------
    config
        The experiment.
    folder
        Where the file is: paths of input files are relative to it.

    Raises
    ------
    InputError
        With every error of the file in one message: file, key, value, what would be right.
    """
    data = read(path)
    if full:
        values = data.get("full")
        if not values or not isinstance(values, dict):
            raise InputError(f"{path}: has no table [full] that --full could take")
        for key, value in values.items():
            put(data, key, value, f"{path}: full")
    for given in overrides:
        override(data, given)
    if scheduler is not None:
        put(data, "cluster.scheduler", scheduler, f"{path}: --scheduler")
    config = checked(Config, data, path)
    folder = Path(path).resolve().parent
    problems = dict.fromkeys(_check(config, folder))  # runs may share a graph
    if problems:
        raise InputError("\n".join(f"{path}: {p}" for p in problems))
    return config, folder


def _check(config: Config, folder: Path) -> Iterator[str]:
    """What the shape alone does not say."""
    from dgsuite.parameters import fitting
    from kernels import KERNELS, RECURSIVE

    throttled = (config.cluster.scheduler or config.cluster.protocol or "").startswith("throttle+")
    if config.throttle and not throttled:
        yield "throttle: needs a throttled transport: cluster.protocol = 'throttle+tcp'"
    if config.cluster.scheduler is not None:
        yield from _check_address(config)
    if config.figure is not None:
        from dgsuite.study.forms import misfits

        yield from misfits(config.figure.number, config.run)
    for i, run in enumerate(config.run):
        for kernel in run.kernel:
            if kernel not in KERNELS:
                yield f"run.{i}.kernel: {unknown('kernel', kernel, KERNELS)}"
                continue
            if "recursive" in run.form and kernel not in RECURSIVE:
                yield (
                    f"run.{i}.form: kernel {kernel!r} has no recursive form; "
                    f"those that have: {', '.join(RECURSIVE)}"
                )
            allowed = [f.name for f in fields(KERNELS[kernel]) if f.name != "seed"]
            for name, value in run.params.items():
                if name in allowed:
                    try:
                        fitting(KERNELS[kernel], name, value)
                    except InputError as error:
                        yield f"run.{i}.params: {error}"
                else:
                    yield (
                        f"run.{i}.params.{name}: kernel {kernel!r} has no such parameter; "
                        f"{hint(name, allowed)}It has: {', '.join(allowed) or 'none'}"
                    )
        for given in run.workload or ():
            try:
                Workload.make(given)
            except InputError as error:
                yield f"run.{i}.{error}"
        if "n" in map(str, run.clusters or ()) and run.n is None:
            yield f"run.{i}.n: missing; clusters = 'n' needs a number of nodes"
        source = run.graph or config.graph
        where = f"run.{i}.graph" if run.graph else "graph"
        if source is None:
            yield f"run.{i}.graph: missing; give one here or a [graph] for all runs"
            continue
        ways = [k for k in SOURCES if getattr(source, k) is not None]
        if len(ways) != 1:
            yield f"{where}: must have exactly one of {', '.join(SOURCES)}; has {', '.join(ways) or 'none'}"
            continue
        if ways == ["generate"] and run.n is None:
            yield f"run.{i}.n: missing; a generated graph needs a number of nodes"
            continue
        seen = set()
        for kernel, n, kind in itertools.product(run.kernel, *_or_none(run.n, run.kind)):
            pattern = getattr(source, ways[0])
            try:
                name = pattern.format(n=n, kind=kind, kernel=kernel)
            except (KeyError, IndexError, ValueError, AttributeError, TypeError):
                yield f"{where}.{ways[0]} = {pattern!r}: only {{n}}, {{kind}} and {{kernel}} are filled in"
                break
            if ways == ["generate"]:
                yield from (f"{where}{problem}" for problem in _check_graph(source, name, n))
            elif name not in seen and not (folder / name).exists():
                yield f"{where}.{ways[0]} = {pattern!r}: there is no file {folder / name}"
            seen.add(name)


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


def _check_graph(source: GraphSource, kind: str, n: int) -> Iterator[str]:
    """What is wrong with a graph that is to be generated."""
    from genval.families import plan

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
        try:
            plan(kind, n, m=source.edges, **source.options)
        except InputError as error:  # genval's m are edges here
            said = re.sub(r"\bm\b", "edges", str(error))
            yield f": {said}"
    elif source.edges is not None:
        yield f".edges: has no meaning in family {source.family!r}; the kind says how many"


def _kinds(family: str) -> list[str]:
    """Kinds of graphs that a family of generators has."""
    from genval import families, imsuite

    if family == "fast":
        return sorted(families.FAMILIES)
    if family == "paper":
        return sorted(imsuite.PAPER)
    return sorted({*imsuite.KINDS, *imsuite.COLOURING_KINDS, "ring"})


def _or_none(*lists: list | None) -> list[list]:
    return [values or [None] for values in lists]


def points(config: Config) -> list[Point]:
    """All runs of an experiment, those on the same cluster and graph side by side."""
    out = []
    e, c = config.experiment, config.cluster
    percents = config.throttle.percent if config.throttle else [None]
    for workers, threads, bandwidth, run in itertools.product(
        c.workers, c.threads, percents, config.run
    ):
        source = run.graph or config.graph
        assert source is not None
        for (
            n,
            kind,
            seed,
            kernel,
            style,
            form,
            count_as,
            clusters,
            load,
            repeat,
        ) in itertools.product(
            *_or_none(run.n, run.kind),
            e.seed,
            run.kernel,
            run.style,
            run.form,
            *_or_none(run.count_as, run.clusters, run.workload),
            range(e.repeats),
        ):
            point = Point(
                kernel=kernel,
                style=style,
                form=form,
                count_as=count_as,
                n=n,
                kind=kind,
                clusters=n if str(clusters) == "n" else clusters,
                workers=workers,
                threads=threads,
                seed=seed,
                repeat=repeat,
                bandwidth=None if style == "serial" else bandwidth,
                workload=str(Workload.make(load) or ""),
                graph=source,
                params=run.params,
            )
            # a serial run is the same whatever the cluster
            first = (workers, threads, bandwidth) == (c.workers[0], c.threads[0], percents[0])
            if style != "serial" or first:
                out.append(point)
    if e.fresh:
        out.sort(key=lambda point: point.repeat)
    return out
