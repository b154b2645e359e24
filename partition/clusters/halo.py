"""The halo: which values of other sites the nodes of a site read, and the reverse.

A *site* is a run of clusters that live together (in a worker, in a task, in the serial process). Its
own nodes and its *ghosts*, the neighbours that live elsewhere, have slots, in the order of their
positions; an own node's *row* is its slot less the first own one. A value that a node broadcasts is
stored once, in the node's slot, and travels once to each site that has it as a ghost. Nothing is
negotiated: an edge is known at both ends, so both sites derive the same lists in the same order.

A site that reads many nodes of another has slots for all of them. Where that leaves none out, as on
most graphs in a few blocks, a node's slot is its id, and the clusters' adjacency is used as it is. When all
nodes send a value, only those that are read are sent.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays import segments
from dgsuite.partition.arrays.loops import loops
from dgsuite.partition.arrays.mapped import concatenated, empty
from dgsuite.partition.arrays.tiles import Tiles, cut_tiles
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction.build import id_dtype

ALL_SLOTS_FROM = 0.25
"""A site that reads more than this part of another's nodes has slots for them all."""

READ_ALONE_UP_TO = 0.75
"""When all nodes send a value, a site that reads at most this part of another's gets only those values."""


def reads_all(count: Any, size: Any) -> Any:
    """Whether a site that reads `count` of the `size` nodes of another has slots for all; elementwise."""
    return count > ALL_SLOTS_FROM * size


def reads_few(count: Any, size: Any) -> Any:
    """Whether only values of the `count` nodes that are read are sent when all `size` send; elementwise."""
    return count <= READ_ALONE_UP_TO * size


class Out(NamedTuple):
    """Edges seen from some senders, all own nodes or all ghosts.

    Those of the sender in slot s are entries ``indptr[s - shift]`` to ``indptr[s - shift + 1]`` of
    `indices`; an entry less `base` is the row that is reached, if there is such a row.
    """

    indptr: NDArray
    indices: NDArray
    shift: int
    base: int


@dataclass
class Halo:
    """Slots of one site and its exchange lists.

    Attributes
    ----------
    own
        Number of nodes held.
    first
        Slot of the first of them.
    slots
        Number of slots.
    starts
        First row of each cluster, shape (clusters + 1,).
    ids
        Node id in each slot; None where it is the slot.
    indptr, indices
        Neighbours of the own nodes, in slots (rows ascend by node id); of a directed graph those with an edge
        to the node.
    out_indptr, out_indices
        The same for the edges that leave the own nodes; the same arrays, unless the graph is directed.
    back_indptr, back_indices
        Edges from outside, seen from there: rows that each slot that is not an own node's reaches.
    ahead_indptr, ahead_indices
        The same for edges to outside; the same arrays, unless the graph is directed.
    away, near
        How many edges of each own node lead elsewhere, and how many come from there.
    send
        For each peer site: own slots it reads, ascending.
    land
        For each peer site: the slots where its values land, in the same order.
    needed, wanted
        For peer sites with which all nodes' values are exchanged, though few are read (see `reads_few`): as
        `send` and `land`, but only the slots that are read.
    in_weights, leaving_weights
        Weights of the edges of each cluster, of those that come in and of those that leave; None without.
    tiles
        The rows once more, for sums over all of their entries: of each cluster, or of all. None before
        `cut_tiles` has been called.
    """

    own: int
    first: int
    slots: int
    starts: NDArray[np.int64]
    ids: NDArray | None
    indptr: NDArray
    indices: NDArray
    out_indptr: NDArray
    out_indices: NDArray
    back_indptr: NDArray
    back_indices: NDArray
    ahead_indptr: NDArray
    ahead_indices: NDArray
    away: NDArray[np.int32]
    near: NDArray[np.int32]
    send: dict[int, NDArray | slice]
    land: dict[int, slice]
    needed: dict[int, NDArray]
    wanted: dict[int, NDArray]
    in_weights: Sequence[NDArray | None]
    leaving_weights: Sequence[NDArray | None]
    tiles: list[Tiles] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        # some are the clusters' own, which are read-only: compiled loops take all alike
        segments.lend_all(self)

    @cached_property
    def turned(self) -> Halo:
        """The halo of the graph with its edges reversed; slots and exchange lists are the same."""
        return replace(
            self,
            indptr=self.out_indptr,
            indices=self.out_indices,
            out_indptr=self.indptr,
            out_indices=self.indices,
            back_indptr=self.ahead_indptr,
            back_indices=self.ahead_indices,
            ahead_indptr=self.back_indptr,
            ahead_indices=self.back_indices,
            away=self.near,
            near=self.away,
            in_weights=self.leaving_weights,
            leaving_weights=self.in_weights,
        )

    @cached_property
    def names(self) -> NDArray:
        """`ids` in as few bytes as they need; empty where a slot is the id."""
        kind = self.indices.dtype
        return np.empty(0, kind) if self.ids is None else self.ids.astype(kind)

    @cached_property
    def heads(self) -> NDArray:
        """First slots of each row, padded with `slots`: shape (own, `_compiled.pulling.HEADS`)."""
        return loops().heads(self.indptr, self.indices, self.slots)

    @cached_property
    def weights(self) -> NDArray:
        """Weight of each entry of `indices`; none where edges have no weights."""
        return segments.lent(_numbers(self.in_weights))

    @cached_property
    def out_weights(self) -> NDArray:
        """The same of `out_indices`."""
        same = self.out_indices is self.indices
        return self.weights if same else segments.lent(_numbers(self.leaving_weights))

    @cached_property
    def back_weights(self) -> NDArray:
        """The same of `back_indices`."""
        if not len(self.weights):
            return self.weights
        last = self.first + self.own
        indices = self.indices
        entry = np.flatnonzero((indices < self.first) | (indices >= last))
        return segments.lent(self.weights[entry[segments.group(indices[entry], self.slots)[2]]])

    @cached_property
    def is_read(self) -> NDArray[np.bool_]:
        """By slot, whether it is that of a node of another site which an own node reads."""
        read = np.diff(self.back_indptr) > 0
        return np.insert(read, self.first, np.zeros(self.own, bool))

    def cut_tiles(self) -> None:
        """Make the tiles, unless they are there."""
        if self.tiles is None:
            rows = self.indptr, self.indices
            self.tiles = cut_tiles(*rows, self.slots, self.starts, self.ids)

    def named(self, slots: NDArray) -> NDArray:
        """Node ids in some slots."""
        return slots if self.ids is None else self.ids[slots]

    def slot(self, node: int, partition: Partition) -> int | None:
        """Where a node stands, if the site holds it or has it as a ghost."""
        if self.ids is None:
            return node

        def place(node: int) -> int:
            return int(partition.position(np.array([node]))[0])

        at = bisect_left(self.ids, place(node), key=place)
        return at if at < self.slots and self.ids[at] == node else None

    def told(self, peer: int) -> int:
        """How many own slots have their values sent to a peer site."""
        heard = self.send[peer]
        return self.own if isinstance(heard, slice) else len(heard)

    @property
    def sends_all(self) -> bool:
        """Whether each peer site that reads some own slots has slots for them all."""
        return all(self.told(peer) == self.own for peer in self.send)

    @cached_property
    def leaving(self) -> dict[int, int]:
        """For each peer site, how many edges lead there."""
        edges = {}
        for peer, span in self.land.items():
            shift = 0 if span.start < self.first else self.own
            begin, end = self.ahead_indptr[[span.start - shift, span.stop - shift]].tolist()
            edges[peer] = end - begin
        return edges

    @property
    def edges(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """All edges by sender: those that leave own nodes, and those from outside."""
        return self.out_indptr, self.out_indices, self.back_indptr, self.back_indices

    def out(self, senders: NDArray) -> Out:
        """What senders reach; at least one, and all own nodes or all ghosts on one side of them."""
        row = int(senders[0]) - self.first
        return self._outs[0 if row < 0 else 1 if row < self.own else 2]

    def weights_out(self, senders: NDArray) -> NDArray:
        """The weights of the edges of `out`; none where edges have no weights."""
        own = 0 <= int(senders[0]) - self.first < self.own
        return self.out_weights if own else self.back_weights

    @cached_property
    def _outs(self) -> tuple[Out, Out, Out]:
        """What the ghosts before the own nodes, these, and the ghosts after them reach."""
        back = self.back_indptr, self.back_indices
        own = Out(self.out_indptr, self.out_indices, self.first, self.first)
        return Out(*back, 0, 0), own, Out(*back, self.own, 0)


def make_halo(
    clusters: Sequence[Cluster], site_bounds: NDArray, me: int, every: bool = False
) -> Halo:
    """Work out the halo of a site.

    Parameters
    ----------
    clusters
        The site's clusters, ascending by index; of a directed graph with the edges that come in.
    site_bounds
        Shape (sites + 1,): site s holds clusters ``site_bounds[s]`` to ``site_bounds[s + 1]``.
    me
        Which site this is.
    every
        Whether to have slots for all nodes, read or not.
    """
    for c in clusters:
        c.check_degrees()
    partition = clusters[0].partition
    bounds = partition.offsets[np.asarray(site_bounds)]
    peers = [peer for peer in range(len(bounds) - 1) if peer != me]
    lo, hi = int(bounds[me]), int(bounds[me + 1])
    own = hi - lo
    starts = np.concatenate([[0], np.cumsum([c.size for c in clusters])]).astype(np.int64)
    # edges that leave, and on a directed graph those that come in
    ways = [_stacked([(c.indptr, c.indices) for c in clusters])]
    if clusters[0].directed:
        ways.append(_stacked([c.senders for c in clusters]))

    held = np.zeros(partition.n, bool)
    if peers:
        for _, indices in ways:
            segments.mark(held, indices)
        if partition.order is not None:
            held = held[partition.node(np.arange(partition.n))]
    held[lo:hi] = True
    reads: dict[int, NDArray] = {}
    for peer in peers:
        block = held[bounds[peer] : bounds[peer + 1]]
        if every:
            block[:] = True
        elif reads_all(count := np.count_nonzero(block), len(block)):
            if reads_few(count, len(block)):
                reads[peer] = np.flatnonzero(block)
            block[:] = True
    ids = None
    if partition.order is not None or not held.all():
        ids = partition.node(np.flatnonzero(held))
        slot = np.empty(partition.n, ways[0][1].dtype)
        slot[ids] = np.arange(len(ids))
        ways = [(indptr, segments.look_up(slot, indices)) for indptr, indices in ways]
    slots = partition.n if ids is None else len(ids)
    before = np.append(0, np.cumsum([np.count_nonzero(held[a:b]) for a, b in pairwise(bounds)]))
    first = int(before[me])
    outer = [segments.transpose_outside(*way, first, first + own, slots) for way in ways]

    send: dict[int, NDArray | slice] = {}
    land: dict[int, slice] = {}
    needed: dict[int, NDArray] = {}
    kind = ways[0][1].dtype
    for peer in peers:
        low, high = int(before[peer]), int(before[peer + 1])
        shift = own if peer > me else 0
        read = np.zeros(own, bool)
        for indptr, indices in outer:
            segments.mark(read, indices[indptr[low - shift] : indptr[high - shift]])
        count = np.count_nonzero(read)
        if count:
            whole = every or reads_all(count, own)
            send[peer] = slice(first, first + own) if whole else first + np.flatnonzero(read)
            if whole and not every and reads_few(count, own):
                needed[peer] = (first + np.flatnonzero(read)).astype(kind)
            land[peer] = slice(low, high)
    one = len(clusters) == 1
    away = clusters[0].remote_degree if one else segments.outside(*ways[0], first, first + own)
    near = away if len(ways) == 1 else segments.outside(*ways[1], first, first + own)
    wanted = {peer: (int(before[peer]) + found).astype(kind) for peer, found in reads.items()}
    size = own, first, slots, starts, ids
    edges = *ways[-1], *ways[0], *outer[-1], *outer[0], away, near
    weights = [c.sender_weights for c in clusters], [c.weights for c in clusters]
    return Halo(*size, *edges, send, land, needed, wanted, *weights)


def _numbers(parts: Sequence[NDArray | None]) -> NDArray:
    """The weights of all clusters, for compiled loops: whole numbers in as few bytes as they need."""
    joined = concatenated([np.empty(0) if part is None else part for part in parts])
    kind = joined.dtype
    if kind.kind in "iu" and len(joined) and joined.min() >= 0:
        kind = np.min_scalar_type(joined.max())
    elif kind == np.float16:
        kind = np.dtype(np.float64)
    if kind == joined.dtype:
        return joined
    found = empty(len(joined), kind, joined)
    found[:] = joined
    return found


def _stacked(rows: Sequence[tuple[NDArray, NDArray]]) -> tuple[NDArray, NDArray]:
    """Rows of several matrices in CSR as one; those of a single one are not copied."""
    if len(rows) == 1:
        return rows[0]
    ends = np.concatenate([[0], np.cumsum([len(indices) for _, indices in rows])])
    pointers = [indptr[1:] + e for (indptr, _), e in zip(rows, ends, strict=False)]
    joined: NDArray = np.concatenate([rows[0][0][:1], *pointers])
    return joined.astype(id_dtype(int(ends[-1]))), concatenated([indices for _, indices in rows])
