"""Command line: what the papers say, beside ours, with a verdict on each claim. Heavy imports come late."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from partition.errors import InputError, RunError

EXAMPLE = """\
Ours come from experiment files, short runs, our code, and the results in FOLDER; without results
what the papers say of times is not checked.

exit status: 0 all well, 1 something departs from a paper without a reason, 2 wrong usage or input"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="python -m dgsuite.report claims",
        description="Compare every claim of the three papers with what is here.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument(
        "folder", metavar="FOLDER", nargs="?", help="where results are, such as results/"
    )
    p.add_argument(
        "--configs", metavar="FOLDER", help="experiment files; by default the checkout's"
    )
    p.add_argument(
        "--only", metavar="ID", default="", help="claims whose id begins so, as imsuite.fig8"
    )
    p.add_argument("--json", action="store_true", help="a JSON list in place of tables")
    return p


def run(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit status.

    Raises
    ------
    InputError
        A folder is not there, or holds nothing that can be read.
    RunError
        Something departs from a paper without a reason.
    """
    options = parser().parse_args(arguments)
    for folder in (options.folder, options.configs):
        if folder is not None and not Path(folder).is_dir():
            raise InputError(f"{folder}: there is no such folder")
    from rich.console import Console

    from dgsuite.report.claims.data import claims
    from dgsuite.report.claims.evidence import CONFIGS, Evidence
    from dgsuite.report.claims.judge import judge
    from dgsuite.report.claims.show import show, silent
    from dgsuite.report.folder import results_in

    results = {} if options.folder is None else results_in(Path(options.folder))
    chosen = [claim for name, claim in claims().items() if name.startswith(options.only)]
    if not chosen:
        raise InputError(f"--only {options.only}: no claim's id begins so")
    configs = Path(options.configs) if options.configs else CONFIGS
    rows = judge(Evidence(results, configs), chosen)
    if options.json:
        print(json.dumps([row.record() for row in rows], indent=1))
    else:
        show(Console(width=None if sys.stdout.isatty() else 160), rows)
    if departing := silent(rows):
        raise RunError("departs from a paper, and nothing says why:\n" + "\n".join(departing))
    return 0
