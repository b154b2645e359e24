"""Lists that nodes share with their neighbours: stored once, sent once to each site that reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.segments import ranges
from dgsuite.partition.clusters.halo import Halo
from dgsuite.partition.clusters.subset import Subset


class NodeLists(NamedTuple):
    """Lists of some nodes of a site.

    Attributes
    ----------
    slots
        Of the nodes, ascending.
    lengths
        int64, of their lists.
    fields
        The lists, one after the other.
    """

    slots: NDArray[np.int64]
    lengths: NDArray[np.int64]
    fields: dict[str, NDArray]

    def pack(self, halo: Halo) -> Iterator[tuple[int, ListBatch]]:
        """A batch for each other site that reads some of the lists."""
        starts = np.cumsum(self.lengths) - self.lengths
        senders = Subset(None, self.slots, size=halo.slots)
        for peer, read in halo.send.items():
            some = senders.restrict(read)
            if not some.count:
                continue
            which = np.arange(len(self.slots))
            if not isinstance(read, slice):
                which = np.searchsorted(self.slots, read[some.members])
            _, entry = ranges(starts[which], self.lengths[which])
            fields = {name: values[entry] for name, values in self.fields.items()}
            yield peer, ListBatch(some.encode(), self.lengths[which].astype(np.int32), fields)


class ListBatch(NamedTuple):
    """Lists on their way to another site.

    Attributes
    ----------
    senders
        Which of the ghosts these are, encoded: see `dgsuite.partition.clusters.subset.Subset.encode`.
    lengths
        Of their lists.
    fields
        The lists, one after the other.
    """

    senders: NDArray | None
    lengths: NDArray[np.int32]
    fields: dict[str, NDArray]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        head = 0 if self.senders is None else self.senders.nbytes
        return head + self.lengths.nbytes + sum(v.nbytes for v in self.fields.values())

    def unpack(self, land: slice) -> NodeLists:
        """The lists, at the slots of ghosts where they land."""
        mask = np.zeros(land.stop - land.start, bool)
        slots = Subset.decode(self.senders, mask, land.start).members
        return NodeLists(slots, self.lengths.astype(np.int64), self.fields)


class SiteLists:
    """Lists that a site's nodes can read: those of its own nodes and of its ghosts.

    Attributes
    ----------
    starts, ends
        int64, by node id: where the list of a node is; both are 0 for a node that shared none.
    fields
        The lists, one after the other.
    """

    def __init__(self, halo: Halo, n: int, lists: NodeLists) -> None:
        self.fields = lists.fields
        self.starts, self.ends = np.zeros((2, n), np.int64)
        nodes, ends = halo.named(lists.slots), np.cumsum(lists.lengths)
        self.starts[nodes], self.ends[nodes] = ends - lists.lengths, ends
