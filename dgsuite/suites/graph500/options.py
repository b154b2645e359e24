"""What a Graph500 run is asked for, by a file or on the command line. No heavy imports."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dgsuite.base.errors import InputError
from dgsuite.studies.experiment.model import SEED, Count, Section, Seed
from dgsuite.suites.options import Place, check_scale


class Options(Place):
    """The table ``[graph500]`` of a file; flags of the same names override it."""

    scale: int
    """The graph has 2^scale nodes."""
    kernel: Literal["bfs", "sssp"] = "bfs"
    """Whether searches find levels (bfs) or distances (sssp)."""
    partition: Literal["1d", "2d"] = "1d"
    """How edges are dealt to clusters."""
    grid: Annotated[str, Field(pattern=r"^\d+[xX]\d+$")] | None = None
    """Shape of the grid, such as 2x2 (2d; by default two by two or more, near-square)."""
    direction: Literal["optimising", "top-down"] | None = None
    """By default optimising with 1d, top-down with 2d, which has no other."""
    roots: Count = 64
    """Searches."""
    root: Annotated[int, Field(ge=0)] | None = None
    """Search from this node alone."""
    seed: Seed = SEED
    """Seed of the graph and the roots."""
    compare: list[Literal["scipy", "graphblas", "networkit"]] = []
    """Libraries that search as well, to compare: scipy, graphblas, networkit."""
    validate_trees: bool = Field(default=True, alias="validate")
    """Check every tree."""


class File(Section):
    """A file for ``dgsuite graph500``."""

    graph500: Options
    """The options of `dgsuite graph500`."""


def resolve(options: Options) -> Options:
    """The options with their defaults that depend on others.

    Raises
    ------
    InputError
        Options that contradict each other, or a graph that would not fit into memory.
    """
    weighted = options.kernel == "sssp"
    check_scale(options.scale, weighted=weighted, grid=options.partition == "2d")
    n = 2**options.scale
    if options.root is not None and options.root >= n:
        raise InputError(f"--root {options.root} is not a node: nodes are 0 to {n - 1}")
    if weighted:
        for name in ("direction", "grid", "compare"):
            if getattr(options, name):
                raise InputError(f"--{name} has no meaning with --kernel sssp")
        if options.partition == "2d":
            raise InputError("--kernel sssp runs on --partition 1d alone")
        return options
    if options.partition == "1d":
        if options.grid:
            raise InputError("--grid needs --partition 2d")
        return options.model_copy(update={"direction": options.direction or "optimising"})
    if options.direction == "optimising":
        raise InputError("--partition 2d searches top-down; --direction optimising needs 1d")
    return options.model_copy(update={"direction": "top-down"})


def grid(options: Options, workers: int) -> tuple[int, int] | None:
    """The grid's shape, if there is one.

    Raises
    ------
    InputError
        It has not a block for each worker.
    """
    from dgsuite.partition.clusters.grid import near_square

    if options.partition == "1d":
        return None
    if options.grid is None:
        return near_square(max(4, workers))
    rows, columns = map(int, options.grid.lower().split("x"))
    if rows * columns < workers:
        raise InputError(
            f"--grid {options.grid} does not match {workers} workers: it must have a block for each"
        )
    return rows, columns
