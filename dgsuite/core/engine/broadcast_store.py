"""Broadcasts of a site: one value for each sender, stored once, sent once to each site.

Each own node and each ghost of the site has a slot (see `dgsuite.partition.clusters.halo`).
`BroadcastStore.put` stores what own nodes broadcast in their slots. `pack` makes a batch for each other site,
and `unpack` stores the batches of other sites in the slots of the ghosts. Where the sites of a host share
the memory of the slots, nothing is sent: `pack` publishes what is stored, and `hear` takes in what others
have published.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.core.engine.messages import not_sent
from dgsuite.partition.arrays.segments import lay, lent, look_up, mark_rows, pick, put
from dgsuite.partition.clusters.halo import Halo
from dgsuite.partition.clusters.subset import Subset, encoded_size

CLEARING_COST = 4
"""Clearing one sender of a list costs about as much as clearing 4 of all slots."""

SPARSE = 32
"""In memory that sites share, one lists its senders if they are fewer than its nodes divided by this."""

LINE = 64
"""Bytes of a line of the processor's cache, at which each array in shared memory begins."""

_NONE = np.empty(0, np.int64)


class BroadcastBatch(NamedTuple):
    """A broadcast on its way to another site: a value for each sender that the site has as a ghost.

    Attributes
    ----------
    senders
        Which of the ghosts these are, encoded: see `dgsuite.partition.clusters.subset.Subset.encode`.
    fields
        The values, by field; if all nodes sent, those that the site reads (see `Halo.needed`).
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


class BroadcastRecord(NamedTuple):
    """A broadcast, for a recorder: rows of the senders, bytes of a message, and whether it travels."""

    rows: NDArray
    itemsize: int
    travels: bool


class Head(NamedTuple):
    """What a site says of its broadcasts of a phase, to those that share its memory."""

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


@dataclass
class Pane:
    """The broadcasts of one phase, by slot.

    Attributes
    ----------
    heads
        A row for each site, see `Head`.
    lists
        Slots of senders, by site.
    sent
        bool, by slot: whether its node sent. There is one slot more, which never sends: short rows are padded
        with it.
    slots
        By field, a value for each slot.
    marks
        What this site has marked in `sent`: slots, or blocks of them.
    names
        Fields that it has stored.
    """

    heads: NDArray[np.int64]
    lists: NDArray[np.int64]
    sent: NDArray[np.bool_]
    slots: dict[str, NDArray]
    marks: list[NDArray | slice] = field(default_factory=list)
    names: Sequence[str] = ()


class Window:
    """Memory in which a site stores broadcasts: its own, or what all sites of a host share.

    Memory of its own has one pane, with slots for its nodes and its ghosts. Shared memory has two, with slots
    for all nodes, and each site writes those of its own nodes alone. Phases store what they send in the one
    pane and in the other by turns. A site writes to a pane again when it has passed the barrier of the next
    phase, and then all sites have read what was there.

    Parameters
    ----------
    dtypes
        Dtype of each message field, vectors included.
    offsets
        First slot of each site that stores broadcasts there, and the number of slots.
    me
        Which of these sites this is.
    memory
        What the sites share: uint8, shape (size,), as `Window.size` says.

    Attributes
    ----------
    pane
        Where the site stores what it sends, and reads what others have sent in the same phase.
    latest
        The pane that has the latest value of each own node.
    """

    def __init__(
        self,
        dtypes: Mapping[str, DTypeLike],
        offsets: Sequence[int],
        me: int = 0,
        memory: NDArray[np.uint8] | None = None,
    ) -> None:
        self.me = me
        self.offsets = offsets
        self.fields = [*dtypes]
        self.is_shared = memory is not None
        self.span = slice(offsets[me], offsets[me + 1])
        n, sites = offsets[-1], len(offsets) - 1
        if memory is None:
            memory = np.zeros(Window.size(n, sites, dtypes, panes=1), np.uint8)
        at, self.panes = 0, list[Pane]()
        for _ in range(1 + self.is_shared):
            arrays = []
            for dtype, shape in _shapes(n, sites, dtypes):
                count = prod(shape)
                arrays.append(np.frombuffer(memory, dtype, count, at).reshape(shape))
                at += _lines(count * dtype.itemsize)
            heads, lists, sent, *values = arrays
            pane = Pane(heads, lists, sent, dict(zip(dtypes, values, strict=True)))
            self.panes.append(pane)
            pane.sent[self.span] = pane.sent[-1] = False
            pane.heads[me] = 0
            for each in values:
                each[self.span] = 0  # so that the memory pages are there
        self.pane = self.latest = self.panes[0]
        self._alone = Pane(_NONE, _NONE, np.empty(0, bool), {})
        self._number = 0
        self._stale: set[str] = set()  # fields with values that are in the latest pane alone
        self._starts = [start // SPARSE + site for site, start in enumerate(offsets)]

    @staticmethod
    def size(n: int, sites: int, dtypes: Mapping[str, DTypeLike], panes: int = 2) -> int:
        """Bytes of memory for `n` slots."""
        shapes = _shapes(n, sites, dtypes)
        return panes * sum(_lines(prod(shape) * dtype.itemsize) for dtype, shape in shapes)

    def turn(self, alone: bool) -> None:
        """Begin to store what is sent in the next phase.

        Parameters
        ----------
        alone
            Whether each site stores it for itself, since all know it and may go on without a barrier.
        """
        if alone and self.is_shared:
            self.pane = self._alone
            if not len(self.pane.sent):
                self.pane.sent = np.zeros(self.offsets[-1] + 1, bool)
        else:
            self._number += 1
            self.pane = self.panes[self._number % len(self.panes)]
            if self.pane is not self.latest:
                self._stale = set(self.latest.names)
        for where in self.pane.marks:
            self.pane.sent[where] = False
        self.pane.marks, self.pane.names = [], ()

    def renew(self, fresh: Collection[str] = ()) -> None:
        """Store what the phase before sent, where this one sends nothing new.

        A kernel may read the latest value of each node. To be called when all is sent, and before new values
        of some nodes are stored.

        Parameters
        ----------
        fresh
            Fields that all own nodes send.
        """
        for name in self._stale:
            for where in () if name in fresh else self.latest.marks:
                self.pane.slots[name][where] = self.latest.slots[name][where]
        self._stale.clear()
        if self.pane is not self._alone:
            self.latest = self.pane

    def publish(
        self, slots: NDArray | None, sent: int, leaving: int, all_leaving: int, backwards: bool
    ) -> None:
        """Let the other sites know of the broadcasts that are stored.

        Parameters
        ----------
        slots
            Those of the senders, if they are listed.
        sent, leaving, all_leaving, backwards
            See `Head`.
        """
        if SPARSE * sent >= self.span.stop - self.span.start:
            slots = None
        if slots is not None:
            self.pane.lists[self._starts[self.me] :][:sent] = slots
        fields = (name in self.pane.names for name in self.fields)
        head = self._number, sent, slots is not None, leaving, all_leaving, backwards
        self.pane.heads[self.me] = *head, *fields

    def heard(self) -> dict[int, Head]:
        """By site, what others have sent in this phase."""
        return {
            peer: Head._make([*row[:NUMBERS], row[NUMBERS:]])
            for peer, row in enumerate(self.pane.heads.tolist())
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
                lists = self.pane.lists
                listed = np.concatenate(
                    [lists[self._starts[p] :][: head.sent] for p, head in some.items()]
                )
                found.append(Subset(None, listed[among[listed]], start=lo, size=hi - lo))
            else:
                found.append(Subset(self.pane.sent[lo:hi] & among[lo:hi], start=lo))
        return found


def _shapes(
    n: int, sites: int, dtypes: Mapping[str, DTypeLike]
) -> list[tuple[np.dtype[Any], tuple[int, ...]]]:
    """The arrays of a pane: heads, lists, marks of senders, and the slots of each field."""
    kinds = [np.dtype(dtype) for dtype in dtypes.values()]
    return [
        (np.dtype(np.int64), (sites, NUMBERS + len(dtypes))),
        (np.dtype(np.int64), (n // SPARSE + sites,)),
        (np.dtype(bool), (n + 1,)),
        *((kind.base, (n + 1, *kind.shape)) for kind in kinds),
    ]


def _lines(nbytes: int) -> int:
    """The bytes, up to the end of a line."""
    return -(-nbytes // LINE) * LINE


class BroadcastStore:
    """The broadcasts of one phase at one site, by slot.

    Parameters
    ----------
    halo
        Of the site.
    window
        The memory that has its slots.
    backwards
        Whether they go against the direction of edges; the halo is then a turned one.

    Attributes
    ----------
    sent, slots
        See `Pane`.
    count
        Number of senders.
    reach
        Messages to this site's nodes; with several other sites, about so many. Where every node that has
        edges sent, it is the number of the site's entries, and less elsewhere.
    wire
        Bytes of the phase's broadcasts that are stored where other sites read them.
    """

    def __init__(self, halo: Halo, window: Window, backwards: bool = False) -> None:
        self.halo = halo
        self.window = window
        self.backwards = backwards
        self.slots: dict[str, NDArray] = {}
        self._fields: set[str] = set()
        self._span = slice(halo.first, halo.first + halo.own)
        self._told = {peer: halo.told(peer) for peer in halo.send}
        self._all_told = sum(self._told.values())
        self._all_leaving = sum(halo.leaving.values())
        self.begin()

    def begin(self, names: Sequence[str] = (), count: int = 0) -> None:
        """Begin a phase in which so many own nodes broadcast some fields."""
        pane = self.window.pane
        self.window.renew(names if count == self.halo.own else ())
        pane.names = names
        self.sent = pane.sent
        self.slots.update(pane.slots)
        self._fields.clear()
        self._fields.update(names)
        self.count = self.reach = self.wire = 0
        self._own_count = self._leaving = 0
        self._own: list[NDArray] | None = []  # lists of own senders; None if there are too many
        self._heard: list[Subset] = []
        self._heads: Mapping[int, Head] = {}
        self._made: dict[Hashable, Any] = {}

    def once[T](self, key: Hashable, make: Callable[[], T]) -> T:
        """A value that the first cluster that needs it makes, for all clusters of the site in this phase."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]  # type: ignore[no-any-return]

    # Send.

    def put(
        self,
        nodes: NDArray[np.int64],
        fields: Mapping[str, NDArray],
        block: slice,
        whole: bool = False,
    ) -> tuple[int, int]:
        """Store a broadcast of one cluster.

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

        Returns
        -------
        messages, leaving
            Messages along all edges of the senders, and how many of these leave the site.

        Raises
        ------
        InputError
            The nodes do not ascend, or are not the cluster's.
        """
        halo, first = self.halo, self.halo.first
        rows = slice(first + block.start, first + block.stop)
        slots: NDArray[np.int64] | slice = rows
        if whole:
            messages = int(halo.out_indptr[block.stop]) - int(halo.out_indptr[block.start])
            alone = block.stop - block.start == halo.own
            leaving = self._all_leaving if alone else int(halo.away[block].sum(dtype=np.int64))
            self.sent[rows] = True
        else:
            messages, leaving, found = mark_rows(
                halo.out_indptr, halo.away, nodes, block, self.sent, first
            )
            if len(nodes) < block.stop - block.start:
                slots = found
        for name, values in fields.items():
            self.slots[name][slots] = values
        if isinstance(slots, slice):
            self._own = None
        elif self._own is not None:
            self._own.append(slots)
        dense = CLEARING_COST * len(nodes) > block.stop - block.start
        self.window.pane.marks.append(rows if dense else slots)
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
        self.window.pane.marks.append(sender)
        self.count += 1

    def pack(self) -> dict[int, BroadcastBatch]:
        """A batch for each other site that has senders as ghosts, before `unpack`; none in shared memory."""
        batches: dict[int, BroadcastBatch] = {}
        listed, count, names = self._own_list(), self._own_count, self.window.pane.names
        if self.window.is_shared:
            self.window.publish(listed, count, self._leaving, self._all_leaving, self.backwards)
            each = sum([self.slots[name][:1].nbytes for name in names])
            self.wire = len(self.halo.send) * (
                int(encoded_size(self.halo.own, count)) + count * each
            )
            return batches
        own = Subset(self.sent, listed, count=count)  # the mask is theirs alone before `unpack`
        # a message goes along every edge that leaves; nodes without such edges need not have sent
        everyone = self._leaving == self._all_leaving
        for peer, slots in self.halo.send.items():
            told, edges = self._told[peer], self.halo.leaving[peer]
            senders = Subset(None, size=told, count=told) if everyone else own.restrict(slots)
            if not senders.count or not edges:
                continue
            if everyone:
                slots = self.halo.needed.get(peer, slots)
            fields = {n: self._packed(self.slots[n], slots, senders) for n in names}
            reach = self._leaving * senders.size // self._all_told
            reach = edges if everyone else max(min(reach, edges - 1), 0)
            batches[peer] = BroadcastBatch(senders.encode(), fields, reach, self.backwards)
        return batches

    def _packed(self, values: NDArray, slots: NDArray | slice, senders: Subset) -> NDArray:
        """The values of the senders among some slots."""
        if senders.count == senders.size:
            return values[slots].copy() if isinstance(slots, slice) else look_up(values, slots)
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
            values = self.slots[name]
            if senders.is_list:
                values[senders.members] = received
            elif senders.count < senders.size:
                lay(received, senders.mask, values[span])
            elif peer in self.halo.wanted:
                put(values, self.halo.wanted[peer], received)
            else:
                values[span] = received
        self._fields.update(batch.fields)
        self._heard.append(senders)
        self.window.pane.marks.append(senders.members if senders.is_list else span)
        self.count += senders.count
        self.reach += batch.reach

    def hear(self, heads: Mapping[int, Head]) -> bool:
        """Take in what other sites have published; returns whether this site has sent or reads any of it."""
        for peer, head in heads.items():
            if edges := self.halo.turned.leaving.get(peer, 0):
                # a message goes along every edge that leaves; nodes without such edges need not have sent
                everyone = head.leaving == head.all_leaving
                share = head.leaving * edges // head.all_leaving
                self.reach += edges if everyone else min(share, edges - 1)
                self.count += head.sent
            self._fields.update(compress(self.window.fields, head.fields))
        self._heads = heads
        return bool(self._own_count or self.lists)

    # Read.

    def values(self, name: str) -> NDArray:
        """The values of a field, by slot; read-only."""
        if name not in self._fields:
            raise not_sent(name)
        return lent(self.slots[name])

    def _own_list(self) -> NDArray[np.int64] | None:
        """Slots of the own senders, if they are listed."""
        if self._own is None:
            return None
        return self._own[0] if len(self._own) == 1 else np.concatenate([_NONE, *self._own])

    @property
    def lists(self) -> list[NDArray[np.int64]]:
        """Slots of the senders, as read-only arrays: of the own ones, and of those of other sites."""
        return self.once("lists", self._lists)

    def _lists(self) -> list[NDArray[np.int64]]:
        heard = self._heard
        if self._heads:
            heard = self.window.senders(self._heads, self.halo.is_read)
        mine, span = self._own_list(), self._span
        own = Subset(self.sent[span], mine, start=span.start, count=self._own_count)
        parts = [own, *heard]
        return [lent(part.members) for part in parts if part.count]

    @property
    def bitmap(self) -> NDArray[np.uint8]:
        """Slots of the senders, as a bitmap."""
        return self.once("bitmap", lambda: Subset(self.sent, count=self.count).bitmap)
