"""What tasks of one host do through memory that all of them have: a barrier, and storing values of nodes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

import numpy as np
from distributed.comm.core import Comm
from numpy.typing import NDArray

from dgsuite.engine.batches import MessageBatch
from dgsuite.engine.program import reduce_votes
from dgsuite.transports import memory
from dgsuite.transports.gate import SUPPORTED, Gate, Word
from dgsuite.workers.messages import said
from kernels.base import Vote
from partition.errors import RunError

LOOK_OUT = 500e-6
"""Seconds that a task with a processor of its own polls for a message, on comms that support it: waking up
takes 50 to 100 us, in every exchange."""

SLICE = 0.02
"""Seconds after which a task that sleeps at a gate looks whether it is cancelled, or a peer is lost."""

OFFER, TAKEN = -5, -6
"""Numbers of the exchanges in which one task makes memory for all, and all tell whether they have it."""


class OneHost:
    """The part of a `dgsuite.workers.mesh.Mesh` that needs shared memory."""

    alone = False
    """Whether the task has a processor to itself, and may look out for a message before it sleeps."""

    rank: int
    places: Sequence[str]
    comms: dict[int, Comm]
    _memory: NDArray[np.uint8] | None = None
    _gate: Gate | None = None
    _loop_due = 0.0

    @property
    def is_shared(self) -> bool:
        """Whether the tasks share memory."""
        raise NotImplementedError

    async def exchange(
        self,
        number: int,
        parcels: Mapping[int, MessageBatch],
        vote: Any,
        combine: Callable[[Sequence[Any]], Any] = reduce_votes,
    ) -> tuple[dict[int, MessageBatch], Any]:
        """See `Mesh.exchange`."""
        raise NotImplementedError

    def lost(self, peer: int) -> Exception:
        """The error that names a peer."""
        raise NotImplementedError

    async def open_gate(self) -> None:
        """From now on meet at a gate in memory, if the tasks share memory."""
        if not (self.is_shared and SUPPORTED):
            return
        size = len(self.places)
        made = await self._made("gate", Gate.nbytes(size))
        if made is not None:
            self._gate = Gate(made, self.rank, size)

    async def memory(self, size: int) -> NDArray[np.uint8] | None:
        """Memory that all tasks have, kept with the mesh; None if one of them cannot get it.

        All tasks call it.

        Parameters
        ----------
        size
            Bytes, at least.
        """
        if self._memory is None or 0 < len(self._memory) < size:
            self._memory = None  # before there is more
            made = await self._made("values", size)
            self._memory = np.empty(0, np.uint8) if made is None else made
        return self._memory[:size] if len(self._memory) else None

    async def _made(self, label: str, size: int) -> NDArray[np.uint8] | None:
        """New memory for all tasks, made by the first."""
        mine, fd = None, -1
        if not self.rank:
            with suppress(OSError):  # none is left
                mine, fd = memory.make(label, size)
        try:
            offer = None if self.rank else (os.getpid(), fd, size)
            _, (pid, there, size) = await self.exchange(OFFER, {}, offer, _said)
            if mine is None:
                mine = memory.attach_of(pid, there, size)
            without = Vote(any=mine is None)
            lacking = (await self.exchange(TAKEN, {}, without))[1].any
        finally:
            if fd >= 0:
                os.close(fd)
        return None if lacking else mine

    async def meet(
        self, gate: Gate, number: int, receivers: Iterable[int], vote: Vote
    ) -> list[Word]:
        """Meet the other tasks, and hear what each has to say."""
        gate.arrive(Word(number, sum(1 << peer for peer in receivers), said(vote)))
        there = gate.look_out(LOOK_OUT) if self.alone else gate.is_open()
        while not there or monotonic() > self._loop_due:
            self._loop_due = monotonic() + SLICE
            await asyncio.sleep(0)  # lets the run be cancelled, and comms end
            if there := gate.sleep(SLICE):
                break
            for peer, comm in self.comms.items():
                if comm.closed() and not gate.is_open():
                    raise self.lost(peer)
        words = gate.words()
        for peer, word in enumerate(words):
            if word.number != number:
                raise RunError(
                    f"worker {self.places[peer]} is at phase {word.number}, not {number}"
                )
        return words

    def forget_memory(self) -> None:
        """Let go of all memory."""
        self._memory = self._gate = None


def _said(offers: Sequence[Any]) -> Any:
    """The offer of the task that made one."""
    return next((offer for offer in offers if offer is not None), None)
