"""Broadcasts as a type of message, and those that each site foresees."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.thresholds import compiles
from dgsuite.core.engine import checks
from dgsuite.core.engine.broadcast_store import BroadcastRecord
from dgsuite.core.engine.broadcasts import BroadcastBatch
from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.message_type import MessageBatch, MessageType
from dgsuite.core.engine.messages import compilable
from dgsuite.core.engine.pairs import Pairs, reached
from dgsuite.core.engine.program import Step, Tally
from dgsuite.core.engine.unicast_type import UnicastType
from dgsuite.kernels.bsp import Broadcast, Known, Unicast, broadcast
from dgsuite.partition.arrays.loops import loops
from dgsuite.partition.arrays.reductions import MIN, SUM
from dgsuite.partition.arrays.segments import ascending, expand, lent, tally
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.halo import Halo

KINDS = {"f": "reals", "u": "words"}
"""Kinds of values that loops of their own add, or combine."""


class BroadcastType(MessageType):
    """The values of nodes go once to each site that reads them, and are stored there.

    They go as unicasts where clusters of a directed graph have no edges that come in.
    """

    sent, batch = Broadcast, BroadcastBatch

    def send(
        self, box: Mailbox, step: Step, sends: Sequence[tuple[int, Broadcast]], counts: Tally
    ) -> dict[int, MessageBatch]:
        if not box.clusters[0].pulls:
            if any(b.backwards for _, b in sends):
                raise box.fault(
                    step, sends[0][0], "broadcasts backwards; its kernel needs pulls = True"
                )
            along = [(k, along_edges(box, step, k, b)) for k, b in sends]
            batches = UnicastType().send(box, step, along, counts)
            counts.active = sum(  # those without neighbours included
                box.clusters[k].size if b.nodes is None else len(b.nodes) for k, b in sends
            )
            return batches
        store(box, step, sends, counts, travels=True)
        return {} if box.arriving is None else {**box.arriving.pack()}

    def unpack(self, box: Mailbox, peer: int, batch: BroadcastBatch) -> None:
        box.arrive(batch.backwards).unpack(peer, batch)


def warm(box: Mailbox) -> None:
    """Make the halo and what the kernel reads of it, and load compiled loops."""
    if not box.clusters[0].pulls or not box.kernel.broadcasts:
        return
    halo, kernel = box.halo, box.kernel
    if not compiles(len(halo.indices)):
        return
    if "totals" in kernel.prepares:
        halo.cut_tiles()
    store = box.along()
    samples = samples_of(halo)
    if "first" in kernel.prepares:
        samples["heads"] = halo.heads
    if "nearer" in kernel.prepares:
        samples |= store.offers.samples(next(iter(box.dtypes.values())))
    dtypes = {dtype for dtype in box.dtypes.values() if compilable(dtype)}
    for own in map(samples_of_values, dtypes) if dtypes else ({},):
        loops().load(samples | own)
    if box.disturbed is not None:
        box.disturbed.warm(halo)


def samples_of_values(dtype: np.dtype) -> dict[str, Any]:
    """Arguments of compiled loops that are values of a field, by kind."""
    values = np.empty(0, dtype)
    found = {"values": values, "read": lent(values), "largest": MIN.identity(dtype)}
    if dtype.kind in KINDS:
        found |= {KINDS[dtype.kind]: lent(values), "zero": SUM.identity(dtype)}
    return found


def samples_of(halo: Halo) -> dict[str, Any]:
    """Arguments of compiled loops, by kind: those that are not of the halo are empty."""
    ways = dict(
        zip(("out_indptr", "out_indices", "back_indptr", "back_indices"), halo.edges, strict=True)
    )
    return ways | {
        "indptr": halo.indptr,
        "indices": halo.indices,
        "columns": np.empty(0, halo.indices.dtype),
        "away": halo.away,
        "starts": halo.starts,
        "nodes": np.empty(0, np.int64),
        "senders": lent(np.empty(0, np.int64)),
        "counts": np.empty(0, np.int32),
        "names": halo.names[:0],
        "mask": np.zeros(0, bool),
        "marks": lent(np.zeros(0, bool)),
        "bitmap": np.zeros(1, np.uint8),
    }


class KnownType(MessageType):
    """A broadcast that every site knows of is stored without a batch."""

    sent = Known

    def send(
        self, box: Mailbox, step: Step, sends: Sequence[tuple[int, Known]], counts: Tally
    ) -> dict[int, MessageBatch]:
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
            box.arrive(backwards=False).add_ghost(slot)
        return {}


def store(
    box: Mailbox, step: Step, sends: Sequence[tuple[int, Broadcast]], counts: Tally, travels: bool
) -> None:
    """Count and store what is broadcast."""
    said: list[tuple[int, NDArray[np.int64], dict[str, NDArray], Broadcast]] = []
    count = 0
    for k, send in sends:
        nodes = box.senders(step, k, send.nodes)
        if not len(nodes):
            continue
        if box.check:
            box.checked(step, k, checks.counts_of, box.model, box.clusters[k], nodes, send)
        columns = box.columns(step, k, send.fields, len(nodes), nodes)
        if said and columns.keys() != said[0][2].keys():
            raise box.fault(step, k, "sends other fields than another cluster")
        arriving = box.along(send.backwards)
        if box.arriving not in (None, arriving):
            raise box.fault(step, k, "broadcasts in another direction than another cluster")
        box.arriving = arriving
        said.append((k, nodes, columns, send))
        count += len(nodes)
    if box.arriving is None:
        return
    fields = [*said[0][2]]
    box.arriving.begin(fields, count)
    size = box.payload(fields)
    for k, nodes, columns, send in said:
        block = slice(box.starts[k], box.starts[k + 1])
        try:
            along = box.arriving.put(nodes, columns, block, send.nodes is None)
        except InputError as error:
            raise box.fault(step, k, f"broadcasts from {error}") from None
        messages, far = counted(box, box.clusters[k], nodes, send, along)
        counts.messages += messages
        counts.remote += far
        counts.active += len(nodes)
        counts.nbytes += messages * size
        if counts.pairs is not None:
            trace(box, step, k, nodes, send, messages, counts.pairs)
        if counts.bits is not None:
            carry(box, step, k, nodes, columns, send, messages, counts)
    if box.recorder is not None:
        rows = np.concatenate([nodes + box.starts[k] for k, nodes, *_ in said])
        box.record(step, BroadcastRecord(rows, size, travels))


def counted(
    box: Mailbox, cluster: Cluster, nodes: NDArray, send: Broadcast, along: tuple[int, int]
) -> tuple[int, int]:
    """Messages of a broadcast, and how many of them leave the cluster, given what `put` returned."""
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


def carry(
    box: Mailbox,
    step: Step,
    k: int,
    nodes: NDArray,
    columns: dict[str, NDArray],
    send: Broadcast,
    messages: int,
    counts: Tally,
) -> None:
    """Count the bits of so many messages of a broadcast."""
    cluster, along = box.clusters[k], send._replace(repeat=None)
    times = None if send.repeat is None else np.broadcast_to(np.asarray(send.repeat), nodes.shape)
    items: NDArray = np.ones(1, np.int64)
    edges = np.array([messages])
    if times is not None:
        items, of = np.unique(times, return_inverse=True)
        degree = cluster.degree if send.links is None else send.links.degree
        edges = np.zeros(len(items), np.int64)
        np.add.at(edges, of, degree[nodes])

    def edge(i: int) -> tuple[int, int]:
        senders = nodes if times is None else nodes[times == items[i]]
        entry = int(reached(cluster, senders, along)[0][0])
        indptr, indices = cluster.senders if send.backwards else (cluster.indptr, cluster.indices)
        row = int(np.searchsorted(indptr, entry, side="right")) - 1
        return int(cluster.ids[row]), int(indices[entry])

    box.carry(step, k, columns, items, edges, edge, counts)


def along_edges(box: Mailbox, step: Step, k: int, b: Broadcast) -> Unicast:
    """A broadcast as messages along the out-edges of a directed graph."""
    cluster = box.clusters[k]
    nodes = box.senders(step, k, b.nodes)
    try:
        ascending(nodes, cluster.size)
    except InputError as error:
        raise box.fault(step, k, f"broadcasts from {error}") from None
    at, entry = expand(cluster.indptr, nodes)
    columns = box.columns(step, k, b.fields, len(nodes), nodes)
    fields = {name: column[at] for name, column in columns.items()}
    return Unicast(cluster.indices[entry], nodes[at], None, fields)  # type: ignore[arg-type]
