"""Announcements: what is sent to all nodes, stored once at each site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.message_type import MessageBatch, MessageType
from dgsuite.core.engine.messages import concatenated
from dgsuite.core.engine.program import Step, Tally
from dgsuite.kernels.bsp import Announcement


class AnnouncementBatch(NamedTuple):
    """Announcements: columns that every site gets."""

    fields: dict[str, NDArray]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return sum(v.nbytes for v in self.fields.values())


class AnnouncementType(MessageType):
    """Every other site gets what is announced."""

    sent, batch, part = Announcement, AnnouncementBatch, AnnouncementBatch

    def send(
        self, box: Mailbox, step: Step, sends: Sequence[tuple[int, Announcement]], counts: Tally
    ) -> dict[int, MessageBatch]:
        parts = []
        if box.check and (model := box.model).sends == "edges":
            raise box.fault(step, sends[0][0], model.excludes("announces to all nodes"))
        for k, send in sends:
            cluster = box.clusters[k]
            if box.widths is not None:
                raise box.fault(
                    step, k, "announces to all nodes, which is along no edge: leave out congest="
                )
            nodes = box.indices(step, k, send.nodes, cluster.size, "announces from")
            length = max((np.size(v) for v in send.fields.values()), default=0)
            parts.append(AnnouncementBatch(box.columns(step, k, send.fields, length)))
            counts.messages += len(nodes) * (cluster.n - 1)
            counts.remote += len(nodes) * (cluster.n - cluster.size)
            counts.active += len(nodes)
            counts.nbytes += parts[-1].nbytes * (cluster.n - 1)
            if counts.pairs is not None:
                others = np.diff(cluster.partition.offsets)
                others[cluster.index] -= 1
                to, nbytes = np.arange(len(others)), parts[-1].nbytes
                counts.pairs.add(cluster.index, to, len(nodes) * others, nbytes * others)
        box.kept = batch = concatenated(parts)
        box.record(step, batch)
        return {site: batch for site in range(len(box.bounds) - 1) if site != box.me}

    def receive(self, box: Mailbox, parts: Sequence[AnnouncementBatch]) -> AnnouncementBatch:
        return concatenated(parts)
