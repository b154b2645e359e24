"""How each type of message is sent: counted, kept for this site, and packed for the others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine import checks
from dgsuite.core.engine.batches import BroadcastRecord, MessageBatch
from dgsuite.core.engine.broadcast_store import Stored
from dgsuite.core.engine.fields import concatenated
from dgsuite.core.engine.lists import NodeLists
from dgsuite.core.engine.pairs import Pairs, reached
from dgsuite.core.engine.program import Step, Tally
from dgsuite.core.engine.shipments import AnnouncementBatch, Shipments
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.kernels.bsp import Announcement, Broadcast, Known, Share, Shipment, Unicast, broadcast
from dgsuite.partition.arrays.segments import ascending, distinct, expand, mark, tally
from dgsuite.partition.clusters.cluster import Cluster

if TYPE_CHECKING:
    from dgsuite.core.engine.mailbox import Mailbox

SPARSE = 16
"""To count different nodes, fewer than one in so many of the site's are sorted; for more a mask is made."""


def send_announcements(
    box: Mailbox, step: Step, sends: Sequence[tuple[int, Announcement]], counts: Tally
) -> dict[int, MessageBatch]:
    """Send announcements, which every other site gets."""
    parts = []
    for k, send in sends:
        cluster = box.clusters[k]
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


def send_shipments(
    box: Mailbox, step: Step, sends: Sequence[tuple[int, Shipment]], counts: Tally
) -> dict[int, MessageBatch]:
    """Send items to clusters."""
    parts: list[Shipments] = []
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


def send_unicasts(
    box: Mailbox, step: Step, sends: Sequence[tuple[int, Unicast]], counts: Tally
) -> dict[int, MessageBatch]:
    """Send messages to single nodes."""
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
    try:
        batches = box.unicasts.pack(messages)
    except InputError as error:
        raise box.fault(step, sends[0][0], f"combines messages: {error}") from None
    box.kept = batches.pop(box.me, None)
    return {**batches}


def count_own(box: Mailbox, nodes: NDArray) -> int:
    """How many different nodes of the site there are among some."""
    own = box.unicasts.own
    if SPARSE * len(nodes) < own:
        return len(distinct(nodes))
    there = np.zeros(own, bool)
    mark(there, box.unicasts.partition.position(nodes) - box.unicasts.first)
    return int(np.count_nonzero(there))


def send_broadcasts(
    box: Mailbox, step: Step, sends: Sequence[tuple[int, Broadcast]], counts: Tally
) -> dict[int, MessageBatch]:
    """Send broadcasts; as unicasts where clusters of a directed graph have no edges that come in."""
    if not box.clusters[0].pulls:
        if any(b.backwards for _, b in sends):
            raise box.fault(
                step, sends[0][0], "broadcasts backwards; its kernel needs pulls = True"
            )
        along = [(k, along_edges(box, step, k, b)) for k, b in sends]
        batches = send_unicasts(box, step, along, counts)
        counts.active = sum(count_senders(box, k, b) for k, b in sends)
        return batches
    fields = store(box, step, sends, counts, travels=True)
    return {} if box.arriving is None else {**box.arriving.pack(fields)}


class Said(NamedTuple):
    """What a site's k-th cluster broadcasts: checked, with a value of each field for each node."""

    k: int
    nodes: NDArray[np.int64]
    columns: dict[str, NDArray]
    send: Broadcast


def store(
    box: Mailbox, step: Step, sends: Sequence[tuple[int, Broadcast]], counts: Tally, travels: bool
) -> list[str]:
    """Count and store what is broadcast; returns the names of its fields."""
    said: list[Said] = []
    count = 0
    for k, send in sends:
        nodes = box.every(k) if send.nodes is None else box.senders(step, k, send.nodes)
        if not len(nodes):
            continue
        if box.check:
            box.checked(step, k, checks.counts_of, box.clusters[k], nodes, send)
        columns = box.columns(step, k, send.fields, len(nodes))
        if said and columns.keys() != said[0].columns.keys():
            raise box.fault(step, k, "sends other fields than another cluster")
        if box.arriving not in (None, box.along(send.backwards)):
            raise box.fault(step, k, "broadcasts in another direction than another cluster")
        box.arriving = box.along(send.backwards)
        said.append(Said(k, nodes, columns, send))
        count += len(nodes)
    if box.arriving is None:
        return []
    fields, broadcasts = [*said[0].columns], box.arriving
    broadcasts.expect(fields, count)

    def put(one: Said) -> tuple[Stored, tuple[int, int]]:
        k, nodes, columns, send = one
        block = slice(box.starts[k], box.starts[k + 1])
        try:
            stored = broadcasts.put(nodes, columns, block, send.nodes is None)
        except InputError as error:
            raise box.fault(step, k, f"broadcasts from {error}") from None
        return stored, counted(box, box.clusters[k], nodes, send, stored)

    size = box.payload(fields)
    for one, (stored, (messages, far)) in zip(said, box.each(put, said), strict=True):
        broadcasts.note(stored)
        counts.messages += messages
        counts.remote += far
        counts.active += stored.senders
        counts.nbytes += messages * size
        if counts.pairs is not None:
            trace(box, step, one.k, one.nodes, one.send, messages, counts.pairs)
    if box.recorder is not None:
        rows = np.concatenate([one.nodes + box.starts[one.k] for one in said])
        box.record(step, BroadcastRecord(rows, size, travels))
    return fields


def counted(
    box: Mailbox, cluster: Cluster, nodes: NDArray, send: Broadcast, stored: Stored
) -> tuple[int, int]:
    """Messages of a broadcast, and how many of them leave the cluster."""
    along = stored.messages, stored.leaving
    if send.to is not None:
        each, away = send.to
        return int(np.sum(each, dtype=np.int64)), int(np.sum(away, dtype=np.int64))
    links = send.links
    if send.backwards and cluster.directed:
        if len(box.clusters) == 1:
            return along
        return along[0], tally(cluster.remote_in_degree, nodes)
    remote = cluster.remote_degree if links is None else links.remote
    if send.repeat is not None:
        times = np.asarray(send.repeat, np.int64)
        degree = cluster.degree if links is None else links.degree
        return int((degree[nodes] * times).sum()), int((remote[nodes] * times).sum())
    if links is None and len(box.clusters) == 1:
        return along
    messages = along[0] if links is None else tally(links.degree, nodes)
    return messages, tally(remote, nodes)


def trace(
    box: Mailbox, step: Step, k: int, nodes: NDArray, send: Broadcast, messages: int, pairs: Pairs
) -> None:
    """Count where so many messages of a broadcast go."""
    cluster = box.clusters[k]
    entry, times = reached(cluster, nodes, send)
    found = len(entry) * times if isinstance(times, int) else int(times.sum())
    if found != messages:
        raise box.fault(
            step,
            k,
            f"counts {messages} messages along edges that carry {found}; in a traced run Links.drop and "
            f"broadcast(to=...) need the edges: pass inbox.edges(nodes)",
        )
    size = box.payload(send.fields)
    pairs.add(cluster.index, box.owner(k, send.backwards)[entry], times, np.multiply(times, size))


def count_senders(box: Mailbox, k: int, b: Broadcast) -> int:
    """How many nodes broadcast, those without neighbours included."""
    return box.clusters[k].size if b.nodes is None else len(b.nodes)


def along_edges(box: Mailbox, step: Step, k: int, b: Broadcast) -> Unicast:
    """A broadcast as messages along the out-edges of a directed graph."""
    cluster = box.clusters[k]
    nodes = box.every(k) if b.nodes is None else box.senders(step, k, b.nodes)
    try:
        ascending(nodes, cluster.size)
    except InputError as error:
        raise box.fault(step, k, f"broadcasts from {error}") from None
    at, entry = expand(cluster.indptr, nodes)
    columns = box.columns(step, k, b.fields, len(nodes))
    fields = {name: column[at] for name, column in columns.items()}
    return Unicast(cluster.indices[entry], nodes[at], None, fields)  # type: ignore[arg-type]


def send_known(
    box: Mailbox, step: Step, sends: Sequence[tuple[int, Known]], counts: Tally
) -> dict[int, MessageBatch]:
    """Store a broadcast that every site knows of, without a batch."""
    nodes = {send.node for _, send in sends}
    if len(nodes) > 1 or len(sends) < len(box.clusters):
        raise box.fault(step, 0, "returns another known(...) than another cluster")
    (node,) = nodes
    if node is None:
        return {}
    partition = box.unicasts.partition
    if not box.clusters[0].pulls or not 0 <= node < partition.n:
        raise box.fault(step, 0, f"returns known({node}), which no neighbour can read")
    row = int(partition.position(np.array([node]))[0]) - box.unicasts.first
    if 0 <= row < box.unicasts.own:
        k = bisect_right(box.starts, row) - 1
        sent = broadcast(np.array([row - box.starts[k]]))
        store(box, step, [(k, sent)], counts, travels=False)
    elif box.halo.own and (slot := box.halo.slot(node, partition)) is not None:
        box.arriving = box.broadcasts
        box.broadcasts.add_ghost(slot)
    return {}


def send_lists(
    box: Mailbox, step: Step, sends: Sequence[tuple[int, Share]], counts: Tally
) -> dict[int, MessageBatch]:
    """Send lists of nodes to their neighbours."""
    if box.clusters[0].directed:
        raise box.fault(step, sends[0][0], "shares lists, on a graph that is directed")
    parts: list[NodeLists] = []
    for k, send in sends:
        cluster = box.clusters[k]
        nodes = box.indices(step, k, send.nodes, cluster.size, "shares lists of")
        lengths = np.asarray(send.lengths, np.int64)
        try:
            ascending(nodes, cluster.size)
        except InputError as error:
            raise box.fault(step, k, f"shares lists of {error}") from None
        if lengths.shape != nodes.shape or (lengths < 0).any():
            raise box.fault(step, k, f"shares lists of {len(nodes)} nodes, without their lengths")
        columns = box.columns(step, k, send.fields, int(lengths.sum()))
        if parts and columns.keys() != parts[0].fields.keys():
            raise box.fault(step, k, "shares other fields than another cluster")
        parts.append(NodeLists(nodes + box.halo.first + box.starts[k], lengths, columns))
        degree, itemsize = cluster.degree[nodes].astype(np.int64), box.payload(columns)
        counts.messages += int(degree.sum())
        counts.remote += tally(cluster.remote_degree, nodes)
        counts.active += len(nodes)
        counts.nbytes += int((degree * lengths).sum()) * itemsize
        if counts.pairs is not None:
            at, entry = expand(cluster.indptr, nodes)
            to = box.owner(k)[entry]
            counts.pairs.add(cluster.index, to, 1, lengths[at] * itemsize)
    box.kept = own = concatenated(parts)
    box.record(step, own)
    return dict(own.pack(box.halo))


SENDERS: dict[type, Callable[[Mailbox, Step, Any, Tally], dict[int, MessageBatch]]] = {
    Announcement: send_announcements,
    Broadcast: send_broadcasts,
    Known: send_known,
    Share: send_lists,
    Shipment: send_shipments,
    Unicast: send_unicasts,
}
"""By type of message, how it is sent."""
