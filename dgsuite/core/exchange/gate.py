"""A barrier in memory that the tasks of one host share, where each leaves a few bytes for all.

Each task has a row, which it alone writes. A task that arrives writes its row, and then its count of passes.
The last one to arrive wakes the others, which sleep on a word of that memory (a futex). A memory barrier
separates a task's own count from its look at those of the others, so at least one finds that all are there.
"""

from __future__ import annotations

import asyncio
import ctypes
import struct
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base import capabilities
from dgsuite.core.engine.broadcast_store import LINE

ROOM = 1 << 12
"""Bytes that a task can leave for all."""

ELSEWHERE = 2**64 - 1
"""In place of their number: the bytes do not fit."""

WAIT, WAKE, ALL = 0, 1, 2**31 - 1
"""What the system call does, and how many tasks to wake."""

LOOK_OUT = 500e-6
"""Seconds that a task with a processor of its own polls for a message, on comms that support it: waking up
takes 50 to 100 us, in every exchange."""

SLICE = 0.02
"""Seconds after which a task that sleeps at a gate looks whether it is cancelled, or a peer is lost."""

_BARRIER = threading.Lock()
"""What was written before it was taken is seen before anything is read after.

On x86-64 taking a free lock does just that: it is one locked instruction. On other processors it is not.
"""


class Word(NamedTuple):
    """What a task says when it arrives."""

    number: int
    """Of the exchange."""
    due: int
    """A bit for each task that it sends something to."""
    said: bytes | None
    """For all; None if it does not fit into a row."""


class Gate:
    """One task's view of the barrier.

    Parameters
    ----------
    memory
        uint8, shape (`Gate.nbytes(size)`,), zero at first.
    rank
        Which task this is.
    size
        How many there are.

    Attributes
    ----------
    loop_due
        When the event loop of the task is to run next.
    """

    def __init__(self, memory: NDArray[np.uint8], rank: int, size: int) -> None:
        self._rank = rank
        self._size = size
        self._passes = memory[: size * LINE].view(np.uint64).data
        self._bell = memory[size * LINE : size * LINE + 4].view(np.uint32).data
        self._address = ctypes.c_void_p(memory.ctypes.data + size * LINE)
        self._head, row_bytes = _layout(size)
        rows = memory[(size + 1) * LINE : Gate.nbytes(size)].reshape(size, 2, row_bytes)
        # a task has two, as others may yet read that of the last pass
        self._rows = [[row.data for row in rows[:, odd]] for odd in (0, 1)]
        self._due_bytes = _due_bytes(size)
        self._pass = 0
        self._missing: list[int] = []
        self.loop_due = 0.0

    @staticmethod
    def is_there() -> bool:
        """Whether tasks can meet at one: they can sleep at it, and stores are seen in their order."""
        return capabilities.has("futex")

    @staticmethod
    def nbytes(size: int) -> int:
        """Bytes of memory that tasks need."""
        return (size + 1) * LINE + 2 * size * _layout(size)[1]

    def arrive(self, word: Word) -> None:
        """Say something to all, and wake them if all others are there."""
        self._pass += 1
        row, head = self._rows[self._pass % 2][self._rank], self._head
        due = word.due.to_bytes(self._due_bytes, "little")
        said = word.said
        if said is None or len(said) > ROOM:
            head.pack_into(row, 0, word.number, ELSEWHERE, due)
        else:
            head.pack_into(row, 0, word.number, len(said), due)
            row[head.size : head.size + len(said)] = said
        self._passes[self._rank * LINE // 8] = self._pass
        self._missing = [task for task in range(self._size) if task != self._rank]
        with _BARRIER:
            pass
        if self.is_open():
            self._bell[0] = self._pass & 0xFFFFFFFF
            _futex(self._address, WAKE, ALL, None)

    def is_open(self) -> bool:
        """Whether all have arrived."""
        missing, passes = self._missing, self._passes
        while missing:
            if passes[missing[-1] * LINE // 8] < self._pass:
                return False
            missing.pop()
        return True

    def look_out(self, seconds: float) -> bool:
        """Wait for the others without sleeping, for some time; returns whether all have arrived."""
        end = time.perf_counter() + seconds
        while not self.is_open():
            if time.perf_counter() >= end:
                return False
        return True

    def sleep(self, seconds: float) -> bool:
        """Wait for the others, for some time; returns whether all have arrived."""
        before = (self._pass - 1) & 0xFFFFFFFF
        whole = int(seconds)
        limit = _Time(whole, int(1e9 * (seconds - whole)))
        if not self.is_open():
            _futex(self._address, WAIT, before, ctypes.byref(limit))
        return self.is_open()

    async def meet(self, word: Word, alone: bool, check: Callable[[], object]) -> list[Word]:
        """Say something to all, wait for the others, and hear what each has to say.

        Parameters
        ----------
        alone
            Whether the task has a processor to itself, and may look out for the others before it sleeps.
        check
            Called from time to time; raises an error if another task is lost.
        """
        self.arrive(word)
        there = self.look_out(LOOK_OUT) if alone else self.is_open()
        while not there or time.monotonic() > self.loop_due:
            self.loop_due = time.monotonic() + SLICE
            await asyncio.sleep(0)  # lets the run be cancelled, and comms end
            if there := self.sleep(SLICE):
                break
            check()
        found, at = [], self._head.size
        for row in self._rows[self._pass % 2]:
            number, length, due = self._head.unpack_from(row)
            said = None if length == ELSEWHERE else bytes(row[at : at + length])
            found.append(Word(number, int.from_bytes(due, "little"), said))
        return found


@cache
def _layout(size: int) -> tuple[struct.Struct, int]:
    """The head of a row, and its bytes, for so many tasks.

    The head has `Word.number`, the length of `Word.said`, and `Word.due`.
    """
    head = struct.Struct(f"<qQ{_due_bytes(size)}s")
    return head, -(-(head.size + ROOM) // LINE) * LINE


def _due_bytes(size: int) -> int:
    """Bytes that have a bit for each task."""
    return -(-size // 8)


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


@cache
def _system_call() -> Callable[..., int]:
    call: Any = capabilities.c_function("syscall")
    call.argtypes = (
        ctypes.c_long,
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_uint32,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_uint32,
    )
    return partial(call, capabilities.FUTEX)


def _futex(address: ctypes.c_void_p, what: int, value: int, limit: object) -> None:
    """Sleep as long as a word has a value, or wake those that do; without holding the interpreter."""
    _system_call()(address, what, value, limit, None, 0)
