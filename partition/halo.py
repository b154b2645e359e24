"""The halo: which values of other sites the nodes of a site read, and the reverse.

A *site* is a run of clusters that live together (in a worker, in a task, in the serial process).
Its nodes, cluster by cluster, have the slots 0 to ``own - 1``; behind them come its *ghosts*, the
neighbours that live elsewhere, by position. A value that a node broadcasts is stored once, in the
node's slot, and travels once to each site that has it as a ghost. Nothing is negotiated: an edge is
known at both ends, so both sites derive the same lists in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from partition.cluster import Cluster
from partition.segments import look_up, mark, transpose

HEADS = 4
"""Slots of a row that are kept beside those of other rows."""


@dataclass
class Halo:
    """Slots of one site and its exchange lists.

    Attributes
    ----------
    own
        Number of nodes held.
    starts
        First slot of each cluster, shape (clusters + 1,).
    ids
        Node id in each slot, ghosts included.
    home
        Cluster of each slot; -1 for ghosts.
    indptr, indices
        Adjacency of the own nodes, in slots (rows ascend by node id).
    push_indptr, push_indices
        The same edges seen from the sender: own slots that each slot, ghosts included, reaches.
    send
        For each peer site: own slots it reads, ascending by position.
    land
        For each peer site: the slots where its values land, in the same order.
    rank
        For peers that read a large share of the own nodes: each node's place in the list, or -1.
    """

    own: int
    starts: NDArray[np.int64]
    ids: NDArray
    home: NDArray[np.int32]
    indptr: NDArray
    indices: NDArray
    push_indptr: NDArray
    push_indices: NDArray
    send: dict[int, NDArray]
    land: dict[int, slice]
    rank: dict[int, NDArray[np.int32]]

    @cached_property
    def names(self) -> NDArray:
        """`ids` in as few bytes as they need."""
        return self.ids.astype(self.indices.dtype)

    @cached_property
    def heads(self) -> NDArray:
        """First slots of each row, shape (own, HEADS), filled up with one that nobody has."""
        from partition import _compiled

        return _compiled.heads(self.indptr, self.indices, HEADS, len(self.ids))


def make_halo(clusters: Sequence[Cluster], site_bounds: NDArray, me: int) -> Halo:
    """Work out the halo of a site.

    Parameters
    ----------
    clusters
        The site's clusters, ascending by index; the graph must be undirected.
    site_bounds
        Shape (sites + 1,): site s holds clusters ``site_bounds[s]`` to ``site_bounds[s + 1]``.
    me
        Which site this is.
    """
    partition = clusters[0].partition
    bounds = partition.offsets[np.asarray(site_bounds)]
    lo, hi = int(bounds[me]), int(bounds[me + 1])
    own = hi - lo
    starts = np.concatenate([[0], np.cumsum([c.size for c in clusters])]).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum([len(c.indices) for c in clusters])])
    if len(clusters) == 1:
        indptr, columns = clusters[0].indptr, clusters[0].indices
    else:
        pointers = [c.indptr[1:] + e for c, e in zip(clusters, ends, strict=False)]
        indptr = np.concatenate([clusters[0].indptr[:1], *pointers])
        columns = np.concatenate([c.indices for c in clusters])
    if own == partition.n and partition.order is None:
        ghosts = np.empty(0, np.int64)
        indices = columns
    else:
        read = np.zeros(partition.n, bool)
        mark(read, columns)
        seen = read[partition.node(np.arange(partition.n))]
        seen[lo:hi] = False
        ghosts = np.flatnonzero(seen)
        slot = np.empty(partition.n, columns.dtype)
        slot[partition.node(np.arange(lo, hi))] = np.arange(own)
        slot[partition.node(ghosts)] = np.arange(own, own + len(ghosts))
        indices = look_up(slot, columns)
    slots = own + len(ghosts)
    if len(ghosts):
        push_indptr, push_indices = transpose(indptr, indices, slots)
    else:
        push_indptr, push_indices = indptr, indices

    send: dict[int, NDArray] = {}
    land: dict[int, slice] = {}
    rank: dict[int, NDArray[np.int32]] = {}
    cuts = own + np.searchsorted(ghosts, bounds)
    for peer in range(len(bounds) - 1):
        first, last = int(cuts[peer]), int(cuts[peer + 1])
        if peer != me and first < last:
            read = np.zeros(own, bool)
            mark(read, push_indices[push_indptr[first] : push_indptr[last]])
            send[peer] = np.flatnonzero(read)
            land[peer] = slice(first, last)
            if 4 * len(send[peer]) > own:
                rank[peer] = np.full(own, -1, np.int32)
                rank[peer][send[peer]] = np.arange(len(send[peer]))
    ids = partition.node(np.concatenate([np.arange(lo, hi), ghosts]))
    home = np.full(slots, -1, np.int32)
    home[:own] = np.repeat([c.index for c in clusters], [c.size for c in clusters])
    return Halo(
        own, starts, ids, home, indptr, indices, push_indptr, push_indices, send, land, rank
    )
