"""New edges for clusters that are there: what is new is put beside a cluster's rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.grown import Added, GrownCluster, Growth, growth_of
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction.build import id_dtype, keys_of
from dgsuite.partition.sources.duplicates import Tally, merged, ordered
from dgsuite.partition.sources.piece import Piece

Edge = tuple[int, int]


class Given(NamedTuple):
    """What a graph is to get.

    Attributes
    ----------
    piece
        New edges: both ends as node ids, and weights or None.
    n
        Number of nodes then.
    labels
        Labels of the new nodes, where the graph has labels and gets nodes, else None.
    """

    piece: Piece
    n: int
    labels: NDArray | None


class Fresh(NamedTuple):
    """Entries of the adjacency that a cluster is to get, ascending by row, then column.

    Attributes
    ----------
    rows
        Index of the node in the cluster.
    columns
        Node id of the other end.
    weights
        Weight of each, or None.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: NDArray | None


class Grown(NamedTuple):
    """What became of a cluster.

    Attributes
    ----------
    entries
        Number of its entries.
    nodes, ends
        Node ids of both ends of the entries that are new, or have another weight.
    weights, before
        Of these entries, now and before; new ones have had the same. 1 where there are none.
    wrong
        The first edge that breaks the rule for repeated edges, or None.
    """

    entries: int
    nodes: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray
    before: NDArray
    wrong: Edge | None = None


def extended(partition: Partition, n: int) -> Partition:
    """A partition of n nodes: new ones go to the last block, or of a map of nodes to all clusters in turn."""
    more = n - partition.n
    if not more:
        return partition
    if partition.order is None:
        return Partition(np.append(partition.offsets[:-1], n))
    owner = np.arange(more) * partition.clusters // more
    order = np.insert(partition.order, partition.offsets[1:][owner], np.arange(partition.n, n))
    new = np.bincount(owner, minlength=partition.clusters)
    return Partition(partition.offsets + np.append(0, np.cumsum(new)), order)


def divided(
    piece: Piece, partition: Partition, directed: bool, rule: str
) -> tuple[list[Fresh | None], Tally]:
    """New edges as entries of each cluster, None where there are none, and what was counted of them."""
    n = partition.n
    src, dst, weights = piece
    kept = src != dst
    if weights is not None:
        weights = weights[kept] if directed else np.repeat(weights[kept], 2)
    keys = keys_of(src, dst, partition, directed)
    tally = Tally(len(keys), len(kept) - int(kept.sum()))
    keys, weights, wrong = merged(*ordered(keys, weights, rule), rule)
    if len(wrong):
        row, column = divmod(int(wrong[0]), n)
        tally = tally._replace(wrong=(int(partition.node(np.array([row]))[0]), column))
    rows, columns = np.divmod(keys, n)
    cuts = np.searchsorted(rows, partition.offsets)
    return [
        Fresh(rows[a:b] - first, columns[a:b], None if weights is None else weights[a:b])
        if a < b
        else None
        for (a, b), first in zip(pairwise(cuts.tolist()), partition.offsets, strict=False)
    ], tally


def grown(
    c: Cluster, partition: Partition, fresh: Fresh | None, rule: str, dtype: DTypeLike | None
) -> tuple[Cluster, Grown]:
    """A cluster with more nodes or edges. Its rows are woven when they are first read; arrays that stay the
    same are shared.

    Parameters
    ----------
    partition
        Of the graph that has grown; the cluster's new nodes follow those that it had.
    rule
        By which an edge that is named again is merged with the one that is there.
    dtype
        Of the weights.

    Raises
    ------
    InputError
        New nodes would have no identifier.
    """
    first, end = partition.offsets[c.index : c.index + 2].tolist()
    size = end - first
    identify = c.identify
    if isinstance(identify, np.ndarray) and size > c.size:
        if not np.array_equal(identify, partition.nodes(c.index)[: c.size]):
            raise InputError(
                "the nodes have identifiers of their own (uid), so new nodes would have none; make the graph "
                "anew with all of its nodes"
            )
        identify = None
    growth = growth_of(c)
    none = np.empty(0, np.int64)
    about = Grown(growth.entries, none, none, *np.empty((2, 0), dtype))
    wide = id_dtype(partition.n)
    base, added = parts = growth.parts
    if base.weights is not None and added.weights is not None and base.weights.dtype != dtype:
        base = replace(base, weights=base.weights.astype(dtype), cache={})
        added = added._replace(weights=added.weights.astype(dtype))
    if fresh is not None:
        nodes = partition.node(first + fresh.rows)
        base, added, about = _added(base, added, fresh, nodes, partition.n, rule)
    same = base is parts[0] and added is parts[1]
    if not same or size != growth.size or growth.dtype != wide:
        growth = Growth(base, added, size, wide)
    of_loops = None if c.loop_weights is None else c.loop_weights.astype(dtype, copy=False)
    changes = {
        "partition": partition,
        "identify": identify,
        "block": None,
        "loop_weights": of_loops,
    }
    made = GrownCluster.of(c, growth, **changes)
    return made, about


def _added(
    base: Cluster, added: Added, fresh: Fresh, nodes: NDArray, n: int, rule: str
) -> tuple[Cluster, Added, Grown]:
    """Rows, what they are to get, and what became of new entries, of whose nodes the ids are given."""
    old = fresh.rows < base.size
    at, in_base = np.full(len(old), len(base.indices)), np.zeros(len(old), bool)
    at[old], in_base[old] = base.places(fresh.rows[old], fresh.columns[old])
    among, in_added = added.places(fresh.rows, fresh.columns, n)
    there = in_base | in_added
    changed = ~there
    wrong = None
    before = after = np.ones(len(old)) if fresh.weights is None else fresh.weights
    if base.weights is None or added.weights is None or fresh.weights is None:
        if rule == "error" and there.any():
            wrong = _edge(nodes, fresh, np.flatnonzero(there))
    elif there.any():
        before = fresh.weights.copy()
        before[in_base] = base.weights[at[in_base]]
        before[in_added] = added.weights[among[in_added]]
        after = before.copy()
        after[there], bad = _again(before[there], fresh.weights[there], rule)
        wrong = _edge(nodes, fresh, np.flatnonzero(there)[bad])
        other = after != before
        changed |= other
        if (some := other & in_base).any():
            base = replace(base, weights=_put(base.weights, at[some], after[some]), cache={})
        if (some := other & in_added).any():
            added = added._replace(weights=_put(added.weights, among[some], after[some]))
    if not there.all():
        more = Added(
            fresh.rows[~there],
            fresh.columns[~there],
            at[~there],
            None if fresh.weights is None else fresh.weights[~there],
        )
        added = added.and_also(more, among[~there])
    entries = len(base.indices) + len(added.rows)
    ends, weights = (nodes[changed], fresh.columns[changed]), (after[changed], before[changed])
    return base, added, Grown(entries, *ends, *weights, wrong)


def _put(values: NDArray, at: NDArray, some: NDArray) -> NDArray:
    """A copy with some values at given places."""
    found = values.copy()
    found[at] = some
    return found


def _edge(nodes: NDArray, fresh: Fresh, some: NDArray) -> Edge | None:
    """The first of some entries, as an edge."""
    return (int(nodes[some[0]]), int(fresh.columns[some[0]])) if len(some) else None


def _again(before: NDArray, more: NDArray, rule: str) -> tuple[NDArray, NDArray]:
    """Weights of edges that are named again, by the rule, and which of them break it."""
    keys, both = np.tile(np.arange(len(before)), 2), np.concatenate([before, more])
    _, weights, wrong = merged(*ordered(keys, both, rule), rule)
    assert weights is not None
    return (before, np.unique(wrong)) if rule == "error" else (weights, wrong)
