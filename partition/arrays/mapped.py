"""Arrays in mapped files on a local disk, for the edges of graphs that are larger than memory.

Such an array is read and written as any other. The system reads its pages from the disk when they are first
touched, and takes them back when memory is short. The file has no name once it is mapped, so nothing is left
of it when the process ends, in whatever way.

What is made of a mapped array, and is as large, is mapped, too: see `empty`. Pages that the process has
touched count as its memory. `Keeper` lets go of them beyond a budget, so that Dask does not take a worker for
full. The system keeps what it has room for.
"""

from __future__ import annotations

import itertools
import math
import mmap
import os
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Literal, get_args

import numpy as np
import psutil
from numpy.typing import DTypeLike, NDArray

from dgsuite.base import threads
from dgsuite.base.errors import InputError, one_of
from dgsuite.base.names import Edges

LEAST = 1 << 20
"""Bytes from which an array is mapped; a smaller one stays in memory."""

SHARE = 8
"""A process may hold mapped pages of one part in so many of the memory that it may use."""

EVERY = 0.02
"""Seconds between two looks at the pages that the process holds."""

PIECE = 1 << 22
"""Bytes of the system's table of pages that are read at a time."""

SPARED = 9
"""The keeper rests at least this many times as long as its last look took."""

Places = dict[str, tuple[int, tuple[int, ...], np.dtype, Literal["C", "F"]]]
"""Of each array of a file: its first byte, its shape, its dtype, and its order."""


class Keeper:
    """The mapped files of this process, and a thread that lets go of their pages beyond a budget.

    Attributes
    ----------
    budget
        Bytes of mapped pages that the process may hold.
    """

    def __init__(self) -> None:
        self._files: dict[int, weakref.ref[mmap.mmap]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process = psutil.Process()
        worker = _worker()
        limit = None if worker is None else worker.memory_manager.memory_limit
        self.budget = (limit or psutil.virtual_memory().total) // SHARE

    def add(self, file: mmap.mmap, address: int) -> None:
        """Look after a mapped file, as long as an array refers to it."""
        with self._lock:
            self._files[address] = weakref.ref(file)
            if self._thread is None:
                self._thread = threads.start(self._keep, "mapped")

    def holds(self, address: int) -> bool:
        """Whether an address is in a mapped file."""
        return any(start <= address < start + len(file) for start, file in self._there())

    def let_go(self) -> None:
        """Give all mapped pages back to the system, which keeps what it has room for. Nothing is lost."""
        if not hasattr(mmap, "MADV_DONTNEED"):
            return
        for _, file in self._there():
            file.madvise(mmap.MADV_DONTNEED)

    def _there(self) -> list[tuple[int, mmap.mmap]]:
        with self._lock:
            found = [(start, file()) for start, file in self._files.items()]
            self._files = {start: weakref.ref(file) for start, file in found if file is not None}
        return [(start, file) for start, file in found if file is not None]

    def _keep(self) -> None:
        pause, pause_for = threading.Event(), EVERY
        while True:
            pause.wait(pause_for)
            with self._lock:
                if not any(file() is not None for file in self._files.values()):
                    self._thread = None
                    return
            begin = time.perf_counter()
            if self.held() > self.budget:
                self.let_go()
            pause_for = max(EVERY, SPARED * (time.perf_counter() - begin))

    def held(self) -> int:
        """Bytes of the mapped files that the process has in memory; an upper bound, if it is in the budget.

        The bound also counts pages of libraries, and memory that processes share.
        """
        bound = int(getattr(self._process.memory_info(), "shared", 0))
        if bound <= self.budget:
            return bound
        files = self._there()
        try:
            with open("/proc/self/pagemap", "rb", buffering=0) as pages:
                return sum(_present(pages, start, len(file)) for start, file in files)
        except OSError:  # the system has no such table
            return min(bound, sum(len(file) for _, file in files))


def _present(pages: IO[bytes], start: int, size: int) -> int:
    """Bytes of a range of addresses that are in this process's memory.

    Parameters
    ----------
    pages
        The system's table of the process's pages: 64 bits for each, of which the highest says so.
    """
    first, last = start // mmap.PAGESIZE, -(-(start + size) // mmap.PAGESIZE)
    pages.seek(8 * first)
    count, left = 0, 8 * (last - first)
    while left and (some := pages.read(min(left, PIECE))):
        count += int(np.count_nonzero(np.frombuffer(some, np.int64) < 0))
        left -= len(some)
    return count * mmap.PAGESIZE


_keeper: Keeper | None = None
_making = threading.Lock()


def wanted(edges: Any) -> bool:
    """Whether an argument `edges` says that they are on disk.

    Raises
    ------
    InputError
        It is neither "memory" nor "disk".
    """
    one_of("edges", edges, get_args(Edges))
    return bool(edges == "disk")


def keeper() -> Keeper:
    """That of this process; a process that was forked has its own."""
    global _keeper
    with _making:
        if _keeper is None or _keeper._process.pid != os.getpid():
            _keeper = Keeper()
        return _keeper


def let_go() -> None:
    """Give all mapped pages of this process back to the system."""
    if _keeper is not None:
        _keeper.let_go()


def folder() -> str:
    """Where files are made: the folder of this worker's own files, or Dask's ``temporary-directory``."""
    import dask

    if (worker := _worker()) is not None:
        return str(worker.local_directory)
    found = dask.config.get("temporary-directory", None)
    if found is None:
        return tempfile.gettempdir()
    os.makedirs(found, exist_ok=True)  # as workers make it
    return str(found)


def _worker() -> Any:
    """The worker whose task this is, if it is one."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None


def is_mapped(array: NDArray) -> bool:
    """Whether an array is in a mapped file."""
    if _keeper is None or not array.nbytes:
        return False
    return _keeper.holds(array.__array_interface__["data"][0])


def in_memory(arrays: Sequence[Any]) -> int:
    """Bytes that arrays take in memory; what is no array takes none."""
    return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray) and not is_mapped(a))


def on_disk(count: int, dtype: DTypeLike) -> NDArray:
    """An array in a file of its own, of which the disk has room for all bytes. It is full of zeros.

    Raises
    ------
    InputError
        The disk is full.
    """
    nbytes = count * np.dtype(dtype).itemsize
    if nbytes < LEAST:
        return np.zeros(count, dtype)
    places: Places = {"": (0, (count,), np.dtype(dtype), "C")}
    return arrays(made(nbytes), places)[""]


def made(nbytes: int) -> mmap.mmap:
    """A new mapped file.

    Raises
    ------
    InputError
        The disk is full.
    """
    where = folder()
    try:
        with tempfile.TemporaryFile(dir=where, prefix="dgsuite-") as file:
            _reserve(file.fileno(), nbytes)
            return mmap.mmap(file.fileno(), nbytes)
    except OSError as error:
        raise InputError(
            f"{where}: has no room for {nbytes / 1e6:,.0f} MB of edges: {error.strerror}; set Dask's "
            f"temporary-directory, or a worker's --local-directory, to a folder on a larger disk"
        ) from None


def _reserve(file: int, nbytes: int) -> None:
    """Take the room on the disk now, since a write to a mapped page has no way to say that there is none."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, nbytes)
    else:
        os.ftruncate(file, nbytes)


def of_file(path: str | os.PathLike[str], places: Places) -> dict[str, NDArray]:
    """Arrays of a file in place.

    Compiled loops take them as they take others: a write would change this process's own copy of a page.
    """
    with Path(path).open("rb") as file:
        return arrays(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), places)


def arrays(file: mmap.mmap, places: Places, kept: bool = True) -> dict[str, NDArray]:
    """Arrays in a mapped file, by their places; whether a keeper looks after it."""
    found = {}
    for name, (first, shape, dtype, order) in places.items():
        array: NDArray = np.frombuffer(file, dtype, math.prod(shape), first)
        found[name] = array.reshape(shape, order=order)
    if kept and places:
        keeper().add(file, np.frombuffer(file, np.uint8, 1).__array_interface__["data"][0])
    return found


def empty(count: int, dtype: DTypeLike, like: NDArray) -> NDArray:
    """An array for what is made of another one: mapped if that is."""
    return on_disk(count, dtype) if is_mapped(like) else np.empty(count, dtype)


def windows(start: NDArray, entries: NDArray) -> list[tuple[int, int]]:
    """Ranges of rows in which the entries can be written in any order, since their pages stay meanwhile.

    Parameters
    ----------
    start
        Row pointer.
    entries
        If they are in memory, the range of all rows is the only one.
    """
    rows = len(start) - 1
    if not is_mapped(entries):
        return [(0, rows)]
    most = max(1, keeper().budget // 2 // entries.itemsize)
    cuts = np.searchsorted(start, np.arange(most, len(entries), most)).tolist()
    ends = sorted({0, rows, *cuts})
    return list(itertools.pairwise(ends))


def moved(array: NDArray) -> NDArray:
    """An array on disk with the same values."""
    if is_mapped(array) or array.nbytes < LEAST:
        return array
    found = on_disk(array.size, array.dtype).reshape(array.shape)
    found[...] = array
    return found


def concatenated(arrays: Sequence[NDArray]) -> NDArray:
    """Arrays one after the other, on disk if the first is; a single one is not copied."""
    if len(arrays) == 1:
        return arrays[0]
    if not is_mapped(arrays[0]):
        return np.concatenate(arrays)
    out = on_disk(sum(map(len, arrays)), np.result_type(*arrays))
    return np.concatenate(arrays, out=out)
