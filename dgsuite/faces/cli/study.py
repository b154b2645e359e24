"""``dgsuite study``: all experiments of the papers' figures, and their page. Heavy imports come late."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dgsuite.base.errors import InputError, RunError
from dgsuite.faces.cli import console, options

if TYPE_CHECKING:
    from dgsuite.studies.study import Step, Study


@click.command(epilog="Example: dgsuite study --all -o results")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option("--full", is_flag=True, help="The papers' settings, where the files have them.")
@click.option("--dry-run", is_flag=True, help="List the steps and what they take, and stop.")
@options.output("Where the results go (default: results).", "FOLDER")
@options.general
def study(
    names: Sequence[str], everything: bool, full: bool, dry_run: bool, output: str | None
) -> None:
    """Run the experiments of the papers' figures one after the other, and make the page of their
    results. NAME is the name of an experiment file, such as figure11; without any, the steps are listed.
    If the command is interrupted, run it again: it keeps the steps that are done.
    """
    if names and everything:
        raise InputError("give either names of steps or --all")
    console.last_line("{}; the same command goes on from here")
    from dgsuite.studies.study import Study, chosen

    steps = chosen(names)
    whole = Study(Path(output or "results"), full)
    if dry_run or not (names or everything):
        for step in steps:
            state = "done" if whole.done(step) else f"about {_minutes(whole.minutes(step))}"
            print(f"{step.name:21}  {state}")
        return
    _run(whole, steps)
    page = whole.folder / "report.html"
    from dgsuite.faces.cli.report import page as write

    click.get_current_context().invoke(write, results=str(whole.folder), output=str(page))


def _run(whole: Study, steps: Sequence[Step]) -> None:
    """Run the steps; those that fail do not keep the others from running."""
    todo = [step for step in steps if not whole.done(step)]
    quiet = ["--quiet"] * console.quiet() + ["--no-progress"] * (not console.wanted())

    def tell(number: int) -> None:
        if number < len(todo) and not console.quiet():
            left = _minutes(whole.estimate(todo[number:]))
            said = f"{number + 1} of {len(todo)}: {todo[number].name}; about {left} left"
            click.echo(said, err=True)

    failed = []
    tell(0)
    for number, (step, status) in enumerate(whole.run(todo, quiet), 1):
        if status:
            failed.append(step.name)
        tell(number)
    if failed:
        raise RunError(
            f"failed: {', '.join(failed)}; the others are done, and this command goes on"
        )


def _minutes(number: float) -> str:
    return "a minute" if number < 1.5 else f"{number:.0f} minutes"
