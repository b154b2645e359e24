"""What arrived at a site, and each cluster's window on it.

Messages come in two forms behind one `Inbox`. `Mail` lists them, sorted by receiver and sender.
`Echoes` keeps a large broadcast as it travelled, one value a sender, and reduces it along the edges
of whoever looks; it turns into `Mail` when few spoke or someone asks for the messages one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partition.cluster import Cluster
from partition.halo import Halo
from partition.segments import COMPILE_FROM, expand, group

PULL_COST = 4
"""Reading a value along an edge costs about a quarter of sorting a message to its receiver."""


class Mail:
    """Messages one by one, sorted by receiver's slot, then sender.

    Attributes
    ----------
    to
        Slots that got any, ascending.
    starts
        Shape (len(to) + 1,): messages of ``to[i]`` are ``starts[i]`` to ``starts[i + 1]``.
    slot
        Receiver of each message.
    src
        Node id of each sender; None where a combiner has folded senders together.
    """

    def __init__(
        self,
        slot: NDArray,
        src: NDArray | None,
        field: Callable[[str, NDArray], NDArray],
        own: int,
    ) -> None:
        self.to, self.starts, self._order = group(slot, own)
        self.slot = slot[self._order]
        self.src = None if src is None else src[self._order]
        self._field = field
        self._sorted: dict[str, NDArray] = {}

    def __getitem__(self, name: str) -> NDArray:
        if name not in self._sorted:
            self._sorted[name] = self._field(name, self._order)
        return self._sorted[name]


class Echoes:
    """A broadcast: who spoke (in slots), and what."""

    def __init__(self, halo: Halo, sent: NDArray, senders: NDArray, slots: Mapping[str, NDArray]):
        self.halo = halo
        self.sent = sent
        self.senders = senders
        self.slots = slots

    @cached_property
    def sparse(self) -> bool:
        """Whether listing the messages costs less than reading along edges."""
        push = self.halo.push_indptr
        total = int((push[self.senders + 1] - push[self.senders]).sum())
        return total <= COMPILE_FROM or total * PULL_COST <= len(self.halo.indices)

    @cached_property
    def mail(self) -> Mail:
        """The messages one by one."""
        halo = self.halo
        senders = self.senders[np.argsort(halo.ids[self.senders], kind="stable")]
        at, entry = expand(halo.push_indptr, senders)
        voices = senders[at]
        return Mail(
            halo.push_indices[entry],
            halo.ids[voices],
            lambda name, order: self.slots[name][voices[order]],
            halo.own,
        )


class Window:
    """One cluster's inbox: see `kernels.base.Inbox`."""

    __slots__ = ("_cluster", "_dtypes", "_first", "_hi", "_lo", "_messages", "round")

    def __init__(
        self,
        round: int,
        cluster: Cluster,
        slot: int,
        messages: Mail | Echoes | None,
        dtypes: Mapping[str, DTypeLike],
    ) -> None:
        self.round = round
        self._cluster = cluster
        self._lo, self._hi = slot, slot + cluster.size
        self._messages = messages
        self._dtypes = dtypes
        self._first: tuple[slice, slice] | None = None

    def _mail(self) -> Mail | None:
        messages = self._messages
        return messages.mail if isinstance(messages, Echoes) else messages

    def _range(self, mail: Mail) -> tuple[slice, slice]:
        """This cluster's part of `mail`: of its receivers, and of its messages."""
        if self._first is None:
            a, b = mail.to.searchsorted((self._lo, self._hi))
            self._first = slice(a, b), slice(mail.starts[a], mail.starts[b])
        return self._first

    def _dense(self) -> Echoes | None:
        messages = self._messages
        return messages if isinstance(messages, Echoes) and not messages.sparse else None

    def _empty(self, name: str) -> NDArray:
        return np.empty(0, self._dtypes.get(name, np.int64))

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
        return mail.slot[self._range(mail)[1]] - self._lo

    @property
    def src(self) -> NDArray:
        mail = self._mail()
        if mail is None:
            return np.empty(0, np.int64)
        if mail.src is None:
            raise ValueError("combined messages have no sender")
        return mail.src[self._range(mail)[1]]

    def _among(self, mail: Mail, among: NDArray | None) -> tuple[NDArray, Any]:
        """Receivers that care, as local indices, and which of the cluster's receivers they are."""
        nodes = mail.to[self._range(mail)[0]] - self._lo
        if among is None:
            return nodes, slice(None)
        keep = among[nodes]
        return nodes[keep], keep

    def _rows(self, among: NDArray | None) -> NDArray:
        if among is None:
            return np.arange(self._lo, self._hi)
        return np.flatnonzero(among) + self._lo

    def receivers(self, among: NDArray | None = None) -> NDArray:
        if (echoes := self._dense()) is not None:
            from partition import _compiled

            rows = self._rows(among)
            halo = echoes.halo
            hit = _compiled.pull_any(halo.indptr, halo.indices, rows, echoes.sent)
            return rows[hit] - self._lo
        mail = self._mail()
        return np.empty(0, np.int64) if mail is None else self._among(mail, among)[0]

    def count(self, among: NDArray | None = None) -> tuple[NDArray, NDArray, NDArray]:
        if (echoes := self._dense()) is not None:
            from partition import _compiled

            rows = self._rows(among)
            halo = echoes.halo
            hits, away = _compiled.pull_count(
                halo.indptr, halo.indices, rows, echoes.sent, self._lo, self._hi
            )
            got = hits > 0
            return rows[got] - self._lo, hits[got], away[got]
        mail = self._mail()
        if mail is None:
            none = np.empty(0, np.int64)
            return none, none, none
        receivers, span = self._range(mail)
        nodes, keep = self._among(mail, among)
        starts = mail.starts[receivers.start : receivers.stop + 1] - span.start
        partition, index = self._cluster.partition, self._cluster.index
        origin = partition.position(self.src)
        elsewhere = (origin < partition.offsets[index]) | (origin >= partition.offsets[index + 1])
        away = np.concatenate([[0], np.cumsum(elsewhere)])
        return nodes, np.diff(starts)[keep], (away[starts[1:]] - away[starts[:-1]])[keep]

    def _reduce(
        self, ufunc: np.ufunc, name: str, among: NDArray | None
    ) -> tuple[NDArray, NDArray]:
        if (echoes := self._dense()) is not None:
            from partition import _compiled

            rows = self._rows(among)
            halo, values = echoes.halo, echoes.slots[name]
            if ufunc is np.add:
                out, hits = _compiled.pull_sum(
                    halo.indptr, halo.indices, rows, echoes.sent, values
                )
            else:
                out, hits = _compiled.pull(
                    halo.indptr, halo.indices, rows, echoes.sent, values, ufunc is np.maximum
                )
            got = hits > 0
            return rows[got] - self._lo, out[got]
        mail = self._mail()
        if mail is None or not len(self):
            return np.empty(0, np.int64), self._empty(name)
        receivers, span = self._range(mail)
        nodes, keep = self._among(mail, among)
        starts = mail.starts[receivers] - span.start
        values = mail[name][span]
        return nodes, ufunc.reduceat(values, starts, dtype=values.dtype)[keep]

    def min(self, name: str, among: NDArray | None = None) -> tuple[NDArray, NDArray]:
        return self._reduce(np.minimum, name, among)

    def max(self, name: str, among: NDArray | None = None) -> tuple[NDArray, NDArray]:
        return self._reduce(np.maximum, name, among)

    def sum(self, name: str, among: NDArray | None = None) -> tuple[NDArray, NDArray]:
        return self._reduce(np.add, name, among)
