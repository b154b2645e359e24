"""The mailbox of a site: counts and packs what its clusters send in a phase, and unpacks what arrives.

All clusters of a phase send messages of one type. What stays at the site is handed over by reference;
every other site gets at most one batch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.engine import checks
from dgsuite.engine.broadcasts import BroadcastBatch, Broadcasts
from dgsuite.engine.fields import compilable, held, places
from dgsuite.engine.lists import ListBatch, NodeLists, SiteLists, concatenated
from dgsuite.engine.messages import MessageList
from dgsuite.engine.pairs import Pairs, reached
from dgsuite.engine.program import Fault, Step, Tally
from dgsuite.engine.shipments import (
    AnnouncementBatch,
    ShipmentBatch,
    Shipments,
    concatenated_announcements,
    concatenated_shipments,
)
from dgsuite.engine.unicasts import UnicastBatch, Unicasts, concatenate
from kernels.base import (
    Announcement,
    Broadcast,
    Kernel,
    Known,
    Share,
    Shipment,
    Unicast,
    broadcast,
)
from partition.cluster import Cluster
from partition.errors import InputError, RunError
from partition.halo import Halo, make_halo
from partition.reductions import MIN, SUM
from partition.segments import COMPILE_FROM, ascending, distinct, expand, loops, mark, tally

SPARSE = 16
"""To count different nodes, fewer than one in so many of the site's are sorted; for more a mask is made."""


class BroadcastRecord(NamedTuple):
    """A broadcast, for a recorder: rows of the senders, bytes of a message, and whether it travels."""

    rows: NDArray
    itemsize: int
    travels: bool


Record = BroadcastRecord | UnicastBatch | NodeLists | AnnouncementBatch | Shipments
"""What a recorder gets of a phase."""

MessageBatch = UnicastBatch | BroadcastBatch | ListBatch | AnnouncementBatch | ShipmentBatch
"""What travels from site to site."""

Received = MessageList | Broadcasts | SiteLists | AnnouncementBatch | Shipments
"""What the inboxes of a site show."""


class Mailbox:
    """The mailbox of a site.

    Parameters
    ----------
    kernel, clusters, bounds, me, fault
        Those of the site.
    check
        Whether to check what takes as long as the work itself.

    Attributes
    ----------
    dtypes
        Dtype of each message field, vectors included.
    starts
        Row at which each cluster's nodes begin.
    recorder
        Called with what each phase sends, if set.
    """

    def __init__(
        self,
        kernel: Kernel,
        clusters: Sequence[Cluster],
        bounds: NDArray,
        me: int,
        fault: Fault,
        check: bool = False,
    ) -> None:
        self.check = check
        self.kernel = kernel
        self.clusters = clusters
        self.bounds = bounds
        self.me = me
        self.fault = fault
        self.starts = [0, *np.cumsum([c.size for c in clusters]).tolist()]
        self.unicasts = Unicasts(clusters[0].partition, bounds, me)
        widths = kernel.widths(clusters[0].n)
        self.dtypes = {
            name: np.dtype((dtype, (widths[name],))) if name in widths else np.dtype(dtype)
            for name, dtype in kernel.fields.items()
        }
        self.recorder: Callable[[Step, Record], None] | None = None
        self._phase = ""
        self._kept: UnicastBatch | NodeLists | AnnouncementBatch | Shipments | None = None
        self._arriving: Broadcasts | None = None  # what is broadcast in this phase
        self._owners: dict[tuple[int, bool], NDArray[np.int32]] = {}

    @property
    def _key(self) -> tuple[int, bytes]:
        """Key of the halo in the cache of the first cluster."""
        return self.me, self.bounds.tobytes()

    @property
    def has_halo(self) -> bool:
        """Whether the halo is there already."""
        return self._key in self.clusters[0].cache

    @cached_property
    def halo(self) -> Halo:
        """The site's halo; its first cluster keeps it for later runs."""
        cache = self.clusters[0].cache
        if not self.has_halo:
            cache.clear()
            cache[self._key] = make_halo(self.clusters, self.bounds, self.me)
        halo: Halo = cache[self._key]
        return halo

    @cached_property
    def broadcasts(self) -> Broadcasts:
        """Stores and packs broadcasts."""
        return Broadcasts(self.halo, self.dtypes)

    @cached_property
    def backwards(self) -> Broadcasts:
        """The same for those against the direction of edges."""
        return Broadcasts(self.halo.turned, self.dtypes, backwards=True)

    def _along(self, backwards: bool) -> Broadcasts:
        """What is broadcast in a direction; an undirected graph has but one."""
        return self.backwards if backwards and self.clusters[0].directed else self.broadcasts

    def warm(self) -> None:
        """Make the halo, and load compiled loops, before the clock starts."""
        if not self.clusters[0].pulls:
            return
        halo = self.halo
        if len(halo.indices) > COMPILE_FROM:
            none, one = np.empty(0, np.int64), np.zeros(1, bool)
            pull = (halo.indptr, halo.indices, 0, none, np.zeros(1, np.uint8))
            push = (*halo.out(np.array([halo.first])), none)
            counts = np.empty(0, np.int32)
            loops().tally(counts, none)
            loops().mark_rows(halo.out_indptr, halo.away, none, 0, 0, one, halo.first, none)
            loops().single(halo.out_indptr, none)
            loops().fill(one, none, True)
            loops().land(one, np.empty(0, np.int32), halo.first, none)
            loops().remove(one, none)
            loops().keep(one, none, none)
            loops().pull_any(*pull)
            loops().pull_count(*pull, 0, 0)
            loops().push_first(*push, halo.names, one, halo.names[:0])
            loops().both(one[:0], one[:0], none)
            loops().collect(one[:0], one[:0], halo.names[:0], none, halo.names[:0])
            if self.kernel.adds_all:
                halo.slice_rows()
            if self.kernel.looks_for_first:
                names = halo.names[:0]
                loops().pull_first(*pull[:2], halo.heads, *pull[2:], halo.names, none, names)
                loops().fill(counts, none, 0)
                loops().scatter(counts, none, names)
            loops().push_any(*push, one)
            loops().push_count(*push, halo.first, halo.starts, counts, counts, none, 0)
            self.broadcasts.prepare([*self.dtypes])
            for name in (name for name, dtype in self.dtypes.items() if compilable(dtype)):
                values = self.broadcasts.slots[name][:0]
                loops().pull(*pull, values, MIN.identity(values.dtype), *MIN.flags)
                if values.dtype.kind == "f":
                    loops().pull_sum(*pull, values, SUM.identity(values.dtype))
                loops().pull_minima(*pull, values, values)
                loops().pick(values, none, one, 0)
                loops().lay(values, one[:0], values)
                loops().push(*halo.edges, halo.first, none, values, values, one, *MIN.flags)

    def send(
        self, step: Step, sent: Mapping[type, Sequence[tuple[int, Any]]], counts: Tally
    ) -> dict[int, MessageBatch]:
        """Count what a phase sends, keep what stays at the site, and pack a batch for each other site.

        Parameters
        ----------
        sent
            By type of message (see `SENDERS`), the clusters that sent some, and what.
        counts
            The counts are added to it.
        """
        self._phase, self._kept = step.phase, None
        if self._arriving is not None:
            self._arriving.clear()
            self._arriving = None
        if len(sent) > 1:
            raise self.fault(step, 0, "sends messages of more than one kind")
        for kind, sends in sent.items():
            return SENDERS[kind](self, step, sends, counts)
        return {}

    def deliver(self, batches: Mapping[int, MessageBatch]) -> Received | None:
        """All that arrives at the site: the batches of other sites, and what it kept."""
        parts: dict[int, Any] = {} if self._kept is None else {self.me: self._kept}
        for peer, batch in batches.items():
            if isinstance(batch, BroadcastBatch):
                broadcasts = self._along(batch.backwards)
                if self._arriving not in (None, broadcasts):
                    raise RunError(
                        f"kernel {self.kernel.name!r}, phase {self._phase!r}: clusters broadcast forwards "
                        f"and backwards; a phase does one"
                    )
                self._arriving = broadcasts
                broadcasts.unpack(peer, batch)
            elif isinstance(batch, ListBatch):
                parts[peer] = batch.unpack(self.halo.land[peer])
            else:
                parts[peer] = batch.unpack() if isinstance(batch, ShipmentBatch) else batch
        found = [part for _, part in sorted(parts.items())]
        kinds = {type(part).__name__ for part in found}
        kinds |= {"Broadcasts"} if self._arriving is not None else set()
        if len(kinds) > 1:
            raise RunError(
                f"kernel {self.kernel.name!r}, phase {self._phase!r}: clusters sent different types of "
                f"messages ({', '.join(sorted(kinds))}); a phase sends one"
            )
        if self._arriving is not None:
            return self._arriving
        if not found:
            return None
        match found[0]:
            case NodeLists():
                return SiteLists(self.halo, self.clusters[0].n, concatenated(found))
            case AnnouncementBatch():
                return concatenated_announcements(found)
            case Shipments():
                items = concatenated_shipments(found)
                return items.by_receiver(self.clusters[0].index, len(self.clusters))
        try:
            return self.unicasts.unpack(found)
        except InputError as error:
            raise RunError(f"kernel {self.kernel.name!r} combines messages: {error}") from None

    def columns(
        self, step: Step, k: int, fields: Mapping[str, Any], length: int
    ) -> dict[str, NDArray]:
        """Message fields as arrays of the declared dtypes."""
        columns: dict[str, NDArray] = {}
        for name, value in fields.items():
            if name not in self.dtypes:
                raise self.fault(step, k, f"sends {name!r}, which is not among the kernel's fields")
            base, width = self.dtypes[name].base, self.dtypes[name].shape
            try:
                column = held(np.asarray(value), base)
            except InputError as error:
                raise self.fault(step, k, f"sends {name!r}: {error}") from None
            columns[name] = column if column.ndim else np.full((length, *width), column)
            if columns[name].shape != (length, *width):
                raise self.fault(step, k, f"sends {column.shape} {name!r} for {length} messages")
        return columns

    def _payload(self, names: Iterable[str]) -> int:
        """Bytes of a message of some fields."""
        return sum([self.dtypes[name].itemsize for name in names])

    def _record(self, step: Step, sent: Record) -> None:
        if self.recorder is not None:
            self.recorder(step, sent)

    def _announce(
        self, step: Step, sends: Sequence[tuple[int, Announcement]], counts: Tally
    ) -> dict[int, MessageBatch]:
        parts = []
        for k, send in sends:
            cluster = self.clusters[k]
            nodes = self._indices(step, k, send.nodes, cluster.size, "announces from")
            length = max((np.size(v) for v in send.fields.values()), default=0)
            parts.append(AnnouncementBatch(self.columns(step, k, send.fields, length)))
            counts.messages += len(nodes) * (cluster.n - 1)
            counts.remote += len(nodes) * (cluster.n - cluster.size)
            counts.active += len(nodes)
            counts.nbytes += parts[-1].nbytes * (cluster.n - 1)
            if counts.pairs is not None:
                others = np.diff(cluster.partition.offsets)
                others[cluster.index] -= 1
                to, nbytes = np.arange(len(others)), parts[-1].nbytes
                counts.pairs.add(cluster.index, to, len(nodes) * others, nbytes * others)
        self._kept = batch = concatenated_announcements(parts)
        self._record(step, batch)
        return {site: batch for site in range(len(self.bounds) - 1) if site != self.me}

    def _ship(
        self, step: Step, sends: Sequence[tuple[int, Shipment]], counts: Tally
    ) -> dict[int, MessageBatch]:
        parts: list[Shipments] = []
        for k, send in sends:
            to = self._indices(step, k, send.to, int(self.bounds[-1]), "ships to", "cluster")
            to = to.astype(np.int32)
            columns = self.columns(step, k, send.fields, len(to))
            if parts and columns.keys() != parts[0].fields.keys():
                raise self.fault(step, k, "ships other fields than another cluster")
            index = self.clusters[k].index
            parts.append(Shipments(to, np.full(len(to), index, np.int32), columns))
            leaves = to != index
            far, itemsize = int(np.count_nonzero(leaves)), self._payload(columns)
            counts.messages += len(to)
            counts.remote += far
            counts.nbytes += far * itemsize
            if counts.pairs is not None:
                counts.pairs.add(index, to, 1, leaves * itemsize)
        items = concatenated_shipments(parts)
        self._record(step, items)
        self._kept = items.kept(self.bounds, self.me)
        return {**items.pack(self.bounds, self.me)}

    def _unicast(
        self, step: Step, sends: Sequence[tuple[int, Unicast]], counts: Tally
    ) -> dict[int, MessageBatch]:
        partition = self.unicasts.partition
        parts: list[UnicastBatch] = []
        home, whole = [], True
        for k, send in sends:
            cluster = self.clusters[k]
            dst = self._indices(step, k, send.dst, partition.n, "sends to")
            if send.src is None:
                src = cluster.ids
            else:
                src = cluster.ids[self._indices(step, k, send.src, cluster.size, "sends from")]
            if len(src) != len(dst):
                raise self.fault(
                    step, k, f"sends {len(dst)} messages, and names {len(src)} senders"
                )
            whole &= send.src is None
            if self.check and self.kernel.along_edges:
                sender = np.arange(cluster.size) if send.src is None else np.asarray(send.src)
                self._checked(step, k, checks.edges_alone, cluster, sender, dst)
            columns = self.columns(step, k, send.fields, len(dst))
            if parts and columns.keys() != parts[0].fields.keys():
                raise self.fault(step, k, "sends other fields than another cluster")
            if parts and send.combine != parts[0].combine:
                raise self.fault(step, k, "combines its messages otherwise than another cluster")
            how = send.combine
            if how is not None and any(v.dtype.kind not in how.kinds for v in columns.values()):
                raise self.fault(step, k, f"combine={how.name!r} takes {how.takes}")
            parts.append(UnicastBatch(dst, src, send.combine, columns))
            home.append(cluster.index)
        messages = concatenate(parts)
        if not len(messages.dst):
            return {}
        senders = np.repeat(home, [len(p.dst) for p in parts])
        owner = partition.owner(messages.dst)
        counts.messages = len(messages.dst)
        counts.remote = int(np.count_nonzero(owner != senders))
        counts.to_self = int(np.count_nonzero(messages.dst == messages.src))
        counts.nbytes = sum(v.nbytes for v in messages.fields.values())
        if counts.pairs is not None:
            counts.pairs.add(senders, owner, 1, self._payload(messages.fields))
        counts.active = len(messages.dst) if whole else self._count_own(messages.src)  # type: ignore[arg-type]
        self._record(step, messages)
        try:
            batches = self.unicasts.pack(messages)
        except InputError as error:
            raise self.fault(step, sends[0][0], f"combines messages: {error}") from None
        self._kept = batches.pop(self.me, None)
        return {**batches}

    def _broadcast(
        self, step: Step, sends: Sequence[tuple[int, Broadcast]], counts: Tally
    ) -> dict[int, MessageBatch]:
        if not self.clusters[0].pulls:
            if any(b.backwards for _, b in sends):
                raise self.fault(
                    step, sends[0][0], "broadcasts backwards; its kernel needs pulls = True"
                )
            along = [(k, self._along_edges(step, k, b)) for k, b in sends]
            batches = self._unicast(step, along, counts)
            counts.active = sum(self._count_senders(k, b) for k, b in sends)
            return batches
        fields = self._store(step, sends, counts, travels=True)
        return {} if self._arriving is None else {**self._arriving.pack(fields)}

    def _store(
        self, step: Step, sends: Sequence[tuple[int, Broadcast]], counts: Tally, travels: bool
    ) -> list[str]:
        """Count and store what is broadcast; returns the names of its fields."""
        fields: list[str] = []
        rows: list[NDArray] = []
        for k, send in sends:
            cluster, size = self.clusters[k], self.clusters[k].size
            whole = send.nodes is None
            nodes = np.arange(size) if whole else self._senders(step, k, send.nodes)
            if not len(nodes):
                continue
            if self.check:
                self._checked(step, k, checks.counts_of, cluster, nodes, send)
            columns = self.columns(step, k, send.fields, len(nodes))
            broadcasts = self._along(send.backwards)
            if self._arriving is not None:
                if columns.keys() != set(fields):
                    raise self.fault(step, k, "sends other fields than another cluster")
                if self._arriving is not broadcasts:
                    raise self.fault(
                        step, k, "broadcasts in another direction than another cluster"
                    )
            try:
                block = slice(self.starts[k], self.starts[k + 1])
                along = broadcasts.add(nodes, columns, block, whole)
            except InputError as error:
                raise self.fault(step, k, f"broadcasts from {error}") from None
            messages, far = self._counted(cluster, nodes, send, along)
            counts.messages += messages
            counts.remote += far
            counts.active += len(nodes)
            counts.nbytes += messages * self._payload(columns)
            if counts.pairs is not None:
                self._trace(step, k, nodes, send, messages, counts.pairs)
            fields, self._arriving = fields or [*columns], broadcasts
            if self.recorder is not None:
                rows.append(nodes + self.starts[k])
        if rows:
            record = BroadcastRecord(np.concatenate(rows), self._payload(fields), travels)
            self._record(step, record)
        return fields

    def _share(
        self, step: Step, sends: Sequence[tuple[int, Share]], counts: Tally
    ) -> dict[int, MessageBatch]:
        if self.clusters[0].directed:
            raise self.fault(step, sends[0][0], "shares lists, on a graph that is directed")
        parts: list[NodeLists] = []
        for k, send in sends:
            cluster = self.clusters[k]
            nodes = self._indices(step, k, send.nodes, cluster.size, "shares lists of")
            lengths = np.asarray(send.lengths, np.int64)
            try:
                ascending(nodes, cluster.size)
            except InputError as error:
                raise self.fault(step, k, f"shares lists of {error}") from None
            if lengths.shape != nodes.shape or (lengths < 0).any():
                raise self.fault(
                    step, k, f"shares lists of {len(nodes)} nodes, without their lengths"
                )
            columns = self.columns(step, k, send.fields, int(lengths.sum()))
            if parts and columns.keys() != parts[0].fields.keys():
                raise self.fault(step, k, "shares other fields than another cluster")
            parts.append(NodeLists(nodes + self.halo.first + self.starts[k], lengths, columns))
            degree, itemsize = cluster.degree[nodes].astype(np.int64), self._payload(columns)
            counts.messages += int(degree.sum())
            counts.remote += tally(cluster.remote_degree, nodes)
            counts.active += len(nodes)
            counts.nbytes += int((degree * lengths).sum()) * itemsize
            if counts.pairs is not None:
                at, entry = expand(cluster.indptr, nodes)
                to = self._owner(k)[entry]
                counts.pairs.add(cluster.index, to, 1, lengths[at] * itemsize)
        self._kept = own = concatenated(parts)
        self._record(step, own)
        return dict(own.pack(self.halo))

    def _known(
        self, step: Step, sends: Sequence[tuple[int, Known]], counts: Tally
    ) -> dict[int, MessageBatch]:
        nodes = {send.node for _, send in sends}
        if len(nodes) > 1 or len(sends) < len(self.clusters):
            raise self.fault(step, 0, "knows other than another cluster what is sent")
        (node,) = nodes
        if node is None:
            return {}
        partition = self.unicasts.partition
        if not self.clusters[0].pulls or not 0 <= node < partition.n:
            raise self.fault(step, 0, f"knows of node {node}, of which no neighbour can hear")
        row = int(partition.position(np.array([node]))[0]) - self.unicasts.first
        if 0 <= row < self.unicasts.own:
            k = bisect_right(self.starts, row) - 1
            sent = broadcast(np.array([row - self.starts[k]]))
            self._store(step, [(k, sent)], counts, travels=False)
        elif (slot := self.halo.slot(node, partition)) is not None:
            self._arriving = self.broadcasts
            self.broadcasts.add_ghost(slot)
        return {}

    def _indices(
        self, step: Step, k: int, values: Any, size: int, does: str, kind: str = "node"
    ) -> NDArray:
        """Indices that a phase names, as an array."""
        try:
            return places(values, size, kind)
        except InputError as error:
            raise self.fault(step, k, f"{does} {error}") from None

    def _checked(self, step: Step, k: int, look: Callable[..., None], *what: Any) -> None:
        """Look at what a phase sends."""
        try:
            look(*what)
        except InputError as error:
            raise self.fault(step, k, str(error)) from None

    def _senders(self, step: Step, k: int, nodes: Any) -> NDArray[np.int64]:
        """Local indices that a broadcast names; `Broadcasts.add` checks their range and order."""
        found = np.asarray(nodes)
        if found.dtype == np.int64 and found.ndim == 1:
            return found
        return self._indices(step, k, found, self.clusters[k].size, "broadcasts from").astype(
            np.int64
        )

    def _counted(
        self, cluster: Cluster, nodes: NDArray, send: Broadcast, along: tuple[int, int]
    ) -> tuple[int, int]:
        """Messages of a broadcast, and how many of them leave the cluster.

        Parameters
        ----------
        along
            Those along all edges, and how many of them leave the site.
        """
        if send.to is not None:
            each, away = send.to
            return int(np.sum(each, dtype=np.int64)), int(np.sum(away, dtype=np.int64))
        links = send.links
        if send.backwards and cluster.directed:
            if len(self.clusters) == 1:
                return along
            return along[0], tally(cluster.remote_in_degree, nodes)
        remote = cluster.remote_degree if links is None else links.remote
        if send.repeat is not None:
            times = np.asarray(send.repeat, np.int64)
            degree = cluster.degree if links is None else links.degree
            return int((degree[nodes] * times).sum()), int((remote[nodes] * times).sum())
        if links is None and len(self.clusters) == 1:
            return along
        messages = along[0] if links is None else tally(links.degree, nodes)
        return messages, tally(remote, nodes)

    def _trace(
        self, step: Step, k: int, nodes: NDArray, send: Broadcast, messages: int, pairs: Pairs
    ) -> None:
        """Count where so many messages of a broadcast go."""
        cluster = self.clusters[k]
        entry, times = reached(cluster, nodes, send)
        found = len(entry) * times if isinstance(times, int) else int(times.sum())
        if found != messages:
            raise self.fault(
                step,
                k,
                f"counts {messages} messages along edges that carry {found}; in a traced run Links.drop and "
                f"broadcast(to=...) need the edges: pass inbox.edges(nodes)",
            )
        size = self._payload(send.fields)
        pairs.add(
            cluster.index, self._owner(k, send.backwards)[entry], times, np.multiply(times, size)
        )

    def _owner(self, k: int, backwards: bool = False) -> NDArray[np.int32]:
        """Cluster of each neighbour of a cluster's nodes, by entry of the adjacency, or of `senders`."""
        if (k, backwards) not in self._owners:
            cluster = self.clusters[k]
            nodes = cluster.senders[1] if backwards else cluster.indices
            self._owners[k, backwards] = cluster.partition.owner(nodes).astype(np.int32)
        return self._owners[k, backwards]

    def _count_own(self, nodes: NDArray) -> int:
        """How many different nodes of the site there are among some."""
        own = self.unicasts.own
        if SPARSE * len(nodes) < own:
            return len(distinct(nodes))
        there = np.zeros(own, bool)
        mark(there, self.unicasts.partition.position(nodes) - self.unicasts.first)
        return int(np.count_nonzero(there))

    def _count_senders(self, k: int, b: Broadcast) -> int:
        """How many nodes broadcast, those without neighbours included."""
        return self.clusters[k].size if b.nodes is None else len(b.nodes)

    def _along_edges(self, step: Step, k: int, b: Broadcast) -> Unicast:
        """A broadcast as messages along the out-edges of a directed graph."""
        cluster = self.clusters[k]
        nodes = np.arange(cluster.size) if b.nodes is None else self._senders(step, k, b.nodes)
        try:
            ascending(nodes, cluster.size)
        except InputError as error:
            raise self.fault(step, k, f"broadcasts from {error}") from None
        at, entry = expand(cluster.indptr, nodes)
        columns = self.columns(step, k, b.fields, len(nodes))
        fields = {name: column[at] for name, column in columns.items()}
        return Unicast(cluster.indices[entry], nodes[at], None, fields)  # type: ignore[arg-type]


SENDERS: dict[type, Callable[[Mailbox, Step, Any, Tally], dict[int, MessageBatch]]] = {
    Announcement: Mailbox._announce,
    Broadcast: Mailbox._broadcast,
    Known: Mailbox._known,
    Share: Mailbox._share,
    Shipment: Mailbox._ship,
    Unicast: Mailbox._unicast,
}
"""By type of message, how it is sent."""
