"""A mesh for many tasks: comms are opened when they are first used, and votes go by a collective.

At the start each task is connected to its partners in the collective alone; it connects to another one when
it has a parcel for it. The result of the collective has the number of parcels that each task is to wait for,
so the end of a phase takes no message between tasks without parcels for each other.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from distributed.comm.core import Comm

from dgsuite.base.errors import RunError
from dgsuite.core.engine.collectives import Combine, Contribution, partners, tree
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.exchange import messages
from dgsuite.core.exchange.channels import Channels
from dgsuite.core.exchange.comms import FITS
from dgsuite.core.exchange.mesh import Mesh
from dgsuite.core.exchange.numbers import CLOSING
from dgsuite.core.exchange.one_host import OneHost
from dgsuite.core.workers.plugin import RunPlugin
from dgsuite.kernels.bsp import Vote


class LazyMesh(Mesh):
    """This task's end of the mesh; see `Mesh`."""

    def __init__(self, *where: Any, **how: Any) -> None:
        super().__init__(*where, **how)
        self._partners = partners(self.rank, len(self.places))
        self._meetings: Mapping[int, tuple[str, bytes]] = {}
        self._every: list[Comm] = []  # two where both ends opened one
        self._steps: defaultdict[int, deque[tuple[int, Any]]] = defaultdict(deque)
        self._parcels: defaultdict[int, dict[int, MessageBatch]] = defaultdict(dict)
        self._channels = Channels(self.comms, self.lost, self._take)

    async def open(
        self, plugin: RunPlugin, key: str, connect_args: dict[str, Any], listen_args: dict[str, Any]
    ) -> None:
        await super().open(plugin, key, connect_args, listen_args)
        self._meetings = await self.told(self._listener.where)

    def _expects(self, rank: int) -> bool:
        return 0 <= rank < len(self.places) and rank != self.rank

    def _join(self, peer: int, comm: Comm) -> None:
        self._add(peer, comm)
        self._every.append(comm)
        self._channels.read(peer, comm)
        if self._partners <= self.comms.keys():
            self._full.set()

    def _take(self, peer: int, message: Any) -> None:
        """Sort what has come."""
        kind, number, what = messages.content(message)
        if kind == messages.STEP:
            self._steps[peer].append((number, what))
        else:
            self._parcels[number][peer] = what

    async def _exchange(
        self,
        number: int,
        parcels: Mapping[int, MessageBatch],
        vote: Any,
        combine: Combine,
    ) -> tuple[dict[int, MessageBatch], Any]:
        if parcels:
            await self._send(number, parcels)
        mine = Contribution.of(vote, parcels, len(self.places))
        whole = await self._agree(number, mine, Contribution.combining(combine))
        return await self._arrived(number, whole.expected(self.rank)), whole.vote

    async def _fetch(
        self, number: int, parcels: Mapping[int, MessageBatch], sources: Sequence[int]
    ) -> dict[int, MessageBatch]:
        await self._send(number, parcels)
        return await self._arrived(number, len(sources))

    async def _arrived(self, number: int, count: int) -> dict[int, MessageBatch]:
        """So many parcels."""
        found = self._parcels[number]
        while len(found) < count:
            for peer in self._channels.gone:
                raise self._channels.lost(peer)
            await self._channels.news()
        del self._parcels[number]
        await self._channels.flush()
        return found

    async def _send(self, number: int, parcels: Mapping[int, MessageBatch]) -> None:
        if strangers := parcels.keys() - self.comms.keys():
            there = ((peer, *self._meetings[peer]) for peer in sorted(strangers))
            await asyncio.gather(*(self._connect(*each) for each in there))
        writes = [
            self._write(peer, messages.parcel(number, parcel)) for peer, parcel in parcels.items()
        ]
        if all(messages.smaller(parcel, FITS) for parcel in parcels.values()):
            for write in writes:
                await write
        else:  # side by side: on a slow link a write waits until all has left
            await asyncio.gather(*writes)

    async def _agree(self, number: int, mine: Contribution, combine: Combine) -> Contribution:
        """The contributions of all tasks together."""
        collective = tree(self.rank, len(self.places), mine, combine)
        heard: Any = None
        try:
            while True:
                sends, hears = collective.send(heard)
                for peer, said in sends.items():
                    await self._write(peer, messages.step(number, said))
                heard = [await self._heard(number, peer) for peer in hears]
        except StopIteration as end:
            whole: Contribution = end.value
            return whole

    async def _heard(self, number: int, peer: int) -> Contribution:
        """The next message of a partner."""
        came = self._steps[peer]
        while not came:
            if peer in self._channels.gone:
                raise self._channels.lost(peer)
            await self._channels.news()
        theirs, said = came.popleft()
        if theirs != number:
            raise RunError(f"worker {self.places[peer]} is at phase {theirs}, not {number}")
        found: Contribution = said
        return found

    async def _write(self, peer: int, message: Any) -> None:
        written = await self._channels.write(peer, message)
        self.wire += written

    async def close(self) -> None:
        """Close all comms, when all tasks have what they wait for: a comm that ends before is a lost task."""
        await self.exchange(CLOSING, {}, Vote())
        self.abort()

    def abort(self) -> None:
        self.one_host = OneHost()
        self._listener.stop()
        self._channels.close()
        for comm in self._every:
            comm.abort()
