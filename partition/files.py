"""Files that are written: checked before they are worked for, and whole or not there at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile

from partition.errors import InputError


def writable(path: str | os.PathLike[str], ending: str = "") -> None:
    """Make sure that a file can be written.

    Parameters
    ----------
    ending
        What its name must end in.

    Raises
    ------
    InputError
        Its name ends otherwise, it is a folder, a device or the like, or its folder is not there or
        takes no files.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        raise InputError(
            f"{path}: is a folder; give the name of a file{ending and f' in {ending}'}"
        )
    there = os.path.realpath(path)
    if os.path.lexists(there) and not os.path.isfile(there):
        raise InputError(f"{path}: is no regular file, which alone can be written anew")
    folder = os.path.dirname(there if os.path.islink(path) else path) or "."
    if not path.endswith(ending):
        raise InputError(f"{path}: the name must end in {ending}")
    if not os.path.isdir(folder):
        raise InputError(f"{path}: the folder {folder} does not exist")
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"{path}: the folder {folder} cannot be written to: {error.strerror}"
        ) from None


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[str]:
    """A name to write a file under, which gets its own when all is written; else nothing is left.

    A link stays, and what it names is written.

    Raises
    ------
    InputError
        See `writable`.
    """
    writable(path)
    there = os.path.realpath(path)
    part = f"{there}.{os.getpid()}.part"
    try:
        yield part
        os.replace(part, there)
    finally:
        if os.path.exists(part):
            os.remove(part)
