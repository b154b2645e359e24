"""Broadcasts of a site, reduced along edges for its inboxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base import thresholds
from dgsuite.core.engine.broadcast_store import BroadcastBatch, BroadcastStore
from dgsuite.core.engine.messages import MessageList, not_sent
from dgsuite.core.engine.network import Fate
from dgsuite.core.engine.offers import Offers
from dgsuite.kernels.bsp import Note
from dgsuite.partition.arrays.loops import loops
from dgsuite.partition.arrays.reductions import SUM, Reduction
from dgsuite.partition.arrays.segments import expand, first_marked, lent, listed
from dgsuite.partition.arrays.tiles import Tiles
from dgsuite.partition.clusters.halo import Halo
from dgsuite.partition.clusters.subset import Subset

__all__ = ["BroadcastBatch", "Broadcasts"]

ALL, ANY, FIRST = (0.0, 1.0), (0.0, 2.7), (3.0, 1.0)
"""Cost of a pull per row, and per entry that it reads: of all entries; of those up to the first
sender, which the processor mispredicts; the same where the first entries of a row are read at once."""

NO_BITS = np.empty(0, np.uint8)
"""What compiled loops take for the bitmap of senders where every node sent."""

LISTING, LISTS = 64, 1 << 18
"""Cost of listing a message, and of listing any at all, relative to that of reading a slot."""

MAX_SCANNING_CLUSTERS = 8
"""Clusters of a site of which each may look at all messages."""


class Broadcasts(BroadcastStore):
    """The broadcasts of one phase at one site, as its inboxes read them.

    Values are reduced along edges by compiled loops: either the receivers read the slots of their
    neighbours (pull), or the senders write to theirs (push), whichever crosses fewer edges. Few messages
    are listed.
    """

    _counts: tuple[NDArray, NDArray, NDArray] | None = None
    """Room for numbers of messages by row, and of those from other clusters, all 0; and for rows."""

    _full: MessageList | None = None
    """The messages of a phase in which every node with neighbours sent, of a small graph."""

    fate: Fate | None = None
    """What becomes of the messages, on a network with faults."""

    struck: NDArray | None = None
    """How many of them faults struck, by kind, once `through` or `messages` is made."""

    _rows: tuple[NDArray, NDArray] | None = None
    """Room for the rows of `through`."""

    def _by_id(self) -> NDArray:
        """Slots of the senders, by ascending node id."""
        slots = np.concatenate(self.lists)
        return lent(slots[np.argsort(self.halo.named(slots), kind="stable")])

    @property
    def is_full(self) -> bool:
        """Whether every entry of the site's adjacency is a node whose message arrives."""
        return self.fate is None and self.reach == len(self.halo.indices)

    @property
    def is_large(self) -> bool:
        """Whether reducing along edges, which reads every slot, beats listing the messages."""
        listed = self.fate is not None and self.fate.by_message
        return self.is_compiled and 8 * self.reach > self.halo.own and not listed

    @property
    def is_compiled(self) -> bool:
        """Whether the graph is large enough for compiled loops to find the first senders."""
        return thresholds.compiles(len(self.halo.indices))

    @property
    def messages(self) -> MessageList:
        """The messages one by one."""
        return self.once("messages", self._list)

    def _list(self) -> MessageList:
        if not self.is_full or self.is_compiled:
            return self._list_all()
        if self._full is None:
            self._full = self._list_all()
        else:
            self._full.sorted.clear()  # the senders have other values now
        return self._full

    def _list_all(self) -> MessageList:
        """The messages of all senders, along the edges to own nodes."""
        halo = self.halo
        rows, slots = [], []
        for senders in self.lists:
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
        if self.fate is not None:
            arrives = self._arrives(row, src)
            row, slot, src = row[arrives], slot[arrives], src[arrives]
        fields, stored = self._fields, self.slots  # alone: a cycle would keep the memory of `self`
        told: dict[str, NDArray] = {}
        if self.fate is not None:
            said = {name: stored[name][slot] for name in fields}
            told = self.fate.told(said, src, halo.named(halo.first + row))

        def values(name: str, order: NDArray) -> NDArray:
            if name not in fields:
                raise not_sent(name)
            return told[name][order] if told else stored[name][slot[order]]

        return MessageList(row, src, values, halo.own)

    @property
    def through(self) -> Halo:
        """The halo, with those edges alone along which a message arrives where some are lost."""
        return self.halo if self.fate is None else self.once("through", self._sieve)

    def _sieve(self) -> Halo:
        halo, fate = self.halo, self.fate
        assert fate is not None
        indices = halo.indices
        if self._rows is None:
            self._rows = np.empty_like(halo.indptr), np.empty(len(indices), indices.dtype)
        starts, kept = self._rows
        if self.is_compiled and not fate.by_message:
            self.struck = fate.sieve(halo, self.sent, starts, kept)
        else:
            entry = np.flatnonzero(self.sent[indices])
            row = np.searchsorted(halo.indptr, entry, side="right") - 1
            arrives = self._arrives(row, halo.named(indices[entry]))
            kept = indices[entry[arrives]]
            starts = np.searchsorted(row[arrives], np.arange(halo.own + 1))
        return replace(halo, indptr=starts, indices=kept)

    def _arrives(self, row: NDArray, src: NDArray) -> NDArray:
        """Which messages to some rows arrive."""
        assert self.fate is not None
        arrives, self.struck = self.fate.arrives(src, self.halo.named(self.halo.first + row))
        return arrives

    def sifted(self) -> NDArray:
        """How many of the messages to this site's nodes faults struck, by kind."""
        _ = self.through if self.is_large else self.messages
        assert self.struck is not None
        return self.struck

    def along(self, name: str, entries: NDArray | slice) -> tuple[NDArray[np.bool_], NDArray]:
        """For some entries of the halo, whether a message has arrived along them, and what it says."""
        halo = self.halo
        slots = halo.indices[entries]
        came, values = self.sent[slots], self.values(name)[slots]
        if self.fate is None:
            return came, values
        if isinstance(entries, slice):
            entries = np.arange(entries.start, entries.stop)
        row = np.searchsorted(halo.indptr, entries, side="right") - 1
        src, dst = halo.named(slots), halo.named(halo.first + row)
        came &= self.fate.comes(src, dst)
        said = {field: self.slots[field][slots] for field in self._fields}
        values = self.fate.told(said, src, dst).get(name, values)
        values[~came] = 0  # a slot has what its node sent before, or what was lost
        return came, values

    def pulls(self, size: int, among: Subset | None, cost: tuple[float, float] = ALL) -> bool:
        """Whether a pull costs less than a push, which writes at random and so counts twice.

        Parameters
        ----------
        cost
            Of a row and an entry; a row that ends at its first sender ends the sooner the more sent.
        """
        if self.fate is not None:
            return True  # the rows are those along which messages arrive
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
        """Receivers from row `lo` to `hi`, counted from `lo`, and the reduced values that they got.

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
            for tiles in self.halo.tiles:
                if (tiles.first, tiles.size) == (lo, hi - lo):
                    return self._sums(name, tiles)
            (tiles,) = self.halo.tiles
            sums = self.once(("tiles", name), lambda: self._sums(name, tiles))
            return sums[lo:hi].copy()
        if self.pulls(hi - lo, None):
            return self._pull(how, name, np.arange(hi - lo), lo, hi)[1]
        _, values = self._pushed_once(how, name)
        return values[lo:hi].copy()

    def _sums(self, name: str, tiles: Tiles) -> NDArray:
        """The sum of what each node of some rows got, where everyone sent."""
        values = self.values(name)
        sums = tiles.sums(values, SUM.identity(values.dtype))
        return sums.astype(SUM.result(values.dtype), copy=False)

    def _pushed_once(self, how: Reduction | str, name: str) -> tuple[NDArray, ...]:
        """What `_push` returns, worked out once a phase for all clusters of the site."""
        key = "pushed", how if isinstance(how, str) else how.name, name
        return self.once(key, lambda: self._push(how, name))

    def _pull(
        self, how: Reduction | str, name: str, rows: NDArray, lo: int, hi: int
    ) -> tuple[NDArray, ...]:
        """For each row, whether it got a message, and the reduced values."""
        sent = NO_BITS if self.is_full and isinstance(how, Reduction) else self.bitmap
        if isinstance(how, Reduction):
            values = self.values(name)
            pull = getattr(loops(), how.pull or "")
            identity = how.identity(values.dtype)
            out, hits = self._along(pull, lo, rows, sent, values, identity)
            return hits, out.astype(how.result(values.dtype), copy=False)
        return (self._along(loops().pull_any, lo, rows, sent),)

    def _along(self, pull: Callable[..., Any], lo: int, rows: NDArray, *how: Any) -> Any:
        """What a compiled loop finds for rows counted from `lo`."""
        return pull(self.through.indptr, self.through.indices, lo, rows, *how)

    def _push(self, how: Reduction | str, name: str) -> tuple[NDArray, ...]:
        """For each own node, whether it got a message, and the reduced values."""
        halo = self.halo
        if isinstance(how, Reduction):
            hit, values = np.zeros(halo.own, bool), self.values(name)
            push = getattr(loops(), how.push or "")
            out = np.full(halo.own, how.identity(values.dtype))
            ordered = values.dtype.kind in how.ordered
            for some in [self._by_id()] if ordered else self.lists:
                edges = (*halo.edges, halo.first) if how.ordered else halo.out(some)
                push(*edges, some, values, out, hit)
            return hit, out.astype(how.result(values.dtype), copy=False)
        hit = np.zeros(halo.own, bool)
        for some in self.lists:
            loops().push_any(*halo.out(some), some, hit)
        return (hit,)

    def counted(self, lo: int, hi: int, among: Subset | None) -> tuple[NDArray, NDArray, NDArray]:
        """`Inbox.count` of the nodes in rows `lo` to `hi`. A push takes time for the messages alone."""
        keep: Any
        if self.pulls(hi - lo, among):
            rows = np.arange(hi - lo) if among is None else among.members
            ends = self.halo.first + lo, self.halo.first + hi
            hits, away = self._along(loops().pull_count, lo, rows, self.bitmap, *ends)
            keep = hits > 0
        else:
            every = self.once("count", self._push_count)
            held = slice(*np.searchsorted(every[0], (lo, hi)))
            rows, hits, away = (part[held] for part in every)
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
        for some in self.lists:
            along = (*halo.out(some), some, halo.first, halo.starts)
            count = loops().push_count(*along, hits, away, found, count)
        rows = listed(found[:count], hits)
        every = rows, hits[rows], away[rows]
        hits[rows] = away[rows] = 0
        return every

    def count_down(self, counts: NDArray, floor: int, lo: int) -> NDArray[np.int64] | None:
        """`Inbox.count_down` of the nodes in rows from `lo` on; None to count the messages first, once for
        all clusters of the site.
        """
        if (
            not self.is_compiled
            or MAX_SCANNING_CLUSTERS * len(counts) < self.halo.own
            or self.fate is not None
        ):
            return None
        found, count = np.empty(len(counts) + 1, np.int64), 0
        for some in self.lists:
            count = loops().push_down(*self.halo.out(some), some, lo, floor, counts, found, count)
        return np.sort(found[:count])

    def first(
        self, lo: int, hi: int, among: Subset | None, top_down: bool
    ) -> tuple[NDArray, NDArray, Note] | None:
        """`Inbox.first`; None to list the messages, where that beats reading every slot."""
        large = len(self.halo.indices) > thresholds.compile_from
        if LISTING * max(self.count, self.reach) <= self.halo.own - (LISTS if large else 0):
            return None
        halo = self.through
        if (not top_down or self.fate is not None) and self.pulls(hi - lo, among, FIRST):
            rows = np.arange(hi - lo) if among is None else among.members
            if not self.is_compiled:
                nodes, source, looked = first_marked(
                    halo.indptr, halo.indices, lo + rows, self.sent
                )
                note = Note({"examined": looked, "bottom_up": len(rows)})
                return rows[nodes], halo.named(source), note
            nodes, source = _room(len(rows), halo.names.dtype)
            how = halo.heads, lo, rows, self.bitmap, halo.names
            found, looked = loops().pull_first(halo.indptr, halo.indices, *how, nodes, source)
            return nodes[:found], source[:found], Note({"examined": looked, "bottom_up": len(rows)})
        if not self.is_compiled:
            return None
        hit, least, count = self.once("first", self._push_first)
        hit, least = hit[lo:hi], least[lo:hi]
        nodes, source = _room(count, least.dtype)
        marked = lent(hit), lent(hit if among is None else among.mask)
        found = loops().collect(*marked, least, nodes, source)
        return nodes[:found], source[:found], self.shared(lo, hi)

    def shared(self, lo: int, hi: int) -> Note:
        """What rows from `lo` to `hi` have looked at, of the messages to all."""
        return Note({"examined": self.reach * (hi - lo) // max(self.halo.own, 1)})

    def _push_first(self) -> tuple[NDArray[np.bool_], NDArray, int]:
        """For each own node, whether it got a message, its smallest sender, and how many nodes got one."""
        halo, count = self.halo, 0
        hit, least = np.zeros(halo.own, bool), np.empty(halo.own, halo.names.dtype)
        for some in self.lists:
            count += loops().push_first(*halo.out(some), some, halo.names, hit, least)
        return hit, least, count

    @cached_property
    def offers(self) -> Offers:
        """The least offers of the run."""
        return Offers(self.halo)

    def nearer(self, name: str, lo: int, hi: int) -> tuple[NDArray, NDArray, NDArray]:
        """`Inbox.nearer` of the nodes in rows `lo` to `hi`."""
        every = self.once(("nearer", name), lambda: self.offers.take(self.lists, self.values(name)))
        rows = every[slice(*np.searchsorted(every, (lo, hi)))]
        return rows - lo, self.offers.least(rows), self.offers.source[rows]

    def minima(
        self, name: str, own: NDArray, lo: int, hi: int, among: Subset | None
    ) -> NDArray | None:
        """`Inbox.local_minima` by a pull, which stops at the first smaller value; None to push."""
        if not self.pulls(hi - lo, among):
            return None
        rows = np.arange(hi - lo) if among is None else among.members
        values = self.values(name)
        least = self._along(loops().pull_minima, lo, rows, self.bitmap, values, own)
        return rows[least]


def _room(count: int, dtype: np.dtype) -> tuple[NDArray[np.int64], NDArray]:
    """Where a compiled loop puts up to `count` nodes, and their senders."""
    return np.empty(count + 1, np.int64), np.empty(count + 1, dtype)
