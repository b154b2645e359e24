"""Options that all suites have, in files and on the command line. No heavy imports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dgsuite.base.errors import InputError
from dgsuite.studies.experiment.model import Count, Section


class Place(Section):
    """Where a suite runs."""

    workers: Count = 2
    """Worker processes."""
    threads: Count = 1
    """Threads of each worker."""
    scheduler: str | None = None
    """Run on the Dask cluster at this address, such as tcp://127.0.0.1:8786."""
    protocol: str | None = None
    """Transport between workers (by default mpb, shared memory, on Linux; else tcp)."""


def read[S: Section](
    file: type[S], table: str, path: str | None, overrides: Sequence[str], flags: Mapping[str, Any]
) -> Any:
    """The table of a file of options, or of none, with those of the command line in their place.

    Parameters
    ----------
    file
        Model of the file.
    overrides
        See `dgsuite.studies.experiment.toml.override`.

    Raises
    ------
    InputError
        The file cannot be read, is not TOML, or has other keys or values than it may have.
    """
    from dgsuite.studies.experiment import toml

    data = toml.read(path, overrides)
    found = data.setdefault(table, {})
    if isinstance(found, dict):  # the model refuses others
        found.update(flags)
    return getattr(toml.checked(file, data, path or "command line", flags), table)


def check_place(place: Place) -> None:
    """Refuse options that contradict each other.

    Raises
    ------
    InputError
        A transport is given for workers that are there already.
    """
    if place.protocol and place.scheduler:
        raise InputError("--protocol is for workers of our own; --scheduler has its transport")


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
