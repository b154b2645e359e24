"""Style `in_turn`: a mesh whose tasks compute one after the other, as a serial program whose data is in
several processes.

IMSuite's serial program in the UP model simulates one node after another, each at the place that has its
data, and waits for every access to another place. Here a task waits for its turn, runs its clusters, and
sends its messages to the other tasks, one after the other, waiting each time for the confirmation. Then it
passes the turn to the next task. Nothing else computes meanwhile, and no Dask task is made.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from dgsuite.core.engine.program import reduce_votes
from dgsuite.core.exchange.channels import Message
from dgsuite.core.exchange.mesh import Mesh


class Note(NamedTuple):
    """A message from one task to another."""

    what: Literal["access", "confirmed", "turn", "end"]
    content: Any = None
    """The message batch of an access; the votes so far of a turn and of the end of a phase."""


class InTurn(Mesh):
    """This task's end of the mesh; see `Mesh`.

    Phases are numbered: a task that has seen the end of one may send messages of the next at once.
    """

    ordered, can_be_kept, joins_all = True, False, True
    _number = -1
    _mine = False

    async def turn(self) -> None:
        """Wait until this task may compute."""
        self.channels.listen()
        self._number += 1
        self._found: dict[int, Any] = {}
        self._votes: list[Any] = []
        if self.rank:
            await self._until("turn")
        self._mine = True

    async def exchange(
        self,
        parcels: Mapping[int, Any],
        vote: Any,
        combine: Callable[[Sequence[Any]], Any] = reduce_votes,
    ) -> tuple[dict[int, Any], Any]:
        """Send each peer its parcel, pass the turn on, and wait for the end of the phase."""
        if not self.comms:
            return await super().exchange(parcels, vote, combine)
        if not self._mine:
            await self.turn()
        self._mine = False
        for peer, parcel in parcels.items():
            await self._tell([peer], Note("access", parcel))
            await self._until("confirmed")
        votes = [*self._votes, vote]
        last = len(self.places) - 1
        if self.rank < last:
            await self._tell([self.rank + 1], Note("turn", votes))
            await self._until("end", gone=range(last))  # others may have it, and be done
        else:
            await self._tell(self.comms, Note("end", votes))
            self._votes = votes
        return dict(sorted(self._found.items())), combine(self._votes)

    async def _tell(self, peers: Iterable[int], note: Note) -> None:
        """Send a note to some tasks."""
        for peer in peers:
            await self.channels.write(peer, Message(self._number, note=note).packed())
            await self.channels.flush()

    async def _until(self, what: str, gone: Container[int] = ()) -> None:
        """Wait for a note; meanwhile receive and confirm what others send.

        Parameters
        ----------
        gone
            Peers that may have ended.
        """
        came = False
        while not came:
            while not self.notes.get(self._number):
                ended = self.channels.gone
                for peer in ended:
                    if peer not in gone or len(ended) == len(self.comms):
                        raise self.channels.lost(peer)
                await self.channels.news()
            for peer, note in self.notes.pop(self._number):
                came |= note.what == what
                if note.what == "access":
                    self._found[peer] = note.content
                    await self._tell([peer], Note("confirmed"))
                elif note.what != "confirmed":
                    self._votes = note.content
