"""``dgsuite validate``. Heavy imports come late."""

from __future__ import annotations

from typing import Any

import click

from dgsuite.faces.cli import console, graphs, options


@click.command(
    epilog="\b\nExamples:\n  dgsuite validate mst in.txt result.nc\n"
    "  dgsuite validate wcc pairs.csv result.nc --columns from,to"
)
@click.argument("name", metavar="KERNEL")
@click.argument("graph", type=click.Path())
@click.argument("result", type=click.Path())
@options.table(graphs.Source)
@options.general
def validate(name: str, graph: str, result: str, **flags: Any) -> int:
    """Check the result of a kernel against its GRAPH, which is given as to `dgsuite kernel`: a file, or a
    family with --n or --scale. RESULT is a NetCDF file of dgsuite's, or any with a value a node. Exit
    status 0: it is valid, 1: it is not, 2: it cannot be checked.
    """
    from dgsuite.base import netcdf
    from dgsuite.base.aliases import kernel_of
    from dgsuite.genval.validation import validate
    from dgsuite.kernels import KERNELS

    name = kernel_of(name, KERNELS)
    found = netcdf.read(result)
    with console.working("making the graph"):
        made = graphs.make(name, graph, None, options.asked(graphs.Source, flags))
    report = validate(name, made, found)
    print(report)
    return 0 if report.ok else 1
