"""Compile the project's loops by Numba, and cache the code on disk, in a folder of the user's.

Import this module only where loops are compiled: importing Numba takes a quarter of a second.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import IO, Any

from llvmlite.binding import get_host_cpu_name
from numba import njit
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache

from dgsuite.base import capabilities
from dgsuite.base.kept_loops import root
from dgsuite.base.version import __version__

LOOPS: list[tuple[Callable, tuple[Any, ...]]] = []
"""Compiled loops that can be loaded ahead of their use, each with the kinds of its arguments."""

SOON = 1.0
"""A process that has compiled for so many seconds says so."""

PATIENCE = 60.0
"""After this many seconds of waiting for another process, which may be stopped, compile in spite of it."""

log = logging.getLogger("dgsuite")


def cache_folder() -> Path:
    """The folder of the compiled code: of this user, version and processor."""
    return root() / f"{__version__}-{get_host_cpu_name()}"


class Locator:
    """Where the code of a function is cached, for Numba, and the state of the source it was made from.

    Compiled code is run as it is, so nobody else may write to the folder.
    """

    def __init__(self, function: Callable, file: str) -> None:
        module = sys.modules[function.__module__]
        source: bytes = module.__spec__.loader.get_data(file)  # type: ignore[union-attr]
        self._stamp = hashlib.sha256(source).hexdigest()
        self._line = function.__code__.co_firstlineno
        place = hashlib.sha256(os.path.dirname(file).encode()).hexdigest()[:12]
        self._folder = cache_folder() / f"{Path(file).parent.name}-{place}"

    @classmethod
    def from_function(cls, function: Callable, file: str) -> Locator | None:
        """The locator of a function, or None if there is no folder that the user alone can write to."""
        found = cls(function, file)
        try:
            found.ensure_cache_path()
        except OSError:
            return None
        return found

    def ensure_cache_path(self) -> None:
        """Make the folder.

        Raises
        ------
        OSError
            It cannot be made or written to, or another user can write to it.
        """
        _make_own(self._folder)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)


@cache
def _make_own(folder: Path) -> None:
    """Make a folder in that of `cache_folder`; refuse one that others can write to."""
    root().parent.mkdir(parents=True, exist_ok=True)
    for own in (root(), cache_folder(), folder):
        own.mkdir(mode=0o700, exist_ok=True)
        state = own.stat()
        if os.name == "posix" and (state.st_uid != os.getuid() or state.st_mode & 0o022):
            raise PermissionError(f"{own} must be writable by its user alone")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} is not writable")


class Files(CompileResultCacheImpl):
    """Numba's names and forms of files, in the folder of `Locator`."""

    _locator_classes = [Locator]


class Cache(FunctionCache):
    """Numba's cache of a function on disk, with locks for processes that compile at the same time.

    Numba writes the index before the code, and two processes may choose the same file for code of
    different types. Without a lock a third process could load code for the wrong types.

    Of the processes that need a function one compiles it; the others wait for that, and load it.
    """

    _impl_class = Files
    _turn: IO[str] | None = None
    """The open lock of a process that compiles."""

    @contextmanager
    def _locked(self, exclusive: bool) -> Iterator[None]:
        if not capabilities.has("file locks"):
            yield
            return
        import fcntl

        self._impl.locator.ensure_cache_path()
        with open(Path(self.cache_path) / "dgsuite.lock", "a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield

    def _take_turn(self) -> None:
        """Wait until no other process compiles this function, but for `PATIENCE` seconds at most."""
        import fcntl

        path = Path(self.cache_path) / f"{self._impl.filename_base}.lock"
        self._turn = open(path, "a", encoding="utf-8")  # noqa: SIM115
        until = monotonic() + PATIENCE
        while monotonic() < until:
            try:
                fcntl.flock(self._turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                sleep(0.01)

    def end_turn(self) -> None:
        """Let other processes compile, or load what was compiled."""
        if self._turn is not None:
            self._turn.close()
            self._turn = None

    def _load(self, sig: Any, target_context: Any) -> Any:
        with self._locked(exclusive=False):
            return super().load_overload(sig, target_context)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load(sig, target_context)
        # a function that calls itself is compiled for other types within its turn
        if found is None and self._turn is None and capabilities.has("file locks"):
            self._take_turn()
            found = self._load(sig, target_context)
            if found is not None:
                self.end_turn()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            with self._locked(exclusive=True):
                super().save_overload(sig, data)
        finally:
            self.end_turn()


def _warn(text: str) -> None:
    """Log a warning; on a terminal in place of a line of progress, which another process may have drawn."""
    over = ""
    if sys.stderr is not None and sys.stderr.isatty() and not log.hasHandlers():
        over = f"\r{' ' * (shutil.get_terminal_size().columns - 1)}\r"
    log.warning("%s%s", over, text)


class Notice(event.Listener):
    """Counts compiled loops and the seconds that they take, and logs these once per process."""

    def __init__(self) -> None:
        self.seconds, self.loops, self.told = 0.0, 0, False
        self._begun: list[float] = []

    def on_start(self, event: Any) -> None:
        self._begun.append(perf_counter())

    def on_end(self, event: Any) -> None:
        begun = self._begun.pop()
        dispatcher = event.data["dispatcher"]
        failed = any(event._exc_details or ())
        if failed and isinstance(dispatcher._cache, Cache):
            dispatcher._cache.end_turn()
        module = dispatcher.py_func.__module__
        if self._begun or module.partition(".")[0] != "dgsuite":
            return  # compiled as part of another function, or of another project
        self.seconds += perf_counter() - begun
        self.loops += 1

    def tell(self, what: str) -> None:
        """Log what has compiled how long, if that was long and was not said yet."""
        if self.told or self.seconds < SOON:
            return
        self.told = True
        _warn(
            f"{what}: compiling {self.loops} loops took {self.seconds:.1f} s; other processes find them in "
            f"{cache_folder()}; the command `dgsuite compile` does so ahead"
        )


notice = Notice()
event.register("numba:compile", notice)


def compiled(function: Callable | None = None, **options: Any) -> Any:
    """Compile a function on its first call, or load it from disk. The compiled code releases the GIL.

    Parameters
    ----------
    function
        Function to compile. Without it, return a decorator.
    options
        Options of `numba.njit`.
    """
    if function is None:
        return lambda given: compiled(given, **options)
    made = njit(nogil=True, **options)(function)
    try:
        made._cache = Cache(function)
    except RuntimeError:  # there is no folder for it
        _report_no_folder()
    return made


@cache
def _report_no_folder() -> None:
    _warn(
        f"no folder to cache compiled loops in, so each process compiles them again: {cache_folder()} "
        f"must be writable by you alone; set NUMBA_CACHE_DIR to another folder"
    )


def takes(*kinds: Any) -> Callable[[Callable], Callable]:
    """Register a compiled loop to be loaded by `load`, as a decorator of it.

    Parameters
    ----------
    kinds
        Of each argument: the name of a sample, or a value that is no text.
    """

    def registered(loop: Callable) -> Callable:
        LOOPS.append((loop, kinds))
        return loop

    return registered


def load(samples: Mapping[str, Any]) -> None:
    """Load, or compile, the loops that take nothing but what there are samples of, by calling them.

    Parameters
    ----------
    samples
        Arguments by kind. The arrays that loops would walk over are empty.
    """
    for loop, kinds in LOOPS:
        if all(not isinstance(kind, str) or kind in samples for kind in kinds):
            loop(*(samples[kind] if isinstance(kind, str) else kind for kind in kinds))
