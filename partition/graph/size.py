"""Bytes that a graph takes, from what the client knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.construction.build import id_dtype
from dgsuite.partition.graph.data import GraphData

if TYPE_CHECKING:
    from distributed import Client


def width(count: Any) -> Any:
    """Bytes of a number below each count: of a node among so many, or of a place among entries."""
    return np.vectorize(lambda n: np.dtype(id_dtype(int(n))).itemsize, otypes=[np.int64])(count)


def adjacency(
    n: int, nodes: NDArray[np.int64], entries: NDArray[np.int64], extra: float = 0
) -> NDArray[np.int64]:
    """Bytes of rows in CSR: a pointer for each row, and for each entry a node and `extra` bytes more.

    Parameters
    ----------
    nodes, entries
        Rows and entries of each cluster of a graph of n nodes.
    """
    each = int(width(n)) + extra
    found: NDArray[np.int64] = (nodes + 1) * width(entries) + (entries * each).astype(np.int64)
    return found


def nbytes(graph: GraphData, disk: bool = True) -> NDArray[np.int64]:
    """Bytes of each cluster's arrays, as far as its sizes say: all but those of a kernel's views.

    Parameters
    ----------
    disk
        Whether to count what is on disk, too.
    """
    nodes = np.diff(graph.partition.offsets)
    weight = 0 if graph.weight_dtype is None else np.dtype(graph.weight_dtype).itemsize
    entries = np.array(graph.entries, np.int64)
    found = adjacency(graph.n, nodes, entries, weight)
    if graph.edges == "disk" and not disk:
        found = (nodes + 1) * width(entries)
    return found + 8 * nodes * graph.identified


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

    def estimate(
        self,
        kernel: Any,
        client: Client | None = None,
        workers: int | None = None,
        **parameters: Any,
    ) -> Any:
        """What a run of a kernel on this graph would take, by process: memory, rounds and messages.

        Parameters
        ----------
        kernel
            As for `dgsuite.run`.
        client
            On whose workers it would run; by default the graph's, or the current one, else in this process.
        workers
            Number of worker processes, instead of those of a client.
        parameters
            Those of the kernel, and ``form`` and ``edges`` of `dgsuite.estimate`; by default
            edges are where and as this graph has them.

        Returns
        -------
        dgsuite.core.running.estimate.Estimate
            See `dgsuite.estimate`.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> found = Graph.from_edges([0, 1], [1, 2]).estimate("pagerank", iterations=10)
        >>> found.processes, found.parts["graph"].tolist(), found.bounds["Rounds"][1]
        (1, [32], 10)
        """
        from dgsuite.core.running.estimate import of_graph

        return of_graph(self, kernel, client, workers, **parameters)
