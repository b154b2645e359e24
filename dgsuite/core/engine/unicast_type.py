"""Unicasts as a type of message."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, RunError
from dgsuite.base.pairs import pair_key
from dgsuite.core.engine import checks
from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.message_type import MessageBatch, MessageType
from dgsuite.core.engine.messages import MessageList, concatenated
from dgsuite.core.engine.program import Step, Tally
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.kernels.bsp import Unicast
from dgsuite.partition.arrays.segments import distinct, mark

SORTED_FRACTION = 16
"""Different nodes are counted by sorting below one in so many of the site's, else with a mask."""


class UnicastType(MessageType):
    """Messages go to the site of the node that gets them, combined there as the kernel says."""

    sent, batch, part = Unicast, UnicastBatch, UnicastBatch

    def send(
        self, box: Mailbox, step: Step, sends: Sequence[tuple[int, Unicast]], counts: Tally
    ) -> dict[int, MessageBatch]:
        partition = box.unicasts.partition
        parts: list[UnicastBatch] = []
        whole = True
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
            if box.check:
                sender = box.senders(step, k, send.src)
                box.checked(step, k, checks.unicasts_of, box.model, cluster, sender, dst)
            columns = box.columns(step, k, send.fields, len(dst), send.src)
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
            row = partition.position(dst) - cluster.first
            counts.remote += len(dst) - int(np.count_nonzero((row >= 0) & (row < cluster.size)))
        messages = concatenated(parts)
        if not len(messages.dst):
            return {}
        counts.messages = len(messages.dst)
        counts.to_self = int(np.count_nonzero(messages.dst == messages.src))
        counts.nbytes = sum(v.nbytes for v in messages.fields.values())
        if counts.pairs is not None:
            home = np.repeat([box.clusters[k].index for k, _ in sends], [len(p.dst) for p in parts])
            owner = partition.owner(messages.dst)
            counts.pairs.add(home, owner, 1, box.payload(messages.fields))
        counts.active = len(messages.dst) if whole else count_own(box, messages.src)  # type: ignore[arg-type]
        box.record(step, messages)
        if box.disturbed is not None:
            messages, _ = box.disturbed.along(messages)
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
    if SORTED_FRACTION * len(nodes) < own:
        return len(distinct(nodes))
    there = np.zeros(own, bool)
    mark(there, box.unicasts.partition.position(nodes) - box.unicasts.first)
    return int(np.count_nonzero(there))
