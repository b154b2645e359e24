"""Style `in_turn`: a mesh whose tasks compute one after the other, as a serial program whose data is in
several processes.

IMSuite's serial program in the UP model simulates one node after another, each at the place that has its
data, and waits for every access to another place. Here a task waits for its turn, runs its clusters, and
sends its messages to the other tasks, one after the other, waiting each time for the confirmation. Then it
passes the turn to the next task. Nothing else computes meanwhile, and no Dask task is made.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import reduce_votes
from dgsuite.core.exchange.mesh import Mesh
from dgsuite.core.exchange.termination import Lines


class Note(NamedTuple):
    """A message from one task to another."""

    what: Literal["access", "confirmed", "turn", "end"]
    content: Any = None
    """The message batch of an access; the votes so far of a turn and of the end of a phase."""


class InTurn(Mesh):
    """This task's end of the mesh; see `Mesh`."""

    ordered = True
    _lines: Lines | None = None
    _mine = False

    async def turn(self) -> None:
        """Wait until this task may compute."""
        if self._lines is None:
            self._lines = Lines(self)
        self._lines.begin()
        self._found: dict[int, MessageBatch] = {}
        self._votes: list[Any] = []
        if self.rank:
            await self._until("turn")
        self._mine = True

    async def exchange(
        self,
        number: int,
        parcels: Mapping[int, MessageBatch],
        vote: Any,
        combine: Callable[[Sequence[Any]], Any] = reduce_votes,
    ) -> tuple[dict[int, MessageBatch], Any]:
        """Send each peer its parcel, pass the turn on, and wait for the end of the phase."""
        if not self.comms:
            return await super().exchange(number, parcels, vote, combine)
        if not self._mine:
            await self.turn()
        self._mine = False
        assert self._lines is not None
        for peer, parcel in parcels.items():
            await self._lines.send({peer: Note("access", parcel)})
            await self._until("confirmed")
        votes = [*self._votes, vote]
        last = len(self.places) - 1
        if self.rank < last:
            await self._lines.send({self.rank + 1: Note("turn", votes)})
            await self._until("end", gone=range(last))  # others may have it, and be done
        else:
            await self._lines.send({peer: Note("end", votes) for peer in self.comms})
            self._votes = votes
        found = dict(sorted(self._found.items()))
        return found, combine(self._votes)

    async def _until(self, what: str, gone: Container[int] = ()) -> None:
        """Wait for a note; meanwhile receive and confirm what others send.

        Parameters
        ----------
        gone
            Peers that may have ended.
        """
        assert self._lines is not None
        came = False
        while not came:
            await self._lines.news(gone)
            for peer, note in self._lines.arrived():
                came |= note.what == what
                if note.what == "access":
                    self._found[peer] = note.content
                    await self._lines.send({peer: Note("confirmed")})
                elif note.what != "confirmed":
                    self._votes = note.content
