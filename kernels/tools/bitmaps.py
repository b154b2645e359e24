"""Sets of nodes as bitmaps: a row of words per set, with a bit for each node of the graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WORD = 64
"""Nodes per word."""


def words(n: int) -> int:
    """Words of a set of nodes 0 to n - 1."""
    return -(-n // WORD)


def bit_of(nodes: NDArray) -> NDArray[np.uint64]:
    """The bit of each node in its word."""
    return np.uint64(1) << (nodes % WORD).astype(np.uint64)


def singletons(nodes: NDArray, n: int) -> NDArray[np.uint64]:
    """For each node the set that holds it alone, shape (len(nodes), words(n))."""
    sets = np.zeros((len(nodes), words(n)), np.uint64)
    sets[np.arange(len(nodes)), nodes // WORD] = bit_of(nodes)
    return sets


def add(sets: NDArray[np.uint64], rows: NDArray, nodes: NDArray) -> None:
    """Put each node into the set of its row; a row may occur several times."""
    np.bitwise_or.at(sets, (rows, nodes // WORD), bit_of(nodes))


def sizes(sets: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Number of nodes in each set."""
    return np.bitwise_count(sets).sum(axis=1, dtype=np.int64)
