"""Broadcasts of a site: one value for each sender, stored once, sent once to each site.

Each own node and each ghost of the site has a slot (see `dgsuite.partition.clusters.halo`).
`BroadcastStore.put` stores what own nodes broadcast in their slots, `pack` makes a batch for each other
site, and `unpack` stores the batches of other sites in the slots of the ghosts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.core.engine.messages import not_sent
from dgsuite.partition.arrays.segments import lay, lent, look_up, mark_rows, pick, put
from dgsuite.partition.clusters.halo import Halo
from dgsuite.partition.clusters.subset import Subset

CLEARING_COST = 4
"""Clearing one sender of a list costs about as much as clearing 4 of all slots."""


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


class BroadcastStore:
    """The broadcasts of one phase at one site, by slot.

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
        bool, by slot: whether its node sent. There is one slot more, which never sends: short rows are padded
        with it.
    slots
        By field, a value for each slot.
    count
        Number of senders.
    reach
        Messages to this site's nodes; with several other sites, about so many. Where every node that has
        edges sent, it is the number of the site's entries, and less elsewhere.
    wire
        Bytes of the phase's broadcasts that are stored where other sites read them.
    """

    wire = 0

    def __init__(
        self, halo: Halo, dtypes: Mapping[str, DTypeLike], backwards: bool = False
    ) -> None:
        self.halo = halo
        self.backwards = backwards
        self.dtypes = dtypes
        self.sent = self._mask()
        self.slots: dict[str, NDArray] = {}
        self._fields: set[str] = set()
        self._span = slice(halo.first, halo.first + halo.own)
        self._told = {peer: halo.told(peer) for peer in halo.send}
        self._all_told = sum(self._told.values())
        self._all_leaving = sum(halo.leaving.values())
        self._begin()

    def _mask(self) -> NDArray[np.bool_]:
        """Where senders are marked."""
        return np.zeros(self.halo.slots + 1, bool)

    def _begin(self) -> None:
        self.count = self.reach = 0
        self._own_count = self._leaving = 0
        self._fields.clear()
        self._own: list[NDArray] | None = []  # lists of own senders; None if there are too many
        self._heard: list[Subset] = []
        self._made: dict[Hashable, Any] = {}

    def once[T](self, key: Hashable, make: Callable[[], T]) -> T:
        """A value that the first cluster that needs it makes, for all clusters of the site in this phase."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]  # type: ignore[no-any-return]

    def clear(self) -> None:
        """Forget the broadcasts of the last phase."""
        if not self.count:
            return
        if self._own is None or CLEARING_COST * self.count > len(self.sent):
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

    def expect(self, names: Collection[str], count: int) -> None:
        """Make ready for values of some fields from so many own nodes; `put` is to follow."""
        for name in names:
            self._store(name)

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
        slots: NDArray[np.int64] | None = None
        if whole:
            messages = int(halo.out_indptr[block.stop]) - int(halo.out_indptr[block.start])
            alone = block.stop - block.start == halo.own
            leaving = self._all_leaving if alone else int(halo.away[block].sum(dtype=np.int64))
            self.sent[first + block.start : first + block.stop] = True
        else:
            messages, leaving, slots = mark_rows(
                halo.out_indptr, halo.away, nodes, block, self.sent, first
            )
        if len(nodes) == block.stop - block.start:
            slots = None
        where = slice(first + block.start, first + block.stop) if slots is None else slots
        for name, values in fields.items():
            self.slots[name][where] = values
        if slots is None:
            self._own = None
        elif self._own is not None:
            self._own.append(slots)
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
            values = self._store(name)
            if senders.is_list:
                values[senders.members] = received
            elif senders.count < senders.size:
                lay(received, senders.mask, values[span])
            elif peer in self.halo.wanted:
                put(values, self.halo.wanted[peer], received)
            else:
                values[span] = received
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
        """The values of a field, by slot; read-only."""
        if name not in self._fields:
            raise not_sent(name)
        return lent(self.slots[name])

    def _own_senders(self) -> Subset:
        """The own senders, among all slots; the mask is theirs alone before `unpack`."""
        lists, members = self._own, None
        if lists is not None:
            members = (
                lists[0] if len(lists) == 1 else np.concatenate([np.empty(0, np.int64), *lists])
            )
        return Subset(self.sent, members, count=self._own_count)

    def senders(self) -> list[Subset]:
        """Slots of the senders: of the own ones, and of those of each other site."""
        parts = [self._own_senders().restrict(self._span), *self._heard]
        return [part for part in parts if part.count]

    @property
    def lists(self) -> list[NDArray[np.int64]]:
        """Slots of the senders, as a read-only array for each of `senders`."""
        return self.once("lists", lambda: [lent(part.members) for part in self.senders()])

    @property
    def bitmap(self) -> NDArray[np.uint8]:
        """Slots of the senders, as a bitmap."""
        return self.once("bitmap", lambda: Subset(self.sent, count=self.count).bitmap)
