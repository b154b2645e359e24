"""Kernels of analytics beside other libraries, taking turns on the same graph: medians, ours over the best.

python benchmarks/analytics.py [--scale 20] [--kernels pagerank,wcc] [--peers scipy,graphblas]
    [--turns 5] [--json FILE]
python benchmarks/analytics.py --random 1000000 10000000

The graph is simple: a Kronecker graph, or so many random edges on so many nodes; for `scc` the edges have a
direction. Ours runs on two worker processes in style "clocked": its rounds alone, and the whole call of
`dgsuite.run`. A peer has the graph in its own form, and is timed from call to result. Peers that are not
installed are left out: pip install 'dgsuite[bench]'. For `bfs_many` see searches.py.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import common
import numpy as np
from common import line

# a peer's idle threads must not spin into our turn
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

THREADS = 2
DAMPING, TOLERANCE = 0.85, 1e-4


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
        import graphblas as gb

        gb.ss.config["nthreads"] = THREADS
        return gb.Matrix.ss.import_csr(
            nrows=self.n,
            ncols=self.n,
            indptr=self.indptr.astype(np.uint64),
            col_indices=self.indices.astype(np.uint64),
            values=np.array([1.0]),
            is_iso=True,
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


def lcc_igraph(g: Forms) -> Call:
    return lambda: g.igraph.transitivity_local_undirected(mode="zero")


def lcc_networkit(g: Forms) -> Call:
    import networkit as nk

    return lambda: nk.centrality.LocalClusteringCoefficient(g.networkit_plain, True).run()


def cdlp_networkit(g: Forms) -> Call:
    """PLP, which is not synchronous, for as many iterations."""
    import networkit as nk

    return lambda: nk.community.PLP(g.networkit_plain, 0, 10).run()


def sssp_scipy(g: Forms) -> Call:
    from scipy.sparse.csgraph import dijkstra

    return lambda: dijkstra(g.scipy, indices=g.source, return_predecessors=True)


def sssp_networkit(g: Forms) -> Call:
    import networkit as nk

    return lambda: nk.distance.Dijkstra(g.networkit, g.source, False, False).run()


def core_networkit(g: Forms) -> Call:
    import networkit as nk

    return lambda: nk.centrality.CoreDecomposition(g.networkit_plain).run()


def core_igraph(g: Forms) -> Call:
    return lambda: g.igraph.coreness()


class Case(NamedTuple):
    """A kernel, its parameters, what it is compared with, and how long it may take over the best of them."""

    peers: dict[str, Callable[[Forms], Call]]
    options: dict[str, Any] = {}
    rounds: float | None = None
    call: float | None = None
    weighted: bool = False
    directed: bool = False


CASES = {
    "pagerank": Case(
        {
            "scipy": pagerank_scipy,
            "graphblas": pagerank_graphblas,
            "networkit": pagerank_networkit,
            "igraph": pagerank_igraph,
        },
        {"damping": DAMPING, "tolerance": TOLERANCE},
        0.8,
        1.2,
    ),
    "wcc": Case({"scipy": wcc_scipy, "networkit": wcc_networkit}, {}, 0.6, 1.0),
    "scc": Case({"scipy": scc_scipy}, directed=True),
    "triangles": Case({"graphblas": triangles_graphblas}, {}, 1.0, 1.2),
    "lcc": Case({"igraph": lcc_igraph, "networkit": lcc_networkit}, {}, 0.5),
    "cdlp": Case({"networkit": cdlp_networkit}, {"iterations": 10}, 1.0),
    "sssp": Case({"scipy": sssp_scipy, "networkit": sssp_networkit}, {}, 0.5, weighted=True),
    "core_number": Case({"networkit": core_networkit, "igraph": core_igraph}, {}, 1.0),
}
"""Kernels by name; `sssp` starts from the node with most neighbours."""


def timed(call: Call) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def prepared(case: Case, forms: Forms, wanted: list[str]) -> dict[str, Call]:
    """The peers of a kernel that are wanted and installed, with the graph in their form."""
    found = {}
    for name, prepare in case.peers.items():
        if wanted and name not in wanted:
            continue
        try:
            found[name] = prepare(forms)
            found[name]()  # makes the form, and does not count
        except ImportError:
            print(f"{name} is not installed: pip install 'dgsuite[bench]'", flush=True)
    return found


def compare(kernel: str, case: Case, forms: Forms, turns: int, peers: list[str]) -> dict[str, Any]:
    """Medians of a kernel and its peers, which take turns, in seconds."""
    import dgsuite

    options = {**case.options, **({"root": forms.source} if kernel == "sssp" else {})}
    rounds: list[float] = []

    def ours() -> None:
        rounds.append(dgsuite.run(kernel, forms.graph, style="clocked", **options).attrs["seconds"])

    calls = {"dgsuite": ours, **prepared(case, forms, peers)}
    ours()  # loads compiled code, and does not count
    rounds.clear()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(turns):
        for name in sorted(calls, reverse=bool(turn % 2)):
            times[name].append(timed(calls[name]))
    return {"rounds": statistics.median(rounds)} | {
        name: statistics.median(some) for name, some in times.items()
    }


def report(kernel: str, case: Case, found: dict[str, float]) -> None:
    """Print a kernel's figures, and whether they are within its bounds."""
    peers = {name: found[name] for name in case.peers if name in found}
    line(f"{kernel}: rounds", 1e3 * found["rounds"], "ms")
    line(f"{kernel}: whole call", 1e3 * found["dgsuite"], "ms")
    for name, seconds in peers.items():
        line(f"  {name}", 1e3 * seconds, "ms")
    if peers:
        best = min(peers, key=peers.__getitem__)
        line(f"  rounds over {best}", found["rounds"] / peers[best], "x", case.rounds)
        line(f"  whole call over {best}", found["dgsuite"] / peers[best], "x", case.call)


def made(given: argparse.Namespace, client: Any, weighted: bool, directed: bool) -> Any:
    """The graph, on the workers."""
    import dgsuite
    import genval

    how = {"client": client, "clusters": THREADS, "directed": directed}
    if not given.random:
        most = 255 if weighted else False
        return genval.graph("rmat", 2**given.scale, m=16 * 2**given.scale, weights=most, **how)
    n, m = given.random
    rng = np.random.default_rng(3)
    ends = rng.integers(0, n, (2, m))
    weights = rng.integers(1, 256, m) if weighted else None
    return dgsuite.Graph.from_edges(*ends, n=n, weights=weights, **how)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--random", type=int, nargs=2, metavar=("N", "M"))
    parser.add_argument("--kernels", default=",".join(CASES))
    parser.add_argument("--peers", type=lambda names: names.split(","), default=[])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    from kernels import KERNELS

    what = "random, {} nodes, {} edges".format(*given.random) if given.random else None
    print(what or f"Kronecker, scale {given.scale}", flush=True)
    results: dict[str, Any] = {}
    with common.cluster(THREADS) as client:
        for kind in ((False, False), (True, False), (False, True)):
            wanted = {k: CASES[k] for k in given.kernels.split(",")}
            cases = {k: c for k, c in wanted.items() if (c.weighted, c.directed) == kind}
            for kernel in set(cases) - set(KERNELS):
                print(f"{kernel}: there is no such kernel", flush=True)
                del cases[kernel]
            if not cases:
                continue
            forms = Forms(made(given, client, *kind))
            for kernel, case in cases.items():
                results[kernel] = compare(kernel, case, forms, given.turns, given.peers)
                report(kernel, case, results[kernel])
            del forms
    if given.json:
        given.json.write_text(json.dumps({"graph": what or given.scale, "seconds": results}))


if __name__ == "__main__":
    main()
