"""The barrier of tasks of one host, in memory that all of them have."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import RunError
from dgsuite.core.exchange.gate import Gate, Word
from dgsuite.core.exchange.messages import said
from dgsuite.core.exchange.numbers import OFFER, TAKEN
from dgsuite.core.transports import memory
from dgsuite.kernels.bsp import Vote

LOOK_OUT = 500e-6
"""Seconds that a task with a processor of its own polls for a message, on comms that support it: waking up
takes 50 to 100 us, in every exchange."""

SLICE = 0.02
"""Seconds after which a task that sleeps at a gate looks whether it is cancelled, or a peer is lost."""


class Peers(Protocol):
    """What this needs of a mesh."""

    rank: int
    places: Sequence[str]
    alone: bool

    @property
    def comms(self) -> Mapping[int, Any]: ...
    @property
    def is_shared(self) -> bool: ...
    @property
    def exchange(self) -> Callable[..., Awaitable[Any]]: ...
    @property
    def lost(self) -> Callable[[int], Exception]: ...


@dataclass
class OneHost:
    """Memory that the tasks of a mesh have in common; of each task, its view of it."""

    gate: Gate | None = None
    """Where they meet."""
    _loop_due: float = 0.0

    async def open_gate(self, mesh: Peers) -> None:
        """From now on meet at a gate in memory, if the tasks share memory."""
        if not (mesh.is_shared and Gate.is_there()):
            return
        size = len(mesh.places)
        made = await _made(mesh, "gate", Gate.nbytes(size))
        if made is not None:
            self.gate = Gate(made, mesh.rank, size)

    async def meet(
        self, mesh: Peers, gate: Gate, number: int, receivers: Iterable[int], vote: Vote
    ) -> list[Word]:
        """Meet the other tasks, and hear what each has to say."""
        gate.arrive(Word(number, sum(1 << peer for peer in receivers), said(vote)))
        there = gate.look_out(LOOK_OUT) if mesh.alone else gate.is_open()
        while not there or monotonic() > self._loop_due:
            self._loop_due = monotonic() + SLICE
            await asyncio.sleep(0)  # lets the run be cancelled, and comms end
            if there := gate.sleep(SLICE):
                break
            for peer, comm in mesh.comms.items():
                if comm.closed() and not gate.is_open():
                    raise mesh.lost(peer)
        words = gate.words()
        for peer, word in enumerate(words):
            if word.number != number:
                raise RunError(
                    f"worker {mesh.places[peer]} is at phase {word.number}, not {number}"
                )
        return words


async def _made(mesh: Peers, label: str, size: int) -> NDArray[np.uint8] | None:
    """New memory for all tasks, made by the first."""
    with memory.offered(label, size) if not mesh.rank else nullcontext((None, None)) as made:
        mine, offer = made
        _, where = await mesh.exchange(OFFER, {}, offer, _said)
        if mine is None and where is not None:
            mine = memory.attach_of(where)
        without = Vote(any=mine is None)
        lacking = (await mesh.exchange(TAKEN, {}, without))[1].any
    return None if lacking else mine


def _said(offers: Sequence[Any]) -> Any:
    """The offer of the task that made one, if it could."""
    return next((offer for offer in offers if offer is not None), None)
