"""A site's mailroom: counts and packs what its clusters send in a phase, and lays out what arrives.

A phase sends one kind of message. What stays at the site is handed over by reference; every other
site gets one parcel at most.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.engine import checks
from dgsuite.engine.exchange import Letters, Megaphone, Parcel, Post, Words, concatenate
from dgsuite.engine.fields import held, places
from dgsuite.engine.messages import Echoes, Mail, compilable, worst
from dgsuite.engine.pairs import Pairs, reached
from dgsuite.engine.program import Fault, Step, Tally
from dgsuite.engine.shipments import Board, Crates, Sealed, arranged, dealt, joined, piled
from kernels.base import Announcement, Broadcast, Kernel, Known, Shipment, Unicast, broadcast
from partition.cluster import Cluster
from partition.errors import InputError, RunError
from partition.halo import Halo, make_halo
from partition.segments import COMPILE_FROM, ascending, expand, loops, tally


class Said(NamedTuple):
    """A broadcast, for who records: the rows that spoke, bytes a message, and whether it travels."""

    rows: NDArray
    itemsize: int
    travels: bool


Sent = Said | Letters | Board | Crates
Messages = Mail | Echoes | Board | Crates


class Mailroom:
    """The mailroom of a site.

    Parameters
    ----------
    kernel, clusters, bounds, me, fault
        Those of the site.
    check
        Whether what costs time is looked at as well.

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
        self.post = Post(clusters[0].partition, bounds, me)
        widths = kernel.widths(clusters[0].n)
        self.dtypes = {
            name: np.dtype((dtype, (widths[name],))) if name in widths else np.dtype(dtype)
            for name, dtype in kernel.fields.items()
        }
        self.recorder: Callable[[Step, Sent], None] | None = None
        self._kept: list[Letters] = []
        self._board: Board | None = None
        self._crates: Crates | None = None
        self._spoke = False
        self._owners: dict[int, NDArray[np.int32]] = {}

    @property
    def _key(self) -> tuple[int, bytes]:
        """What the halo is kept under."""
        return self.me, self.bounds.tobytes()

    @property
    def has_halo(self) -> bool:
        """Whether the halo is made already."""
        return self._key in self.clusters[0].cache

    @cached_property
    def halo(self) -> Halo:
        """The site's halo, kept with its first cluster so that later runs find it."""
        cache = self.clusters[0].cache
        if not self.has_halo:
            cache.clear()
            cache[self._key] = make_halo(self.clusters, self.bounds, self.me)
        halo: Halo = cache[self._key]
        return halo

    @cached_property
    def megaphone(self) -> Megaphone:
        """What broadcasts go through."""
        return Megaphone(self.halo)

    def warm(self) -> None:
        """Do before the clock starts what would otherwise fall into the first rounds."""
        if self.clusters[0].directed:
            return
        halo = self.halo
        if len(halo.indices) > COMPILE_FROM:
            none, one = np.empty(0, np.int64), np.zeros(1, bool)
            pull = (halo.indptr, halo.indices, 0, none, np.zeros(1, np.uint8))
            push = (*halo.out(np.array([halo.first])), none)
            counts = np.empty(0, np.int32)
            loops().tally(counts, none)
            loops().utter(halo.indptr, halo.away, none, 0, 0, one, halo.first, none)
            loops().single(halo.indptr, none)
            loops().fill(one, none, True)
            loops().land(one, np.empty(0, np.int32), halo.first, none)
            loops().remove(one, none)
            loops().keep(one, none, none)
            loops().pull_any(*pull)
            loops().pull_count(*pull, 0, 0)
            loops().push_first(*push, halo.names, one, halo.names[:0])
            loops().both(one[:0], one[:0], none)
            loops().collect(one[:0], one[:0], halo.names[:0], none, halo.names[:0])
            if self.kernel.looks_for_first:
                names = halo.names[:0]
                loops().pull_first(*pull[:2], halo.heads, *pull[2:], halo.names, none, names)
                loops().fill(counts, none, 0)
                loops().scatter(counts, none, names)
            loops().push_any(*push, one)
            loops().push_count(*push, halo.first, halo.starts, counts, counts)
            self.megaphone.prepare(self.dtypes)
            for name in (name for name, dtype in self.dtypes.items() if compilable(dtype)):
                values = self.megaphone.slots[name][:0]
                loops().pull(*pull, values, worst(values.dtype, False), False)
                loops().pull_minima(*pull, values, values)
                loops().pick(values, none, one, 0)
                loops().lay(values, one[:0], values)
                loops().push_least(*push, values, values, one, False)

    def send(
        self, step: Step, sent: Mapping[type, Sequence[tuple[int, Any]]], counts: Tally
    ) -> dict[int, Parcel]:
        """Count what a phase sends, keep this site's part, and pack a parcel for each other site.

        Parameters
        ----------
        sent
            By kind of message (see `KINDS`), which cluster sent what.
        counts
            What is counted is added to it.
        """
        self._kept, self._board, self._crates = [], None, None
        if self._spoke:
            self.megaphone.hush()
            self._spoke = False
        if len(sent) > 1:
            raise self.fault(step, 0, "sends messages of more than one kind")
        for kind, sends in sent.items():
            return KINDS[kind](self, step, sends, counts)
        return {}

    def deliver(self, parcels: Mapping[int, Parcel]) -> Messages | None:
        """What arrives at the site: the parcels of others, and what it kept."""
        letters = [*self._kept]
        crates = {} if self._crates is None else {self.me: self._crates}
        boards = {} if self._board is None else {self.me: self._board}
        for peer, parcel in parcels.items():
            match parcel:
                case Words():
                    self._spoke = True
                    self.megaphone.hear(peer, parcel, self.dtypes)
                case Letters():
                    letters.append(parcel)
                case Board():
                    boards[peer] = parcel
                case Sealed():
                    crates[peer] = parcel.open()
        if bool(letters) + bool(boards) + bool(crates) + self._spoke > 1:
            raise RunError(
                f"kernel {self.kernel.name!r}: one cluster sends another kind of message than another in "
                f"the same phase; a phase sends one kind"
            )
        if self._spoke:
            return self.megaphone.echoes()
        if letters:
            try:
                return self.post.mail(letters)
            except InputError as error:
                raise RunError(f"kernel {self.kernel.name!r} combines messages: {error}") from None
        if crates:
            whole = piled([crates[site] for site in sorted(crates)])
            return arranged(whole, self.clusters[0].index, len(self.clusters))
        if boards:
            return joined([board for _, board in sorted(boards.items())])
        return None

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

    def _payload(self, names: Mapping[str, Any]) -> int:
        """Bytes of a message of some fields."""
        return sum([self.dtypes[name].itemsize for name in names])

    def _record(self, step: Step, sent: Sent) -> None:
        if self.recorder is not None:
            self.recorder(step, sent)

    def _post_up(
        self, step: Step, sends: Sequence[tuple[int, Announcement]], counts: Tally
    ) -> dict[int, Parcel]:
        boards = []
        for k, send in sends:
            cluster = self.clusters[k]
            nodes = self._places(step, k, send.nodes, cluster.size, "announces from")
            length = max((np.size(v) for v in send.fields.values()), default=0)
            boards.append(Board(self.columns(step, k, send.fields, length)))
            counts.messages += len(nodes) * (cluster.n - 1)
            counts.remote += len(nodes) * (cluster.n - cluster.size)
            counts.active += len(nodes)
            counts.nbytes += boards[-1].nbytes * (cluster.n - 1)
            if counts.pairs is not None:
                others = np.diff(cluster.partition.offsets)
                others[cluster.index] -= 1
                to, nbytes = np.arange(len(others)), boards[-1].nbytes
                counts.pairs.add(cluster.index, to, len(nodes) * others, nbytes * others)
        self._board = joined(boards)
        self._record(step, self._board)
        peers = (site for site in range(len(self.bounds) - 1) if site != self.me)
        return dict.fromkeys(peers, self._board)

    def _ship(
        self, step: Step, sends: Sequence[tuple[int, Shipment]], counts: Tally
    ) -> dict[int, Parcel]:
        crates: list[Crates] = []
        for k, send in sends:
            to = self._places(step, k, send.to, int(self.bounds[-1]), "ships to", "cluster")
            to = to.astype(np.int32)
            columns = self.columns(step, k, send.fields, len(to))
            if crates and columns.keys() != crates[0].fields.keys():
                raise self.fault(step, k, "ships other fields than another cluster")
            index = self.clusters[k].index
            crates.append(Crates(to, np.full(len(to), index, np.int32), columns))
            leaves = to != index
            far, itemsize = int(np.count_nonzero(leaves)), self._payload(columns)
            counts.messages += len(to)
            counts.remote += far
            counts.nbytes += far * itemsize
            if counts.pairs is not None:
                counts.pairs.add(index, to, 1, leaves * itemsize)
        whole = piled(crates)
        self._record(step, whole)
        self._crates, parcels = dealt(whole, self.bounds, self.me)
        return {**parcels}

    def _write(
        self, step: Step, sends: Sequence[tuple[int, Unicast]], counts: Tally
    ) -> dict[int, Parcel]:
        partition = self.post.partition
        parts: list[Letters] = []
        home, whole = [], True
        for k, send in sends:
            cluster = self.clusters[k]
            dst = self._places(step, k, send.dst, partition.n, "sends to")
            if send.src is None:
                src = cluster.ids
            else:
                src = cluster.ids[self._places(step, k, send.src, cluster.size, "sends from")]
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
            if send.combine == "or" and any(v.dtype.kind == "f" for v in columns.values()):
                raise self.fault(step, k, "combine='or' takes integers and truth values, no floats")
            parts.append(Letters(dst, src, send.combine, columns))
            home.append(cluster.index)
        letters = concatenate(parts)
        if not len(letters.dst):
            return {}
        senders = np.repeat(home, [len(p.dst) for p in parts])
        owner = partition.owner(letters.dst)
        counts.messages = len(letters.dst)
        counts.remote = int(np.count_nonzero(owner != senders))
        counts.to_self = int(np.count_nonzero(letters.dst == letters.src))
        counts.nbytes = sum(v.nbytes for v in letters.fields.values())
        if counts.pairs is not None:
            counts.pairs.add(senders, owner, 1, self._payload(letters.fields))
        counts.active = len(letters.dst) if whole else len(np.unique(letters.src))  # type: ignore[arg-type]
        self._record(step, letters)
        try:
            self._kept, parcels = self.post.sort(letters)
        except InputError as error:
            raise self.fault(step, sends[0][0], f"combines messages: {error}") from None
        return parcels

    def _speak(
        self, step: Step, sends: Sequence[tuple[int, Broadcast]], counts: Tally
    ) -> dict[int, Parcel]:
        if self.clusters[0].directed:
            return self._write(step, [(k, self._along_edges(step, k, b)) for k, b in sends], counts)
        spoken = self._utter(step, sends, counts, travels=True)
        if not spoken:
            return {}
        return self.megaphone.parcels(list(spoken[0][2]))

    def _utter(
        self, step: Step, sends: Sequence[tuple[int, Broadcast]], counts: Tally, travels: bool
    ) -> list[tuple[int, NDArray, dict[str, NDArray]]]:
        """Count what is broadcast and put it into its slots; of each cluster, who spoke and what."""
        spoken: list[tuple[int, NDArray, dict[str, NDArray]]] = []
        for k, send in sends:
            cluster, size = self.clusters[k], self.clusters[k].size
            whole = send.nodes is None
            nodes = np.arange(size) if whole else self._senders(step, k, send.nodes)
            if not len(nodes):
                continue
            if self.check:
                self._checked(step, k, checks.counts_of, cluster, nodes, send)
            columns = self.columns(step, k, send.fields, len(nodes))
            if spoken and columns.keys() != spoken[0][2].keys():
                raise self.fault(step, k, "sends other fields than another cluster")
            try:
                block = slice(self.starts[k], self.starts[k + 1])
                along = self.megaphone.speak(nodes, columns, self.dtypes, block, whole)
            except InputError as error:
                raise self.fault(step, k, f"broadcasts from {error}") from None
            messages, far = self._weigh(cluster, nodes, send, along)
            counts.messages += messages
            counts.remote += far
            counts.active += len(nodes)
            counts.nbytes += messages * self._payload(columns)
            if counts.pairs is not None:
                self._trace(step, k, nodes, send, messages, counts.pairs)
            spoken.append((k, nodes, columns))
        self._spoke = bool(spoken)
        if spoken and self.recorder is not None:
            rows = np.concatenate([nodes + self.starts[k] for k, nodes, _ in spoken])
            self.recorder(step, Said(rows, self._payload(spoken[0][2]), travels))
        return spoken

    def _recall(
        self, step: Step, sends: Sequence[tuple[int, Known]], counts: Tally
    ) -> dict[int, Parcel]:
        nodes = {send.node for _, send in sends}
        if len(nodes) > 1 or len(sends) < len(self.clusters):
            raise self.fault(step, 0, "knows other than another cluster what is sent")
        (node,) = nodes
        if node is None:
            return {}
        if self.clusters[0].directed or not 0 <= node < self.post.partition.n:
            raise self.fault(step, 0, f"knows of node {node}, of which no neighbour can hear")
        row = int(self.post.partition.position(np.array([node]))[0]) - self.post.first
        if 0 <= row < self.post.own:
            k = bisect_right(self.starts, row) - 1
            said = broadcast(np.array([row - self.starts[k]]))
            self._utter(step, [(k, said)], counts, travels=False)
        elif (slot := self.halo.slot(node, self.post.partition)) is not None:
            self._spoke = True
            self.megaphone.recall(slot)
        return {}

    def _places(
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
        """Local indices that a broadcast names; `Megaphone.speak` holds them to their range and order."""
        found = np.asarray(nodes)
        if found.dtype == np.int64 and found.ndim == 1:
            return found
        return self._places(step, k, found, self.clusters[k].size, "broadcasts from").astype(
            np.int64
        )

    def _weigh(
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
        if k not in self._owners:
            self._owners[k] = cluster.partition.owner(cluster.indices).astype(np.int32)
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
        pairs.add(cluster.index, self._owners[k][entry], times, np.multiply(times, size))

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


KINDS: dict[type, Callable[[Mailroom, Step, Any, Tally], dict[int, Parcel]]] = {
    Announcement: Mailroom._post_up,
    Broadcast: Mailroom._speak,
    Known: Mailroom._recall,
    Shipment: Mailroom._ship,
    Unicast: Mailroom._write,
}
"""Kinds of messages, and how each is sent."""
