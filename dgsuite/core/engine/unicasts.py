"""Messages to given nodes, from site to site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.messages import MessageList, concatenated, held
from dgsuite.partition.arrays.reductions import Reduction
from dgsuite.partition.arrays.segments import group
from dgsuite.partition.clusters.partitioners import Partition


class UnicastBatch(NamedTuple):
    """Unicasts on their way: receiver and sender (node ids) and fields of each."""

    dst: NDArray
    src: NDArray | None
    combine: Reduction | None
    fields: dict[str, NDArray]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        head = self.dst.nbytes + (0 if self.src is None else self.src.nbytes)
        return head + sum(v.nbytes for v in self.fields.values())

    def take(self, which: NDArray | slice) -> UnicastBatch:
        """Some of the messages."""
        src = None if self.src is None else self.src[which]
        fields = {name: values[which] for name, values in self.fields.items()}
        return UnicastBatch(self.dst[which], src, self.combine, fields)

    @property
    def combines_early(self) -> bool:
        """Whether messages are combined where they are sent, not only where they arrive."""
        if self.combine is None:
            return False
        return not any(v.dtype.kind in self.combine.ordered for v in self.fields.values())

    def by_sender(self) -> UnicastBatch:
        """The messages in the order of their senders."""
        if self.src is None or (self.src[1:] >= self.src[:-1]).all():
            return self
        return self.take(np.argsort(self.src, kind="stable"))

    def combined(self, size: int) -> UnicastBatch:
        """One message for each receiver; `size` is the number of nodes.

        Raises
        ------
        InputError
            A reduced value does not fit into its field.
        """
        assert self.combine is not None
        unique, starts, order = group(self.dst, size)
        if not len(unique):
            return self._replace(src=None)
        fields = {
            name: held(self.combine.reduceat(values[order], starts), values.dtype)
            for name, values in self.fields.items()
        }
        return UnicastBatch(unique.astype(self.dst.dtype), None, self.combine, fields)


class Unicasts:
    """Sends and receives the unicasts of one site.

    Parameters
    ----------
    bounds
        Shape (sites + 1,): site s holds clusters ``bounds[s]`` to ``bounds[s + 1]``.
    me
        Number of this site.
    sorts
        See `dgsuite.kernels.bsp.Kernel.sorts`.
    """

    def __init__(self, partition: Partition, bounds: NDArray, me: int, sorts: bool) -> None:
        self.partition = partition
        self.bounds = bounds
        self.me = me
        self.first = int(partition.offsets[bounds[me]])
        self.own = int(partition.offsets[bounds[me + 1]]) - self.first
        self.blocks = None if sorts else partition.offsets[bounds[me] : bounds[me + 1]] - self.first

    def pack(self, messages: UnicastBatch) -> dict[int, UnicastBatch]:
        """A batch for each site that gets any of the messages, this one included."""
        if messages.combines_early:
            messages = messages.combined(self.partition.n)
        if len(self.bounds) == 2:
            return {self.me: messages}
        ends = self.partition.offsets[self.bounds[1:]]
        site = np.searchsorted(ends, self.partition.position(messages.dst), side="right")
        sites, starts, order = group(site, len(self.bounds) - 1)
        return {
            to: messages.take(order[starts[i] : starts[i + 1]])
            for i, to in enumerate(sites.tolist())
        }

    def unpack(self, parts: Sequence[UnicastBatch]) -> MessageList:
        """All messages that arrived, by receiver, or by cluster, and then by sender."""
        batch = concatenated(parts) if len(parts) > 1 else parts[0]
        batch = batch.by_sender()
        if batch.combine is not None:
            batch = batch.combined(self.partition.n)
        row = self.partition.position(batch.dst) - self.first
        fields = batch.fields
        return MessageList(row, batch.src, lambda name, at: fields[name][at], self.own, self.blocks)
