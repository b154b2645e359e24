"""Flags in shared memory: how the two ends of a comm signal messages without system calls.

Each end has a line of memory that only it writes and the other end reads. An end that polls for a
message sets its `AWAKE` flag. It clears the flag before it sleeps, and then polls once more. A writer
first publishes its message, then reads the flag of the other end: if it is clear, the writer wakes the
reader through the socket. A memory barrier separates the two steps at both ends, so no message is missed.

Flags are used where stores are seen in the order in which they were made, as on x86-64.
"""

from __future__ import annotations

import threading

SIZE = 64
"""Bytes of an end's flags: a line of the processor's cache."""

WRITTEN, START, GOT, AWAKE = range(4)


_lock = threading.Lock()


def barrier() -> None:
    """What was written before is seen before anything is read after.

    On x86-64 taking a free lock does just that: it is one locked instruction. On other processors it is not.
    """
    _lock.acquire()
    _lock.release()


class Flags:
    """The flags of both ends.

    Parameters
    ----------
    mine, theirs
        `SIZE` bytes each, 0 at first.
    """

    def __init__(self, mine: memoryview, theirs: memoryview) -> None:
        # items of 8 bytes are written and read in one go
        self._mine, self._theirs = mine.cast("Q"), theirs.cast("Q")

    def say(self, written: int, start: int, got: int) -> bool:
        """Publish the positions written and read; returns whether the other end polls."""
        self._mine[START] = start
        self._mine[GOT] = got
        self._mine[WRITTEN] = written
        barrier()
        return bool(self._theirs[AWAKE])

    def see(self) -> tuple[int, int, int]:
        """The positions that the other end has published."""
        # a start is new only where all that was written before had been read
        theirs = self._theirs
        return theirs[WRITTEN], theirs[START], theirs[GOT]

    @property
    def awake(self) -> bool:
        """Whether this end polls."""
        return bool(self._mine[AWAKE])

    def wake(self, awake: bool) -> None:
        """Set whether this end polls."""
        self._mine[AWAKE] = awake
        barrier()
