"""Write files atomically, and check early that they can be written."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from tempfile import TemporaryFile
from typing import Any

from dgsuite.base.errors import InputError, check_path
from dgsuite.base.extras import NETCDF, check_installed


def check_writable(path: str | os.PathLike[str], ending: str = "") -> None:
    """Check that a file can be written.

    Parameters
    ----------
    ending
        Required end of its name.

    Raises
    ------
    InputError
        The name has another ending, the path is a folder, a device or the like, or its folder does not
        exist or is not writable; or what writes NetCDF is not installed.
    """
    check_path(path)
    path = os.fspath(path)
    if os.path.isdir(path):
        raise InputError(
            f"{path}: is a folder; give the name of a file{ending and f' in {ending}'}"
        )
    there = os.path.realpath(path)
    if os.path.lexists(there) and not os.path.isfile(there):
        raise InputError(f"{path}: is not a regular file, so it cannot be replaced")
    if path.endswith(".nc"):
        check_installed(*NETCDF)
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


def check_output(path: str | os.PathLike[str], ending: str = "") -> None:
    """As `check_writable`, of a command's output: a file that it replaces is named on standard error."""
    check_writable(path, ending)
    if os.path.exists(path):
        print(f"{os.fspath(path)}: is there, and will be replaced", file=sys.stderr)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[str]:
    """A temporary name to write a file under. The file gets its own name once it is complete.

    If the block fails, the temporary file is removed and a file that was there before stays as it is.
    If the process is killed, the temporary file stays: its name ends in ``.part``.

    The temporary file is in the folder of the target. It is a new file with a random name, so several
    processes can write one path, and no other user can plant a link in its place. Its mode is 0666 without
    the bits of the umask. If the path is a link, the file that it points to is replaced.

    Raises
    ------
    InputError
        See `check_writable`; or the system refuses to write the file, for example because the disk is full.
    """
    check_writable(path)
    there = os.path.realpath(path)
    folder, name = os.path.split(there)
    # a name has at most 255 bytes, a character of it up to four
    part = os.path.join(folder, f"{name[:50]}.{token_hex(8)}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            yield part
            # after a power failure the name must not stand for an empty file
            with open(part, "rb+") as file:  # Windows flushes files that can be written alone
                os.fsync(file.fileno())
            os.replace(part, there)
        except BaseException:
            with suppress(FileNotFoundError):
                os.remove(part)
            raise
    except OSError as error:
        raise InputError(
            f"{os.fspath(path)}: cannot be written: {error.strerror or error}"
        ) from error


def write_csv(
    path: str | os.PathLike[str], heads: Iterable[str], rows: Iterable[Iterable[Any]]
) -> None:
    """Write a table as CSV: whole, or not at all."""
    with atomic_write(path) as part, open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows(rows)


def output(given: str | None, name: str) -> str:
    """The path of a result: as given, or ``results/<name>.nc``, in a folder that is created.

    Raises
    ------
    InputError
        The path does not end in .nc, which names of figures and tables beside it are made from, or cannot be
        written.
    """
    if given is None:
        os.makedirs("results", exist_ok=True)
        given = os.path.join("results", f"{name}.nc")
    check_output(given, ".nc")
    return given
