"""The checks of a run with ``check=True``, which cost as much as the work itself.

Cheap checks, of votes, dtypes and lists of nodes, are made in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.pairs import pair_key
from dgsuite.core.engine.broadcasts import Broadcasts
from dgsuite.core.engine.inbox import ClusterInbox
from dgsuite.kernels.bsp import Broadcast, Model, State
from dgsuite.partition.arrays.reductions import Reduction, reduction
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.subset import Subset


class CheckedInbox(ClusterInbox):
    """An inbox that checks its arguments and results."""

    __slots__ = ()

    def reduce(
        self, how: str | Reduction, name: str, among: Subset | None = None
    ) -> tuple[NDArray, NDArray]:
        self._set(among)
        how = reduction(how, "reduction")
        if how.name in ("min", "max"):
            self._comparable(name)
        nodes, values = super().reduce(how, name, among)
        if how.name == "sum" and values.dtype.kind in "iu" and len(nodes):
            self._no_overflow(name, among)
        return nodes, values

    def totals(self, name: str) -> NDArray:
        totals = super().totals(name)
        if totals.dtype.kind in "iu":
            self._no_overflow(name, None)
        return totals

    def local_minima(self, name: str, own: NDArray, among: Subset | None = None) -> NDArray:
        self._set(among)
        self._comparable(name)
        if np.shape(own) != (self._hi - self._lo,) or self._dtype(name).shape:
            raise InputError(f"local_minima({name!r}, own) needs one number a node on both sides")
        return super().local_minima(name, own, among)

    def receivers(self, among: Subset | None = None) -> NDArray:
        self._set(among)
        return super().receivers(among)

    def count(self, among: Subset | None = None) -> tuple[NDArray, NDArray, NDArray]:
        self._set(among)
        return super().count(among)

    def count_down(self, counts: NDArray, floor: int = 0) -> NDArray[np.int64]:
        size = self._hi - self._lo
        if counts.shape != (size,) or counts.dtype.kind != "i":
            raise InputError(
                f"count_down takes a signed integer for each of {size} nodes, got {counts.dtype} of "
                f"shape {counts.shape}"
            )
        return super().count_down(counts, floor)

    def first(self, among: Subset | None = None, *, top_down: bool = False) -> Any:
        self._set(among)
        return super().first(among, top_down=top_down)

    def along(self, name: str, entries: NDArray | None = None) -> tuple[NDArray, NDArray]:
        size = len(self._cluster.indices)
        if (
            entries is not None
            and len(entries)
            and (np.min(entries) < 0 or np.max(entries) >= size)
        ):
            raise InputError(f"along({name!r}) names entries out of range; there are {size}")
        return super().along(name, entries)

    def nearer(self, name: str) -> Any:
        if isinstance(self._messages, Broadcasts):
            self._comparable(name)
        return super().nearer(name)

    def _set(self, among: Subset | None) -> None:
        """See that a set is one of this cluster's nodes, and counts them right."""
        if among is None:
            return
        size = self._hi - self._lo
        if among.mask.shape != (size,) or among.mask.dtype != bool:
            raise InputError(
                f"among has a mask of {among.mask.dtype}, shape {among.mask.shape}, for {size} nodes"
            )
        if among.count != np.count_nonzero(among.mask):
            raise InputError(
                f"among counts {among.count} nodes, and its mask holds "
                f"{np.count_nonzero(among.mask)}; change it by Subset.remove alone"
            )

    def _comparable(self, name: str) -> None:
        """See that no value is NaN: which of several values is less would depend on their order."""
        messages = self._messages
        values = (
            messages.values(name)[messages.sent] if isinstance(messages, Broadcasts) else self[name]
        )
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise InputError(f"field {name!r} holds NaN, which cannot be compared")

    def _no_overflow(self, name: str, among: Subset | None) -> None:
        """See that sums of integers fit into 64 bits."""
        values = self[name]
        starts = self._starts(self._list())
        rough = np.abs(np.add.reduceat(values.astype(np.float64), starts[:-1]))
        if (rough >= 2.0 ** (64 if values.dtype.kind == "u" else 63)).any():
            raise InputError(f"sums of field {name!r} do not fit into 64 bits")


def unicasts_of(model: Model, cluster: Cluster, src: NDArray, dst: NDArray) -> None:
    """See that messages from local indices obey the model of their kernel."""
    if model.sends == "edges":
        away = np.flatnonzero((cluster.entries(src, dst) < 0) & (cluster.ids[src] != dst))
        if len(away):
            a, b = cluster.ids[src[away[0]]], dst[away[0]]
            what = f"sends from node {a} to node {b}, which is no neighbour"
            raise InputError(model.excludes(what))
    if model.messages is not None:
        pairs, times = np.unique(pair_key(src, dst, cluster.n), return_counts=True)
        if times.max(initial=0) > model.messages:
            node, b = divmod(int(pairs[times.argmax()]), cluster.n)
            what = f"sends {times.max()} messages from node {cluster.ids[node]} to node {b}"
            raise InputError(model.excludes(what))


def counts_of(model: Model, cluster: Cluster, nodes: NDArray, send: Broadcast) -> None:
    """See that what a broadcast counts is possible, and obeys the model of its kernel."""
    most = cluster.degree[nodes], cluster.remote_degree[nodes]
    if send.repeat is not None:
        times = np.asarray(send.repeat)
        if (times < 0).any():
            raise InputError("broadcasts a negative number of times")
        if model.messages is not None and times.max(initial=0) > model.messages:
            node = cluster.ids[nodes[times.argmax()]]
            raise InputError(model.excludes(f"broadcasts {times.max()} times from node {node}"))
    if send.to is not None:
        counted = send.to
    elif send.links is not None:
        counted = send.links.degree[nodes], send.links.remote[nodes]
    else:
        return
    for some, all_ in zip(counted, most, strict=True):
        if np.shape(some) != nodes.shape or (some < 0).any() or (some > all_).any():
            raise InputError(
                "broadcasts to a number of neighbours that is negative, or more than there are"
            )


def apart(states: Sequence[State]) -> None:
    """See that no two clusters' states share an array that can be written."""
    spans = sorted(
        (*byte_bounds(value), k)
        for k, state in enumerate(states)
        for value in vars(state).values()
        if isinstance(value, np.ndarray) and value.size and value.flags.writeable
    )
    end, owner = 0, -1
    for low, high, k in spans:
        if low < end and k != owner:
            raise InputError("the states of two clusters share an array; each needs its own")
        if high > end:
            end, owner = high, k
