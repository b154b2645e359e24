"""What tasks of one host do through memory that all of them have: a barrier, and storing values of nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
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
    values: NDArray[np.uint8] | None

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
    made = await _made(mesh, "gate", Gate.nbytes(size))
    return None if made is None else Gate(made, mesh.rank, size)


async def values_of(mesh: Peers, size: int) -> NDArray[np.uint8] | None:
    """Memory that all tasks have for values of nodes, kept with the mesh; None if one of them cannot get it.

    All tasks call it.

    Parameters
    ----------
    size
        Bytes, at least.
    """
    if mesh.values is None or 0 < len(mesh.values) < size:
        mesh.values = None  # before there is more
        made = await _made(mesh, "values", size)
        mesh.values = np.empty(0, np.uint8) if made is None else made
    return mesh.values[:size] if len(mesh.values) else None


async def _made(mesh: Peers, label: str, size: int) -> NDArray[np.uint8] | None:
    """New memory for all tasks, made by the first."""
    offered = nullcontext((None, None)) if mesh.rank else memory.offered(label, size)
    with offered as (mine, offer):
        _, where = await mesh.exchange(OFFER, {}, offer, _said)
        if mine is None and where is not None:
            mine = memory.attach_of(where)
        lacking = (await mesh.exchange(TAKEN, {}, Vote(any=mine is None)))[1].any
    return None if lacking else mine


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
