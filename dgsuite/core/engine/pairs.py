"""What a run counts besides totals: messages between pairs of clusters, and bits along edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.kernels.bsp import Broadcast, Kernel
from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.clusters.cluster import Cluster

PAIR = np.dtype([("source", "i4"), ("destination", "i4"), ("messages", "i8"), ("bytes", "i8")])
"""Messages and bytes of payload from one cluster to another."""

CHUNKS = 64
"""Additions after which equal pairs are added up."""


class Pairs:
    """Messages and bytes of payload from cluster to cluster, in one phase.

    Memory grows with the pairs that send, not with the square of the clusters.

    Parameters
    ----------
    clusters
        How many clusters the run has.
    """

    __slots__ = ("_chunks", "clusters")

    def __init__(self, clusters: int) -> None:
        self.clusters = clusters
        self._chunks: list[NDArray[np.int64]] = []

    def add(self, source: ArrayLike, to: NDArray, messages: ArrayLike, nbytes: ArrayLike) -> None:
        """Count what some clusters send to others.

        Parameters
        ----------
        source, to
            By item: the cluster that sends it, and the one that gets it.
        messages, nbytes
            How many messages each item stands for, and how many bytes these have together; one number for
            all items, or one each.
        """
        key = np.multiply(source, self.clusters, dtype=np.int64) + to
        self._chunks.append(_summed(key, np.asarray(messages), np.asarray(nbytes)))
        if len(self._chunks) > CHUNKS:
            self._compact()

    def merge(self, other: Pairs) -> None:
        """Add what another site, or another time, counted."""
        self._chunks += other._chunks

    def table(self) -> NDArray[Any]:
        """A row of `PAIR` for each pair of clusters with messages, by source, then destination."""
        self._compact()
        key, messages, nbytes = self._chunks[0] if self._chunks else np.empty((3, 0), np.int64)
        rows = np.empty(len(key), PAIR)
        rows["source"], rows["destination"] = np.divmod(key, self.clusters)
        rows["messages"], rows["bytes"] = messages, nbytes
        return rows[messages > 0]

    def _compact(self) -> None:
        """Add up equal pairs."""
        if len(self._chunks) > 1:
            key, messages, nbytes = np.concatenate(self._chunks, axis=1)
            self._chunks = [_summed(key, messages, nbytes)]


def _summed(key: NDArray, messages: NDArray, nbytes: NDArray) -> NDArray[np.int64]:
    """Distinct keys, ascending, and the sums of their messages and bytes, as three rows."""
    low, high = (int(key.min()), int(key.max())) if len(key) else (0, -1)
    if high - low < 4 * len(key):  # sorting takes longer
        counts = np.bincount(key - low)
        unique = np.flatnonzero(counts)
        which, count = (np.cumsum(counts > 0) - 1)[key - low], counts[unique]
        unique += low
    else:
        unique, which, count = np.unique(key, return_inverse=True, return_counts=True)
    rows = np.zeros((3, len(unique)), np.int64)
    rows[0] = unique
    for row, values in zip(rows[1:], (messages, nbytes), strict=True):
        if values.ndim:
            np.add.at(row, which, values)
        else:
            row[:] = count * values
    return rows


def reached(cluster: Cluster, nodes: NDArray, send: Broadcast) -> tuple[NDArray, NDArray | int]:
    """What a broadcast sends along which edges.

    Parameters
    ----------
    nodes
        Its senders, as local indices.

    Returns
    -------
    entry
        Entries of the cluster's adjacency that messages go along; of `Cluster.senders`, if they go backwards.
    times
        Messages along each; 1 for one along all.
    """
    if send.edges is not None:
        return send.edges() if callable(send.edges) else send.edges, 1
    at, entry = expand(cluster.senders[0] if send.backwards else cluster.indptr, nodes)
    if send.links is not None and send.links.gone is not None:
        live = ~send.links.gone[entry]
        at, entry = at[live], entry[live]
    return entry, 1 if send.repeat is None else np.asarray(send.repeat, np.int64)[at]


CARRIED = np.dtype([("bits", "i8"), ("edges", "i8")])
"""How many edges carry so many bits in a direction, in one phase."""


class EdgeBits:
    """How many edges carry how many bits, in one phase."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[int, int] = {}

    def add(self, bits: ArrayLike, edges: ArrayLike = 1) -> None:
        """Count edges.

        Parameters
        ----------
        bits
            By item: the bits that each of its edges carries in a direction.
        edges
            How many edges each item stands for.
        """
        each, of = np.unique(bits, return_inverse=True)
        counts = np.zeros(len(each), np.int64)
        np.add.at(counts, of, edges)
        for size, count in zip(each.tolist(), counts.tolist(), strict=True):
            if count:
                self._found[size] = self._found.get(size, 0) + count

    def merge(self, other: EdgeBits) -> None:
        """Add what another site counted."""
        for size, count in other._found.items():
            self._found[size] = self._found.get(size, 0) + count

    def table(self) -> NDArray[Any]:
        """A row of `CARRIED` for each number of bits, ascending."""
        return np.array(sorted(self._found.items()), CARRIED)


class Widths:
    """Bits of a kernel's messages on a graph of n nodes, and how many an edge may carry.

    Parameters
    ----------
    congest
        How many times ceil(log2 n) bits an edge may carry in a phase.
    """

    def __init__(self, kernel: Kernel, n: int, congest: float) -> None:
        self.bits = kernel.bits(n)
        self.congest = congest
        self.most = congest * max(n - 1, 1).bit_length()

    def of(self, fields: Iterable[str]) -> int:
        """Bits of a message, or of an item of a list; what has no fields is one bit."""
        return max(sum(self.bits[name] for name in fields), 1)

    def widest(self, fields: Mapping[str, Any]) -> str:
        """The field of a message that takes most bits, described."""
        if not fields:
            return "without fields"
        name = max(fields, key=self.bits.__getitem__)
        return f"of which {self.bits[name]} bits each are field {name!r}"
