"""Check that all processes of a Dask cluster run the same dgsuite as this one."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

from dgsuite.base.errors import InputError
from dgsuite.base.version import __version__

BESIDE = ("genval", "kernels", "partition")
"""Subpackages whose folders are beside `dgsuite/` in a checkout, and within it in an installation."""


class Install(NamedTuple):
    """The dgsuite that a process imports.

    Attributes
    ----------
    python
        Path of the Python executable.
    version
        Version of dgsuite, or None if the import fails.
    code
        Fingerprint of the source files, or the import's error message.
    folder
        Folder that holds the package.
    """

    python: str
    version: str | None
    code: str
    folder: str

    def __str__(self) -> str:
        if self.version is None:
            return f"no dgsuite that Python {self.python} can import ({self.code})"
        return f"dgsuite {self.version} from {self.folder} (code {self.code})"


@cache
def fingerprint() -> str:
    """Hash of all source files of the package, since two checkouts may have the same version.

    The import system finds the files: in folders, editable installations and zip files.
    """
    digest = hashlib.sha256(__version__.encode())
    for package in ("dgsuite", *(f"dgsuite.{name}" for name in BESIDE)):
        for name, source in _sources(package, files(package)):
            digest.update(f"\0{name}\0".encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def _sources(name: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.name.endswith(".py"):
            yield f"{name}/{item.name}", item
        elif item.is_dir() and not (name == "dgsuite" and item.name in BESIDE):
            yield from _sources(f"{name}/{item.name}", item)


def here() -> Install:
    """The dgsuite of this process."""
    folder = str(Path(str(files("dgsuite"))).resolve().parent)
    return Install(sys.executable, __version__, fingerprint(), folder)


def probe() -> Callable[[], tuple[str, str | None, str, str]]:
    """A function that returns the fields of `Install`.

    It is pickled by value, because it is local, so it also runs in a process without dgsuite.
    """

    def describe() -> tuple[str, str | None, str, str]:
        import sys

        try:
            from dgsuite.partition.client.installed import here

            return tuple(here())  # type: ignore[return-value]
        except Exception as error:
            return sys.executable, None, f"{type(error).__name__}: {error}", ""

    return describe


def compare(answers: Mapping[str, Sequence[Any]]) -> None:
    """Refuse processes that have no dgsuite or a different one.

    Parameters
    ----------
    answers
        What the function of `probe` returned, by the name of the process in messages.

    Raises
    ------
    InputError
        The message names the process, its dgsuite, and what to do.
    """
    own = here()
    others = {process: Install(*answer) for process, answer in answers.items()}
    wrong = [process for process, other in others.items() if other.code != own.code]
    if wrong:
        more = f" (and {len(wrong) - 1} more processes differ)" if wrong[1:] else ""
        raise InputError(
            f"{wrong[0]} has {others[wrong[0]]}{more}, and this process has {own}; install the same "
            f"dgsuite for both, then restart {wrong[0].partition(' at ')[0]}"
        )
