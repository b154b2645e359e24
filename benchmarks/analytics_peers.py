"""What the analytics of other libraries are timed on: a graph in their forms, and calls.

`benchmarks/analytics.py` lists which are compared with which of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

THREADS = 2
DAMPING, TOLERANCE = 0.85, 1e-4
ITERATIONS = 10
NETWORKX = 1 << 17
"""Nodes up to which networkx takes part."""


class TooLargeError(Exception):
    """The graph is too large for a peer."""


class Forms:
    """A graph in the forms of other libraries, each made when it is first asked for.

    Parameters
    ----------
    graph
        Ours.
    """

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        matrix = graph.to_scipy()  # the entries are weights, or 1
        self.n = matrix.shape[0]
        self.indptr = matrix.indptr.astype(np.int32)
        self.indices = matrix.indices.astype(np.int32)
        self.data = np.asarray(matrix.data, np.float64)
        row = np.repeat(np.arange(self.n), np.diff(self.indptr))
        once = row < self.indices
        self.ends = row[once].astype(np.uint64), self.indices[once].astype(np.uint64)
        self.weights = self.data[once]
        self.source = int(np.argmax(np.diff(self.indptr)))

    @cached_property
    def scipy(self) -> Any:
        import scipy.sparse as sp

        return sp.csr_array((self.data, self.indices, self.indptr), (self.n, self.n))

    @cached_property
    def graphblas(self) -> Any:
        return self._graphblas(np.array([1.0]), is_iso=True)

    @cached_property
    def graphblas_weights(self) -> Any:
        return self._graphblas(self.data.copy())

    def _graphblas(self, values: NDArray, is_iso: bool = False) -> Any:
        import graphblas as gb

        gb.ss.config["nthreads"] = THREADS
        return gb.Matrix.ss.import_csr(
            nrows=self.n,
            ncols=self.n,
            indptr=self.indptr.astype(np.uint64),
            col_indices=self.indices.astype(np.uint64),
            values=values,
            is_iso=is_iso,
            sorted_cols=True,
        )

    @cached_property
    def networkit(self) -> Any:
        import networkit as nk

        nk.setNumberOfThreads(THREADS)
        coo = (self.weights, self.ends)
        return nk.GraphFromCoo(coo, n=self.n, weighted=True, directed=False)

    @cached_property
    def networkit_plain(self) -> Any:
        import networkit as nk

        nk.setNumberOfThreads(THREADS)
        return nk.GraphFromCoo(self.ends, n=self.n, directed=False)

    @cached_property
    def igraph(self) -> Any:
        import igraph

        return igraph.Graph(n=self.n, edges=np.stack(self.ends, 1).astype(np.int64), directed=False)


# Peers: each takes the forms of a graph, and returns what is timed.

Call = Callable[[], object]


def bfs_scipy(g: Forms) -> Call:
    from scipy.sparse.csgraph import breadth_first_order

    return lambda: breadth_first_order(g.scipy, g.source)


def bfs_networkit(g: Forms) -> Call:
    import networkit as nk

    return lambda: nk.distance.BFS(g.networkit_plain, g.source, False).run()


def pagerank_scipy(g: Forms) -> Call:
    """CSR times vector; one thread."""
    matrix = g.scipy.copy()
    matrix.data[:] = 1
    degree = np.diff(matrix.indptr).astype(np.float64)
    sinks = np.flatnonzero(degree == 0)
    inverse = np.divide(1, degree, out=np.zeros(g.n), where=degree > 0)

    def call() -> np.ndarray:
        rank = np.full(g.n, 1 / g.n)
        while True:
            base = (1 - DAMPING + DAMPING * rank[sinks].sum()) / g.n
            new = base + DAMPING * (matrix @ (rank * inverse))
            change, rank = np.abs(new - rank).sum(), new
            if change < TOLERANCE:
                return rank

    return call


def pagerank_graphblas(g: Forms) -> Call:
    """As LAGraph's, in float64: adjacency times vector over plus_second; two threads."""
    import graphblas as gb

    matrix = g.graphblas
    degree = np.diff(g.indptr).astype(np.float64)
    heads = np.flatnonzero(degree)
    divisor = gb.Vector.from_coo(heads, degree[heads] / DAMPING, size=g.n)
    empty = gb.Vector.from_coo(np.flatnonzero(degree == 0), 1.0, size=g.n)
    plus_second, minus = gb.semiring.plus_second, gb.binary.minus

    def call() -> Any:
        rank = gb.Vector.from_scalar(1 / g.n, g.n)
        while True:
            held = rank.ewise_mult(empty, gb.binary.first).reduce(gb.monoid.plus).get(0.0)
            share = rank.ewise_mult(divisor, gb.binary.truediv).new()
            new = gb.Vector.from_scalar((1 - DAMPING + DAMPING * held) / g.n, g.n)
            new(gb.binary.plus) << plus_second(matrix @ share)
            rank << gb.unary.abs(rank.ewise_mult(new, minus))
            change = rank.reduce(gb.monoid.plus).get(0.0)
            rank = new
            if change < TOLERANCE:
                return rank

    return call


def pagerank_networkit(g: Forms) -> Call:
    """Its power iteration to the same tolerance in the L1 norm; two threads."""
    import networkit as nk

    sinks = nk.centrality.SinkHandling.DistributeSinks

    def call() -> Any:
        found = nk.centrality.PageRank(g.networkit_plain, DAMPING, TOLERANCE, False, sinks)
        found.norm = nk.centrality.Norm.L1_NORM
        return found.run().scores()

    return call


def pagerank_igraph(g: Forms) -> Call:
    """PRPACK, which goes on to 1e-10; one thread."""
    return lambda: g.igraph.pagerank(directed=False, damping=DAMPING)


def wcc_scipy(g: Forms) -> Call:
    from scipy.sparse.csgraph import connected_components

    return lambda: connected_components(g.scipy, directed=False)


def wcc_networkit(g: Forms) -> Call:
    import networkit as nk

    return lambda: nk.components.ParallelConnectedComponents(g.networkit_plain).run()


def wcc_graphblas(g: Forms) -> Call:
    """FastSV, with hooks to parents and to neighbours' grandparents; two threads."""
    import graphblas as gb

    matrix = g.graphblas
    least, ids = gb.semiring.min_second, np.arange(g.n)

    def call() -> Any:
        parent, above = ids, gb.Vector.from_dense(ids)
        while True:
            heard = above.dup()
            heard(gb.binary.min) << least(matrix @ above)
            near = heard.to_dense()
            hooked = np.minimum(parent, near)
            np.minimum.at(hooked, parent, near)
            parent = hooked
            grand = parent[parent]
            if np.array_equal(grand, above.to_dense()):
                return parent
            above = gb.Vector.from_dense(grand)

    return call


def scc_scipy(g: Forms) -> Call:
    from scipy.sparse.csgraph import connected_components

    return lambda: connected_components(g.scipy, connection="strong")


def triangles_graphblas(g: Forms) -> Call:
    """The lower half times itself, where it has entries."""
    import graphblas as gb

    def call() -> Any:
        low = gb.select.tril(g.graphblas, -1).new()
        return gb.semiring.plus_pair(low @ low.T).new(mask=low.S).reduce_scalar().get(0)

    return call


def triangles_networkit(g: Forms) -> Call:
    """Triangles of each edge; two threads."""
    import networkit as nk

    graph = nk.Graph(g.networkit_plain)
    graph.indexEdges()
    return lambda: nk.sparsification.TriangleEdgeScore(graph).run().scores()


def triangles_igraph(g: Forms) -> Call:
    """The coefficient of the whole graph, for which it counts them; one thread."""
    return lambda: g.igraph.transitivity_undirected()


def lcc_igraph(g: Forms) -> Call:
    return lambda: g.igraph.transitivity_local_undirected(mode="zero")


def lcc_networkit(g: Forms) -> Call:
    import networkit as nk

    return lambda: nk.centrality.LocalClusteringCoefficient(g.networkit_plain, True).run()


def similarity_networkit(g: Forms) -> Call:
    """Triangles of each edge, of which NumPy makes the coefficients; two threads. (JaccardDistance of 11.3
    gives no values in Python, and JaccardIndex takes pair by pair.)
    """
    import networkit as nk

    graph = nk.Graph(g.networkit_plain)
    graph.indexEdges()
    degree = np.diff(g.indptr)
    low, high = (end.astype(np.int64) for end in g.ends)
    order = np.lexsort((low, high))  # that of its edges
    either = (degree[low] + degree[high])[order]

    def call() -> Any:
        both = np.asarray(nk.sparsification.TriangleEdgeScore(graph).run().scores())
        return both / (either - both)

    return call


def similarity_igraph(g: Forms) -> Call:
    """Lists of neighbours of both ends, merged; one thread."""
    pairs = g.igraph.get_edgelist()
    # by default it counts a node as its own neighbour
    return lambda: g.igraph.similarity_jaccard(pairs=pairs, loops=False)


def cdlp_networkit(g: Forms) -> Call:
    """PLP, which is not synchronous, for as many iterations."""
    import networkit as nk

    return lambda: nk.community.PLP(g.networkit_plain, 0, ITERATIONS).run()


def cdlp_graphblas(g: Forms) -> Call:
    """As LAGraph's: the adjacency times a diagonal of labels, sorted by row; the product has two threads."""
    import graphblas as gb

    matrix, n = g.graphblas, g.n

    def call() -> np.ndarray:
        label = np.arange(n)
        for _ in range(ITERATIONS):
            heard = gb.semiring.any_second(matrix @ gb.Vector.from_dense(label).diag()).new()
            rows, _, labels = heard.to_coo(dtype=np.int64)
            keys = np.sort(rows.astype(np.int64) * n + labels)
            runs = np.flatnonzero(np.diff(keys, prepend=-1))
            rows, labels = np.divmod(keys[runs], n)
            heads = np.flatnonzero(np.diff(rows, prepend=-1))
            times = np.diff(runs, append=len(keys))
            best = np.maximum.reduceat(times * n + (n - 1 - labels), heads)
            label[rows[heads]] = n - 1 - best % n
        return label

    return call


def sssp_scipy(g: Forms) -> Call:
    from scipy.sparse.csgraph import dijkstra

    return lambda: dijkstra(g.scipy, indices=g.source, return_predecessors=True)


def sssp_graphblas(g: Forms) -> Call:
    """Bellman and Ford: vector times matrix over min_plus until nothing falls; two threads."""
    import graphblas as gb

    matrix = g.graphblas_weights

    def call() -> Any:
        distance = gb.Vector(gb.dtypes.FP64, g.n)
        distance[g.source] = 0.0
        front = distance.dup()
        while front.nvals:
            offer = gb.semiring.min_plus(front @ matrix).new()
            old = distance.dup()
            distance(gb.binary.min) << offer
            same = distance.ewise_mult(old, gb.binary.eq).new()
            kept = gb.select.valuene(same, False).new() if same.nvals else same
            front = gb.Vector(gb.dtypes.FP64, g.n)
            front(~kept.S) << distance
        return distance

    return call


def sssp_networkit(g: Forms) -> Call:
    import networkit as nk

    return lambda: nk.distance.Dijkstra(g.networkit, g.source, False, False).run()


def core_networkit(g: Forms) -> Call:
    import networkit as nk

    return lambda: nk.centrality.CoreDecomposition(g.networkit_plain).run()


def core_networkx(g: Forms) -> Call:
    import networkx as nx

    if g.n > NETWORKX:
        raise TooLargeError(f"{g.n} nodes; networkx takes part up to {NETWORKX}")
    graph = nx.from_scipy_sparse_array(g.scipy)
    return lambda: nx.core_number(graph)


def core_igraph(g: Forms) -> Call:
    return lambda: g.igraph.coreness()
