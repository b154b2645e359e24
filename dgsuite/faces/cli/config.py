"""``dgsuite config``: the experiment files that ship, and what files may have."""

from __future__ import annotations

import click

from dgsuite.faces.cli import options
from dgsuite.studies.experiment.shipped import FOLDER, find, names


@click.group()
@options.version
def config() -> None:
    """The experiment files that ship with dgsuite, such as quickstart, and what files may have."""


@config.command("list")
@options.general
def list_() -> None:
    """List the files, each with its first line."""
    width = max(map(len, names()))
    for name in names():
        with open(FOLDER / f"{name}.toml", encoding="utf-8") as file:
            first = file.readline().lstrip("# ").strip()
        print(f"{name:{width}}  {first}")


@config.command()
@click.argument("name")
@options.general
def show(name: str) -> None:
    """Print a file, such as `dgsuite config show quickstart`."""
    print(find(name).read_text("utf-8"), end="")


@config.command()
@click.argument("name")
@options.general
def path(name: str) -> None:
    """Print where a file is, for a program that reads it."""
    print(find(name))


@config.command(help="Print the JSON schema of all files, for editors.")
@options.general
def schema() -> None:
    """Run the command."""
    import json

    from dgsuite.faces.cli.reference import schema

    print(json.dumps(schema(), indent=1))


@config.command(help="Print the reference of all files, as Markdown.")
@options.general
def reference() -> None:
    """Run the command."""
    from dgsuite.faces.cli.reference import page

    print(page(), end="")


@config.command()
@options.general
def settings() -> None:
    """Print the reference of dgsuite's settings in Dask's configuration, as Markdown."""
    from dgsuite.faces.cli.reference import settings

    print(settings(), end="")
