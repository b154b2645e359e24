"""Memory that processes of one host share, and that the system frees however they end.

It is an unnamed file of the kernel's (memfd_create), handed over an open Unix socket, or found by its process
in /proc. It exists as long as a process has it open, so nothing needs to be cleaned up after a process that
was killed, and it has no name by which another process could attach. /proc shows it with its owner's user and
process id, mode 0600.
"""

from __future__ import annotations

import mmap
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

with suppress(ImportError):  # on Windows
    import fcntl


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
    fd = os.memfd_create(
        f"dgsuite-{scheme}-{os.geteuid()}-{os.getpid()}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    )
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

    @classmethod
    def of(cls, fd: int) -> Where:
        """Where a file of this process is, while it is open."""
        found = os.fstat(fd)
        return cls(os.getpid(), fd, found.st_dev, found.st_ino, found.st_size)


@contextmanager
def offered(label: str, size: int) -> Iterator[tuple[NDArray[np.uint8] | None, Where | None]]:
    """New memory, and where other processes find it before the context ends; None where none is left."""
    try:
        mine, fd = make(label, size)
    except OSError:
        yield None, None
        return
    try:
        yield mine, Where.of(fd)
    finally:
        os.close(fd)


def attach_of(where: Where) -> NDArray[np.uint8] | None:
    """The memory behind another process's file; None if this process does not find it: in another
    container the number of the process is another one's, or no one's.
    """
    try:
        own = os.open(f"/proc/{where.pid}/fd/{where.fd}", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        same = Where.of(own)[2:] == where[2:]
        return attach(own) if same and sealed(own) else None
    finally:
        os.close(own)


def seals() -> int:
    """What a file may do no more: memory that shrank under its reader would kill the reader."""
    return fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
