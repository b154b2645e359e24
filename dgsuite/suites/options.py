"""Options that all suites have, in files and on the command line. No heavy imports."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dgsuite.experiment.model import Count, Section
from partition.errors import InputError


class Place(Section):
    """Where a suite runs."""

    workers: Count = 2
    threads: Count = 1
    scheduler: str | None = None
    protocol: str | None = None
    """Transport between workers of our own; by default the fastest on one host."""


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add the options of `Place`, without defaults, to a parser that suppresses those."""
    parser.add_argument("--workers", type=int, help="worker processes (default: 2)")
    parser.add_argument("--threads", type=int, help="threads of each worker (default: 1)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on the Dask cluster at this address"
    )
    parser.add_argument(
        "--protocol",
        metavar="SCHEME",
        help="transport between workers (default: mpb, shared memory, on Linux; else tcp)",
    )


def add_config(parser: argparse.ArgumentParser, table: str) -> None:
    """Add a file of options, as `read` takes it."""
    parser.add_argument(
        "config",
        nargs="?",
        metavar="CONFIG.toml",
        default=None,
        help=f"a file whose table [{table}] has the options below; what is given here overrides it",
    )


def read(table: str, path: str | None, flags: Mapping[str, Any]) -> dict[str, Any]:
    """A file of options, or an empty one, with flags of the command line in its table.

    Raises
    ------
    InputError
        The file cannot be read, or is not TOML.
    """
    from dgsuite.experiment import toml

    data = {} if path is None else toml.read(path)
    found = data.setdefault(table, {})
    if isinstance(found, dict):  # the model refuses others
        found.update(flags)
    return data


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", default=False, help="print one JSON object")


def check_place(place: Place) -> None:
    """Refuse options that contradict each other.

    Raises
    ------
    InputError
        A transport is given for workers that are there already.
    """
    if place.protocol and place.scheduler:
        raise InputError("--protocol is for workers of our own; --scheduler has its transport")


def check_counts(flags: Mapping[str, Any], *names: str) -> None:
    """Refuse options whose numbers are below 1.

    Raises
    ------
    InputError
        The message names the option.
    """
    for name in names:
        if flags.get(name, 1) < 1:
            raise InputError(f"--{name} must be at least 1, got {flags[name]}")


def names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name for name in text.split(",") if name]


def check_names(option: str, given: Sequence[str], known: Iterable[str]) -> None:
    """Refuse names that are not known.

    Raises
    ------
    InputError
        The message lists those that are.
    """
    for name in given:
        if name not in known:
            raise InputError(f"{option} {name}: unknown; one of {', '.join(known)}")
