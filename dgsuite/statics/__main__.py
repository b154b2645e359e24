"""The command line of statics. Heavy imports come late."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from dgsuite.statics.counting import Statics, table
from partition.command import Command
from partition.files import write_csv


@Command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    p = argparse.ArgumentParser(
        prog="python -m dgsuite.statics",
        description="Lines, tasks, joins, barriers and locks in the text of the kernels.",
    )
    p.add_argument("--csv", metavar="FILE", help="write the table to a file")
    options = p.parse_args(arguments)
    rows = table()
    if options.csv is not None:
        write_csv(options.csv, Statics._fields, rows)
        return 0
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for head in Statics._fields:
        shown.add_column(head, justify="right" if head in Statics._fields[3:] else "left")
    for row in rows:
        shown.add_row(*map(str, row))
    Console().print(shown)
    return 0


if __name__ == "__main__":
    main.run()
