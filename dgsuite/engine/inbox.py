"""One cluster's window on what arrived at its site: the inbox that a kernel sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.engine.messages import UFUNCS, Echoes, Mail, compilable, summed
from dgsuite.engine.shipments import Board, Crates
from kernels.base import Note
from partition.cluster import Cluster, NodeSet
from partition.errors import InputError, unknown
from partition.segments import add, expand


class Window:
    """One cluster's inbox: see `kernels.base.Inbox`."""

    __slots__ = ("_cluster", "_dtypes", "_first", "_hi", "_lo", "_messages", "round", "traced")

    def __init__(
        self,
        round: int,
        cluster: Cluster,
        slot: int,
        messages: Mail | Echoes | Board | Crates | None,
        dtypes: Mapping[str, np.dtype],
    ) -> None:
        self.round = round
        self.traced = False
        self._cluster = cluster
        self._lo, self._hi = slot, slot + cluster.size
        self._messages = messages
        self._dtypes = dtypes
        self._first: tuple[slice, slice] | None = None

    def _mail(self) -> Mail | None:
        messages = self._messages
        if isinstance(messages, Echoes):
            return messages.mail
        return messages if isinstance(messages, Mail) else None

    def _range(self, mail: Mail) -> tuple[slice, slice]:
        """This cluster's part of `mail`: of its receivers, and of its messages."""
        if self._first is None:
            a, b = mail.to.searchsorted((self._lo, self._hi))
            self._first = slice(a, b), slice(mail.starts[a], mail.starts[b])
        return self._first

    def _echoes(self) -> Echoes | None:
        """A broadcast too large to list."""
        messages = self._messages
        return messages if isinstance(messages, Echoes) and messages.large else None

    def _dtype(self, name: str) -> np.dtype:
        """Dtype of a field that the kernel declares, or the engine."""
        if name not in self._dtypes:
            raise InputError(unknown("field", name, self._dtypes))
        return self._dtypes[name]

    def _empty(self, name: str, length: int = 0) -> NDArray:
        return np.zeros(length, self._dtype(name))

    def __len__(self) -> int:
        mail = self._mail()
        if mail is None:
            return 0
        span = self._range(mail)[1]
        return int(span.stop - span.start)

    def __getitem__(self, name: str) -> NDArray:
        mail = self._mail()
        return self._empty(name) if mail is None else mail[name][self._range(mail)[1]]

    @property
    def node(self) -> NDArray:
        mail = self._mail()
        if mail is None:
            return np.empty(0, np.int64)
        return mail.row[self._range(mail)[1]] - self._lo

    @property
    def src(self) -> NDArray:
        mail = self._mail()
        if mail is None:
            return np.empty(0, np.int64)
        if mail.src is None:
            raise ValueError("combined messages have no sender")
        return mail.src[self._range(mail)[1]]

    def _among(self, mail: Mail, among: NodeSet | None) -> tuple[NDArray, Any]:
        """Receivers that care, as local indices, and which of the cluster's receivers they are."""
        nodes = mail.to[self._range(mail)[0]] - self._lo
        if among is None:
            return nodes, slice(None)
        keep = among.mask[nodes]
        return nodes[keep], keep

    def receivers(self, among: NodeSet | None = None) -> NDArray:
        if (echoes := self._echoes()) is not None:
            return echoes.reduce("any", "", self._lo, self._hi, among)[0]
        mail = self._mail()
        return np.empty(0, np.int64) if mail is None else self._among(mail, among)[0]

    def count(self, among: NodeSet | None = None) -> tuple[NDArray, NDArray, NDArray]:
        if (echoes := self._echoes()) is not None:
            nodes, counts, away = echoes.reduce("count", "", self._lo, self._hi, among)
            # counted in 32 bits, as no node has more neighbours; what kernels make of them may be more
            return nodes, counts.astype(np.int64), away.astype(np.int64)
        mail = self._mail()
        if mail is None:
            none = np.empty(0, np.int64)
            return none, none, none
        nodes, keep = self._among(mail, among)
        starts = self._starts(mail)
        partition, index = self._cluster.partition, self._cluster.index
        origin = partition.position(self.src)
        elsewhere = (origin < partition.offsets[index]) | (origin >= partition.offsets[index + 1])
        before = np.concatenate([[0], np.cumsum(elsewhere)])
        return nodes, np.diff(starts)[keep], np.diff(before[starts])[keep]

    def first(
        self, among: NodeSet | None = None, *, top_down: bool = False
    ) -> tuple[NDArray, NDArray, Note]:
        messages = self._messages
        if isinstance(messages, Echoes) and not messages.lists:
            found = messages.first(self._lo, self._hi, among, top_down)
            if found is not None:
                return found
        mail = self._mail()
        if mail is None or not len(self):
            return np.empty(0, np.int64), np.empty(0, np.int64), Note({})
        nodes, keep = self._among(mail, among)
        # messages to a node come by ascending sender
        return nodes, self.src[self._starts(mail)[:-1]][keep], Note({"examined": len(self)})

    def local_minima(self, name: str, own: NDArray, among: NodeSet | None = None) -> NDArray:
        if (echoes := self._echoes()) is not None:
            least = echoes.minima(name, own, self._lo, self._hi, among)
            if least is not None:
                return least
        nodes, values = self.min(name, among)
        everyone = np.arange(self._hi - self._lo) if among is None else among.nodes
        return np.setdiff1d(everyone, nodes[values <= own[nodes]], assume_unique=True)

    def _starts(self, mail: Mail) -> NDArray:
        """Where each receiver's messages start among this cluster's, and where the last end."""
        receivers, span = self._range(mail)
        return mail.starts[receivers.start : receivers.stop + 1] - span.start

    def _reduce(self, op: str, name: str, among: NodeSet | None) -> tuple[NDArray, NDArray]:
        echoes = self._echoes()
        if op != "or" and echoes is not None and compilable(self._dtype(name)):
            nodes, values = echoes.reduce(op, name, self._lo, self._hi, among)
            return nodes, values
        mail = self._mail()
        if mail is None or not len(self):
            none = self._empty(name)
            return np.empty(0, np.int64), none.astype(summed(none.dtype)) if op == "sum" else none
        nodes, keep = self._among(mail, among)
        values, starts = self[name], self._starts(mail)
        if op == "sum":
            return nodes, add(values, starts)[keep]
        return nodes, UFUNCS[op].reduceat(values, starts[:-1], dtype=values.dtype)[keep]

    def min(self, name: str, among: NodeSet | None = None) -> tuple[NDArray, NDArray]:
        return self._reduce("min", name, among)

    def max(self, name: str, among: NodeSet | None = None) -> tuple[NDArray, NDArray]:
        return self._reduce("max", name, among)

    def sum(self, name: str, among: NodeSet | None = None) -> tuple[NDArray, NDArray]:
        return self._reduce("sum", name, among)

    def union(self, name: str, among: NodeSet | None = None) -> tuple[NDArray, NDArray]:
        return self._reduce("or", name, among)

    def along(self, name: str, entries: NDArray | None = None) -> tuple[NDArray, NDArray]:
        echoes = self._messages
        if not isinstance(echoes, Echoes):
            if echoes is not None:
                raise ValueError("only what was broadcast comes along edges")
            size = len(self._cluster.indices) if entries is None else len(entries)
            return np.zeros(size, bool), self._empty(name, size)
        halo = echoes.halo
        if entries is None:
            slots = halo.indices[halo.indptr[self._lo] : halo.indptr[self._hi]]
        else:
            slots = halo.indices[halo.indptr[self._lo] + entries]
        return echoes.sent[slots], echoes.values(name)[slots]

    def edges(self, nodes: NDArray) -> NDArray[np.int64] | None:
        if not self.traced:
            return None
        cluster, messages = self._cluster, self._messages
        _, entry = expand(cluster.indptr, nodes)
        if isinstance(messages, Echoes):
            slots = messages.halo.indices[messages.halo.indptr[self._lo] + entry]
            return entry[messages.sent[slots]]
        return np.intersect1d(entry, cluster.entries(self.node, self.src))

    @property
    def origin(self) -> NDArray:
        messages = self._messages
        if not isinstance(messages, Crates):
            return np.empty(0, np.int64)
        return messages.origin[self._mine(messages)]

    def shipped(self, name: str) -> NDArray:
        messages = self._messages
        if not isinstance(messages, Crates):
            return self._empty(name)
        return messages.fields[name][self._mine(messages)]

    def _mine(self, crates: Crates) -> slice:
        """This cluster's items."""
        index = self._cluster.index
        return slice(*np.searchsorted(crates.to, (index, index + 1)))

    def board(self, name: str) -> NDArray:
        messages = self._messages
        return messages.fields[name] if isinstance(messages, Board) else self._empty(name)
