"""Arrays on local disk while a graph is built, so that what is sorted need not fit into memory.

Each process that builds has one file for each construction, which it appends to and reads from. The file is
not mapped, so that none of it counts as memory of the process. It has no name once it is open, so nothing is
left of it when the process ends, in whatever way; and it is closed once no array refers to it.
"""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import RunError
from dgsuite.partition.arrays import mapped

ROOM = 1 << 22
"""Bytes of edge ends that a process keeps in memory before it writes any."""

PASSING = 1 << 23
"""Bytes of edge ends that wait in the memory of a process to be sent to others."""


class Spool:
    """A file for arrays.

    Parameters
    ----------
    folder
        Where it is made, once an array does not fit into `room`.

    Attributes
    ----------
    room
        Bytes of arrays that may still be kept in memory.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.room = ROOM
        self._file: Any = None
        self._end = 0
        self._passing: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.Lock()

    def fits(self, nbytes: int) -> bool:
        """Whether so many bytes more may stay in memory. They then do: there is less room."""
        with self._lock:
            if nbytes > self.room:
                self.room = 0  # what comes later is written, too
                return False
            self.room -= nbytes
            return True

    def passes(self, shards: Sequence[Any]) -> bool:
        """Whether shards may wait in memory to be sent. They then do, as long as something refers to them."""
        there = [shard for shard in shards if shard is not None]
        with self._lock:
            waiting = sum(shard.nbytes for shard in self._passing)
            if waiting + sum(shard.nbytes for shard in there) > PASSING:
                return False
            self._passing.update(there)
            return True

    def write(self, array: NDArray) -> Stored:
        """Append an array.

        Raises
        ------
        RunError
            The disk is full.
        """
        rest = memoryview(np.ascontiguousarray(array).view(np.uint8))
        with self._lock:
            first = self._end
            try:
                if self._file is None:
                    self._file = tempfile.TemporaryFile(  # noqa: SIM115 (open as long as the spool)
                        buffering=0, prefix="dgsuite-", dir=self.folder
                    )
                self._file.seek(first)
                while rest:
                    rest = rest[self._file.write(rest) :]
            except OSError as error:
                raise RunError(
                    f"building the graph: edges are sorted in {self.folder}, which takes no more of them "
                    f"({error.strerror}); set Dask's temporary-directory, or a worker's --local-directory, "
                    f"to a folder with more room"
                ) from None
            self._end += array.nbytes
        return Stored(self, first, len(array), array.dtype)

    def read(self, first: int, out: NDArray) -> None:
        """Fill an array with bytes from `first` on."""
        rest = memoryview(out.view(np.uint8))
        with self._lock:
            self._file.seek(first)
            while rest:
                rest = rest[self._file.readinto(rest) or self._broken() :]

    def _broken(self) -> int:
        raise RunError(f"building the graph: a file in {self.folder} has become shorter")


@dataclass(frozen=True, eq=False)
class Stored:
    """A one-dimensional array in a spool. Slices of it, and copies in other processes, are in memory."""

    spool: Spool
    first: int
    count: int
    dtype: np.dtype

    nbytes = 0
    """Bytes in memory."""

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, some: slice) -> NDArray:
        begin, end, _ = some.indices(self.count)
        out: NDArray = np.empty(max(end - begin, 0), self.dtype)
        self.spool.read(self.first + begin * self.dtype.itemsize, out)
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (self[:],)


_spools: weakref.WeakValueDictionary[tuple[int, str], Spool] = weakref.WeakValueDictionary()
_making = threading.Lock()


def spool(construction: str) -> Spool:
    """The spool of this process for a construction, as long as something refers to it."""
    with _making:
        found = _spools.get((os.getpid(), construction))
        if found is None:
            found = _spools[os.getpid(), construction] = Spool(mapped.folder())
        return found
