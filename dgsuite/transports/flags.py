"""Flags in shared memory: what the ends of a comm tell each other while both are awake.

Each end has a line of memory that it alone writes, and the other reads. Who looks out for a message
sets its `AWAKE`, and is told by memory alone, which takes neither end to the kernel; before it sleeps
it takes that back and looks once more. A writer says what it wrote and then looks whether the reader
is awake; between the two lies a barrier at both ends, so one of them sees what the other did.

Memory that is written before a flag must be seen before it: so it is where processors keep stores in
order (x86), and nowhere else are flags used.
"""

from __future__ import annotations

import platform
import threading

SIZE = 64
"""Bytes of an end's flags: a line of the processor's cache."""

ORDERED = platform.machine().lower() in ("x86_64", "amd64")
"""Whether this processor's stores are seen in their order."""

WRITTEN, START, GOT, AWAKE = range(4)


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
        self._lock = threading.Lock()

    def say(self, written: int, start: int, got: int) -> bool:
        """Say what was written and read; whether the other end is awake to see it."""
        self._mine[START] = start
        self._mine[GOT] = got
        self._mine[WRITTEN] = written
        self._barrier()
        return bool(self._theirs[AWAKE])

    def see(self) -> tuple[int, int, int]:
        """What the other end says."""
        # a start is new only where all that was written before had been read
        theirs = self._theirs
        return theirs[WRITTEN], theirs[START], theirs[GOT]

    @property
    def awake(self) -> bool:
        """Whether this end looks out."""
        return bool(self._mine[AWAKE])

    def wake(self, awake: bool) -> None:
        """Say whether this end looks out."""
        self._mine[AWAKE] = awake
        self._barrier()

    def _barrier(self) -> None:
        """What was written before is seen before anything is read after; a lock does just that."""
        self._lock.acquire()
        self._lock.release()
