"""``dgsuite run``: the experiment that a TOML file describes. Heavy imports come late."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dgsuite.base.errors import InputError
from dgsuite.faces.cli import console, options
from dgsuite.studies.experiment.model import Config, Point, Section, points
from dgsuite.suites.options import Place


class Options(Section):
    """What the command is asked for, besides the file and the cluster."""

    full: bool = False
    """Use the values of the file's table [full]: the full sizes."""
    force: bool = False
    """Run finished points again."""
    output: str | None = None
    """Where the result goes (by default results/NAME.nc)."""


@click.command(epilog="Example: dgsuite run quickstart --workers 2 -o out.nc")
@options.file()
@options.table(Options)
@options.table(Place, defaults=False)
@options.general
def run(file: str, overrides: Sequence[str], dry_run: bool, **flags: Any) -> None:
    """Run distributed graph algorithms on Dask as a TOML file describes, check the results, and save
    them as NetCDF with a picture. The path of the result is printed.
    """
    console.last_line("{}; finished points are kept")
    from dgsuite.studies.experiment.load import load

    asked = options.asked(Options, flags)
    given = options.given({key: flags[key] for key in Place.model_fields})
    config, folder = load(file, overrides, given, asked.full)
    if dry_run:
        _plan(config, points(config), folder)
        return
    from dgsuite.studies.experiment import session

    command = session.again(file, overrides, given, asked.full)
    how = session.How(command, asked.full, asked.force, console.quiet(), console.progress())
    print(session.measure(config, folder, asked.output, how))


def _plan(config: Config, todo: Sequence[Point], folder: Path) -> None:
    from dgsuite.core.workers.processor import own_processors

    where = config.cluster.scheduler or "a local cluster"
    there = len(own_processors())
    print(f"{config.experiment.name}: {len(todo)} runs on {where}")
    for number, point in enumerate(todo, 1):
        reader, name = point.source()
        graph = f"{name} graph" if reader == "generate" else name
        left_out = f"  left out: this machine has {there} hardware threads"
        print(f"{number:4}  {point.describe()}  ({graph}){left_out * ((point.hwts or 0) > there)}")
    from dgsuite.studies.experiment.sweep import unsuited

    if wrong := list(unsuited(todo, folder)):
        raise InputError("\n".join(wrong))
