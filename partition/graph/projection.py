"""The graph of one side of a bipartite graph, made where the clusters are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import each_cluster
from dgsuite.partition.graph.selection import renumbered
from dgsuite.partition.sources.piece import Piece

if TYPE_CHECKING:
    from dgsuite.partition.graph.data import GraphData

DOING = "looking for edges within a side"


def projected[G: GraphData](graph: G, chosen: NDArray[np.bool_]) -> G:
    """The graph of one side: see `Graph.projection`.

    Parameters
    ----------
    chosen
        Shape (n,): which nodes are on this side; at least one.
    """
    if graph.directed:
        raise InputError(
            "the graph is directed; graph.to_undirected() makes one that has a projection"
        )
    if graph.keeps_loops:
        raise InputError(
            "the graph keeps self-loops, which no bipartite graph has; make it with loops='drop'"
        )
    if graph.client is None:
        found = each_cluster(graph, _within, chosen)
    else:
        watch = Watch(graph.client, DOING, inputs=graph.parts)
        found = watch.gather(each_cluster(graph, _within, watch.scatter(chosen)))
    if edges := [edge for edge in found if edge is not None]:
        edge = min(edges)
        ends = edge if graph.labels is None else graph.labels.of(np.array(edge)).tolist()
        raise InputError(
            f"an edge joins {ends[0]!r} and {ends[1]!r}, which are both "
            f"{'named' if chosen[edge[0]] else 'not named'}: nodes must be one side of a bipartite graph, "
            f"such as those of one colour of dgsuite.run('bipartite', graph)"
        )
    return renumbered(graph, np.flatnonzero(chosen), _sharing, "sum")


def _within(c: Cluster, chosen: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The first edge of a cluster between two nodes that are both chosen, or both not."""
    row = np.repeat(c.ids, c.degree)
    wrong = np.flatnonzero(chosen[row] == chosen[c.indices])
    if not len(wrong):
        return None
    first = wrong[np.lexsort((c.indices[wrong], row[wrong]))[0]]
    return int(row[first]), int(c.indices[first])


def _sharing(c: Cluster, number: NDArray) -> Piece:
    """Pairs of chosen nodes that have neighbours in the cluster in common, and how many of them."""
    import scipy.sparse as sp

    rows = np.flatnonzero(number[c.ids] < 0)
    at, entry = expand(c.indptr, rows)
    ends = number[c.indices[entry]]
    ones = np.ones(len(ends), np.int64)
    lists = sp.csr_array((ones, (at, ends)), (len(rows), int(number.max()) + 1))
    pairs = sp.triu(lists.T @ lists, 1, "coo")
    return pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data
