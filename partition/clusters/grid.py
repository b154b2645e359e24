"""Two-dimensional partitions: the adjacency matrix in a grid of blocks (Buluc and Madduri 2011).

Of p = R x C clusters, cluster k = i C + j is in row i and column j of the process grid. It owns its nodes as
in a one-dimensional partition. It also holds the edges whose target belongs to a cluster of row i and whose
source belongs to a cluster of column j. A node's broadcast goes to the R clusters of its column; results for
a node come from the C clusters of its row.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.client.tasks import calls
from dgsuite.partition.clusters.cluster import Block, Cluster
from dgsuite.partition.clusters.partitioners import Partition

if TYPE_CHECKING:
    from dgsuite.partition.graph.data import GraphData


def near_square(clusters: int) -> tuple[int, int]:
    """Rows and columns of the grid nearest to a square."""
    rows = next(r for r in range(isqrt(clusters), 0, -1) if clusters % r == 0)
    return rows, clusters // rows


def arrange[G: GraphData](graph: G, rows: int | None = None, columns: int | None = None) -> G:
    """A copy of the graph whose clusters also hold their block of a process grid.

    Parameters
    ----------
    graph
        A graph in contiguous blocks of nodes.
    rows, columns
        Shape of the grid; by default as square as possible.

    Raises
    ------
    InputError
        The grid does not match the number of clusters, or the graph has a node-to-cluster map.

    Examples
    --------
    >>> from dgsuite import Graph
    >>> from dgsuite.partition import arrange
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=4)
    >>> arrange(graph, 2, 2)
    <dgsuite.Graph: 4 nodes, 3 edges, undirected; 4 clusters in this process>
    """

    k = len(graph.parts)
    if rows is None and columns is None:
        rows, columns = near_square(k)
    elif rows is None or columns is None:
        given = rows or columns or 0
        other = k // given if given > 0 else 0
        rows, columns = (rows or other), (columns or other)
    if rows < 1 or columns < 1 or rows * columns != k:
        raise InputError(f"a grid of {rows} x {columns} does not match {k} clusters")
    if graph.partition.order is not None:
        raise InputError(
            "a grid needs contiguous blocks of nodes, not a map from nodes to clusters"
        )
    call = calls(graph.client)
    splits = [call(_split, part, columns) for part in graph.parts]
    parts = []
    for index, part in enumerate(graph.parts):
        row, column = divmod(index, columns)
        mine = splits[row * columns : (row + 1) * columns]
        pieces = [call(operator.getitem, split, column) for split in mine]
        parts.append(call(_join, part, rows, columns, pieces))
    arranged = graph.like(parts, graph.entries, chosen=True)
    arranged.cache = graph.cache
    return arranged


def _split(c: Cluster, columns: int) -> list[tuple[NDArray, NDArray]]:
    """Targets and sources of a cluster's edges, for each column of the grid that owns the sources."""
    at, sources = c.edges(np.arange(c.size))
    column = c.partition.owner(sources) % columns
    targets = c.ids[at].astype(sources.dtype)
    picks = [column == j for j in range(columns)]
    return [(targets[pick], sources[pick]) for pick in picks]


def _join(
    c: Cluster, rows: int, columns: int, pieces: Sequence[tuple[NDArray, NDArray]]
) -> Cluster:
    """A copy of a cluster with its block, made from the pieces of all clusters of its row."""
    import scipy.sparse as sp

    row, column = divmod(c.index, columns)
    partition: Partition = c.partition
    first = int(partition.offsets[row * columns])
    targets = int(partition.offsets[(row + 1) * columns]) - first
    owners = np.arange(rows) * columns + column
    sizes = np.diff(partition.offsets)[owners]
    bases = np.concatenate([[0], np.cumsum(sizes)])
    to = np.concatenate([piece[0] for piece in pieces]) - first
    source = np.concatenate([piece[1] for piece in pieces])
    owner = partition.owner(source)
    local = bases[owner // columns] + source - partition.offsets[owner]
    ones = np.ones(len(to), np.int8)
    matrix = sp.coo_array((ones, (local, to)), shape=(int(bases[-1]), targets)).tocsr()
    matrix.sort_indices()
    block = Block(rows, columns, owners, first, targets, bases, matrix.indptr, matrix.indices)
    return dataclasses.replace(c, block=block, cache={})
