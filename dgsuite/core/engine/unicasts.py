"""Messages to given nodes, from site to site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, RunError
from dgsuite.base.pairs import pair_key
from dgsuite.core.engine import checks
from dgsuite.core.engine.fields import concatenated, held
from dgsuite.core.engine.message_type import MessageBatch, MessageType
from dgsuite.core.engine.messages import MessageList
from dgsuite.core.engine.program import Step, Tally
from dgsuite.kernels.bsp import Unicast
from dgsuite.partition.arrays.reductions import Reduction
from dgsuite.partition.arrays.segments import distinct, group, mark
from dgsuite.partition.clusters.partitioners import Partition

if TYPE_CHECKING:
    from dgsuite.core.engine.mailbox import Mailbox

SPARSE = 16
"""To count different nodes, fewer than one in so many of the site's are sorted; for more a mask is made."""


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
    """

    def __init__(self, partition: Partition, bounds: NDArray, me: int) -> None:
        self.partition = partition
        self.bounds = bounds
        self.me = me
        self.first = int(partition.offsets[bounds[me]])
        self.own = int(partition.offsets[bounds[me + 1]]) - self.first

    def pack(self, messages: UnicastBatch) -> dict[int, UnicastBatch]:
        """A batch for each site that gets any of the messages, this one included."""
        if messages.combines_early:
            messages = messages.combined(self.partition.n)
        if len(self.bounds) == 2:
            return {self.me: messages}
        site = np.searchsorted(self.bounds, self.partition.owner(messages.dst), side="right") - 1
        sites, starts, order = group(site, len(self.bounds) - 1)
        return {
            to: messages.take(order[starts[i] : starts[i + 1]])
            for i, to in enumerate(sites.tolist())
        }

    def unpack(self, parts: Sequence[UnicastBatch]) -> MessageList:
        """All messages that arrived, by receiver, then sender."""
        batch = concatenated(parts) if len(parts) > 1 else parts[0]
        batch = batch.by_sender()
        if batch.combine is not None:
            batch = batch.combined(self.partition.n)
        row = self.partition.position(batch.dst) - self.first
        return MessageList(row, batch.src, lambda name, at: batch.fields[name][at], self.own)


class UnicastType(MessageType):
    """Messages go to the site of the node that gets them, combined there as the kernel says."""

    sent, batch, part = Unicast, UnicastBatch, UnicastBatch

    def send(
        self, box: Mailbox, step: Step, sends: Sequence[tuple[int, Unicast]], counts: Tally
    ) -> dict[int, MessageBatch]:
        partition = box.unicasts.partition
        parts: list[UnicastBatch] = []
        home, whole = [], True
        for k, send in sends:
            cluster = box.clusters[k]
            dst = box.indices(step, k, send.dst, partition.n, "sends to")
            if send.src is None:
                src = cluster.ids
            else:
                src = cluster.ids[box.indices(step, k, send.src, cluster.size, "sends from")]
            if len(src) != len(dst):
                raise box.fault(step, k, f"sends {len(dst)} messages, and names {len(src)} senders")
            whole &= send.src is None
            if box.check and box.kernel.along_edges:
                sender = box.every(k) if send.src is None else np.asarray(send.src)
                box.checked(step, k, checks.edges_alone, cluster, sender, dst)
            columns = box.columns(step, k, send.fields, len(dst))
            if parts and columns.keys() != parts[0].fields.keys():
                raise box.fault(step, k, "sends other fields than another cluster")
            if parts and send.combine != parts[0].combine:
                raise box.fault(step, k, "combines its messages otherwise than another cluster")
            how = send.combine
            if how is not None and any(v.dtype.kind not in how.kinds for v in columns.values()):
                raise box.fault(step, k, f"combine={how.name!r} takes {how.takes}")
            if counts.bits is not None:
                carry(box, step, k, UnicastBatch(dst, src, None, columns), counts)
            parts.append(UnicastBatch(dst, src, send.combine, columns))
            home.append(cluster.index)
        messages = concatenated(parts)
        if not len(messages.dst):
            return {}
        senders = np.repeat(home, [len(p.dst) for p in parts])
        owner = partition.owner(messages.dst)
        counts.messages = len(messages.dst)
        counts.remote = int(np.count_nonzero(owner != senders))
        counts.to_self = int(np.count_nonzero(messages.dst == messages.src))
        counts.nbytes = sum(v.nbytes for v in messages.fields.values())
        if counts.pairs is not None:
            counts.pairs.add(senders, owner, 1, box.payload(messages.fields))
        counts.active = len(messages.dst) if whole else count_own(box, messages.src)  # type: ignore[arg-type]
        box.record(step, messages)
        if box.disturbed is not None:
            messages = box.disturbed.along(messages)
        try:
            batches = box.unicasts.pack(messages)
        except InputError as error:
            raise box.fault(step, sends[0][0], f"combines messages: {error}") from None
        box.kept = batches.pop(box.me, None)
        return {**batches}

    def receive(self, box: Mailbox, parts: Sequence[UnicastBatch]) -> MessageList:
        try:
            return box.unicasts.unpack(parts)
        except InputError as error:
            raise RunError(f"kernel {box.kernel.name!r} combines messages: {error}") from None


def carry(box: Mailbox, step: Step, k: int, sent: UnicastBatch, counts: Tally) -> None:
    """Count the bits of the messages of a cluster, by sender and receiver."""
    assert sent.src is not None
    n = box.unicasts.partition.n
    pairs, times = np.unique(pair_key(sent.src, sent.dst, n), return_counts=True)
    edges = np.bincount(times)
    items = np.flatnonzero(edges)

    def edge(i: int) -> tuple[int, int]:
        return divmod(int(pairs[np.argmax(times == items[i])]), n)

    box.carry(step, k, sent.fields, items, edges[items], edge, counts)


def count_own(box: Mailbox, nodes: NDArray) -> int:
    """How many different nodes of the site there are among some."""
    own = box.unicasts.own
    if SPARSE * len(nodes) < own:
        return len(distinct(nodes))
    there = np.zeros(own, bool)
    mark(there, box.unicasts.partition.position(nodes) - box.unicasts.first)
    return int(np.count_nonzero(there))
