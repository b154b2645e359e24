"""The experiment files that ship with dgsuite: the folder configs/ of a checkout or of an installation."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dgsuite.base.errors import InputError, unknown

PACKAGE = Path(__file__).parents[2]

FOLDER = PACKAGE / "configs"
FOLDER = FOLDER if FOLDER.is_dir() else PACKAGE.parent / "configs"
"""Where they are: in the package if it was installed, else beside it."""


def names() -> list[str]:
    """Their names, without the ending."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def _named(name: str) -> str | None:
    """The name of a file that ships; its number may lack the zero in front, as in figure9."""
    padded = re.sub(r"(?<!\d)(\d)$", r"0\1", name)
    return next((known for known in (name, padded) if known in names()), None)


def find(name: str) -> Path:
    """The file of a name, with or without its ending.

    Raises
    ------
    InputError
        There is none.
    """
    stem = _named(name.removesuffix(".toml"))
    if stem is None:
        raise InputError(unknown("config", name, names()))
    return FOLDER / f"{stem}.toml"


def resolve(path: str) -> str:
    """The path of a file, which may be the name of one that ships where there is no such file."""
    stem = None if os.path.exists(path) else _named(path)
    return path if stem is None else str(FOLDER / f"{stem}.toml")


def called(path: str) -> str:
    """What a command calls a file: the name of one that ships, or its path."""
    where = Path(path)
    return where.stem if where.parent == FOLDER and where.stem in names() else path
