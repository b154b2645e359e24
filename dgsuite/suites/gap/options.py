"""What a GAP run is asked for, by a file or on the command line; which kernel of ours each of GAP's is, and
how its trials go. No heavy imports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched, islice
from typing import Annotated, Any, Literal

from pydantic import Field

from dgsuite.base.errors import InputError
from dgsuite.studies.experiment.model import SEED, Count, Section, Seed
from dgsuite.suites.options import EDGE_FACTOR, Place, Reading, check_names, check_scale

GRAPHS = ("kron", "urand", "graph", "file")
"""Where a graph may come from."""

PLANAR = {"road": 1, "grid": 2}
"""Generated graphs with edges of their own, and about how many each node has."""


DIRECTED = ("web", "twitter")
"""Generated graphs whose edges have a direction."""


class Options(Place, Reading):
    """The table ``[gap]`` of a file; flags of the same names override it."""

    kernels: Annotated[list[str], Field(min_length=1)] | None = None
    """Some of bfs, sssp, pr, cc, bc, tc; by default all."""
    kron: int | None = None
    """Scale of a Kronecker graph: it has 2^kron nodes."""
    urand: int | None = None
    """Scale of a uniform random graph: it has 2^urand nodes."""
    graph: Literal["kron", "urand", "road", "grid", "web", "twitter"] | None = None
    """A generated graph of 2^scale nodes: Kronecker, uniform random, planar with a long diameter, a square,
    directed with links that are copied, or directed Kronecker."""
    scale: int | None = None
    """Scale of `graph`: it has 2^scale nodes."""
    file: str | None = None
    """Path of an edge list (text, Parquet) or of a Matrix Market file (.mtx)."""
    degree: Count = EDGE_FACTOR
    """Edges per node of a generated graph."""
    trials: Count | None = None
    """Trials of each kernel (by default as many as GAP makes)."""
    seed: Seed = SEED
    """Of the graph, weights and sources."""
    validate_outputs: bool = Field(default=False, alias="validate")
    """Check the output of every trial."""
    output: str | None = None
    """NetCDF file of the result (by default results/gap-GRAPH.nc)."""


class File(Section):
    """A file for ``dgsuite gap``."""

    gap: Options
    """The options of `dgsuite gap`."""


def check(options: Options) -> None:
    """Refuse options that contradict each other, unknown kernels, and graphs that would not fit.

    Raises
    ------
    InputError
        The message names the option.
    """
    given = [name for name in GRAPHS if getattr(options, name) is not None]
    if len(given) != 1:
        raise InputError(
            "give one graph: --kron SCALE, --urand SCALE, --graph NAME --scale SCALE or --file PATH; "
            f"got {len(given)}"
        )
    if (options.graph is None) != (options.scale is None):
        raise InputError("--graph and --scale belong together: --graph road --scale 20")
    check_names("--kernels", options.kernels or (), BENCHMARKS)
    names = asked(options)
    if options.file is None:
        for flag in ("directed", "relabel", "duplicates"):
            if getattr(options, flag):
                raise InputError(f"--{flag} is for --file; generated graphs have no choice")
        weighted = any(BENCHMARKS[name].weighted for name in names)
        name, scale = generated(options)
        if name in PLANAR and options.degree != EDGE_FACTOR:
            raise InputError(f"--degree: graph {name!r} has its own")
        degree = PLANAR.get(name, options.degree)
        check_scale(scale, weighted=weighted, degree=degree, disk=options.edges == "disk")


def generated(options: Options) -> tuple[str, int]:
    """Name and scale of the graph that is to be generated."""
    if options.graph is not None and options.scale is not None:
        return options.graph, options.scale
    return ("kron", options.kron or 0) if options.urand is None else ("urand", options.urand)


def asked(options: Options) -> list[str]:
    """The kernels to run."""
    return [*dict.fromkeys(options.kernels or BENCHMARKS)]


@dataclass(frozen=True)
class Benchmark:
    """One of GAP's kernels.

    Attributes
    ----------
    kernel
        Name of ours.
    trials
        As many as GAP has.
    sources
        How many each trial has.
    weighted
        Whether edges have weights.
    parameters
        Of every trial.
    """

    kernel: str
    trials: int
    sources: int = 0
    weighted: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def each(self, sources: Sequence[Any], trials: int | None) -> list[dict[str, Any]]:
        """The parameters of each trial; all kernels take their sources from the same list, in order."""
        count = trials or self.trials
        if not self.sources:
            return [{}] * count
        if self.sources == 1:
            return [{"root": source} for source in sources[:count]]
        picks = islice(batched(sources, self.sources), count)
        return [{"sources": list(dict.fromkeys(some))} for some in picks]


BENCHMARKS = {
    "bfs": Benchmark("bfs", 64, sources=1),
    "sssp": Benchmark("sssp", 64, sources=1, weighted=True),
    "pr": Benchmark(
        "pagerank", 16, parameters={"tolerance": 1e-4, "sinks": "lost", "weighted": False}
    ),
    "cc": Benchmark("wcc", 16),
    "bc": Benchmark("bc", 16, sources=4, parameters={"weighted": False}),
    "tc": Benchmark("triangles", 3),
}
"""By GAP's names."""

WEIGHTS = 255
"""Largest weight of an edge; weights are uniform integers from 1."""
