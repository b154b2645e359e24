"""Lightest edges of nodes: weights as integers, and a total order of edges of equal weight."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernels.inbox import Inbox
from partition.cluster import Cluster

NONE = np.iinfo(np.int64).max
"""Key of no edge: larger than any other."""


class Lightest(Protocol):
    """A state that holds, per node, the lightest edge known: its key and its ends, as node ids."""

    row: NDArray[np.int64]
    key: NDArray[np.int64]
    leaving: NDArray[np.int64]
    best: NDArray[np.int64]
    inner: NDArray[np.int32]
    outer: NDArray[np.int32]


def ordered(weights: NDArray) -> NDArray[np.int64]:
    """Weights as integers in the same order."""
    if weights.dtype.kind == "u":
        return (weights.astype(np.uint64) ^ np.uint64(1 << 63)).view(np.int64)
    if weights.dtype.kind != "f":
        return weights.astype(np.int64)
    bits = (weights.astype(np.float64) + 0.0).view(np.int64)  # -0.0 is 0.0
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)


def name_edges(c: Cluster, inner: NDArray, outer: NDArray) -> NDArray[np.int64]:
    """A number for each of some edges, ascending by the smaller of its nodes, then the larger."""
    return np.minimum(inner, outer).astype(np.int64) * c.n + np.maximum(inner, outer)


def lightest_of_rows(c: Cluster, s: Lightest) -> None:
    """Find the lightest of each node's edges that leave its fragment."""
    row, key = s.row[s.leaving], s.key[s.leaving]
    s.best[:] = NONE
    heads = np.flatnonzero(np.diff(row, prepend=-1))
    if len(heads):
        s.best[row[heads]] = np.minimum.reduceat(key, heads)
    # an edge's name ascends along a row, and of several values for one place the last one stays
    chosen = np.flatnonzero(key == s.best[row])[::-1]
    s.inner[row[chosen]] = c.ids[row[chosen]]
    s.outer[row[chosen]] = c.indices[s.leaving[chosen]]


def take_lighter(c: Cluster, s: Lightest, inbox: Inbox) -> NDArray:
    """Take edges from messages with `key`, `inner` and `outer` where they are lighter than a node's own.

    Returns the nodes that got messages.
    """
    nodes, key = inbox.min("key")
    lighter = key < s.best[nodes]
    s.best[nodes[lighter]] = key[lighter]
    s.inner[nodes[lighter]] = -1
    node, key = inbox.node, inbox["key"]
    least = np.flatnonzero((key == s.best[node]) & (key < NONE))
    node, inner, outer = node[least], inbox["inner"][least], inbox["outer"][least]
    # of all that weigh the least, the first one by name is assigned last
    mine = s.inner[node]
    first = (mine < 0) | (name_edges(c, inner, outer) < name_edges(c, mine, s.outer[node]))
    node, inner, outer = node[first], inner[first], outer[first]
    order = np.argsort(-name_edges(c, inner, outer), kind="stable")
    s.inner[node[order]] = inner[order]
    s.outer[node[order]] = outer[order]
    return nodes
