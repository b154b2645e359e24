"""How messages get from site to site: unicasts by destination, broadcasts along the halo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.engine.fields import held
from dgsuite.engine.messages import UFUNCS, Echoes, Mail
from dgsuite.engine.shipments import Board, Sealed
from partition.halo import Halo
from partition.partitioners import Partition
from partition.segments import add, group, land, lay, mark, pick, utter

SEARCH = 4
"""Looking one sender up in a halo list costs about as much as testing 4 entries of the list."""


class Letters(NamedTuple):
    """Unicasts on their way: by message, receiver and sender (node ids) and fields."""

    dst: NDArray
    src: NDArray | None
    combine: str | None
    fields: dict[str, NDArray]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        head = self.dst.nbytes + (0 if self.src is None else self.src.nbytes)
        return head + sum(v.nbytes for v in self.fields.values())

    def take(self, which: NDArray) -> Letters:
        """Some of them."""
        src = None if self.src is None else self.src[which]
        fields = {name: values[which] for name, values in self.fields.items()}
        return Letters(self.dst[which], src, self.combine, fields)

    @property
    def folds_early(self) -> bool:
        """Whether the combiner folds them where they are sent, not only where they arrive: there floats are
        added by ascending sender, since their sum depends on the order.
        """
        floats = self.combine == "sum" and any(v.dtype.kind == "f" for v in self.fields.values())
        return self.combine is not None and not floats

    def by_sender(self) -> Letters:
        """In the order of their senders."""
        if _ascending(self.src):
            return self
        return self.take(np.argsort(self.src, kind="stable"))  # type: ignore[arg-type]

    def fold(self, size: int) -> Letters:
        """One message a receiver, by the combiner.

        Raises
        ------
        InputError
            A sum does not fit into its field.
        """
        assert self.combine is not None
        unique, starts, order = group(self.dst, size)
        if not len(unique):
            return self._replace(src=None)
        fields = {
            name: _folded(self.combine, values[order], starts)
            for name, values in self.fields.items()
        }
        return Letters(unique.astype(self.dst.dtype), None, self.combine, fields)


def _folded(combine: str, values: NDArray, starts: NDArray) -> NDArray:
    """Each run of values as one."""
    if combine == "sum":
        return held(add(values, starts), values.dtype)
    return UFUNCS[combine].reduceat(values, starts[:-1], dtype=values.dtype)  # type: ignore[no-any-return]


def _ascending(values: NDArray | None) -> bool:
    return values is None or bool((values[1:] >= values[:-1]).all())


def concatenate(parts: Sequence[Letters]) -> Letters:
    """Letters of several sources as one; always a copy, so that nothing sent aliases a state."""
    first = parts[0]
    return Letters(
        np.concatenate([p.dst for p in parts]),
        None if first.src is None else np.concatenate([p.src for p in parts]),  # type: ignore[misc]
        first.combine,
        {name: np.concatenate([p.fields[name] for p in parts]) for name in first.fields},
    )


class Words(NamedTuple):
    """A broadcast on its way: one value of each halo node that spoke.

    `spoke` says which: None for all, a bitmap or a list of indices into the halo list, whichever is
    smaller; `reach`, how many messages that makes there, about.
    """

    spoke: NDArray | None
    fields: dict[str, NDArray]
    reach: int

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        head = 0 if self.spoke is None else self.spoke.nbytes
        return head + sum([v.nbytes for v in self.fields.values()])

    def plain(self) -> tuple[Any, ...]:
        """As strings, numbers and bytes: for a short message a tenth of the work of pickling it."""
        fields = [(n, v.dtype.str, v.shape, v.tobytes()) for n, v in self.fields.items()]
        if self.spoke is None:
            return self.reach, None, b"", *fields
        return self.reach, self.spoke.dtype.char, self.spoke.tobytes(), *fields

    @classmethod
    def of(
        cls, reach: int, kind: str | None, spoke: bytes, *fields: tuple[str, str, Any, bytes]
    ) -> Words:
        """What `plain` made."""
        said = None if kind is None else np.frombuffer(spoke, kind)
        found = {n: np.frombuffer(data, d).reshape(shape) for n, d, shape, data in fields}
        return cls(said, found, reach)


Parcel = Letters | Words | Board | Sealed


class Post:
    """Unicasts of one site.

    Parameters
    ----------
    bounds
        Shape (sites + 1,): site s holds clusters ``bounds[s]`` to ``bounds[s + 1]``.
    """

    def __init__(self, partition: Partition, bounds: NDArray, me: int) -> None:
        self.partition = partition
        self.bounds = bounds
        self.me = me
        self.first = int(partition.offsets[bounds[me]])
        self.own = int(partition.offsets[bounds[me + 1]]) - self.first

    def sort(self, letters: Letters) -> tuple[list[Letters], dict[int, Parcel]]:
        """What stays here, and a parcel for each other site that gets any."""
        if letters.folds_early:
            letters = letters.fold(self.partition.n)
        if len(self.bounds) == 2:
            return [letters], {}
        site = np.searchsorted(self.bounds, self.partition.owner(letters.dst), side="right") - 1
        sites, starts, order = group(site, len(self.bounds) - 1)
        kept: list[Letters] = []
        parcels: dict[int, Parcel] = {}
        for i, to in enumerate(sites.tolist()):
            part = letters.take(order[starts[i] : starts[i + 1]])
            if to == self.me:
                kept.append(part)
            else:
                parcels[to] = part
        return kept, parcels

    def mail(self, parts: Sequence[Letters]) -> Mail:
        """All that arrived, for delivery by ascending receiver, then sender."""
        letters = concatenate(parts) if len(parts) > 1 else parts[0]
        letters = letters.by_sender()
        if letters.combine is not None:
            letters = letters.fold(self.partition.n)
        row = self.partition.position(letters.dst) - self.first
        return Mail(row, letters.src, lambda name, at: letters.fields[name][at], self.own)


class Megaphone:
    """Broadcasts of one site: a slot for each own node and ghost, written once, read along edges."""

    def __init__(self, halo: Halo) -> None:
        self.halo = halo
        # one slot more than there are, which never speaks: rows are filled up with it
        self.sent = np.zeros(halo.slots + 1, bool)
        self.senders: list[NDArray] = []
        self.crowds: list[slice] = []
        self.slots: dict[str, NDArray] = {}
        self.said: set[str] = set()
        self.read = sum(map(halo.told, halo.send))
        self.count = self.reach = self.away = 0

    def hush(self) -> None:
        """Forget the last broadcast."""
        if self.crowds or 4 * self.count > len(self.sent):
            self.sent[:] = False
        else:
            for senders in self.senders:
                self.sent[senders] = False
        self.senders, self.crowds, self.said = [], [], set()
        self.count = self.reach = self.away = 0

    def speak(
        self,
        nodes: NDArray[np.int64],
        fields: Mapping[str, NDArray],
        dtypes: Mapping[str, DTypeLike],
        block: slice,
        whole: bool = False,
    ) -> tuple[int, int]:
        """Own nodes say something: how many messages it makes, and how many of these leave the site.

        Parameters
        ----------
        nodes
            Of one cluster, counted within it, ascending.
        fields
            One value a sender.
        block
            Rows of the cluster.
        whole
            Whether they are all of the cluster's.

        Raises
        ------
        InputError
            The nodes do not ascend, or are not the cluster's.
        """
        halo = self.halo
        if whole:
            messages = int(halo.indptr[block.stop]) - int(halo.indptr[block.start])
            away = int(halo.away[block].sum(dtype=np.int64))
            self.sent[halo.first + block.start : halo.first + block.stop] = True
        else:
            messages, away, slots = utter(
                halo.indptr, halo.away, nodes, block, self.sent, halo.first
            )
        if len(nodes) == block.stop - block.start:
            start = halo.first + block.start
            self._crowd(slice(start, start + len(nodes)), len(nodes), fields, dtypes)
        else:
            self._list(slots, fields, dtypes)
        self.reach += messages - away
        self.away += away
        return messages, away

    def _list(
        self, senders: NDArray, fields: Mapping[str, NDArray], dtypes: Mapping[str, DTypeLike]
    ) -> None:
        """Note what is said in some slots, ascending, which are marked."""
        self.senders.append(senders)
        self.count += len(senders)
        if fields:
            for name, slots in self._slots(fields, dtypes):
                slots[senders] = fields[name]

    def recall(self, slot: int) -> None:
        """A ghost says what is known without a parcel."""
        senders = np.array([slot])
        out = self.halo.out(senders)
        self.reach += int(out.indptr[slot - out.shift + 1] - out.indptr[slot - out.shift])
        self.sent[slot] = True
        self._list(senders, {}, {})

    def _crowd(
        self,
        span: slice,
        count: int,
        fields: Mapping[str, NDArray],
        dtypes: Mapping[str, DTypeLike],
    ) -> None:
        """Note what many slots of a range say, so many, which are marked."""
        self.crowds.append(span)
        self.count += count
        for name, slots in self._slots(fields, dtypes):
            if count == span.stop - span.start:
                slots[span] = fields[name]
            elif slots.ndim > 1:
                slots[span][self.sent[span]] = fields[name]
            else:
                lay(fields[name], self.sent[span], slots[span])

    def _slots(
        self, fields: Mapping[str, NDArray], dtypes: Mapping[str, DTypeLike]
    ) -> Iterator[tuple[str, NDArray]]:
        for name in fields:
            if name not in self.slots:
                self.prepare({name: dtypes[name]})
            self.said.add(name)
            yield name, self.slots[name]

    def prepare(self, dtypes: Mapping[str, DTypeLike]) -> None:
        """Make the slots of some fields, memory pages and all."""
        for name, dtype in dtypes.items():
            self.slots[name] = np.empty(len(self.sent), dtype)
            self.slots[name].fill(0)

    def parcels(self, names: Sequence[str]) -> dict[int, Parcel]:
        """What each other site hears of what was said."""
        parcels: dict[int, Parcel] = {}
        for peer, heard in self.halo.send.items():
            size = self.halo.told(peer)
            reach = self.away * size // self.read
            few = not self.crowds and SEARCH * self.count < size
            if few:
                at = self._find(heard)
                count = len(at)
            else:
                said = self.sent[heard]
                count = self.count if size == self.halo.own else int(np.count_nonzero(said))
            if not count:
                continue
            if count == size:
                fields = {n: np.copy(self.slots[n][heard]) for n in names}
                parcels[peer] = Words(None, fields, reach)
            elif 32 * count >= size:
                if few:
                    said = np.zeros(size, bool)
                    mark(said, at)
                fields = {n: self._picked(self.slots[n], heard, said, count) for n in names}
                parcels[peer] = Words(np.packbits(said), fields, reach)
            else:
                if not few:
                    at = np.flatnonzero(said)
                fields = {n: self.slots[n][_places(heard, at)] for n in names}
                parcels[peer] = Words(at.astype(np.int32), fields, reach)
        return parcels

    def _find(self, heard: NDArray | slice) -> NDArray:
        """Where among the slots that a peer hears those who spoke stand; the others are left out."""
        senders = self.senders[0] if len(self.senders) == 1 else np.concatenate(self.senders)
        if isinstance(heard, slice):
            return senders - heard.start
        at = np.searchsorted(heard, senders)
        at[at == len(heard)] = 0
        return at[heard[at] == senders]

    def _picked(
        self, values: NDArray, heard: NDArray | slice, said: NDArray, count: int
    ) -> NDArray:
        """Values in the slots that a peer hears and that spoke."""
        if isinstance(heard, slice):
            return values[heard][said]
        return pick(values, heard, self.sent, count)

    def hear(self, peer: int, words: Words, dtypes: Mapping[str, DTypeLike]) -> None:
        """A parcel from another site lands in the ghosts' slots."""
        span = self.halo.land[peer]
        self.reach += words.reach
        if words.spoke is not None and words.spoke.dtype != np.uint8:
            self._list(land(self.sent, words.spoke, span.start), words.fields, dtypes)
            return
        count = span.stop - span.start
        if words.spoke is None:
            self.sent[span] = True
        else:
            said = np.unpackbits(words.spoke, count=count).view(bool)
            self.sent[span] = said
            count = int(np.count_nonzero(said))
        self._crowd(span, count, words.fields, dtypes)

    def echoes(self) -> Echoes:
        """All that was said, own nodes and ghosts."""
        slots = {name: self.slots[name] for name in self.said}
        return Echoes(
            self.halo, self.sent, self.senders, self.crowds, slots, self.count, self.reach
        )


def _places(heard: NDArray | slice, at: NDArray) -> NDArray:
    """Slots of some entries of a halo list."""
    return heard.start + at if isinstance(heard, slice) else heard[at]
