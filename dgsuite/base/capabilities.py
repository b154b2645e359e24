"""What this machine's system and processor have, beyond what Python has everywhere: the one place to ask.

Code that uses such a thing asks `has` first, and has a portable way where the answer is no. Where there is
none, `need` raises an error that says what is missing and what to use instead.

The environment variable ``DGSUITE_WITHOUT`` lists capabilities not to use, separated by commas. Processes
that this one starts read it, too. So one machine can show what another would do, and a system that has a
thing but forbids it, as some sandboxes do, need not be asked.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import signal
import socket
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from dgsuite.base.errors import InputError, unknown

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

FUTEX = {"x86_64": 202, "aarch64": 98}
"""Number of the system call on Linux, by processor."""


class Capability(NamedTuple):
    """Something that not every machine has."""

    probe: Callable[[], bool]
    what: str
    """In the words of its users."""
    instead: str
    """What is done without it."""


def _attributes(module: object, *names: str) -> Callable[[], bool]:
    """Whether a module is there and has some names."""
    return lambda: all(hasattr(module, name) for name in names)


def _has_ordered_stores() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")


def _has_futex() -> bool:
    return (
        platform.system() == "Linux"
        and platform.machine() in FUTEX
        and ctypes.sizeof(ctypes.c_void_p) == 8  # a program of 32 bits has another number
        and c_function("syscall") is not None
    )


CAPABILITIES = {
    "memory files": Capability(
        lambda: (
            hasattr(os, "memfd_create")
            and _attributes(fcntl, "F_ADD_SEALS", "F_GET_SEALS")()
            and os.path.isdir("/proc/self/fd")
        ),
        "unnamed memory that can be sealed (memfd_create) and found (/proc)",
        "named memory",
    ),
    "named memory": Capability(
        # elsewhere a file that is mapped cannot be removed
        lambda: hasattr(os, "geteuid") and hasattr(mmap, "MAP_SHARED"),
        "files that can be removed while processes have mapped them",
        "messages",
    ),
    "passed files": Capability(
        _attributes(socket, "AF_UNIX", "SO_PEERCRED", "send_fds", "recv_fds"),
        "Unix sockets that name their user (SO_PEERCRED) and pass open files (SCM_RIGHTS)",
        "tcp",
    ),
    "futex": Capability(
        _has_futex,
        "a way to sleep on a word of shared memory (futex)",
        "messages that end a phase",
    ),
    "ordered stores": Capability(
        _has_ordered_stores,
        "a processor whose stores are seen in their order (x86-64)",
        "signals on sockets, messages that end a phase",
    ),
    "affinity": Capability(
        _attributes(os, "sched_getaffinity", "sched_setaffinity"),
        "threads that can be bound to processors (sched_setaffinity)",
        "threads stay unbound",
    ),
    "C library": Capability(
        lambda: c_function("mallopt") is not None,
        "functions of the C library by their name (mallopt, malloc_trim)",
        "freed memory is kept or returned as the system likes",
    ),
    "file locks": Capability(
        _attributes(fcntl, "flock"),
        "locks on files that end with their process (flock)",
        "temporary files of killed processes stay; each process compiles for itself",
    ),
    "signal masks": Capability(
        _attributes(signal, "pthread_sigmask"),
        "signals that a thread can block, or that go to one thread (pthread_sigmask)",
        "Ctrl-C reaches workers, too; one that is missed ends a command without cleaning up",
    ),
    "signals": Capability(
        _attributes(os, "killpg"),
        "signals from one process to another",
        "a step of a study is waited for, then killed",
    ),
    "fork": Capability(
        _attributes(os, "register_at_fork"),
        "processes that are copies of another (fork)",
        "no process inherits a client",
    ),
}
"""By name. A probe has no effect but its answer."""


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
            why = f"{here} does not have" if name not in WITHOUT else "DGSUITE_WITHOUT leaves out"
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
