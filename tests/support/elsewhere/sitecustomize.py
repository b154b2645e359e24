"""Hides from the project's code what another platform does not have. Python runs it when a process starts.

A process and those that it starts run it where this folder is in ``PYTHONPATH``; the environment variable
``DGSUITE_TEST_PLATFORM`` names a platform of `LACKING`. Other projects and Python's own modules go on to see
all: they have a way of their own on each platform, and this machine has that of Linux alone.
"""

from __future__ import annotations

import builtins
import ctypes
import os
import platform
import sys
import types
from importlib import import_module
from typing import NamedTuple


class Lacking(NamedTuple):
    """What a platform does not have, or has otherwise than Linux on x86-64."""

    system: str
    machine: str
    names: str = ""
    """Of modules, as ``module.name``."""
    modules: tuple[str, ...] = ()
    proc: bool = False
    """Whether there is no ``/proc`` and ``/sys``."""
    none: bool = False
    """Whether ``ctypes.CDLL(None)`` is an error."""


MACOS = """
    os.memfd_create os.MFD_CLOEXEC os.MFD_ALLOW_SEALING os.sched_getaffinity os.sched_setaffinity os.eventfd
    os.posix_fallocate socket.SO_PEERCRED fcntl.F_ADD_SEALS fcntl.F_GET_SEALS fcntl.F_SEAL_GROW
    fcntl.F_SEAL_SHRINK resource.prlimit
"""

WINDOWS = """
    os.fork os.register_at_fork os.geteuid os.getuid os.getgid os.getpgid os.killpg os.setsid os.getloadavg
    os.fchmod os.chown os.uname os.statvfs os.mkfifo os.posix_fallocate os.sysconf os.O_NOFOLLOW os.O_NONBLOCK
    os.O_CLOEXEC os.O_DIRECTORY
    signal.SIGKILL signal.SIGALRM signal.SIGUSR1 signal.SIGCHLD signal.SIGHUP signal.pthread_sigmask
    signal.pthread_kill signal.setitimer signal.alarm
    socket.AF_UNIX socket.send_fds socket.recv_fds socket.SCM_RIGHTS socket.MSG_CMSG_CLOEXEC
    mmap.MAP_SHARED mmap.MAP_PRIVATE mmap.PROT_READ
"""

POSIX_MODULES = "fcntl", "resource", "pwd", "grp", "termios"

LACKING = {
    "linux-aarch64": Lacking("Linux", "aarch64"),
    "macos-arm64": Lacking("Darwin", "arm64", MACOS, proc=True),
    "windows-x86-64": Lacking("Windows", "AMD64", MACOS + WINDOWS, POSIX_MODULES, True, True),
    "none-of-all": Lacking("Other", "other", MACOS + WINDOWS, POSIX_MODULES, True, True),
}
"""By platform. The last one has nothing of what any other one lacks."""


def is_ours(frame: types.FrameType) -> bool:
    """Whether a frame is of the project's code."""
    return frame.f_globals.get("__name__", "").partition(".")[0] == "dgsuite"


class Sparse(types.ModuleType):
    """A module of which the project's code does not see some names."""

    def __getattribute__(self, name):
        hidden = HIDDEN[object.__getattribute__(self, "__name__")]
        if name in hidden and is_ours(sys._getframe(1)):
            raise AttributeError(f"this platform has no {name}")
        return super().__getattribute__(name)


HIDDEN: dict[str, set[str]] = {}


def hide(lacking: Lacking) -> None:
    """Make this process look like another platform to the project's code."""
    for module, name in (full.rsplit(".", 1) for full in lacking.names.split()):
        HIDDEN.setdefault(module, set()).add(name)
    for module in HIDDEN:
        import_module(module).__class__ = Sparse

    imported = builtins.__import__

    def importing(name, *rest, **options):
        if name in lacking.modules and is_ours(sys._getframe(1)):
            raise ImportError(f"this platform has no module {name}")
        return imported(name, *rest, **options)

    builtins.__import__ = importing

    for name, answer in (("system", lacking.system), ("machine", lacking.machine)):
        setattr(platform, name, for_ours(answer, getattr(platform, name)))
    if lacking.none:
        ctypes.CDLL = named(ctypes.CDLL)
    if lacking.proc:
        sys.addaudithook(without_proc)


def for_ours(answer, otherwise):
    """A function with another answer for the project's code."""
    return lambda: answer if is_ours(sys._getframe(1)) else otherwise()


def named(library):
    """The class of libraries, where the project's code must name one."""

    class Named(library):
        def __init__(self, name, *rest, **options):
            if name is None and is_ours(sys._getframe(1)):
                raise TypeError("this platform has no library without a name")
            super().__init__(name, *rest, **options)

    return Named


READERS = "pathlib", "os", "posixpath", "genericpath", "io", "codecs", "shutil"
"""Modules through which code opens files: who calls them is who opens the file."""


def without_proc(event: str, arguments: tuple) -> None:
    """An audit hook: files of the kernel's are not found."""
    if event not in ("open", "os.listdir", "os.scandir") or not isinstance(arguments[0], str):
        return
    if arguments[0].startswith(("/proc", "/sys", "/dev/shm")):
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__") in READERS:
            frame = frame.f_back
        if is_ours(frame):
            raise FileNotFoundError(2, "this platform has no such file", arguments[0])


if "DGSUITE_TEST_PLATFORM" in os.environ:
    hide(LACKING[os.environ["DGSUITE_TEST_PLATFORM"]])
