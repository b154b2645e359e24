"""What this machine's system and processor have, beyond what Python has everywhere: the one place to ask.

Code that uses such a thing asks `has` first, and has a portable way where the answer is no. Where there is
none, `need` raises an error that says what is missing and what to use instead.

The environment variable ``DGSUITE_WITHOUT`` lists capabilities not to use, separated by commas. Processes
that this one starts read it, too. So one machine can show what another would do.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import signal
import socket
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import NamedTuple

from dgsuite.base.errors import InputError, unknown

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

FUTEX = 202
"""Number of the system call on Linux, on x86-64."""


class Capability(NamedTuple):
    """Something that not every machine has."""

    probe: Callable[[], bool]
    what: str
    """In the words of its users."""


def _works(attempt: Callable[[], object]) -> Callable[[], bool]:
    """Whether something that is tried works: the system has it, and lets this process use it."""

    def probe() -> bool:
        try:
            return attempt() is not False
        except (AttributeError, OSError):
            return False

    return probe


def _memory_files() -> None:
    fd = os.memfd_create("dgsuite-probe", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(fd, mmap.PAGESIZE)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        fcntl.fcntl(fd, fcntl.F_GET_SEALS)
        os.close(os.open(f"/proc/{os.getpid()}/fd/{fd}", os.O_RDWR))
    finally:
        os.close(fd)


def _passed_files() -> None:
    with ExitStack() as stack:
        one, other = map(stack.enter_context, socket.socketpair(socket.AF_UNIX))
        one.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        socket.send_fds(one, [b"!"], [one.fileno()])
        os.close(socket.recv_fds(other, 1, 1)[1][0])


def _futex() -> bool:
    call = c_function("syscall")
    if (
        call is None
        or platform.system() != "Linux"
        or platform.machine().lower() not in ("x86_64", "amd64")
        or ctypes.sizeof(ctypes.c_void_p) != 8  # a program of 32 bits has another number
    ):
        return False
    word = ctypes.c_uint32()
    what = ctypes.c_long(FUTEX), ctypes.byref(word), ctypes.c_int(1)
    woken = call(*what, ctypes.c_uint32(1), None, None, ctypes.c_uint32(0))
    return woken == 0


def _locks() -> None:
    with tempfile.TemporaryFile() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


CAPABILITIES = {
    "memory files": Capability(
        _works(_memory_files),
        "unnamed memory that can be sealed (memfd_create) and found (/proc)",
        # without it: messages
    ),
    "passed files": Capability(
        _works(_passed_files),
        "Unix sockets that name their user (SO_PEERCRED) and pass open files (SCM_RIGHTS)",
        # without it: tcp
    ),
    "futex": Capability(
        _works(_futex),
        "a way to sleep on a word of shared memory whose stores are seen in their order (futex, x86-64)",
        # without it: messages that end a phase
    ),
    "affinity": Capability(
        _works(lambda: os.sched_setaffinity(0, os.sched_getaffinity(0))),
        "threads that can be bound to processors (sched_setaffinity)",
        # without it: threads stay unbound
    ),
    "C library": Capability(
        _works(lambda: c_function("mallopt") is not None),
        "functions of the C library by their name (mallopt, malloc_trim)",
        # without it: freed memory is kept or returned as the system likes
    ),
    "file locks": Capability(
        _works(_locks),
        "locks on files that end with their process (flock)",
        # without it: each process compiles for itself
    ),
    "signal masks": Capability(
        _works(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "signals that a thread can block, or that go to one thread (pthread_sigmask)",
        # without it: Ctrl-C reaches workers, too; one that is missed ends a command without cleaning up
    ),
    "signals": Capability(
        _works(lambda: os.killpg(os.getpgrp(), 0)),
        "signals from one process to another",
        # without it: a step of a study is waited for, then killed
    ),
    "fork": Capability(
        _works(lambda: hasattr(os, "register_at_fork")),  # a process of its own would cost more
        "processes that are copies of another (fork)",
        # without it: no process inherits a client
    ),
}
"""By name. A probe uses what it asks for, once, with no effect but its answer."""


def _left_out() -> frozenset[str]:
    """What the environment says not to use."""
    given = os.environ.get("DGSUITE_WITHOUT", "")
    names = frozenset(filter(None, map(str.strip, given.split(","))))
    for name in names - CAPABILITIES.keys():
        raise InputError(f"DGSUITE_WITHOUT: {unknown('capability', name, sorted(CAPABILITIES))}")
    return names


WITHOUT = _left_out()
"""Capabilities not to use, though they may be there."""


def has(name: str) -> bool:
    """Whether this machine has a capability of `CAPABILITIES`, and may use it.

    Examples
    --------
    >>> from dgsuite.base import capabilities
    >>> capabilities.has("futex") in (True, False)
    True
    """
    return name not in WITHOUT and _found(name)


def need(*names: str, user: str, instead: str) -> None:
    """Refuse what cannot be done here.

    Parameters
    ----------
    names
        The capabilities that are needed.
    user
        What needs them, as the first words of the error.
    instead
        What to use.

    Raises
    ------
    InputError
        One of them is missing.
    """
    for name in names:
        if not has(name):
            here = platform.system().replace("Darwin", "macOS")
            lacks = f"{here} does not have or forbids"
            why = "DGSUITE_WITHOUT leaves out" if name in WITHOUT else lacks
            raise InputError(f"{user} needs {CAPABILITIES[name].what}, which {why}; use {instead}")


def c_function(name: str) -> Callable[..., int] | None:
    """A function of the C library, or None where this process does not find it."""
    return getattr(_c_library(), name, None)


@cache
def _found(name: str) -> bool:
    return CAPABILITIES[name].probe()


@cache
def _c_library() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(None)
    except (TypeError, OSError):  # on Windows each library has a name
        return None
