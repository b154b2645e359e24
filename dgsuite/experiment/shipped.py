"""The experiment files that ship with dgsuite: the folder configs/ of a checkout or of an installation."""

from __future__ import annotations

import os
from pathlib import Path

from partition.errors import InputError, unknown

PACKAGE = Path(__file__).parents[1]

FOLDER = next(
    (folder for folder in (PACKAGE / "configs", PACKAGE.parent / "configs") if folder.is_dir()),
    PACKAGE / "configs",
)
"""Where they are: in the package if it was installed, else beside it."""


def names() -> list[str]:
    """Their names, without the ending."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name: str) -> Path:
    """The file of a name, with or without its ending.

    Raises
    ------
    InputError
        There is none.
    """
    stem = name.removesuffix(".toml")
    if stem not in names():
        raise InputError(unknown("config", name, names()))
    return FOLDER / f"{stem}.toml"


def resolve(path: str) -> str:
    """The path of a file, which may be the name of one that ships where there is no such file."""
    if os.path.exists(path) or path not in names():
        return path
    return str(FOLDER / f"{path}.toml")
