"""The inbox that a kernel sees: the part of what arrived at a site that is for one cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, Unfit, unknown
from dgsuite.core.engine.announcements import AnnouncementBatch
from dgsuite.core.engine.broadcasts import Broadcasts
from dgsuite.core.engine.lists import SiteLists
from dgsuite.core.engine.messages import MessageList, compilable
from dgsuite.core.engine.shipments import Shipments
from dgsuite.kernels.bsp import READS_LATEST, Latest, Note, Shared
from dgsuite.kernels.bsp.kernel import KEEPS_OFFERS, UNDECLARED
from dgsuite.partition.arrays.reductions import MAX, MIN, SUM, Reduction, reduction
from dgsuite.partition.arrays.segments import expand, lent
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.subset import Subset

NOTHING = MessageList(np.empty(0, np.int64), np.empty(0, np.int64), lambda name, order: order, 1)
"""The list of no messages."""


class ClusterInbox:
    """One cluster's inbox, see `dgsuite.kernels.bsp.Inbox`."""

    __slots__ = ("_cluster", "_dtypes", "_hi", "_lo", "_messages", "_part", "round", "traced")

    def __init__(
        self, round: int, cluster: Cluster, slot: int, messages: Any, dtypes: Mapping[str, np.dtype]
    ) -> None:
        self.round = round
        self.traced = False
        self._cluster = cluster
        self._lo, self._hi = slot, slot + cluster.size
        self._messages = messages
        self._dtypes = dtypes
        self._part: tuple[slice, slice] | None = None

    def _dtype(self, name: str) -> np.dtype:
        """Dtype of a field that the kernel declares, or the engine."""
        if name not in self._dtypes:
            raise InputError(unknown("field", name, self._dtypes))
        return self._dtypes[name]

    def _empty(self, name: str, length: int = 0) -> NDArray:
        return np.zeros(length, self._dtype(name))

    # What is sent to all nodes, between neighbours as lists, and to clusters.

    def board(self, name: str) -> NDArray:
        messages = self._messages
        return (
            messages.fields[name] if isinstance(messages, AnnouncementBatch) else self._empty(name)
        )

    def shared(self, name: str) -> Shared:
        messages = self._messages
        if not isinstance(messages, SiteLists):
            none = np.zeros(self._cluster.n, np.int64)
            return Shared(lent(none), lent(none), lent(self._empty(name)))
        return Shared(lent(messages.starts), lent(messages.ends), lent(messages.fields[name]))

    @property
    def origin(self) -> NDArray:
        messages = self._messages
        if not isinstance(messages, Shipments):
            return np.empty(0, np.int64)
        return messages.origin[self._mine(messages)]

    def shipped(self, name: str) -> NDArray:
        messages = self._messages
        if not isinstance(messages, Shipments):
            return self._empty(name)
        return messages.fields[name][self._mine(messages)]

    def _mine(self, items: Shipments) -> slice:
        """This cluster's items."""
        index = self._cluster.index
        return slice(*np.searchsorted(items.to, (index, index + 1)))

    # Messages to nodes.

    def _list(self) -> MessageList:
        """The site's messages one by one."""
        messages = self._messages
        if isinstance(messages, Broadcasts):
            return messages.messages
        return messages if isinstance(messages, MessageList) else NOTHING

    def _range(self, messages: MessageList) -> tuple[slice, slice]:
        """This cluster's part of a list: of its receivers, and of its messages."""
        if self._part is None:
            a, b = messages.to.searchsorted((self._lo, self._hi))
            self._part = slice(a, b), slice(messages.starts[a], messages.starts[b])
        return self._part

    def _broadcasts(self) -> Broadcasts | None:
        """Broadcasts that are too large to list."""
        messages = self._messages
        return messages if isinstance(messages, Broadcasts) and messages.is_large else None

    def __len__(self) -> int:
        span = self._range(self._list())[1]
        return int(span.stop - span.start)

    def __getitem__(self, name: str) -> NDArray:
        messages = self._list()
        if messages is NOTHING:
            return self._empty(name)
        return messages[name][self._range(messages)[1]]

    @property
    def node(self) -> NDArray:
        messages = self._list()
        return messages.row[self._range(messages)[1]] - self._lo

    @property
    def src(self) -> NDArray:
        messages = self._list()
        if messages.src is None:
            raise ValueError("combined messages have no sender")
        return messages.src[self._range(messages)[1]]

    def _among(self, messages: MessageList, among: Subset | None) -> tuple[NDArray, Any]:
        """Receivers in a set, as local indices, and which of the cluster's receivers they are."""
        nodes = messages.to[self._range(messages)[0]] - self._lo
        if among is None:
            return nodes, slice(None)
        keep = among.mask[nodes]
        return nodes[keep], keep

    def receivers(self, among: Subset | None = None) -> NDArray:
        if (broadcasts := self._broadcasts()) is not None:
            return broadcasts.reduce("any", "", self._lo, self._hi, among)[0]
        return self._among(self._list(), among)[0]

    def count(self, among: Subset | None = None) -> tuple[NDArray, NDArray, NDArray]:
        received = self._messages
        if isinstance(received, Broadcasts) and (
            received.is_large or (received.is_compiled and received.fate is None)
        ):
            return received.counted(self._lo, self._hi, among)
        messages = self._list()
        nodes, keep = self._among(messages, among)
        starts = self._starts(messages)
        partition, index = self._cluster.partition, self._cluster.index
        origin = partition.position(self.src)
        elsewhere = (origin < partition.offsets[index]) | (origin >= partition.offsets[index + 1])
        before = np.concatenate([[0], np.cumsum(elsewhere)])
        return nodes, np.diff(starts)[keep], np.diff(before[starts])[keep]

    def count_down(self, counts: NDArray, floor: int = 0) -> NDArray[np.int64]:
        received = self._messages
        if isinstance(received, Broadcasts):
            reached = received.count_down(counts, floor, self._lo)
            if reached is not None:
                return reached
        nodes, taken, _ = self.count()
        above = counts[nodes] > floor
        nodes = nodes[above]
        counts[nodes] = np.maximum(counts[nodes] - taken[above], floor)
        return nodes[counts[nodes] == floor]

    def first(
        self, among: Subset | None = None, *, top_down: bool = False
    ) -> tuple[NDArray, NDArray, Note]:
        received = self._messages
        if isinstance(received, Broadcasts):
            found = received.first(self._lo, self._hi, among, top_down)
            if found is not None:
                return found
        messages = self._list()
        receivers, span = self._range(messages)
        if span.start == span.stop:
            return np.empty(0, np.int64), np.empty(0, np.int64), Note({})
        if isinstance(received, Broadcasts):
            note = received.shared(self._lo, self._hi)
        else:
            note = Note({"examined": int(span.stop - span.start)})
        nodes, keep = self._among(messages, among)
        # messages to a node come by ascending sender
        return nodes, self.src[messages.starts[receivers] - span.start][keep], note

    def local_minima(self, name: str, own: NDArray, among: Subset | None = None) -> NDArray:
        if (broadcasts := self._broadcasts()) is not None:
            least = broadcasts.minima(name, own, self._lo, self._hi, among)
            if least is not None:
                return least
        nodes, values = self.min(name, among)
        everyone = np.arange(self._hi - self._lo) if among is None else among.members
        return np.setdiff1d(everyone, nodes[values <= own[nodes]], assume_unique=True)

    def _starts(self, messages: MessageList) -> NDArray:
        """Where each receiver's messages start among this cluster's, and where the last end."""
        receivers, span = self._range(messages)
        return messages.starts[receivers.start : receivers.stop + 1] - span.start

    def reduce(
        self, how: str | Reduction, name: str, among: Subset | None = None
    ) -> tuple[NDArray, NDArray]:
        how = reduction(how, "reduction")
        broadcasts = self._broadcasts()
        if how.pull is not None and broadcasts is not None and compilable(self._dtype(name)):
            nodes, values = broadcasts.reduce(how, name, self._lo, self._hi, among)
            return nodes, values
        messages = self._list()
        span = self._range(messages)[1]
        if span.start == span.stop:
            none = self._empty(name)
            return np.empty(0, np.int64), none.astype(how.result(none.dtype))
        nodes, keep = self._among(messages, among)
        return nodes, how.reduceat(messages[name][span], self._starts(messages))[keep]

    def min(self, name: str, among: Subset | None = None) -> tuple[NDArray, NDArray]:
        return self.reduce(MIN, name, among)

    def max(self, name: str, among: Subset | None = None) -> tuple[NDArray, NDArray]:
        return self.reduce(MAX, name, among)

    def sum(self, name: str, among: Subset | None = None) -> tuple[NDArray, NDArray]:
        return self.reduce(SUM, name, among)

    def totals(self, name: str) -> NDArray:
        broadcasts = self._broadcasts()
        if broadcasts is not None and compilable(self._dtype(name)):
            return broadcasts.every(SUM, name, self._lo, self._hi)
        nodes, values = self.sum(name)
        if len(nodes) == self._hi - self._lo:
            return values
        found = np.zeros((self._hi - self._lo, *values.shape[1:]), values.dtype)
        found[nodes] = values
        return found

    def nearer(self, name: str) -> tuple[NDArray, NDArray, NDArray]:
        received = self._messages
        if isinstance(received, Broadcasts):
            if received.fate is not None:
                raise Unfit(f"{KEEPS_OFFERS}: {UNDECLARED}")
            return received.nearer(name, self._lo, self._hi)
        if received is not None:
            raise ValueError("only what was broadcast comes along edges")
        none = np.empty(0, np.int64)
        return none, np.empty(0), none

    def along(self, name: str, entries: NDArray | None = None) -> tuple[NDArray, NDArray]:
        messages = self._messages
        if not isinstance(messages, Broadcasts):
            if messages is not None:
                raise ValueError("only what was broadcast comes along edges")
            size = len(self._cluster.indices) if entries is None else len(entries)
            return np.zeros(size, bool), self._empty(name, size)
        if self._cluster.directed:
            raise ValueError(
                "on a directed graph a row's edges are not those along which values come"
            )
        first, end = messages.halo.indptr[[self._lo, self._hi]].tolist()
        return messages.along(name, slice(first, end) if entries is None else first + entries)

    @property
    def all_sent(self) -> bool:
        return isinstance(self._messages, Broadcasts) and self._messages.is_full

    def latest(self, name: str) -> Latest:
        messages = self._messages
        if not isinstance(messages, Broadcasts):
            raise ValueError("no broadcast has arrived from neighbours")
        if messages.fate is not None:
            raise Unfit(f"{READS_LATEST}: {UNDECLARED}")
        halo = messages.halo
        return Latest(halo.indptr[self._lo : self._hi + 1], halo.indices, messages.values(name))

    def edges(self, nodes: NDArray) -> NDArray[np.int64] | None:
        if not self.traced:
            return None
        cluster, messages = self._cluster, self._messages
        _, entry = expand(cluster.indptr, nodes)
        if isinstance(messages, Broadcasts) and not cluster.directed and messages.fate is None:
            slots = messages.halo.indices[messages.halo.indptr[self._lo] + entry]
            return entry[messages.sent[slots]]
        return np.intersect1d(entry, cluster.entries(self.node, self.src))
