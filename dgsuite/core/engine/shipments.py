"""What is sent to clusters, not to nodes: announcements to all of them, shipments to some."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.segments import group


class AnnouncementBatch(NamedTuple):
    """Announcements: columns that every site gets."""

    fields: dict[str, NDArray]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return sum(v.nbytes for v in self.fields.values())


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
        site = np.searchsorted(bounds, self.to, side="right") - 1
        batches = {}
        for peer in np.unique(site[site != me]).tolist():
            part = self.take(site == peer)
            batches[peer] = ShipmentBatch(_encoded(part.to), _encoded(part.origin), part.fields)
        return batches

    def kept(self, bounds: NDArray, me: int) -> Shipments:
        """The items for clusters of a site."""
        if len(bounds) == 2:
            return self
        return self.take((self.to >= bounds[me]) & (self.to < bounds[me + 1]))

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
    heads = np.flatnonzero(np.diff(values, prepend=-1))
    if 2 * len(heads) >= len(values):
        return values, None
    return values[heads], np.diff(heads, append=len(values)).astype(np.int32)


def _decoded(values: NDArray, lengths: NDArray | None) -> NDArray:
    return values if lengths is None else np.repeat(values, lengths)
