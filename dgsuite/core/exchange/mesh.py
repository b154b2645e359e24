"""A mesh: how the tasks of a clocked run exchange messages at the end of a phase.

Votes of a few tasks go from each to each, with the parcels. Those of many go by a collective, whose result
has the number of parcels that each task is to wait for. So the end of a phase takes no message between tasks
without parcels for each other. On one host votes go through memory.

A mesh and its event loop may outlive the task: see `dgsuite.core.workers.kept`.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dgsuite.base.errors import RunError
from dgsuite.core.engine.collectives import Combine, Contribution, tree
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import reduce_votes
from dgsuite.core.exchange import messages
from dgsuite.core.exchange.channels import begun
from dgsuite.core.exchange.comms import FITS
from dgsuite.core.exchange.gate import Gate
from dgsuite.core.exchange.joining import Joined, cancelling
from dgsuite.core.exchange.numbers import CHECK, CLOSING
from dgsuite.core.exchange.one_host import LOOK_OUT, meet
from dgsuite.core.workers.plugin import PeerLost, RunPlugin
from dgsuite.kernels.bsp import Vote


class Mesh(Joined):
    """This task's end of the mesh; see `Joined`.

    Attributes
    ----------
    notes
        By number: messages of a protocol that uses the channels as well, each with its sender.
    gate
        Where the tasks meet in memory, if they do: see `dgsuite.core.exchange.one_host.gate_of`.
    """

    ordered = False
    """Whether tasks compute one after the other, so that each phase needs an exchange."""

    def __init__(self, *where: Any, **how: Any) -> None:
        super().__init__(*where, **how)
        self.gate: Gate | None = None
        self.notes: defaultdict[int, list[tuple[int, Any]]] = defaultdict(list)
        self._steps: defaultdict[int, deque[tuple[int, Any]]] = defaultdict(deque)
        self._parcels: defaultdict[int, dict[int, MessageBatch]] = defaultdict(dict)

    async def resume(self, plugin: RunPlugin, key: str, run: str) -> bool:
        """Whether a mesh that was kept can be used for another run: all others have kept it, too.

        A task that has not kept it has closed its comms.
        """
        self.run = run
        plugin.enter(key, run, None, cancelling())
        try:
            await self.exchange(CHECK, {}, Vote())
        except PeerLost:
            return False
        return True

    def _take(self, peer: int, message: Any) -> None:
        """Sort what has come."""
        kind, number, what, parcel = messages.content(message)
        if kind == messages.STEP:
            self._steps[peer].append((number, what))
        elif kind == messages.NOTE:
            self.notes[number].append((peer, what))
        if parcel is not None:
            self._parcels[number][peer] = parcel

    async def turn(self) -> None:
        """Wait until this task may compute a phase: here at once."""

    async def exchange(
        self,
        number: int,
        parcels: Mapping[int, MessageBatch],
        vote: Any,
        combine: Callable[[Sequence[Any]], Any] = reduce_votes,
    ) -> tuple[dict[int, MessageBatch], Any]:
        gate = self.gate
        if gate is None or combine is not reduce_votes or number in (CHECK, CLOSING):
            return await self._exchange(number, parcels, vote, combine)
        early = self._fit(parcels)
        if early:
            await self._send(number, parcels)
        words = await meet(self, gate, number, parcels, vote)
        sources = [peer for peer, word in enumerate(words) if word.due >> self.rank & 1]
        found: dict[int, MessageBatch] = {}
        if not early:
            reading = begun(self._received(number, sources))
            await self._send(number, parcels)
            found = await reading
        elif sources:
            found = await self._received(number, sources)
        votes = [messages.of_said(word.said) for word in words if word.said is not None]
        if len(votes) == len(words):
            return found, reduce_votes(votes)
        return found, (await self._exchange(number, {}, vote, combine))[1]

    async def _exchange(
        self, number: int, parcels: Mapping[int, MessageBatch], vote: Any, combine: Combine
    ) -> tuple[dict[int, MessageBatch], Any]:
        """The same by messages alone."""
        if not self.comms:
            await asyncio.sleep(0)  # lets the run be cancelled
        if self._few:
            return await self._swap(number, parcels, vote, combine)
        if parcels:
            await self._send(number, parcels)
        mine = Contribution.of(vote, parcels, len(self.places))
        whole = await self._agree(number, mine, Contribution.combining(combine))
        return await self._arrived(number, whole.expected(self.rank)), whole.vote

    async def _swap(
        self, number: int, parcels: Mapping[int, MessageBatch], vote: Any, combine: Combine
    ) -> tuple[dict[int, MessageBatch], Any]:
        """Each of a few tasks sends each its vote, and with it the parcel."""
        self.channels.look_out = LOOK_OUT if self.alone else 0.0
        reads: dict[int, asyncio.Future[Contribution]] = {}
        if not self._fit(parcels):  # transports may write only while both ends read
            reads = {peer: begun(self._heard(number, peer)) for peer in self.comms}
        mine = Contribution(vote)
        await self._write(
            {peer: messages.step(number, mine, parcels.get(peer)) for peer in self.comms}, parcels
        )
        votes = {self.rank: vote}
        for peer in self.comms:
            said = await (reads[peer] if reads else self._heard(number, peer))
            votes[peer] = said.vote
        await self.channels.flush()
        return self._parcels.pop(number, {}), combine([votes[r] for r in range(len(votes))])

    async def _send(self, number: int, parcels: Mapping[int, MessageBatch]) -> None:
        """Send parcels, to tasks that are joined first if need be."""
        if strangers := parcels.keys() - self.comms.keys():
            there = ((peer, *self._meetings[peer]) for peer in sorted(strangers))
            await asyncio.gather(*(self._connect(*each) for each in there))
        await self._write(
            {peer: messages.parcel(number, each) for peer, each in parcels.items()}, parcels
        )

    async def _agree(self, number: int, mine: Contribution, combine: Combine) -> Contribution:
        """The contributions of all tasks together, by a collective."""
        collective = tree(self.rank, len(self.places), mine, combine)
        heard: Any = None
        try:
            while True:
                sends, hears = collective.send(heard)
                for peer, said in sends.items():
                    await self.channels.write(peer, messages.step(number, said))
                heard = [await self._heard(number, peer) for peer in hears]
        except StopIteration as end:
            whole: Contribution = end.value
            return whole

    async def _write(self, out: Mapping[int, Any], parcels: Mapping[int, MessageBatch]) -> None:
        """Write messages, with these parcels in them."""
        write = self.channels.write
        if len(out) == 1 or all(messages.smaller(each, FITS) for each in parcels.values()):
            for peer, message in out.items():
                await write(peer, message)
        else:  # side by side: on a slow link a write waits until all has left
            await asyncio.gather(*(write(peer, message) for peer, message in out.items()))

    async def _heard(self, number: int, peer: int) -> Contribution:
        """The next contribution of a partner."""
        came = self._steps[peer]
        while not came:
            await self.channels.receive(peer)
        theirs, said = came.popleft()
        if theirs != number:
            raise RunError(f"worker {self.places[peer]} is at phase {theirs}, not {number}")
        found: Contribution = said
        return found

    async def _received(self, number: int, sources: Sequence[int]) -> dict[int, MessageBatch]:
        """The parcels of some tasks."""
        found = self._parcels[number]
        for peer in sources:
            while peer not in found:
                await self.channels.receive(peer)
        return await self._arrived(number, len(sources))

    async def _arrived(self, number: int, count: int) -> dict[int, MessageBatch]:
        """So many parcels; then all that this task has written has left, too."""
        found = self._parcels[number]
        while len(found) < count:
            for peer in self.channels.gone:
                raise self.channels.lost(peer)
            await self.channels.news()
        del self._parcels[number]
        await self.channels.flush()
        return found

    def _fit(self, parcels: Mapping[int, MessageBatch]) -> bool:
        """Whether parcels can be written while their receivers do nothing."""
        return all(
            peer in self.comms and messages.smaller(parcel, self.rooms[peer])
            for peer, parcel in parcels.items()
        )

    async def close(self) -> None:
        """Close all comms, when all tasks have what they wait for: a comm that ends before is a lost task."""
        await self.exchange(CLOSING, {}, Vote())
        self.abort()

    def abort(self) -> None:
        """Drop all comms at once, so that peers notice, and the memory."""
        self.gate = None
        super().abort()
