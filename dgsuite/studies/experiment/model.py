"""Experiment files: their shape, and errors that say what would be right. No heavy imports."""

from __future__ import annotations

import itertools
import json
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WrapValidator
from pydantic_core import PydanticCustomError

from dgsuite.base.aliases import ALIASES, kernel_of
from dgsuite.base.errors import InputError, hint
from dgsuite.base.names import Rule, Style

Form = Literal["iterative", "recursive", "block"]
VARIED = (
    *("count_as", "n", "kind", "clusters", "workers", "threads", "hwts", "seed"),
    *("repeat", "bandwidth", "workload", "network"),
)
"""Parameters of a point besides its kernel and how it runs."""

SWEPT = ("kernel", "style", "form", *VARIED, "runtime")
"""Parameters of a point that become coordinates."""

SOURCES = ("imsuite", "edge_list", "matrix_market", "generate")
T = TypeVar("T")


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


class Also:
    """Has a type's JSON schema say what its validator takes as well.

    Parameters
    ----------
    also
        Schemas of other values; by default those of a list's items.
    """

    def __init__(self, *also: dict[str, Any]) -> None:
        self._also = also

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        schema = handler(core)
        return {"anyOf": [*(self._also or [schema["items"]]), schema]}


Many = Annotated[list[T], BeforeValidator(_listed), Field(min_length=1), Also()]
"""One value, or several to sweep over."""

Count = Annotated[int, Field(ge=1)]

SEED = 101
"""Seed where none is given."""

Seed = Annotated[int, Field(ge=0)]

Followed = Annotated[
    Count,
    WrapValidator(lambda value, check: value if value == "n" else check(value)),
    Also({"const": "n"}),
]
"""A number, or "n": as many as nodes."""


def _kernel(name: str) -> str:
    from dgsuite.kernels import KERNELS
    from dgsuite.kernels.own import is_own, named

    if is_own(name):
        try:
            named(name)
        except InputError as error:
            raise PydanticCustomError("unknown_kernel", "{said}", {"said": str(error)}) from None
        return name
    if name.lower() not in KERNELS and name.lower() not in ALIASES:
        said = f"unknown; {hint(name, [*KERNELS, *ALIASES])}one of {', '.join(KERNELS)}"
        raise PydanticCustomError("unknown_kernel", "{said}", {"said": said})
    return kernel_of(name, KERNELS)


KernelName = Annotated[str, AfterValidator(_kernel)]


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, and so are numbers in quotes.

    The docstring of a field is the help of its option, and stands in the reference of files.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        use_attribute_docstrings=True,
        defer_build=True,  # help needs no validators
    )


class Experiment(Section):
    """The experiment as a whole."""

    name: str = Field(default="experiment", pattern=r"^[\w.-]+$")
    """Of the result, and of its files."""
    output: str | None = None
    """NetCDF file; by default ``results/<name>.nc``."""
    seed: Many[int] = [SEED]
    """Key of the random numbers of graphs and kernels."""
    repeats: Count = 1
    """Runs of each point."""
    fresh: bool = False
    """Whether each repeat gets worker processes of its own."""
    warmup: Annotated[int, Field(ge=0)] = 1
    """Runs of a kernel that are thrown away before the first that counts, on each set of workers; none of
    trials."""
    iterations: Count = 1
    """Runs of a short point on the same workers, at most, of whose times the mean counts."""
    max_rounds: Count | None = None
    """Rounds, or depths of tasks, that a run may have; by default any number."""
    validate_results: bool = Field(default=True, alias="validate")
    """Whether every result is checked by its kernel's rule."""
    outputs: bool = True
    """Whether results keep what kernels find out of each node; checks see it in any case."""
    plot: bool = True
    """Whether to draw a picture beside the result."""


class Cluster(Section):
    """Where to run: a cluster of its own, or one at an address."""

    workers: Many[Count] = [2]
    """Worker processes."""
    threads: Many[Count] = [1]
    """Threads of each worker."""
    scheduler: str | None = None
    """Address of a cluster that is there, such as "tcp://127.0.0.1:8786"."""
    memory_limit: str = "auto"
    """Of each worker: such as "4 GB", "auto", or "0" for none."""
    protocol: str | None = None
    """Transport of a cluster of its own, such as "throttle+tcp"; by default Dask's choice."""


class Throttle(Section):
    """How fast workers may send; see `dgsuite.studies.transports.throttle`."""

    means: Literal["protocol", "tc"] = "protocol"
    """What slows them down: a throttled protocol, or Linux's ``tc`` on the links of network namespaces, one
    for each worker. "tc" takes Linux, root, iproute2, and scope = "process"."""
    nominal: str
    """Bytes a second that count as 100 %, such as "400 MB"."""
    percent: Many[Annotated[float, Field(gt=0, le=100)]] = [100.0]
    """Per cent of the nominal bandwidth that workers have."""
    latency: str = "0s"
    """Added to each message, such as "100us"; with "tc" to each packet, which takes a kernel with netem."""
    scope: Literal["link", "process"] = "link"
    """Whether each comm has the bandwidth, or all comms of a process share it."""
    processes_per_node: Count = 1
    """Processes that share a node's link of the nominal bandwidth: each gets an equal part of it."""

    def share(self) -> float:
        """What a process may send at 100 %, bytes per second."""
        from dask.utils import parse_bytes

        return float(parse_bytes(self.nominal)) / self.processes_per_node


class GraphSource(Section):
    """Where a graph comes from: one of the first four, in which {n}, {kind} and {kernel} are filled in."""

    imsuite: str | None = None
    """A file of IMSuite's format."""
    edge_list: str | None = None
    """A file of edges, in text or Parquet."""
    matrix_market: str | None = None
    """A Matrix Market file."""
    generate: str | None = None
    """A kind of graph that is made, such as "rmat" or "grid"; it needs n."""
    family: Literal["fast", "imsuite", "paper"] = "fast"
    """Whose generator: the fast ones, the original's, or that with the paper's names of inputs."""
    edges: Annotated[int, Field(ge=0)] | None = None
    """Number of edges, for kinds that have a choice."""
    nodes: str | int | None = None
    """All nodes, also those without an edge: ``FILE[:COLUMN]``, a column of Parquet or CSV or a text file
    with one in each line; or a number of nodes."""
    relabel: bool = False
    """Whether nodes of the edge list have names: text or any integers."""
    duplicates: Rule | None = None
    """Which weight stays if an edge list or a matrix has an edge several times; by default the smallest one,
    with a warning, and for a matrix the sum."""
    options: dict[str, Any] = {}
    """Of the generator, such as ``k``, ``max`` or ``weights``."""
    partition: Literal["nodes", "edges", "hash", "metis"] = "nodes"
    """How nodes are dealt to clusters: blocks of as many nodes or edges, by hash, or by METIS."""


class Run(Section):
    """Runs: the product of all lists."""

    kernel: Many[KernelName]
    """Names of kernels: `dgsuite kernels` lists them."""
    style: Many[Style] = ["serial", "clocked"]
    """How the clusters are run; results and counts are the same."""
    form: Many[Form] = ["iterative"]
    """Rounds, or tasks that spawn tasks."""
    count_as: Many[Style] | None = None
    """Style whose accounting the counts follow; by default the style that runs."""
    n: Many[Count] | None = None
    """Numbers of nodes; they are filled in for {n} in the graph's source."""
    kind: Many[str] | None = None
    """Kinds of input; they are filled in for {kind} in the graph's source."""
    clusters: Many[Followed] | None = None
    """With "n" each node is a cluster of its own: the UP model. 1 is SP, anything between MP."""
    workers: Many[Followed] | None = None
    """In place of the cluster's."""
    threads: Many[Followed] | None = None
    """In place of the cluster's."""
    places: Many[Followed] | None = None
    """In place of clusters, workers and threads: so many worker processes with one cluster each, and together
    at least as many threads as hwts. With "n" it is the UP model; 1 is SP, anything between MP."""
    hwts: Many[Followed] | None = None
    """Hardware threads (processors) that all processes of a run share: they are bound to the first so many.
    Points that need more than the machine has are left out."""
    runtime: Literal["X10", "HJ"] | None = None
    """Which of the paper's runtimes the runs stand for."""
    workload: Many[dict[str, Any]] | None = None
    """Work added to every task: see `dgsuite.core.engine.workload.Workload`."""
    network: Many[dict[str, Any]] | None = None
    """What happens to messages and nodes: parameters of `dgsuite.Network`, such as ``{loss = 0.1}``. A result
    that its kernel's rule refuses is then no error: the attribute ``valid`` is 0."""
    trials: Count | None = None
    """Runs of each point with other random numbers and faults, together in this process: see
    `dgsuite.studies.lab.repeating.repeat`. The result has what came of each; style is "serial"."""
    congest: Annotated[float, Field(gt=0)] | None = None
    """How many times log2 n bits an edge may carry in a phase; with it, results have these bits."""
    trace: bool = False
    """Whether results have the messages between clusters by round: see `dgsuite.core.traces`."""
    checkpoint: str | None = None
    """Folder of checkpoints, from which the same command goes on after a crash; or a URL of fsspec."""
    graph: GraphSource | None = None
    """In place of the file's table [graph]."""
    params: dict[str, Any] = {}
    """Parameters of the kernel, such as ``root = 3``."""


class Departing(Section):
    """A figure whose experiment may depart from the paper's."""

    departs: dict[str, str] = {}
    """Why the experiment departs from the paper's, by aspect; see `dgsuite.studies.report.claims.setups`."""


class Figure(Departing):
    """Which figure of the IMSuite paper the results are for."""

    number: Annotated[int, Field(ge=7, le=19)]
    """Of the figure."""
    study: str = Field(default="", pattern=r"^[a-z-]*$")
    """Name of a study beside the figure, such as "mn" of ``figure11-mn.toml``: on what the paper says of the
    figure's programs, but does not show."""


class Scaling(Section):
    """How `dgsuite scaling` analyses the runs."""

    terms: list[str] | None = None
    """Of the completion time; by default the form that predicts points best that it was not fitted to."""
    weights: Literal["relative", "equal"] = "relative"
    """Whether points count by their relative errors, or all the same."""
    bounded: bool = True
    """Whether coefficients are at least 0."""
    sizes: Literal["together", "apart"] = "together"
    """Whether runs of several n are one fit with n in its terms, or one fit each."""
    gain: Annotated[float, Field(gt=0, lt=1)] = 0.01
    """Share of the time that one more machine must save."""
    cti: Annotated[float, Field(gt=0)] = 0.1
    """Increment of the completion time that is accepted where bandwidth is short."""
    link: str | None = None
    """Bytes per second of a node's link, such as "1.25 GB"; by default the nominal bandwidth of the runs."""
    processes_per_node: Count | None = None
    """Processes that share a node's link, and that a machine adds; by default as in the runs."""
    departs: dict[str, str] = {}
    """Why the setting departs from the paper's, by aspect (`dgsuite report claims`)."""


class Config(Section):
    """An experiment file."""

    experiment: Experiment = Experiment()
    """What is common to all runs."""
    cluster: Cluster = Cluster()
    """Where to run."""
    throttle: Throttle | None = None
    """How fast workers may send."""
    graph: GraphSource | None = None
    """The graph of runs that have none of their own."""
    figure: Figure | None = None
    """Which figure of the IMSuite paper this is."""
    scaling: Scaling = Scaling()
    """How `dgsuite scaling` analyses the runs."""
    full: dict[str, Any] = {}
    """Values by dotted key that ``--full`` puts in place of the file's: ``"experiment.repeats" = 30``."""
    run: list[Run] = Field(min_length=1)
    """Runs; each [[run]] is the product of its lists."""


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
    hwts: int | None = None
    seed: int
    repeat: int
    bandwidth: float | None = None
    """Per cent of the nominal bandwidth."""
    workload: str = ""
    """As JSON."""
    network: str = ""
    """As JSON."""
    trials: int | None = None
    congest: float | None = None
    runtime: str | None = None
    trace: bool = False
    checkpoint: str | None = None
    """Folder of the checkpoints of all points; it is not a part of what the point is."""
    graph: GraphSource
    params: dict[str, Any]

    def source(self) -> tuple[str, str]:
        """Which reader the graph's file needs, and its path; or "generate", and the kind."""
        reader, pattern = next((s, p) for s in SOURCES if (p := getattr(self.graph, s)) is not None)
        return reader, pattern.format(n=self.n, kind=self.kind, kernel=self.kernel)

    def describe(self) -> str:
        """A line for people."""
        named = {name: getattr(self, name) for name in (*VARIED, "trials")}
        parts = [self.form] * (self.form != "iterative") + [self.kernel, self.style]
        parts += [f"{name}={value}" for name, value in named.items() if value not in (None, "")]
        return " ".join(parts)


def or_none(*lists: list | None) -> list[list]:
    """What is swept over; None alone where nothing is given."""
    return [values or [None] for values in lists]


def points(config: Config) -> list[Point]:
    """All runs of an experiment, those on the same cluster and graph side by side."""
    out = []
    e, c = config.experiment, config.cluster
    percents = config.throttle.percent if config.throttle else [None]
    for run in config.run:
        source = run.graph or config.graph
        assert source is not None
        sizes: Any = (run.workers or c.workers, run.threads or c.threads)
        if run.places is not None:  # workers and threads follow from them
            sizes = ([None], [None])
        where = list(itertools.product(*sizes, *or_none(run.hwts), percents))
        swept: dict[str, Any] = {
            "n": run.n,
            "kind": run.kind,
            "seed": e.seed,
            "kernel": run.kernel,
            "style": run.style if run.trials is None else ["serial"],
            "form": run.form,
            "count_as": run.count_as,
            "clusters": run.places or run.clusters,
            "workload": run.workload,
            "network": run.network,
            "repeat": range(e.repeats),
        }
        for there, *values in itertools.product(where, *or_none(*swept.values())):
            each = dict(zip(swept, values, strict=True))
            if each["style"] == "serial" and there != where[0]:
                continue  # the same whatever the cluster
            each |= dict(zip(("workers", "threads", "hwts", "bandwidth"), there, strict=True))
            out.append(_point(run, source, each))
    place = attrgetter("workers", "threads", "bandwidth")
    places = [*dict.fromkeys(map(place, out))]
    return sorted(out, key=lambda p: (p.repeat if e.fresh else 0, places.index(place(p))))


def _point(run: Run, graph: GraphSource, given: dict[str, Any]) -> Point:
    """The point of a run with some values, of which "n" stands for the number of nodes."""
    from dgsuite.core.engine.workload import Workload

    for name in ("clusters", "workers", "threads", "hwts"):
        if given[name] == "n":
            given[name] = given["n"]
    if run.places is not None:
        given["workers"] = given["clusters"]
        given["threads"] = -(-(given["hwts"] or 1) // given["clusters"])
    if given["style"] == "serial":
        given["hwts"] = given["bandwidth"] = None
    given["workload"] = str(Workload.make(given["workload"]) or "")
    network = given["network"]
    given["network"] = "" if network is None else json.dumps(network, sort_keys=True)
    shared = {"trials", "congest", "runtime", "trace", "checkpoint", "params"}
    return Point(graph=graph, **given, **run.model_dump(include=shared))
