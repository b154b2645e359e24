"""``dgsuite statics``. Heavy imports come late."""

from __future__ import annotations

import click

from dgsuite.faces.cli import console, options


@click.command
@click.option("--csv", metavar="FILE", help="Write the table to a file.")
@options.general
def statics(csv: str | None) -> None:
    """Lines, tasks, joins, barriers and locks in the text of the kernels."""
    from dgsuite.base import tables
    from dgsuite.base.files import check_output, write_csv
    from dgsuite.studies.statics.counting import Statics, table

    rows = table()
    if csv is not None:
        check_output(csv)
        write_csv(csv, Statics._fields, rows)
        return
    console.out().print(tables.table(Statics._fields, rows, left=(0, 1, 2), wrap=False))
