"""What arrived at a site.

Messages come in two forms behind one `Inbox`. `Mail` lists them, sorted by receiver and sender.
`Echoes` keeps a broadcast as it travelled, one value a sender, and reduces it along the edges; it
turns into `Mail` when it is small, or when someone asks for the messages one by one. `Board` and
`Crates` hold what is not for single nodes. `dgsuite.engine.inbox` shows a cluster its part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.base import Note
from partition.cluster import NodeSet
from partition.errors import InputError
from partition.halo import Halo
from partition.segments import COMPILE_FROM, expand, first_marked, group, loops, wide

ALL, ANY, FIRST = (0.0, 1.0), (0.0, 2.7), (3.0, 1.0)
"""What looking costs a row and each entry looked at: at all of them; until the first hit, which the
processor guesses wrong; the same where a row's first entries are looked at together."""

LISTING, LISTS = 64, 1 << 18
"""What listing a message costs, and listing any at all, over touching a slot."""


def compilable(dtype: np.dtype) -> bool:
    """Whether compiled loops reduce values of a dtype; others are listed."""
    return dtype.ndim == 0 and (dtype.kind in "iu" or dtype.char in "fd") and dtype.isnative


def summed(dtype: np.dtype) -> np.dtype:
    """Dtype of sums of a field: its own for floats, of 64 bits for integers."""
    return dtype if dtype.kind == "f" else wide(dtype).dtype  # type: ignore[no-any-return]


UFUNCS = {"min": np.minimum, "max": np.maximum, "sum": np.add, "or": np.bitwise_or}


def fixed(values: NDArray) -> NDArray:
    """An array that several may read, and nobody may write."""
    values.flags.writeable = False
    return values


def not_sent(name: str) -> InputError:
    """The error of a kernel that asks for a field that messages do not have."""
    return InputError(f"field {name!r} is not among what was sent")


class Mail:
    """Messages one by one, sorted by receiver's row, then sender.

    Attributes
    ----------
    to
        Rows that got any, ascending.
    starts
        Shape (len(to) + 1,): messages of ``to[i]`` are ``starts[i]`` to ``starts[i + 1]``.
    row
        Receiver of each message.
    src
        Node id of each sender; None where a combiner has folded senders together.
    """

    def __init__(
        self,
        row: NDArray,
        src: NDArray | None,
        field: Callable[[str, NDArray], NDArray],
        own: int,
    ) -> None:
        self.to, self.starts, self._order = group(row, own)
        self.row = fixed(row[self._order])
        self.src = None if src is None else fixed(src[self._order])
        self._field = field
        self._sorted: dict[str, NDArray] = {}

    def __getitem__(self, name: str) -> NDArray:
        if name not in self._sorted:
            try:
                self._sorted[name] = fixed(self._field(name, self._order))
            except KeyError:
                raise not_sent(name) from None
        return self._sorted[name]


class Echoes:
    """A broadcast as it travelled: who spoke, and one value a slot for each field.

    Who spoke is in `few`, as arrays of slots, and in `crowds`, as ranges of slots of which many did.
    It is reduced along edges, compiled: from the receivers who look (pull) or from the senders who
    spoke (push), whichever crosses fewer edges.

    Attributes
    ----------
    count
        How many spoke.
    reach
        Messages that this site's nodes get; with several other sites, about so many.
    """

    def __init__(
        self,
        halo: Halo,
        sent: NDArray,
        few: Sequence[NDArray],
        crowds: Sequence[slice],
        slots: Mapping[str, NDArray],
        count: int,
        reach: int,
    ) -> None:
        self.halo = halo
        self.sent = sent
        self.few = few
        self.crowds = crowds
        self.slots = slots
        self.count = count
        self.reach = reach
        self._pushed: dict[tuple[str, str], tuple[Any, ...]] = {}

    def values(self, name: str) -> NDArray:
        """What was said, by slot."""
        if name not in self.slots:
            raise not_sent(name)
        return self.slots[name]

    @cached_property
    def spoke(self) -> NDArray[np.uint8]:
        """Who spoke, as a bitmap over slots."""
        return np.packbits(self.sent, bitorder="little")

    @property
    def senders(self) -> Sequence[NDArray]:
        """Slots of those who spoke, ascending in each array."""
        return [*self.few, *self._many] if self.crowds else self.few

    @cached_property
    def _in_order(self) -> NDArray:
        """Slots of those who spoke, by ascending node id."""
        slots = np.concatenate(self.senders)
        return slots[np.argsort(self.halo.named(slots), kind="stable")]

    @cached_property
    def _many(self) -> list[NDArray]:
        return [span.start + np.flatnonzero(self.sent[span]) for span in self.crowds]

    @property
    def large(self) -> bool:
        """Whether reducing along edges, which touches every slot, beats listing the messages."""
        return self.reach > COMPILE_FROM and 8 * self.reach > self.halo.own

    @property
    def compiled(self) -> bool:
        """Whether the graph is large enough for compiled loops to find the first senders."""
        return len(self.halo.indices) > COMPILE_FROM

    @property
    def lists(self) -> bool:
        """Whether, to find the first senders, listing the messages beats touching every slot."""
        room = self.halo.own - (LISTS if self.compiled else 0)
        return self.count * LISTING <= room and self.reach * LISTING <= room

    @cached_property
    def mail(self) -> Mail:
        """The messages one by one."""
        halo = self.halo
        rows, voices = [], []
        for senders in self.senders:
            out = halo.out(senders)
            at, entry = expand(out.indptr, senders - out.shift)
            row, voice = out.indices[entry] - out.base, senders[at]
            if out.indptr is halo.indptr and len(halo.back_indices):
                here = (row >= 0) & (row < halo.own)
                row, voice = row[here], voice[here]
            rows.append(row)
            voices.append(voice)
        row, voice = np.concatenate(rows), np.concatenate(voices)
        src = halo.named(voice)
        if len(rows) > 1 or halo.ids is not None:
            order = np.argsort(src, kind="stable")
            row, voice, src = row[order], voice[order], src[order]
        return Mail(row, src, lambda name, order: self.slots[name][voice[order]], halo.own)

    def pulls(self, size: int, among: NodeSet | None, looking: tuple[float, float] = ALL) -> bool:
        """Whether pulling beats pushing, which writes at random and so counts twice.

        Parameters
        ----------
        looking
            What it costs; a row that is done with at its first sender is so the sooner the more spoke.
        """
        rows = size if among is None else among.count
        entries = len(self.halo.indices)
        row, entry = looking
        looks = entries / self.halo.own
        if looking is not ALL:
            if 2 * self.count >= rows * (row + looks * entry):
                return True  # whatever they reach
            looks = min(looks, entries / max(self.reach, 1))
        return 2 * self.reach >= rows * (row + looks * entry)

    def reduce(
        self, op: str, name: str, lo: int, hi: int, among: NodeSet | None
    ) -> tuple[NDArray, ...]:
        """Receivers from row `lo` to `hi` that care, counted from `lo`, and what they got.

        Parameters
        ----------
        op
            "min", "max", "sum" of a field; "any"; or "count" of all and of remote messages.
        """
        if self.pulls(hi - lo, among, ANY if op == "any" else ALL):
            rows = np.arange(hi - lo) if among is None else among.nodes
            hit, *found = self._pull(op, name, rows, lo, hi)
            got = hit > 0
            if got.all():
                return (rows.copy(), *found)  # rows may be a list that the kernel keeps
            return (rows[got], *(f[got] for f in found))
        if (op, name) not in self._pushed:
            self._pushed[op, name] = self._push(op, name)
        hit, *found = (f[lo:hi] for f in self._pushed[op, name])
        nodes = np.flatnonzero(hit if among is None else (hit > 0) & among.mask)
        return (nodes, *(f[nodes] for f in found))

    def _pull(self, op: str, name: str, rows: NDArray, lo: int, hi: int) -> tuple[NDArray, ...]:
        """For each row, whether anything came, and what."""
        along = (self.halo.indptr, self.halo.indices, lo, rows, self.spoke)
        if op == "any":
            return (loops().pull_any(*along),)
        if op == "count":
            first = self.halo.first
            hits, away = loops().pull_count(*along, first + lo, first + hi)
            return hits, hits, away
        values = self.values(name)
        if op == "sum":
            out, hits = loops().pull_sum(*along, values, wide(values.dtype))
            out = out.astype(summed(values.dtype), copy=False)
        else:
            largest = op == "max"
            out, hits = loops().pull(*along, values, worst(values.dtype, largest), largest)
        return hits, out

    def _push(self, op: str, name: str) -> tuple[NDArray, ...]:
        """For each own node, whether anything came, and what."""
        halo = self.halo
        if op == "count":
            hits, away = np.zeros((2, halo.own), np.int32)
            for some in self.senders:
                loops().push_count(*halo.out(some), some, halo.first, halo.starts, hits, away)
            return hits, hits, away
        hit = np.zeros(halo.own, bool)
        if op == "any":
            for some in self.senders:
                loops().push_any(*halo.out(some), some, hit)
            return (hit,)
        values = self.values(name)
        if op == "sum":
            out = np.full(halo.own, wide(values.dtype))
            edges = halo.indptr, halo.indices, halo.back_indptr, halo.back_indices
            for some in [self._in_order] if values.dtype.kind == "f" else self.senders:
                loops().push_sum(*edges, halo.first, some, values, out, hit)
            out = out.astype(summed(values.dtype), copy=False)
        else:
            largest = op == "max"
            out = np.full(halo.own, worst(values.dtype, largest))
            for some in self.senders:
                loops().push_least(*halo.out(some), some, values, out, hit, largest)
        return hit, out

    def first(
        self, lo: int, hi: int, among: NodeSet | None, top_down: bool
    ) -> tuple[NDArray, NDArray, Note] | None:
        """`Inbox.first`; None to list the messages."""
        halo = self.halo
        if not top_down and self.pulls(hi - lo, among, FIRST):
            rows = np.arange(hi - lo) if among is None else among.nodes
            if not self.compiled:
                nodes, source, looked = first_marked(
                    halo.indptr, halo.indices, lo + rows, self.sent
                )
                note = Note({"examined": looked, "bottom_up": len(rows)})
                return rows[nodes], halo.named(source), note
            along = (halo.indptr, halo.indices, halo.heads, lo, rows, self.spoke, halo.names)
            nodes, source = _room(len(rows), halo.names.dtype)
            found, looked = loops().pull_first(*along, nodes, source)
            return nodes[:found], source[:found], Note({"examined": looked, "bottom_up": len(rows)})
        if not self.compiled:
            return None
        if ("first", "") not in self._pushed:
            hit, least = np.zeros(halo.own, bool), np.empty(halo.own, halo.names.dtype)
            count = 0
            for some in self.senders:
                count += loops().push_first(*halo.out(some), some, halo.names, hit, least)
            self._pushed["first", ""] = hit, least, count
        hit, least, count = self._pushed["first", ""]
        hit, least = hit[lo:hi], least[lo:hi]
        nodes, source = _room(count, least.dtype)
        found = loops().collect(hit, hit if among is None else among.mask, least, nodes, source)
        share = self.reach * (hi - lo) // max(halo.own, 1)
        return nodes[:found], source[:found], Note({"examined": share})

    def minima(
        self, name: str, own: NDArray, lo: int, hi: int, among: NodeSet | None
    ) -> NDArray | None:
        """`Inbox.local_minima` by pulling, which stops at the first smaller value; None to push."""
        if not self.pulls(hi - lo, among):
            return None
        rows = np.arange(hi - lo) if among is None else among.nodes
        halo, values = self.halo, self.values(name)
        least = loops().pull_minima(halo.indptr, halo.indices, lo, rows, self.spoke, values, own)
        return rows[least]


def _room(count: int, dtype: np.dtype) -> tuple[NDArray[np.int64], NDArray]:
    """Where a compiled loop puts nodes, so many at most, and their senders."""
    return np.empty(count + 1, np.int64), np.empty(count + 1, dtype)


def worst(dtype: np.dtype, largest: bool) -> Any:
    """What any value of a dtype beats, looking for the largest or smallest."""
    if dtype.kind == "f":
        return dtype.type(-np.inf if largest else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if largest else limits.max)
