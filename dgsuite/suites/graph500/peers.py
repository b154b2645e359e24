"""Breadth-first search by other libraries, to measure ours beside: each prepared from a SciPy matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dgsuite.base.extras import needed_by

Search = Callable[[int], object]


def scipy(matrix: Any) -> Search:
    """SciPy's breadth_first_order, with predecessors; one thread."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import breadth_first_order

    ones = np.ones(len(matrix.indices))
    own = sp.csr_array(
        (ones, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)), matrix.shape
    )
    return lambda root: breadth_first_order(own, root)


def graphblas(matrix: Any) -> Search:
    """SuiteSparse:GraphBLAS, levels by push and pull as LAGraph does; two threads."""
    with needed_by("the peer graphblas"):
        import graphblas as gb
    n = matrix.shape[0]
    adjacency = gb.Matrix.ss.import_csr(
        nrows=n,
        ncols=n,
        indptr=matrix.indptr.astype(np.uint64),
        col_indices=matrix.indices.astype(np.uint64),
        values=np.array([True]),
        is_iso=True,
        sorted_cols=True,
    )
    any_pair = gb.semiring.any_pair

    def search(root: int) -> Any:
        gb.ss.config["nthreads"] = 2
        level = gb.Vector(gb.dtypes.INT32, n)
        front = gb.Vector(gb.dtypes.BOOL, n)
        front[root] = True
        depth = 0
        while front.nvals:
            level(front.S) << depth
            found = (
                any_pair(adjacency @ front)
                if front.nvals > n // 24
                else any_pair(front @ adjacency)
            )
            front(~level.S, replace=True) << found
            depth += 1
        return level

    return search


def networkit(matrix: Any) -> Search:
    """NetworKit's BFS, distances; one thread, as it has no other."""
    with needed_by("the peer networkit"):
        import networkit as nk
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    once = row < matrix.indices
    ends = (row[once].astype(np.uint64), matrix.indices[once].astype(np.uint64))
    graph = nk.GraphFromCoo(ends, n=matrix.shape[0], directed=False)
    return lambda root: nk.distance.BFS(graph, root, False, False).run()


PEERS: dict[str, Callable[[Any], Search]] = {
    "scipy": scipy,
    "graphblas": graphblas,
    "networkit": networkit,
}
"""Peers by name."""
