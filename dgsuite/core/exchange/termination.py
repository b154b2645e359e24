"""Messages between a run's tasks without barriers, and the detection that a finish is over.

Each worker sends tasks as they are spawned, and runs those that have arrived. A finish is over when all
workers are idle and no message is on its way. Each worker that becomes idle reports to all others how many
messages it has sent to and received from each. The finish is over once, for each pair of workers, the
reported numbers of messages sent and received are equal (Mattern 1987, channel counting). Proof: a worker
that computes after its report has received a message; go back along the messages to the first one sent
before its sender's report; that one is counted as sent and not as received. So there is no coordinator, and
no second wave.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.exchange.channels import Message
from dgsuite.core.exchange.mesh import Mesh
from dgsuite.kernels.bsp import Vote


class Report(NamedTuple):
    """Of an idle worker.

    ``counts``, int64, shape (2, workers): messages sent to and received from each worker.
    """

    counts: NDArray[np.int64]
    vote: Vote


class News(NamedTuple):
    """From one worker to another."""

    parcel: Any
    report: Report | None = None


class Lines:
    """One worker's end of all lines: notes over its mesh.

    Finishes are numbered: a worker that has seen the end of one may send messages of the next at once.

    Parameters
    ----------
    mesh
        Joins each worker to each.
    """

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        mesh.channels.listen()
        self.number = -1
        self.begin()

    def begin(self) -> None:
        """A new finish."""
        self.mesh.notes.pop(self.number, None)
        self.number += 1
        count = len(self.mesh.places)
        self._sent, self._received = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._reports: dict[int, Report] = {}

    async def post(self, parcels: dict[int, Any], idle: Vote | None) -> None:
        """Send tasks; with them, if this worker falls idle with its votes, the report of it."""
        for peer in parcels:
            self._sent[peer] += 1
        report = None
        if idle is not None:
            counts = np.array([self._sent, self._received])
            last = self._reports.get(self.mesh.rank)
            if last is None or (last.counts != counts).any():
                report = self._reports[self.mesh.rank] = Report(counts, idle)
        for peer in self.mesh.comms:
            if peer in parcels or report is not None:
                news = News(parcels.get(peer), report)
                await self.mesh.channels.write(peer, Message(self.number, note=news).packed())
                await self.mesh.channels.flush()

    def take(self) -> list[Any]:
        """What tasks have come by now."""
        parcels = []
        for peer, message in self.mesh.notes.pop(self.number, ()):
            if message.parcel is not None:
                self._received[peer] += 1
                parcels.append(message.parcel)
            if message.report is not None:
                self._reports[peer] = message.report
        return parcels

    async def news(self) -> None:
        """Wait until something has come.

        Raises
        ------
        PeerLost
            Another worker is gone, so nothing will come.
        """
        while not self.mesh.notes.get(self.number):
            may_end = self._agreeing()
            channels = self.mesh.channels
            for peer in channels.gone:
                if peer not in may_end or len(channels.gone) == len(self.mesh.comms):
                    raise channels.lost(peer)
            await channels.news()

    def _agreeing(self) -> set[int]:
        """Workers that, by their last report, have all that was sent from here, and the reverse."""
        me = self.mesh.rank
        return {
            peer
            for peer, report in self._reports.items()
            if (report.counts[:, me] == [self._received[peer], self._sent[peer]]).all()
        }

    def over(self) -> list[Vote] | None:
        """The votes of all workers if the finish is over; else None."""
        count = len(self.mesh.places)
        if len(self._reports) < count:
            return None
        reports = [self._reports[rank] for rank in range(count)]
        sent, received = np.stack([report.counts for report in reports], axis=1)
        return [report.vote for report in reports] if (sent == received.T).all() else None
