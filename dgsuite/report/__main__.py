"""Command line: one HTML page of all results in a folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from partition.command import Command
from partition.errors import InputError
from partition.files import check_writable

EXAMPLE = """\
example:
  for f in configs/figure*.toml; do python -m dgsuite.experiment $f; done
  python -m dgsuite.report results
  python -m dgsuite.report claims results    # what the papers say beside ours; see claims --help

exit status: 0 all well, 2 wrong usage or input"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="python -m dgsuite.report",
        description="Make one self-contained HTML page of the results in a folder: tables and figures, "
        "with what the paper says beside each.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("folder", metavar="FOLDER", help="where results are, such as results/")
    p.add_argument("--output", metavar="FILE.html", help="by default FOLDER/report.html")
    return p


@Command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["claims"]:
        from dgsuite.report.claims.command import run

        return run(given[1:])
    options = parser().parse_args(given)
    folder = Path(options.folder)
    output = Path(options.output or folder / "report.html")
    make(folder, output)
    print(output)
    return 0


def make(folder: Path, output: Path) -> None:
    """Write the page of a folder; files that cannot be read are named on stderr, and left out.

    Raises
    ------
    InputError
        There is no such folder, no result in it that can be read, or no place for the page.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder")
    check_writable(output)
    from dgsuite.report.claims.evidence import Evidence
    from dgsuite.report.claims.judge import judge
    from dgsuite.report.folder import results_in
    from dgsuite.report.page import page, write

    found = results_in(folder)
    text, left_out = page(found, judge(Evidence(found)))
    problems = [InputError(f"{folder / name}: {why}") for name, why in left_out.items()]
    if len(left_out) == len(found):
        raise problems[0]
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)
    write(text, output)


if __name__ == "__main__":
    main.run()
