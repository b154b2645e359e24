"""Shipments: items that are sent to clusters, not to nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.message_type import MessageBatch, MessageType
from dgsuite.core.engine.messages import concatenated
from dgsuite.core.engine.program import Step, Tally
from dgsuite.kernels.bsp import Shipment
from dgsuite.partition.arrays.segments import group
from dgsuite.partition.construction.build import id_dtype


class Shipments(NamedTuple):
    """Items for clusters: for each item, the cluster that gets it, the one that sent it, and fields."""

    to: NDArray
    origin: NDArray
    fields: dict[str, NDArray]

    def take(self, which: Any) -> Shipments:
        """Some of the items."""
        fields = {name: values[which] for name, values in self.fields.items()}
        return Shipments(self.to[which], self.origin[which], fields)

    def pack(self, bounds: NDArray, me: int) -> dict[int, ShipmentBatch]:
        """A batch for each other site that gets items; site s holds clusters ``bounds[s]`` to
        ``bounds[s + 1]``.
        """
        site = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))[self.to]
        batches = {}
        for peer, count in enumerate(np.bincount(site)):
            if count and peer != me:
                part = self if count == len(site) else self.take(np.flatnonzero(site == peer))
                batches[peer] = ShipmentBatch(_encoded(part.to), _encoded(part.origin), part.fields)
        return batches

    def kept(self, bounds: NDArray, me: int) -> Shipments:
        """The items for clusters of a site."""
        if len(bounds) == 2:
            return self
        return self.take(np.flatnonzero((self.to >= bounds[me]) & (self.to < bounds[me + 1])))

    def by_receiver(self, first: int, count: int) -> Shipments:
        """Items in the order of their senders, for `count` clusters from the first on, by receiver."""
        return self if count == 1 else self.take(group(self.to - first, count)[2])


class ShipmentBatch(NamedTuple):
    """Shipments on their way: receivers and senders run-length encoded, where that is shorter."""

    to: tuple[NDArray, NDArray | None]
    origin: tuple[NDArray, NDArray | None]
    fields: dict[str, NDArray]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        heads = sum(a.nbytes for runs in (self.to, self.origin) for a in runs if a is not None)
        return heads + sum(v.nbytes for v in self.fields.values())

    def unpack(self) -> Shipments:
        """The items."""
        return Shipments(_decoded(*self.to), _decoded(*self.origin), self.fields)


def _encoded(values: NDArray) -> tuple[NDArray, NDArray | None]:
    heads = np.append(0, np.flatnonzero(values[1:] != values[:-1]) + 1)
    if 2 * len(heads) >= len(values):
        return values, None
    return values[heads], np.diff(heads, append=len(values)).astype(id_dtype(len(values)))


def _decoded(values: NDArray, lengths: NDArray | None) -> NDArray:
    return values if lengths is None else np.repeat(values, lengths)


class ShipmentType(MessageType):
    """Items go to the site of the cluster that gets them."""

    sent, batch, part = Shipment, ShipmentBatch, Shipments

    def send(
        self, box: Mailbox, step: Step, sends: Sequence[tuple[int, Shipment]], counts: Tally
    ) -> dict[int, MessageBatch]:
        parts: list[Shipments] = []
        if box.check and not (model := box.model).ships:
            raise box.fault(step, sends[0][0], model.excludes("ships items to clusters"))
        for k, send in sends:
            to = box.indices(step, k, send.to, int(box.bounds[-1]), "ships to", "cluster")
            to = to.astype(np.int32)
            columns = box.columns(step, k, send.fields, len(to))
            if parts and columns.keys() != parts[0].fields.keys():
                raise box.fault(step, k, "ships other fields than another cluster")
            index = box.clusters[k].index
            parts.append(Shipments(to, np.full(len(to), index, np.int32), columns))
            leaves = to != index
            far, itemsize = int(np.count_nonzero(leaves)), box.payload(columns)
            counts.messages += len(to)
            counts.remote += far
            counts.nbytes += far * itemsize
            if counts.pairs is not None:
                counts.pairs.add(index, to, 1, leaves * itemsize)
        items = concatenated(parts)
        box.record(step, items)
        box.kept = items.kept(box.bounds, box.me)
        return {**items.pack(box.bounds, box.me)}

    def unpack(self, box: Mailbox, peer: int, batch: ShipmentBatch) -> Shipments:
        return batch.unpack()

    def receive(self, box: Mailbox, parts: Sequence[Shipments]) -> Shipments:
        return concatenated(parts).by_receiver(box.clusters[0].index, len(box.clusters))
