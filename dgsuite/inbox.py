"""What arrived at a site, and each cluster's window on it.

Messages come in two forms behind one `Inbox`. `Mail` lists them, sorted by receiver and sender.
`Echoes` keeps a broadcast as it travelled, one value a sender, and reduces it along the edges; it
turns into `Mail` when it is small, or when someone asks for the messages one by one.
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

UFUNCS = {"min": np.minimum, "max": np.maximum, "sum": np.add}


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
    """A broadcast as it travelled: who spoke (slots), and one value a slot for each field.

    It is reduced along edges, compiled: from the receivers who look (pull) or from the senders who
    spoke (push), whichever crosses fewer edges.
    """

    def __init__(self, halo: Halo, sent: NDArray, senders: NDArray, slots: Mapping[str, NDArray]):
        self.halo = halo
        self.sent = sent
        self.senders = senders
        self.slots = slots
        self._pushed: dict[tuple[str, str], tuple[NDArray, ...]] = {}

    @cached_property
    def reach(self) -> int:
        """Messages that this site's nodes get."""
        push = self.halo.push_indptr
        return int((push[self.senders + 1] - push[self.senders]).sum())

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

    def reduce(
        self, op: str, name: str, lo: int, hi: int, among: NDArray | None
    ) -> tuple[NDArray, ...]:
        """Receivers from slot `lo` to `hi` that care, from `lo`, and what they got.

        Parameters
        ----------
        op
            "min", "max", "sum" of a field; "count" of messages; or "remote", the count of all and of
            those from other clusters.
        """
        rows = self._pull_rows(lo, hi, among)
        if rows is not None:
            found, hits = self._pull(op, name, rows, lo, hi)
            got = hits > 0
            return (rows[got] - lo, *(f[got] for f in found))
        if (op, name) not in self._pushed:
            self._pushed[op, name] = self._push(op, name)
        reached, *values = self._pushed[op, name]
        a, b = reached.searchsorted((lo, hi))
        nodes, values = reached[a:b] - lo, [v[a:b] for v in values]
        if among is None:
            return (nodes, *values)
        keep = among[nodes]
        return (nodes[keep], *(v[keep] for v in values))

    def _pull_rows(self, lo: int, hi: int, among: NDArray | None) -> NDArray | None:
        """Slots to pull for; None where pushing crosses fewer edges, by a margin: it writes at random."""
        indptr = self.halo.indptr
        if 2 * self.reach < hi - lo:
            return None
        rows = np.arange(lo, hi) if among is None else np.flatnonzero(among) + lo
        edges = int((indptr[rows + 1] - indptr[rows]).sum())
        return None if 2 * self.reach < edges else rows

    def _pull(
        self, op: str, name: str, rows: NDArray, lo: int, hi: int
    ) -> tuple[tuple[NDArray, ...], NDArray]:
        from partition import _compiled

        halo = self.halo
        if op in ("count", "remote"):
            hits = _compiled.pull_count(halo.indptr, halo.indices, rows, self.sent)
            if op == "count":
                return (hits,), hits
            away = _compiled.pull_remote(halo.indptr, halo.indices, rows, self.sent, lo, hi)
            return (hits, away), hits
        values = self.slots[name]
        if op == "sum":
            out, hits = _compiled.pull_sum(halo.indptr, halo.indices, rows, self.sent, values)
        else:
            largest = op == "max"
            out, hits = _compiled.pull(
                halo.indptr, halo.indices, rows, self.sent, values, worst(values.dtype, largest),
                largest,
            )  # fmt: skip
        return (out,), hits

    def _push(self, op: str, name: str) -> tuple[NDArray, ...]:
        from partition import _compiled

        halo = self.halo
        hits = np.zeros(halo.own, np.int32)
        push = (halo.push_indptr, halo.push_indices, self.senders)
        if op in ("count", "remote"):
            reached = _compiled.push_count(*push, hits)
            found = [hits]
            if op == "remote":
                found.append(np.zeros(halo.own, np.int32))
                _compiled.push_remote(*push, halo.home, found[1])
        else:
            number = ("min", "max", "sum").index(op)
            reached, out = _compiled.push(*push, self.slots[name], hits, number)
            found = [out]
        reached = np.flatnonzero(hits) if 8 * len(reached) > halo.own else np.sort(reached)
        return (reached, *(f[reached] for f in found))


def worst(dtype: np.dtype, largest: bool) -> Any:
    """What any value of a dtype beats, looking for the largest or smallest."""
    if dtype.kind == "f":
        return dtype.type(-np.inf if largest else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if largest else limits.max)


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

    def _echoes(self) -> Echoes | None:
        """A broadcast too large to list."""
        messages = self._messages
        large = isinstance(messages, Echoes) and messages.reach > COMPILE_FROM
        return messages if large else None  # type: ignore[return-value]

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

    def receivers(self, among: NDArray | None = None) -> NDArray:
        return self.count(among)[0]

    def count(self, among: NDArray | None = None) -> tuple[NDArray, NDArray]:
        if (echoes := self._echoes()) is not None:
            nodes, counts = echoes.reduce("count", "", self._lo, self._hi, among)
            return nodes, counts
        mail = self._mail()
        if mail is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        nodes, keep = self._among(mail, among)
        return nodes, np.diff(self._starts(mail))[keep]

    def count_remote(self, among: NDArray | None = None) -> tuple[NDArray, NDArray, NDArray]:
        if (echoes := self._echoes()) is not None:
            nodes, counts, away = echoes.reduce("remote", "", self._lo, self._hi, among)
            return nodes, counts, away
        nodes, counts = self.count(among)
        mail = self._mail()
        if mail is None:
            return nodes, counts, counts
        _, keep = self._among(mail, among)
        partition, index = self._cluster.partition, self._cluster.index
        origin = partition.position(self.src)
        elsewhere = (origin < partition.offsets[index]) | (origin >= partition.offsets[index + 1])
        before = np.concatenate([[0], np.cumsum(elsewhere)])[self._starts(mail)]
        return nodes, counts, np.diff(before)[keep]

    def _starts(self, mail: Mail) -> NDArray:
        """Where each receiver's messages start among this cluster's, and where the last end."""
        receivers, span = self._range(mail)
        return mail.starts[receivers.start : receivers.stop + 1] - span.start

    def _reduce(self, op: str, name: str, among: NDArray | None) -> tuple[NDArray, NDArray]:
        if (echoes := self._echoes()) is not None:
            nodes, values = echoes.reduce(op, name, self._lo, self._hi, among)
            return nodes, values
        mail = self._mail()
        if mail is None or not len(self):
            return np.empty(0, np.int64), self._empty(name)
        nodes, keep = self._among(mail, among)
        values = self[name]
        starts = self._starts(mail)[:-1]
        return nodes, UFUNCS[op].reduceat(values, starts, dtype=values.dtype)[keep]

    def min(self, name: str, among: NDArray | None = None) -> tuple[NDArray, NDArray]:
        return self._reduce("min", name, among)

    def max(self, name: str, among: NDArray | None = None) -> tuple[NDArray, NDArray]:
        return self._reduce("max", name, among)

    def sum(self, name: str, among: NDArray | None = None) -> tuple[NDArray, NDArray]:
        return self._reduce("sum", name, among)
