"""Broadcasts of a site that are stored where the other sites of its host read them: none is sent.

The memory that the sites share has two halves: what one phase sends is in the one, and what the next phase
sends in the other. A site writes the entries of its own nodes alone. It writes to a half again when it has
passed the barrier of the next phase, and then all sites have read what was there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import compress
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.core.engine.broadcasts import BroadcastBatch, Broadcasts
from dgsuite.partition.clusters.halo import Halo
from dgsuite.partition.clusters.subset import Subset, encoded_size

SPARSE = 32
"""A site lists its senders if they are fewer than its nodes divided by this."""

LINE = 64
"""Bytes of a line of the processor's cache, at which each array begins."""

_NONE = np.empty(0, np.int64)


class Head(NamedTuple):
    """What a site says of its broadcasts of a phase."""

    number: int
    """Of the phase."""
    sent: int
    """Senders."""
    listed: int
    """Whether they are listed."""
    leaving: int
    """Messages to other sites."""
    all_leaving: int
    """Edges to other sites."""
    backwards: int
    """Whether they go against the direction of edges."""
    fields: Sequence[int]
    """For each field, whether it is broadcast."""


NUMBERS = len(Head._fields) - 1
"""Numbers of a head before those of the fields."""


class Half:
    """The broadcasts of one phase.

    Parameters
    ----------
    arrays
        Those of `_shapes`: `heads` with a row for each site, `sent` and a value of each field by slot, and
        `lists` for the slots of senders.
    """

    def __init__(self, arrays: Mapping[str, NDArray]) -> None:
        rest = dict(arrays)
        self.heads = rest.pop("heads")
        self.sent = rest.pop("sent")
        self.lists = rest.pop("lists")
        self.slots = rest
        self.marks: Sequence[NDArray] | None = ()
        """What this site has marked in `sent`, as lists of slots; None for all of its own."""
        self.names: Sequence[str] = ()
        """Fields that it has stored there."""


class Window:
    """One site's view of the memory.

    Parameters
    ----------
    memory
        uint8, shape (size,): as `Window.size` says.
    offsets
        First slot of each site, and the number of slots; shape (sites + 1,).
    me
        Which site this is.
    dtypes
        Dtype of each message field, vectors included.

    Attributes
    ----------
    halves
        What all sites share.
    half
        Where the site stores what it sends, and reads what others have sent in the same phase.
    stale
        Fields of the phase before whose values are not yet in this half.
    """

    def __init__(
        self,
        memory: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        me: int,
        dtypes: Mapping[str, DTypeLike],
    ) -> None:
        self.me = me
        self.offsets = offsets.tolist()
        self.fields = [*dtypes]
        self.span = slice(self.offsets[me], self.offsets[me + 1])
        shapes = _shapes(self.offsets[-1], len(offsets) - 1, dtypes)
        at = 0
        self.halves: list[Half] = []
        for _ in range(2):
            arrays = {}
            for name, (dtype, shape) in shapes.items():
                count = prod(shape)
                arrays[name] = np.frombuffer(memory, dtype, count, at).reshape(shape)
                at += _lines(count * dtype.itemsize)
            self.halves.append(Half(arrays))
        for half in self.halves:
            half.sent[self.span] = half.sent[-1] = False
            half.heads[me] = 0
            for values in half.slots.values():
                values[self.span] = 0
        self._alone = Half({"heads": _NONE, "sent": np.empty(0, bool), "lists": _NONE})
        self._number = 0
        self._last = self.halves[0]
        self.stale: set[str] = set()
        self._starts = [start // SPARSE + site for site, start in enumerate(self.offsets)]
        self._unread = False
        self.half = self._alone

    @staticmethod
    def size(n: int, sites: int, dtypes: Mapping[str, DTypeLike]) -> int:
        """Bytes of memory for graphs of `n` nodes."""
        shapes = _shapes(n, sites, dtypes).values()
        return 2 * sum(_lines(prod(shape) * dtype.itemsize) for dtype, shape in shapes)

    def turn(self, alone: bool) -> None:
        """Begin to store what is sent in the next phase.

        Parameters
        ----------
        alone
            Whether each site stores it for itself, since all know it and may go on without a barrier.
        """
        if alone:
            half = self._alone
            if not len(half.sent):
                half.sent = np.zeros(self.offsets[-1] + 1, bool)
        else:
            self._number += 1
            half = self.halves[self._number % 2]
            self.stale = set(self._last.names)
        if half.marks is None:
            half.sent[self.span] = False
        else:
            for slots in half.marks:
                half.sent[slots] = False
        half.marks = half.names = ()
        self.half = half
        self._unread = not alone

    def renew(self) -> None:
        """Store what the phase before sent, where this one sends nothing new.

        A kernel may read the latest value of each node. To be called when all is sent, and before new values
        of some nodes are stored.
        """
        marks = [self.span] if self._last.marks is None else self._last.marks
        for name in self.stale:
            for slots in marks:
                self.half.slots[name][slots] = self._last.slots[name][slots]
        self.stale.clear()
        if self.half is not self._alone:
            self._last = self.half

    def publish(
        self, senders: Subset, leaving: tuple[int, int], backwards: bool, names: Sequence[str]
    ) -> None:
        """Let the other sites know of the broadcasts that are stored.

        Parameters
        ----------
        senders
            The site's.
        leaving
            Messages to other sites, and edges to there.
        """
        listed = senders.is_list and SPARSE * senders.count < senders.size
        if listed:
            start = self._starts[self.me]
            self.half.lists[start : start + senders.count] = senders.members
        fields = (name in names for name in self.fields)
        head = self._number, senders.count, listed, *leaving, backwards, *fields
        self.half.heads[self.me] = head
        self.half.names = names

    def heard(self) -> dict[int, Head]:
        """By site, what others have sent in this phase; once."""
        if not self._unread:
            return {}
        self._unread = False
        return {
            peer: Head._make([*row[:NUMBERS], row[NUMBERS:]])
            for peer, row in enumerate(self.half.heads.tolist())
            if row[0] == self._number and peer != self.me
        }

    def senders(self, heads: Mapping[int, Head], among: NDArray[np.bool_]) -> list[Subset]:
        """Slots of what other sites sent: of those before the site's own slots, and of those after.

        Parameters
        ----------
        among
            bool, by slot: which of them are of interest.
        """
        found = []
        for lo, hi in ((0, self.span.start), (self.span.stop, self.offsets[-1])):
            some = {p: head for p, head in heads.items() if lo <= self.offsets[p] < hi}
            if not some:
                continue
            if all(head.listed for head in some.values()):
                listed = np.concatenate([self._listed(p, some[p].sent) for p in some])
                found.append(Subset(None, listed[among[listed]], start=lo, size=hi - lo))
            else:
                found.append(Subset(self.half.sent[lo:hi] & among[lo:hi], start=lo))
        return found

    def _listed(self, peer: int, count: int) -> NDArray[np.int64]:
        start = self._starts[peer]
        listed: NDArray[np.int64] = self.half.lists[start : start + count]
        return listed


def _shapes(
    n: int, sites: int, dtypes: Mapping[str, DTypeLike]
) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    """The arrays of a half."""
    found: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {
        "heads": (np.dtype(np.int64), (sites, NUMBERS + len(dtypes))),
        "lists": (np.dtype(np.int64), (n // SPARSE + sites,)),
        "sent": (np.dtype(bool), (n + 1,)),
    }
    for name, dtype in dtypes.items():
        kind = np.dtype(dtype)
        found[name] = kind.base, (n + 1, *kind.shape)
    return found


def _lines(nbytes: int) -> int:
    """The bytes, up to the end of a line."""
    return -(-nbytes // LINE) * LINE


class SharedBroadcasts(Broadcasts):
    """`Broadcasts` whose slots are those of a window.

    Parameters
    ----------
    halo
        Of the site; it has slots for all nodes.
    dtypes, backwards
        As of `Broadcasts`.
    window
        What the sites share.

    Attributes
    ----------
    wire
        Bytes of the last phase's broadcasts, for each site that reads them.
    """

    def __init__(
        self,
        halo: Halo,
        dtypes: Mapping[str, DTypeLike],
        window: Window,
        backwards: bool = False,
    ) -> None:
        self.window = window
        super().__init__(halo, dtypes, backwards)
        self._coming = halo.turned.leaving
        self.slots.update(window.halves[0].slots)

    def _mask(self) -> NDArray[np.bool_]:
        return self.window.half.sent

    def _begin(self) -> None:
        super()._begin()
        self.wire = 0
        self._heads: Mapping[int, Head] = {}

    def clear(self) -> None:
        self._begin()

    def prepare(self, names: Sequence[str]) -> None:
        """Nothing: the memory is there."""

    def _look(self) -> None:
        """Store and read where the window stands in this phase."""
        self.sent = self.window.half.sent
        self.slots.update(self.window.half.slots)

    def expect(self, names: Collection[str], count: int) -> None:
        self._look()
        if count == self.halo.own:
            self.window.stale.difference_update(names)
        else:
            self.window.renew()
        super().expect(names, count)

    def put(self, *what: Any, **how: Any) -> tuple[int, int]:
        found = super().put(*what, **how)
        self.window.half.marks = self._own
        return found

    def add_ghost(self, slot: int) -> None:
        self._look()
        super().add_ghost(slot)
        self.window.half.marks = [part.members for part in self._heard]

    def pack(self, names: Sequence[str]) -> dict[int, BroadcastBatch]:
        """No batch: publishes what is stored."""
        own = self._own_senders().restrict(self._span)
        leaving = self._leaving, self._all_leaving
        self.window.publish(own, leaving, self.backwards, names)
        head = int(encoded_size(own.size, own.count))
        each = sum([self.slots[name][:1].nbytes for name in names])
        self.wire = len(self.halo.send) * (head + own.count * each)
        return {}

    def hear(self, heads: Mapping[int, Head]) -> bool:
        """Take in what other sites have published; returns whether this site has sent or reads any of it."""
        self._look()
        for peer, head in heads.items():
            if edges := self._coming.get(peer, 0):
                # a message goes along every edge that leaves; nodes without such edges need not have sent
                everyone = head.leaving == head.all_leaving
                share = head.leaving * edges // head.all_leaving
                self.reach += edges if everyone else min(share, edges - 1)
                self.count += head.sent
            for name in compress(self.window.fields, head.fields):
                self._store(name)
        self._heads = heads
        found = bool(self._own_count or self.senders())
        if not found:
            self._begin()
        return found

    def senders(self) -> list[Subset]:
        if self._heads:
            self._heard = self.window.senders(self._heads, self.halo.is_read)
            self._heads = {}
        return super().senders()
