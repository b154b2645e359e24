"""Memory that processes of one host share, and that the system frees however they end.

It is an unnamed file of the kernel's (memfd_create), handed over an open Unix socket, or found by its process
in /proc. It exists as long as a process has it open, so nothing needs to be cleaned up after a process that
was killed, and it has no name by which another process could attach. /proc shows it with its owner's user and
process id, mode 0600.

Where the system has no such files, memory that a run makes for its tasks is a file in the folder for
temporary ones, mode 0600, under a name that nobody can guess. It is removed as soon as all tasks have mapped
it.
"""

from __future__ import annotations

import mmap
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base import capabilities


def is_there() -> bool:
    """Whether the tasks of a run can share memory, of either kind."""
    return capabilities.has("memory files") or capabilities.has("named memory")


def make(scheme: str, size: int) -> tuple[NDArray[np.uint8], int]:
    """New memory, and the file to hand over, which the caller closes.

    Returns
    -------
    memory : (size,) array of bytes, zero
    fd : int

    Raises
    ------
    OSError
        There is none left.
    """
    import fcntl

    fd = os.memfd_create(_label(scheme), os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.fchmod(fd, stat.S_IRUSR | stat.S_IWUSR)
        os.ftruncate(fd, size)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals())
        return attach(fd), fd
    except BaseException:
        os.close(fd)
        raise


def sealed(fd: int) -> bool:
    """Whether a file can neither shrink nor grow any more."""
    import fcntl

    try:
        return fcntl.fcntl(fd, fcntl.F_GET_SEALS) & seals() == seals()
    except OSError:  # no file that could be sealed
        return False


def attach(fd: int) -> NDArray[np.uint8]:
    """The memory behind a file; the file may be closed. Freed with the last array that shows it."""
    size = os.fstat(fd).st_size
    options = {"trackfd": False} if sys.version_info >= (3, 13) else {}
    return np.frombuffer(mmap.mmap(fd, size, **options), np.uint8)


class Where(NamedTuple):
    """Where another process finds a file of this one, and by what it knows it."""

    pid: int
    fd: int
    device: int
    inode: int
    size: int
    path: str = ""
    """Of a file that has a name."""

    @classmethod
    def of(cls, fd: int, path: str = "") -> Where:
        """Where a file of this process is, while it is open."""
        found = os.fstat(fd)
        return cls(os.getpid(), fd, found.st_dev, found.st_ino, found.st_size, path)


@contextmanager
def offered(label: str, size: int) -> Iterator[tuple[NDArray[np.uint8] | None, Where | None]]:
    """New memory, and where other processes find it before the context ends; None where none is left."""
    fd, path = -1, ""
    try:
        mine = None
        with suppress(OSError):
            if capabilities.has("memory files"):
                mine, fd = make(label, size)
            else:
                fd, path = tempfile.mkstemp(prefix=f"{_label(label)}-")
                with open(fd, "wb", closefd=False) as file:
                    file.write(
                        bytes(size)
                    )  # of a sparse file, a full disk would end the process later
                mine = attach(fd)
        yield mine, None if mine is None else Where.of(fd, path)
    finally:
        if fd >= 0:
            os.close(fd)
        if path:
            os.remove(path)


def attach_of(where: Where) -> NDArray[np.uint8] | None:
    """The memory behind another process's file; None if this process does not find it: in another
    container the number of the process is another one's, or no one's.
    """
    name = where.path or f"/proc/{where.pid}/fd/{where.fd}"
    try:
        own = os.open(name, os.O_RDWR | os.O_CLOEXEC | (os.O_NOFOLLOW if where.path else 0))
    except OSError:
        return None
    try:
        same = Where.of(own)[2:5] == where[2:5]
        safe = _is_ours(own) if where.path else sealed(own)
        return attach(own) if same and safe else None
    finally:
        os.close(own)


def _is_ours(fd: int) -> bool:
    """Whether only this user can change a file."""
    found = os.fstat(fd)
    return (
        found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == stat.S_IRUSR | stat.S_IWUSR
    )


def _label(scheme: str) -> str:
    """What memory is for, and whose it is."""
    return f"dgsuite-{scheme}-{os.geteuid()}-{os.getpid()}"


def seals() -> int:
    """What a file may do no more: memory that shrank under its reader would kill the reader."""
    import fcntl

    return fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
