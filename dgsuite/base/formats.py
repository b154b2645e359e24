"""Versions of the forms of files. A file says its form, so that a later one is refused and not misread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dgsuite.base.errors import InputError
from dgsuite.base.version import __version__

VERSIONS = {"checkpoint": 1, "graph": 1, "result": 1, "trace": 1}
"""The form of each kind of file that this dgsuite writes."""

KEY = "format"
"""Name of the attribute of a file, or of the key at the top of a TOML file, that says its form."""


def current(kind: str) -> str:
    """What a file that is written now says of its form, such as "dgsuite graph 1"."""
    return f"dgsuite {kind} {VERSIONS[kind]}"


def check(kind: str, found: object, path: str) -> None:
    """Refuse a form that this dgsuite does not know.

    Parameters
    ----------
    found
        What the file says of its form.

    Raises
    ------
    InputError
        It is another form than the current one, or that of another kind of file.
    """
    said = str(found)  # a damaged file may have an array
    if said.startswith("dgsuite ") and not said.startswith(f"dgsuite {kind} "):
        raise InputError(f"{path}: not a {kind}: it has the form {said!r}")
    if said != current(kind):
        raise InputError(
            f"{path}: has the form {found!r}, and this dgsuite, {__version__}, reads {current(kind)!r}; "
            f"a later dgsuite reads later forms"
        )


def without(kind: str, attributes: Mapping[Any, Any], path: str) -> dict[Any, Any]:
    """The attributes of a file but for its form, which is checked. Files from before 1.0 have none.

    Raises
    ------
    InputError
        It is another form than the current one.
    """
    check(kind, attributes.get(KEY, current(kind)), path)
    return {name: value for name, value in attributes.items() if name != KEY}


def check_toml(data: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The tables of a TOML file; the key ``format`` at its top is checked, and may be left out.

    Raises
    ------
    InputError
        It is another number than 1.
    """
    found = data.get(KEY, 1)
    if found != 1 or isinstance(found, bool):
        raise InputError(
            f"{path}: format = {found!r}, and this dgsuite, {__version__}, reads format = 1; "
            f"a later dgsuite reads later forms"
        )
    return {name: value for name, value in data.items() if name != KEY}
