"""The graph of a command: a file or a family, and the options that say how it is read or made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from dgsuite.base.errors import InputError
from dgsuite.studies.experiment.model import SEED, Count
from dgsuite.suites.options import Reading

if TYPE_CHECKING:
    from distributed import Client

    from dgsuite.partition.graph.graph import Graph


class Source(Reading):
    """How the graph is read or made, and the seed."""

    n: Count | None = None
    """Nodes of a generated graph."""
    scale: Annotated[int, Field(ge=1, le=40)] | None = None
    """In place of --n: 2**SCALE nodes."""
    m: Annotated[int, Field(ge=0)] | None = None
    """Edges of a generated graph."""
    columns: str | None = None
    """SOURCE,TARGET[,WEIGHT]: columns of a Parquet file (by default source,target), or of CSV whose first
    line names them."""
    nodes: str | None = None
    """FILE[:COLUMN]: all nodes, also those without an edge: a column of Parquet or CSV, a text file with one
    in each line, or a number of nodes."""
    seed: int = SEED
    """Seed of graph and kernel."""


def make(kernel: str, given: str, client: Client | None, source: Source) -> Graph:
    """The graph of a file, or a generated one, for which the options of files are refused."""
    from dgsuite import genval
    from dgsuite.genval.families import FAMILIES
    from dgsuite.suites.sources import read

    if given not in FAMILIES or os.path.exists(given):
        for option in ("n", "scale", "m"):
            if getattr(source, option) is not None:
                raise InputError(f"--{option} is for generated graphs, and {given} is none")
        return read(given, client, source, kernel, source.nodes, source.columns)
    of_files = {"directed", "relabel", "duplicates", "columns", "nodes"}
    if any(source.model_dump(include=of_files).values()):
        raise InputError(
            f"--directed, --relabel, --duplicates, --columns and --nodes are for files, and {given} is "
            f"generated"
        )
    n, seed = number(given, source), source.seed
    return genval.graph(given, n, m=source.m, seed=seed, client=client, edges=source.edges)


def number(given: str, source: Source) -> int:
    """Nodes of a generated graph."""
    if (source.n is None) == (source.scale is None):
        raise InputError(f"a generated graph such as {given} needs either --n or --scale")
    return source.n or 2 ** int(source.scale or 0)
