"""Kernels 2 and 3: a search from every root, each tree validated, other libraries' searches beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from distributed import Client

from dgsuite.base.extras import needed_by
from dgsuite.partition.graph.graph import Graph
from dgsuite.suites import running
from dgsuite.suites.graph500.problem import WEIGHTS, Problem
from dgsuite.suites.options import EDGE_FACTOR

DELTA = WEIGHTS / EDGE_FACTOR
"""Width of a bucket: a node has about one edge lighter than that (Meyer and Sanders 2003)."""

Search = Callable[[int], object]
"""A search of another library from a root."""

TURN = 16
"""Most searches that follow one another before peers have their turn."""


@dataclass
class Searches:
    """What the searches measured: one entry a root."""

    roots: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    wire: list[int] = field(default_factory=list)
    checks: list[float] = field(default_factory=list)
    peers: dict[str, list[float]] = field(default_factory=dict)


def search(
    problem: Problem,
    roots: Sequence[int],
    client: Client,
    *,
    kernel: str = "bfs",
    direction: str | None = "optimising",
    check: bool = True,
    peers: Mapping[str, Search] = MappingProxyType({}),
    on_root: Callable[[int], object] = lambda done: None,
) -> Searches:
    """Search from every root.

    Parameters
    ----------
    kernel
        "bfs", which takes the grid if the problem has one, or "sssp".
    direction
        Of a search without a grid.
    check
        Whether to validate the trees.
    peers
        They take turns with ours, on the same roots.
    on_root
        Called with the number of roots done.

    Raises
    ------
    RunError
        A tree is wrong.
    """
    found = Searches(peers={name: [] for name in peers})
    turn = running.turn(problem.graph, TURN if peers else len(roots))
    each = [{"root": root} for root in roots]
    options: dict[str, Any] = {}
    if kernel == "sssp":
        options["delta"] = DELTA
    elif problem.grid is None:
        options["direction"] = direction
    program = "bfs2d" if kernel == "bfs" and problem.grid is not None else kernel
    for peer in peers.values():
        peer(roots[0])
    for ds in running.trials(program, problem.graph, each, client, turn, **options):
        root = roots[len(found.roots)]
        on_root(len(found.roots))
        found.roots.append(root)
        found.seconds.append(float(ds.attrs["seconds"]))
        found.edges.append(int(problem.tuples.sum(where=np.asarray(ds.parent) >= 0)))
        found.wire.append(int(ds.wire_bytes.sum()))
        if check:
            begin = time.perf_counter()
            running.check(kernel, problem.graph, ds, f"the tree from root {root}")
            found.checks.append(time.perf_counter() - begin)
        del ds  # before the next one comes
        done = len(found.roots)
        if done % turn == 0 or done == len(roots):
            for name, peer in peers.items():
                times = found.peers[name]
                times += [_seconds(peer, each) for each in roots[len(times) : done]]
    return found


def _seconds(peer: Search, root: int) -> float:
    begin = time.perf_counter()
    peer(root)
    return time.perf_counter() - begin


def make_peers(names: Sequence[str], graph: Graph) -> dict[str, Search]:
    """Breadth-first searches of other libraries on the same graph, in this process."""
    matrix = graph.to_scipy() if names else None
    return {name: PEERS[name](matrix) for name in names}


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
            found = any_pair(adjacency @ front if front.nvals > n // 24 else front @ adjacency)
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


PEERS = {peer.__name__: peer for peer in (scipy, graphblas, networkit)}
"""Peers by name."""
