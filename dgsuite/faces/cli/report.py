"""``dgsuite report``: a page of results, and the papers' claims beside ours. Heavy imports come late."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dgsuite.base.errors import InputError, RunError
from dgsuite.base.files import check_output
from dgsuite.faces.cli import console, options


@click.group(cls=options.Group, epilog="Example: dgsuite report results")
@options.version
def report() -> None:
    """Make one self-contained HTML page of a result, or of those in a folder: tables and figures, with what
    the paper says beside each. `dgsuite report FOLDER` is `dgsuite report page FOLDER`.
    """


@report.command()
@click.argument("results", metavar="FOLDER|FILE.nc", type=click.Path(exists=True))
@options.output("Default: FOLDER/report.html, or FILE.html.", "FILE.html")
@options.general
def page(results: str, output: str | None) -> None:
    """Write the page of a result, or of those in FOLDER; its path is printed."""
    given = Path(results)
    beside = given.with_suffix(".html") if given.is_file() else given / "report.html"
    path = Path(output or beside)
    check_output(path, ".html")
    from dgsuite.studies.report.claims import data
    from dgsuite.studies.report.claims.evidence import Evidence
    from dgsuite.studies.report.claims.judge import judge
    from dgsuite.studies.report.folder import results_in
    from dgsuite.studies.report.page import page as make
    from dgsuite.studies.report.page import write

    found = results_in(given)
    if not found:
        raise InputError(f"{given}: holds no results (*.nc); dgsuite run makes some")
    claims = []
    if any("figure" in ds.attrs for ds in found.values()):
        chosen = console.tracked(data.claims().values(), "judging claims", len(data.claims()))
        claims = judge(Evidence(found), chosen)
    text, left_out = make(found, claims)
    folder = given.parent if given.is_file() else given
    problems = [InputError(f"{folder / name}: {why}") for name, why in left_out.items()]
    if len(left_out) == len(found):
        raise problems[0]
    for problem in problems:
        click.echo(f"left out: {problem}", err=True)
    write(text, path)
    print(path)


@report.command()
@click.argument("folder", required=False, type=options.FOLDER)
@click.option(
    "--configs",
    metavar="FOLDER",
    type=options.FOLDER,
    help="Experiment files (default: those that ship).",
)
@click.option(
    "--only",
    metavar="ID",
    default="",
    help="Only claims whose id begins with ID, such as imsuite.fig8.",
)
@options.as_json
@options.general
def claims(folder: str | None, configs: str | None, only: str, as_json: bool) -> None:
    """Compare every claim of the three papers with what is here: experiment files, short runs, our
    code, and the results in FOLDER. Claims about counts and times need these results; without them they
    are not checked. Exit status 1: something departs from a paper without a reason.
    """
    from dgsuite.studies.report.claims import data
    from dgsuite.studies.report.claims.evidence import CONFIGS, Evidence
    from dgsuite.studies.report.claims.judge import judge
    from dgsuite.studies.report.claims.show import show, silent
    from dgsuite.studies.report.folder import results_in

    results = {} if folder is None else results_in(Path(folder))
    if folder is not None and not results:
        click.echo(
            f"{folder}: holds no results (*.nc), so what needs results is not checked", err=True
        )
    chosen = [claim for name, claim in data.claims().items() if name.startswith(only)]
    if not chosen:
        raise InputError(f"--only {only}: no claim has an id that begins so")
    evidence = Evidence(results, Path(configs) if configs else CONFIGS)
    rows = judge(evidence, console.tracked(chosen, "judging claims", len(chosen)))
    if as_json:
        print(json.dumps([row.record() for row in rows], indent=1))
    else:
        show(console.out(160), rows)
    if departing := silent(rows):
        raise RunError("departs from a paper, and nothing says why:\n" + "\n".join(departing))
