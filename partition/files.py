"""Files that are written: checked before they are worked for, and whole or not there at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
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
    """A temporary name to write a file under. The file gets its own name once it is complete.

    If the block fails, the temporary file is removed and a file that was there before stays as it is.
    The temporary file is in the folder of the target. It is created anew, under a name that nobody can
    guess, so that several writers of one path do not meet and no planted link is followed. Its mode is
    what the umask leaves of 0666. Where the path itself is a link, the file that it names is written.

    Raises
    ------
    InputError
        See `writable`.
    """
    writable(path)
    there = os.path.realpath(path)
    folder, name = os.path.split(there)
    # a name has at most 255 bytes, a character of it up to four
    part = os.path.join(folder, f"{name[:50]}.{token_hex(8)}.part")
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield part
        with open(part, "rb") as file:
            os.fsync(file.fileno())  # a name must not outlive its content when power fails
        os.replace(part, there)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(part)
        raise
