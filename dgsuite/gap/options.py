"""What a GAP run is asked for, by a file or on the command line. No heavy imports."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dgsuite.experiment.model import Count, Section
from dgsuite.gap.plan import BENCHMARKS
from dgsuite.suites.options import Place, check_names, check_place
from dgsuite.suites.size import EDGE_FACTOR, check_scale
from partition.errors import InputError

GRAPHS = ("kron", "urand", "file")
"""Where a graph may come from."""


class Options(Place):
    """The table ``[gap]`` of a file; flags of the same names override it."""

    kernels: Annotated[list[str], Field(min_length=1)] | None = None
    """By default all that take the graph."""
    kron: int | None = None
    """A Kronecker graph with 2^kron nodes."""
    urand: int | None = None
    """A uniform random graph with 2^urand nodes."""
    file: str | None = None
    """An edge list in text or Parquet, or a Matrix Market file."""
    degree: Count = EDGE_FACTOR
    """Edges a node of a generated graph."""
    directed: bool = False
    relabel: bool = False
    trials: Count | None = None
    seed: Annotated[int, Field(ge=0)] = 101
    validate_outputs: bool = Field(default=False, alias="validate")
    output: str | None = None


class File(Section):
    """A file for ``python -m dgsuite.gap``."""

    gap: Options


def check(options: Options) -> None:
    """Refuse options that contradict each other, unknown kernels, and graphs that would not fit.

    Raises
    ------
    InputError
        The message names the option.
    """
    check_place(options)
    given = [name for name in GRAPHS if getattr(options, name) is not None]
    if len(given) != 1:
        raise InputError(
            f"give one graph: --kron SCALE, --urand SCALE or --file PATH; got {len(given)}"
        )
    check_names("--kernels", options.kernels or (), BENCHMARKS)
    names = asked(options)
    if options.file is None:
        for flag in ("directed", "relabel"):
            if getattr(options, flag):
                raise InputError(f"--{flag} is for --file; generated graphs have no choice")
        weighted = any(BENCHMARKS[name].weighted for name in names)
        scale = options.urand if options.kron is None else options.kron
        assert scale is not None
        check_scale(scale, weighted, options.degree)


def asked(options: Options) -> list[str]:
    """The kernels to run.

    Raises
    ------
    InputError
        One does not take directed graphs, and the graph is one.
    """
    from kernels import KERNELS

    found = []
    for name in dict.fromkeys(options.kernels or BENCHMARKS):
        kernel = KERNELS[BENCHMARKS[name].kernel]
        if not options.directed or kernel.both_ways or not kernel.undirected:
            found.append(name)
        elif options.kernels is not None:
            raise InputError(f"--kernels {name}: takes no directed graph")
    return found
