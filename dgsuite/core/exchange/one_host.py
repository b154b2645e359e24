"""The barrier of tasks of one host, in memory that all of them have."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from time import monotonic
from typing import Any, Protocol

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


async def gate_of(mesh: Peers) -> Gate | None:
    """Where the tasks meet in memory, if they share memory; all tasks call it."""
    if not (mesh.is_shared and Gate.is_there()):
        return None
    size = len(mesh.places)
    offered = nullcontext((None, None)) if mesh.rank else memory.offered("gate", Gate.nbytes(size))
    with offered as (mine, offer):
        _, where = await mesh.exchange(OFFER, {}, offer, _said)
        if mine is None and where is not None:
            mine = memory.attach_of(where)
        lacking = (await mesh.exchange(TAKEN, {}, Vote(any=mine is None)))[1].any
    return None if mine is None or lacking else Gate(mine, mesh.rank, size)


def _said(offers: Sequence[Any]) -> Any:
    """The offer of the task that made one, if it could."""
    return next((offer for offer in offers if offer is not None), None)


async def meet(
    mesh: Peers, gate: Gate, number: int, receivers: Iterable[int], vote: Vote
) -> list[Word]:
    """Meet the other tasks, and hear what each has to say."""
    gate.arrive(Word(number, sum(1 << peer for peer in receivers), said(vote)))
    there = gate.look_out(LOOK_OUT) if mesh.alone else gate.is_open()
    while not there or monotonic() > gate.loop_due:
        gate.loop_due = monotonic() + SLICE
        await asyncio.sleep(0)  # lets the run be cancelled, and comms end
        if there := gate.sleep(SLICE):
            break
        for peer, comm in mesh.comms.items():
            if comm.closed() and not gate.is_open():
                raise mesh.lost(peer)
    words = gate.words()
    for peer, word in enumerate(words):
        if word.number != number:
            raise RunError(f"worker {mesh.places[peer]} is at phase {word.number}, not {number}")
    return words
