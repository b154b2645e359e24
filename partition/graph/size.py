"""Bytes that a graph takes, from what the client knows of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.construction import build
from dgsuite.partition.graph.data import GraphData


def width(count: Any) -> Any:
    """Bytes of a number below each count: of a node among so many, or of a place among entries."""
    return np.where(np.asarray(count) > build.MOST_SHORT, 8, 4)


def adjacency(
    n: int, nodes: NDArray[np.int64], entries: NDArray[np.int64], extra: int
) -> NDArray[np.int64]:
    """Bytes of rows in CSR: a pointer for each row, and for each entry a node and `extra` bytes more.

    Parameters
    ----------
    nodes, entries
        Rows and entries of each cluster of a graph of n nodes.
    """
    each = int(width(n)) + extra
    found: NDArray[np.int64] = (nodes + 1) * width(entries) + entries * each
    return found


def nbytes(graph: GraphData) -> NDArray[np.int64]:
    """Bytes of each cluster's arrays, as far as its sizes say: all but those of a kernel's views."""
    nodes = np.diff(graph.partition.offsets)
    weight = 0 if graph.weight_dtype is None else np.dtype(graph.weight_dtype).itemsize
    entries = np.array(graph.entries, np.int64)
    return adjacency(graph.n, nodes, entries, weight) + 8 * nodes * graph.identified


class Sized(GraphData):
    """What a `Graph` says of its size."""

    @property
    def nbytes(self) -> int:
        """Bytes of all clusters: rows, weights, self-loops, identifiers. Those on workers are not asked."""
        if self.local:
            return sum(part.nbytes for part in self.parts)
        loops = self.built.loops if self.keeps_loops and self.built is not None else 0
        weight = 0 if self.weight_dtype is None else np.dtype(self.weight_dtype).itemsize
        return int(nbytes(self).sum()) + loops * (8 + weight)
