"""Lists that nodes share with their neighbours: stored once, sent once to each site that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.message_type import MessageBatch, MessageType
from dgsuite.core.engine.messages import concatenated
from dgsuite.core.engine.program import Step, Tally
from dgsuite.kernels.bsp import Share
from dgsuite.partition.arrays.segments import ascending, expand, ranges, tally
from dgsuite.partition.clusters.cluster import Cluster
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
        ends = np.cumsum(self.lengths)
        senders = Subset(None, self.slots, size=halo.slots)
        for peer, read in halo.send.items():
            some = senders.restrict(read)
            if not some.count:
                continue
            which = np.arange(len(self.slots))
            if not isinstance(read, slice):
                which = np.searchsorted(self.slots, read[some.members])
            lengths = self.lengths[which]
            _, entry = ranges(ends[which] - lengths, lengths)
            fields = {name: values[entry] for name, values in self.fields.items()}
            yield peer, ListBatch(some.encode(), lengths.astype(np.int32), fields)


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


class ListType(MessageType):
    """A list goes once to each site that reads it."""

    sent, batch, part = Share, ListBatch, NodeLists

    def send(
        self, box: Mailbox, step: Step, sends: Sequence[tuple[int, Share]], counts: Tally
    ) -> dict[int, MessageBatch]:
        if box.clusters[0].directed:
            raise box.fault(step, sends[0][0], "shares lists, on a graph that is directed")
        if box.check and (model := box.model).messages is not None:
            raise box.fault(step, sends[0][0], model.excludes("shares lists"))
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
                raise box.fault(
                    step, k, f"shares lists of {len(nodes)} nodes, without their lengths"
                )
            columns = box.columns(step, k, send.fields, int(lengths.sum()))
            if parts and columns.keys() != parts[0].fields.keys():
                raise box.fault(step, k, "shares other fields than another cluster")
            parts.append(NodeLists(nodes + box.halo.first + box.starts[k], lengths, columns))
            degree, itemsize = cluster.degree[nodes].astype(np.int64), box.payload(columns)
            counts.messages += int(degree.sum())
            counts.remote += tally(cluster.remote_degree, nodes)
            counts.active += len(nodes)
            counts.nbytes += int(degree @ lengths) * itemsize

            def edge(i: int, cluster: Cluster = cluster, nodes: NDArray = nodes) -> tuple[int, int]:
                row = nodes[i]
                return int(cluster.ids[row]), int(cluster.indices[cluster.indptr[row]])

            box.carry(step, k, columns, lengths, degree, edge, counts)
            if counts.pairs is not None:
                at, entry = expand(cluster.indptr, nodes)
                to = box.owner(k)[entry]
                counts.pairs.add(cluster.index, to, 1, lengths[at] * itemsize)
        # `receive` copies it before the next phase, so it may alias a state
        box.kept = own = parts[0] if len(parts) == 1 else concatenated(parts)
        box.record(step, own)
        return dict(own.pack(box.halo))

    def unpack(self, box: Mailbox, peer: int, batch: ListBatch) -> NodeLists:
        return batch.unpack(box.halo.land[peer])

    def receive(self, box: Mailbox, parts: Sequence[NodeLists]) -> SiteLists:
        return SiteLists(box.halo, box.clusters[0].n, concatenated(parts))
