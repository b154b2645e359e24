"""The graph of a command: a file or a family, and the options that say how it is read or made."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

import click

from dgsuite.base.errors import InputError
from dgsuite.base.names import RULES, Edges
from dgsuite.faces.cli import options

if TYPE_CHECKING:
    from distributed import Client

    from dgsuite.partition.graph.graph import Graph

source: Callable[[options.F], options.F] = options.several(
    click.option("--n", type=click.IntRange(min=1), help="Nodes of a generated graph."),
    click.option("--scale", type=click.IntRange(1, 40), help="In place of --n: 2**SCALE nodes."),
    click.option("--m", type=click.IntRange(min=0), help="Edges of a generated graph."),
    click.option("--directed", is_flag=True, help="Edges of the file have a direction."),
    click.option(
        "--relabel", is_flag=True, help="Nodes of the file have names: text or any integers."
    ),
    click.option(
        "--columns",
        metavar="SOURCE,TARGET[,WEIGHT]",
        help="Columns of a Parquet file (default: source,target), or of CSV whose first line names them.",
    ),
    click.option(
        "--duplicates",
        type=click.Choice([*RULES]),
        help="Which weight stays if the file has an edge several times. Default: the "
        "smallest, with a warning.",
    ),
    click.option(
        "--nodes",
        metavar="FILE[:COLUMN]",
        help="All nodes, also those without an edge: a column of Parquet or CSV, a text file with one in "
        "each line, or a number of nodes.",
    ),
    click.option(
        "--edges",
        type=click.Choice(get_args(Edges)),
        default="memory",
        help="Where the edges of the graph are; on disk they may be more than fit into memory.",
    ),
    click.option(
        "--seed", type=int, default=101, show_default=True, help="Seed of graph and kernel."
    ),
)
"""How the graph is read or made, and the seed."""


def make(
    kernel: str,
    given: str,
    client: Client | None,
    seed: int,
    n: int | None,
    scale: int | None,
    m: int | None,
    edges: Edges,
    **of_files: Any,
) -> Graph:
    """The graph of a file, or a generated one, for which the options of files are refused."""
    from dgsuite import genval
    from dgsuite.genval.families import FAMILIES
    from dgsuite.suites.sources import read

    if given not in FAMILIES or os.path.exists(given):
        for option, value in (("n", n), ("scale", scale), ("m", m)):
            if value is not None:
                raise InputError(f"--{option} is for generated graphs, and {given} is none")
        return read(given, client, kernel=kernel, edges=edges, **of_files)
    if any(of_files.values()):
        raise InputError(
            f"--directed, --relabel, --duplicates, --columns and --nodes are for files, and {given} is "
            f"generated"
        )
    return genval.graph(given, number(given, n, scale), m=m, seed=seed, client=client, edges=edges)


def number(given: str, n: int | None, scale: int | None) -> int:
    """Nodes of a generated graph."""
    if (n is None) == (scale is None):
        raise InputError(f"a generated graph such as {given} needs either --n or --scale")
    return n if n is not None else 2 ** int(scale or 0)
