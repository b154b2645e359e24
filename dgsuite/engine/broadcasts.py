"""Broadcasts of a site: one value for each sender, stored once, sent once to each site, reduced along edges.

Each own node and each ghost of the site has a slot (see `partition.halo`). `Broadcasts.add` stores
what own nodes broadcast in their slots, `pack` makes a batch for each other site, and `unpack` stores
the batches of other sites in the slots of the ghosts. Then the site's inboxes reduce the values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.engine.messages import MessageList, not_sent
from kernels.base import Note
from partition.halo import Halo
from partition.reductions import SUM, Reduction
from partition.segments import COMPILE_FROM, expand, first_marked, lay, loops, mark_rows, pick
from partition.subset import Subset

ALL, ANY, FIRST = (0.0, 1.0), (0.0, 2.7), (3.0, 1.0)
"""Cost of a pull per row, and per entry that it reads: of all entries; of those up to the first
sender, which the processor mispredicts; the same where the first entries of a row are read at once."""

NO_BITS = np.empty(0, np.uint8)
"""What compiled loops take for the bitmap of senders where every node sent."""

SPARSE = 4
"""Clearing one sender of a list costs about as much as clearing 4 of all slots."""

LISTING, LISTS = 64, 1 << 18
"""Cost of listing a message, and of listing any at all, relative to that of reading a slot."""


class BroadcastBatch(NamedTuple):
    """A broadcast on its way to another site: a value for each sender that the site has as a ghost.

    Attributes
    ----------
    senders
        Which of the ghosts these are, encoded: see `partition.subset.Subset.encode`.
    fields
        The values, by field.
    reach
        About how many messages they make on that site; the exact number where there are two sites, and
        where all nodes sent that the site has as ghosts.
    backwards
        Whether they go against the direction of edges.
    """

    senders: NDArray | None
    fields: dict[str, NDArray]
    reach: int
    backwards: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        head = 0 if self.senders is None else self.senders.nbytes
        return head + sum([v.nbytes for v in self.fields.values()])

    def plain(self) -> tuple[Any, ...]:
        """As strings, numbers and bytes: for a short batch a tenth of the work of pickling it."""
        fields = [(n, v.dtype.str, v.shape, v.tobytes()) for n, v in self.fields.items()]
        head = self.reach, self.backwards
        if self.senders is None:
            return *head, None, b"", *fields
        return *head, self.senders.dtype.char, self.senders.tobytes(), *fields

    @classmethod
    def of(
        cls,
        reach: int,
        backwards: bool,
        kind: str | None,
        senders: bytes,
        *fields: tuple[str, str, Any, bytes],
    ) -> BroadcastBatch:
        """The batch that `plain` took apart."""
        code = None if kind is None else np.frombuffer(senders, kind)
        found = {n: np.frombuffer(data, d).reshape(shape) for n, d, shape, data in fields}
        return cls(code, found, reach, backwards)


class Broadcasts:
    """The broadcasts of one phase at one site.

    They are reduced along edges by compiled loops: either the receivers read the slots of their
    neighbours (pull), or the senders write to theirs (push), whichever crosses fewer edges.

    Parameters
    ----------
    halo
        Of the site.
    dtypes
        Dtype of each field.
    backwards
        Whether they go against the direction of edges; the halo is then a turned one.

    Attributes
    ----------
    sent
        bool, by slot: whether its node sent. It has one slot more than there are, which never sends:
        rows are filled up with it.
    slots
        By field, a value for each slot.
    count
        Number of senders.
    reach
        Messages to this site's nodes; with several other sites, about so many. Where every node that has
        edges sent, it is the number of the site's entries, and less elsewhere.
    """

    def __init__(
        self, halo: Halo, dtypes: Mapping[str, DTypeLike], backwards: bool = False
    ) -> None:
        self.halo = halo
        self.backwards = backwards
        self.dtypes = dtypes
        self.sent = np.zeros(halo.slots + 1, bool)
        self.slots: dict[str, NDArray] = {}
        self._span = slice(halo.first, halo.first + halo.own)
        self._told = {peer: halo.told(peer) for peer in halo.send}
        self._all_told = sum(self._told.values())
        self._all_leaving = sum(halo.leaving.values())
        self._counts: tuple[NDArray, NDArray, NDArray] | None = None  # room, with counts of 0
        self._begin()

    def _begin(self) -> None:
        self.count = self.reach = 0
        self._own_count = self._leaving = 0
        self._fields: set[str] = set()
        self._own: list[NDArray] | None = []  # lists of own senders; None if there are too many
        self._heard: list[Subset] = []
        self._pushed: dict[tuple[str, str], tuple[Any, ...]] = {}
        # made when first asked for
        self._senders: list[Subset] | None = None
        self._bitmap: NDArray[np.uint8] | None = None
        self._messages: MessageList | None = None

    def clear(self) -> None:
        """Forget the broadcasts of the last phase."""
        if not self.count:
            return
        if self._own is None or SPARSE * self.count > len(self.sent):
            self.sent[:] = False
        else:
            for own in self._own:
                self.sent[own] = False
            for part in self._heard:
                part.clear()
        self._begin()

    def prepare(self, names: Sequence[str]) -> None:
        """Allocate the slots of some fields."""
        for name in names:
            self.slots[name] = np.empty(len(self.sent), self.dtypes[name])
            self.slots[name].fill(0)  # so that the memory pages are there

    # Send.

    def add(
        self,
        nodes: NDArray[np.int64],
        fields: Mapping[str, NDArray],
        block: slice,
        whole: bool = False,
    ) -> tuple[int, int]:
        """Store a broadcast of one cluster; returns its messages, and how many of these leave the site.

        Parameters
        ----------
        nodes
            The senders, counted within the cluster, ascending.
        fields
            A value for each sender.
        block
            Rows of the cluster.
        whole
            Whether these are all nodes of the cluster.

        Raises
        ------
        InputError
            The nodes do not ascend, or are not the cluster's.
        """
        halo, first = self.halo, self.halo.first
        if whole:
            messages = int(halo.out_indptr[block.stop]) - int(halo.out_indptr[block.start])
            leaving = int(halo.away[block].sum(dtype=np.int64))
            self.sent[first + block.start : first + block.stop] = True
        else:
            messages, leaving, slots = mark_rows(
                halo.out_indptr, halo.away, nodes, block, self.sent, first
            )
        if len(nodes) == block.stop - block.start:
            self._own = None
            where: slice | NDArray = slice(first + block.start, first + block.stop)
        else:
            where = slots
            if self._own is not None:
                self._own.append(slots)
        for name, values in fields.items():
            self._store(name)[where] = values
        self.count += len(nodes)
        self._own_count += len(nodes)
        self.reach += messages - leaving
        self._leaving += leaving
        return messages, leaving

    def add_ghost(self, slot: int) -> None:
        """Store a broadcast of a ghost that is known without a batch; it has no fields."""
        sender = np.array([slot])
        out = self.halo.out(sender)
        self.reach += int(out.indptr[slot - out.shift + 1] - out.indptr[slot - out.shift])
        self.sent[slot] = True
        self._heard.append(Subset(self.sent[slot : slot + 1], sender, start=slot))
        self.count += 1

    def pack(self, names: Sequence[str]) -> dict[int, BroadcastBatch]:
        """A batch for each other site that has senders as ghosts; to be called before `unpack`."""
        batches: dict[int, BroadcastBatch] = {}
        own = self._own_senders()
        # along every edge that leaves: then nodes that have none, and did not send, do no harm
        everyone = self._leaving == self._all_leaving
        for peer, slots in self.halo.send.items():
            told, edges = self._told[peer], self.halo.leaving[peer]
            senders = Subset(None, size=told, count=told) if everyone else own.restrict(slots)
            if not senders.count or not edges:
                continue
            fields = {n: self._packed(self.slots[n], slots, senders) for n in names}
            reach = self._leaving * senders.size // self._all_told
            reach = edges if everyone else max(min(reach, edges - 1), 0)
            batches[peer] = BroadcastBatch(senders.encode(), fields, reach, self.backwards)
        return batches

    def _packed(self, values: NDArray, slots: NDArray | slice, senders: Subset) -> NDArray:
        """The values of those of some slots that sent."""
        if senders.count == senders.size:
            return values[slots].copy() if isinstance(slots, slice) else values[slots]
        if isinstance(slots, slice):
            return values[senders.members] if senders.is_list else values[slots][senders.mask]
        if senders.is_sparse:
            return values[slots[senders.members]]
        return pick(values, slots, self.sent, senders.count)

    # Receive.

    def unpack(self, peer: int, batch: BroadcastBatch) -> None:
        """Store a batch of another site in the slots of the ghosts."""
        span = self.halo.land[peer]
        senders = Subset.decode(batch.senders, self.sent[span], span.start)
        for name, received in batch.fields.items():
            values = self._store(name)
            if senders.is_list:
                values[senders.members] = received
            elif senders.count == senders.size:
                values[span] = received
            else:
                lay(received, senders.mask, values[span])
        self._heard.append(senders)
        self.count += senders.count
        self.reach += batch.reach

    def _store(self, name: str) -> NDArray:
        """The slots of a field that is broadcast."""
        if name not in self.slots:
            self.prepare([name])
        self._fields.add(name)
        return self.slots[name]

    # Read.

    def values(self, name: str) -> NDArray:
        """The values of a field, by slot."""
        if name not in self._fields:
            raise not_sent(name)
        return self.slots[name]

    def _own_senders(self) -> Subset:
        """The own senders, among all slots; the mask is theirs alone before `unpack`."""
        lists, members = self._own, None
        if lists is not None:
            members = (
                lists[0] if len(lists) == 1 else np.concatenate([np.empty(0, np.int64), *lists])
            )
        return Subset(self.sent, members, count=self._own_count)

    @property
    def senders(self) -> list[Subset]:
        """Slots of the senders: of the own ones, and of those of each other site."""
        if self._senders is None:
            parts = [self._own_senders().restrict(self._span), *self._heard]
            self._senders = [part for part in parts if part.count]
        return self._senders

    @property
    def bitmap(self) -> NDArray[np.uint8]:
        """Slots of the senders, as a bitmap."""
        if self._bitmap is None:
            self._bitmap = Subset(self.sent, count=self.count).bitmap
        return self._bitmap

    def _by_id(self) -> NDArray:
        """Slots of the senders, by ascending node id."""
        slots = np.concatenate([part.members for part in self.senders])
        return slots[np.argsort(self.halo.named(slots), kind="stable")]

    @property
    def is_full(self) -> bool:
        """Whether every entry of the site's adjacency is a node that sent."""
        return self.reach == len(self.halo.indices)

    @property
    def is_large(self) -> bool:
        """Whether reducing along edges, which reads every slot, beats listing the messages."""
        return self.reach > COMPILE_FROM and 8 * self.reach > self.halo.own

    @property
    def is_compiled(self) -> bool:
        """Whether the graph is large enough for compiled loops to find the first senders."""
        return len(self.halo.indices) > COMPILE_FROM

    @property
    def is_short(self) -> bool:
        """Whether, to find the first senders, listing the messages beats reading every slot."""
        room = self.halo.own - (LISTS if self.is_compiled else 0)
        return self.count * LISTING <= room and self.reach * LISTING <= room

    @property
    def messages(self) -> MessageList:
        """The messages one by one."""
        if self._messages is None:
            self._messages = self._list()
        return self._messages

    def _list(self) -> MessageList:
        """The messages of all senders, along the edges to own nodes."""
        halo = self.halo
        rows, slots = [], []
        for part in self.senders:
            senders = part.members
            out = halo.out(senders)
            at, entry = expand(out.indptr, senders - out.shift)
            row, slot = out.indices[entry] - out.base, senders[at]
            if out.indptr is halo.out_indptr and halo.slots > halo.own:
                here = (row >= 0) & (row < halo.own)
                row, slot = row[here], slot[here]
            rows.append(row)
            slots.append(slot)
        row, slot = np.concatenate(rows), np.concatenate(slots)
        src = halo.named(slot)
        if len(rows) > 1 or halo.ids is not None:
            order = np.argsort(src, kind="stable")
            row, slot, src = row[order], slot[order], src[order]
        return MessageList(row, src, lambda name, order: self.values(name)[slot[order]], halo.own)

    def pulls(self, size: int, among: Subset | None, cost: tuple[float, float] = ALL) -> bool:
        """Whether a pull costs less than a push, which writes at random and so counts twice.

        Parameters
        ----------
        cost
            Of a row and an entry; a row that ends at its first sender ends the sooner the more sent.
        """
        rows = size if among is None else among.count
        entries = len(self.halo.indices)
        row, entry = cost
        reads = entries / self.halo.own
        if cost is not ALL:
            if 2 * self.count >= rows * (row + reads * entry):
                return True  # whatever the senders reach
            reads = min(reads, entries / max(self.reach, 1))
        return 2 * self.reach >= rows * (row + reads * entry)

    def reduce(
        self, how: Reduction | str, name: str, lo: int, hi: int, among: Subset | None
    ) -> tuple[NDArray, ...]:
        """Receivers from row `lo` to `hi` that care, counted from `lo`, and the values they got.

        Parameters
        ----------
        how
            A reduction of a field that has compiled loops, or "any".
        """
        if self.pulls(hi - lo, among, ANY if how == "any" else ALL):
            rows = np.arange(hi - lo) if among is None else among.members
            hit, *found = self._pull(how, name, rows, lo, hi)
            got = hit > 0
            if got.all():
                return (rows.copy(), *found)  # rows may be a list that the kernel keeps
            return (rows[got], *(f[got] for f in found))
        hit, *found = (f[lo:hi] for f in self._pushed_once(how, name))
        nodes = np.flatnonzero(hit if among is None else (hit > 0) & among.mask)
        return (nodes, *(f[nodes] for f in found))

    def every(self, how: Reduction, name: str, lo: int, hi: int) -> NDArray:
        """Reduced values of all rows from `lo` to `hi`; those that got none have the identity."""
        if self.is_full and how is SUM and self.halo.tiles is not None:
            if hi - lo == self.halo.own:
                return self._sums(name)
            if ("tiles", name) not in self._pushed:
                self._pushed["tiles", name] = (self._sums(name),)
            return self._pushed["tiles", name][0][lo:hi].copy()
        if self.pulls(hi - lo, None):
            return self._pull(how, name, np.arange(hi - lo), lo, hi)[1]
        _, values = self._pushed_once(how, name)
        return values[lo:hi].copy()

    def _sums(self, name: str) -> NDArray:
        """The sum of what each own node got, where everyone sent."""
        assert self.halo.tiles is not None
        values = self.values(name)
        sums = self.halo.tiles.sums(values, SUM.identity(values.dtype))
        return sums.astype(SUM.result(values.dtype), copy=False)

    def _pushed_once(self, how: Reduction | str, name: str) -> tuple[NDArray, ...]:
        """What `_push` returns, worked out once a phase for all clusters of the site."""
        key = how if isinstance(how, str) else how.name, name
        if key not in self._pushed:
            self._pushed[key] = self._push(how, name)
        return self._pushed[key]

    def _pull(
        self, how: Reduction | str, name: str, rows: NDArray, lo: int, hi: int
    ) -> tuple[NDArray, ...]:
        """For each row, whether it got a message, and the reduced values."""
        sent = NO_BITS if self.is_full and isinstance(how, Reduction) else self.bitmap
        along = (self.halo.indptr, self.halo.indices, lo, rows, sent)
        if isinstance(how, Reduction):
            values = self.values(name)
            pull = getattr(loops(), how.pull or "")
            out, hits = pull(*along, values, how.identity(values.dtype), *how.flags)
            return hits, out.astype(how.result(values.dtype), copy=False)
        return (loops().pull_any(*along),)

    def _push(self, how: Reduction | str, name: str) -> tuple[NDArray, ...]:
        """For each own node, whether it got a message, and the reduced values."""
        halo = self.halo
        if isinstance(how, Reduction):
            hit, values = np.zeros(halo.own, bool), self.values(name)
            push, out = (
                getattr(loops(), how.push or ""),
                np.full(halo.own, how.identity(values.dtype)),
            )
            ordered = values.dtype.kind in how.ordered
            for some in [self._by_id()] if ordered else [part.members for part in self.senders]:
                push(*halo.edges, halo.first, some, values, out, hit, *how.flags)
            return hit, out.astype(how.result(values.dtype), copy=False)
        hit = np.zeros(halo.own, bool)
        for some in [part.members for part in self.senders]:
            loops().push_any(*halo.out(some), some, hit)
        return (hit,)

    def counted(self, lo: int, hi: int, among: Subset | None) -> tuple[NDArray, NDArray, NDArray]:
        """`Inbox.count` of the nodes in rows `lo` to `hi`. A push takes time for the messages alone."""
        if self.pulls(hi - lo, among):
            rows = np.arange(hi - lo) if among is None else among.members
            ends = self.halo.first + lo, self.halo.first + hi
            along = (self.halo.indptr, self.halo.indices, lo, rows, self.bitmap)
            hits, away = loops().pull_count(*along, *ends)
            keep = hits > 0
        else:
            if ("count", "") not in self._pushed:
                self._pushed["count", ""] = self._push_count()
            every = self._pushed["count", ""]
            some = slice(*np.searchsorted(every[0], (lo, hi)))
            rows, hits, away = (part[some] for part in every)
            rows = rows - lo
            keep = slice(None) if among is None else among.mask[rows]
        # counted in 32 bits, as no node has more neighbours; what kernels make of them may be more
        return rows[keep], hits[keep].astype(np.int64), away[keep].astype(np.int64)

    def _push_count(self) -> tuple[NDArray, NDArray, NDArray]:
        """Rows that messages reach, ascending, how many reach each, and how many from other clusters."""
        halo = self.halo
        if self._counts is None:
            self._counts = *np.zeros((2, halo.own), np.int32), np.empty(halo.own + 1, np.int64)
        hits, away, found = self._counts
        count = 0
        for part in self.senders:
            some = part.members
            along = (*halo.out(some), some, halo.first, halo.starts)
            count = loops().push_count(*along, hits, away, found, count)
        rows = np.sort(found[:count]) if 8 * count < halo.own else np.flatnonzero(hits)
        every = rows, hits[rows], away[rows]
        hits[rows] = away[rows] = 0
        return every

    def first(
        self, lo: int, hi: int, among: Subset | None, top_down: bool
    ) -> tuple[NDArray, NDArray, Note] | None:
        """`Inbox.first`; None to list the messages."""
        halo = self.halo
        if not top_down and self.pulls(hi - lo, among, FIRST):
            rows = np.arange(hi - lo) if among is None else among.members
            if not self.is_compiled:
                nodes, source, looked = first_marked(
                    halo.indptr, halo.indices, lo + rows, self.sent
                )
                note = Note({"examined": looked, "bottom_up": len(rows)})
                return rows[nodes], halo.named(source), note
            along = (halo.indptr, halo.indices, halo.heads, lo, rows, self.bitmap, halo.names)
            nodes, source = _room(len(rows), halo.names.dtype)
            found, looked = loops().pull_first(*along, nodes, source)
            return nodes[:found], source[:found], Note({"examined": looked, "bottom_up": len(rows)})
        if not self.is_compiled:
            return None
        if ("first", "") not in self._pushed:
            hit, least = np.zeros(halo.own, bool), np.empty(halo.own, halo.names.dtype)
            count = 0
            for part in self.senders:
                some = part.members
                count += loops().push_first(*halo.out(some), some, halo.names, hit, least)
            self._pushed["first", ""] = hit, least, count
        hit, least, count = self._pushed["first", ""]
        hit, least = hit[lo:hi], least[lo:hi]
        nodes, source = _room(count, least.dtype)
        found = loops().collect(hit, hit if among is None else among.mask, least, nodes, source)
        share = self.reach * (hi - lo) // max(halo.own, 1)
        return nodes[:found], source[:found], Note({"examined": share})

    def minima(
        self, name: str, own: NDArray, lo: int, hi: int, among: Subset | None
    ) -> NDArray | None:
        """`Inbox.local_minima` by a pull, which stops at the first smaller value; None to push."""
        if not self.pulls(hi - lo, among):
            return None
        rows = np.arange(hi - lo) if among is None else among.members
        halo, values = self.halo, self.values(name)
        least = loops().pull_minima(halo.indptr, halo.indices, lo, rows, self.bitmap, values, own)
        return rows[least]


def _room(count: int, dtype: np.dtype) -> tuple[NDArray[np.int64], NDArray]:
    """Where a compiled loop puts up to `count` nodes, and their senders."""
    return np.empty(count + 1, np.int64), np.empty(count + 1, dtype)
