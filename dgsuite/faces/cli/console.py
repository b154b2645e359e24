"""What commands print, and where: data and paths to standard output, all else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dgsuite.base.telling import telling
from dgsuite.faces.cli.options import NO_PROGRESS, QUIET

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console


WIDTH = 110
"""Columns of what goes to a file or a pipe."""


def out(width: int = WIDTH) -> Console:
    """Standard output, for tables."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else width)


def err() -> Console:
    """Standard error, for what is not data."""
    from rich.console import Console

    return Console(stderr=True, width=None if sys.stderr.isatty() else WIDTH)


def quiet() -> bool:
    """Whether the command was given ``--quiet``."""
    return bool(click.get_current_context().meta.get(QUIET))


def last_line(line: str) -> None:
    """What is printed when a signal ends the command: see `dgsuite.base.command.Command`."""
    command = click.get_current_context().obj
    if command is not None:
        command.line = line


def wanted() -> bool:
    """Whether to show progress, on a terminal."""
    return not (quiet() or click.get_current_context().meta.get(NO_PROGRESS))


def progress() -> bool:
    """Whether to show progress: stderr is a terminal, and no option switches it off."""
    return sys.stderr.isatty() and wanted()


def tracked[T](items: Iterable[T], what: str, total: int | None = None) -> Iterable[T]:
    """Items with a progress bar.

    It is drawn without a thread. Rich joins a bar's thread when the loop over the items is closed. After an
    error that may be while Python ends, and then the join never returns.
    """
    if not progress():
        return items
    from rich.progress import track

    return track(items, what, total=total, console=err(), transient=True, auto_refresh=False)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that the block is at work, and how far it is with what it tells of (see `telling`)."""
    if not progress():
        yield
        return
    status = err().status(what)
    with status, telling(lambda done, parts: status.update(f"{what}: {done * 100 // parts} %")):
        yield


def figures(
    found: Mapping[str, Any], as_json: bool, report: Callable[[Any], str], *paths: str
) -> None:
    """Print the figures of a run as one JSON object, or as text with paths of files; with -q the paths."""
    if as_json:
        print(json.dumps(found))
    elif quiet() and paths:
        print(*paths, sep="\n")
    else:
        print(report(found), *paths, sep="\n")


def plan(options: BaseModel) -> None:
    """Print the options that would hold, as keys of TOML."""
    for key, value in options.model_dump(mode="json", by_alias=True, exclude_none=True).items():
        print(f"{key} = {json.dumps(value)}")
