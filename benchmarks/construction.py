"""Building a graph of an edge array on two workers: time, and memory of all processes.

python benchmarks/construction.py [--nodes N] [--edges M] [--clusters K ...] [--growth] [--kron SCALE ...]

With ``--kron``, Kronecker graphs are generated and built on the workers instead: what the processes take
beyond what they took when idle, over the bytes of the graph that they then hold.

Memory is the proportional set size (PSS), which counts a page shared by k processes as 1/k in each,
summed over this process (with scheduler and nannies in it) and the workers; a process of its own
samples it every 20 ms, or less often in large processes. Idle is what they take with the cluster up,
packages imported and the edge array made.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

import common
import numpy as np
import psutil
from common import Options, record

EVERY = 0.02
"""Seconds between samples; more where a sample takes long, since the kernel looks at each page."""

SAMPLER = "memory"
"""Name of the process that samples."""


def total(process: psutil.Process) -> tuple[int, int]:
    """Memory of a process and all below it, but for the one that asks; and of the process alone."""
    found = []
    for one in (process, *process.children(recursive=True)):
        try:
            found.append(one.memory_full_info().pss if one.pid != os.getpid() else 0)
        except psutil.Error:
            continue
    return sum(found), found[0]


def sample(process: int, pipe: Connection) -> None:
    """Send the memory now; then, when told to stop, the peaks meanwhile."""
    watched = psutil.Process(process)
    peak, own = total(watched)
    pipe.send(peak)
    took = 0.0
    while not pipe.poll(max(EVERY, 9 * took)):
        begin = time.perf_counter()
        now, here = total(watched)
        took = time.perf_counter() - begin
        peak, own = max(peak, now), max(own, here)
    pipe.send((peak, own))


class Watch:
    """Memory of this process and all below it when it was entered, its peak until the end, and that of this
    process alone.
    """

    def __enter__(self) -> Watch:
        self._pipe, end = multiprocessing.Pipe()
        spawn = multiprocessing.get_context("spawn")
        self._process = spawn.Process(target=sample, args=(os.getpid(), end), name=SAMPLER)
        self._process.start()
        self.idle = self._pipe.recv()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._pipe.send(None)
        self.peak, self.own = self._pipe.recv()
        self._process.join()


def measure(nodes: int, edges: int, workers: int, clusters: int | None, source: str) -> None:
    """Build one graph on a cluster of its own and print what it took."""
    import dgsuite

    with common.cluster(workers) as client:
        rng = np.random.default_rng(1)
        small = rng.integers(0, 1000, (2, 400_000))
        dgsuite.Graph.from_edges(*small, n=1000)  # workers have imported what they need
        if source == "dask":  # the edges are made on the workers, and were never here
            import dask.array as da

            ends = da.random.default_rng(1)
            src, dst = (ends.integers(0, nodes, edges, chunks=1 << 20) for _ in range(2))
        else:
            src, dst = (rng.integers(0, nodes, edges) for _ in range(2))
        size = src.nbytes + dst.nbytes
        gc.collect()
        with Watch() as watch:
            begin = time.perf_counter()
            graph = dgsuite.Graph.from_edges(src, dst, n=nodes, clusters=clusters, client=client)
            took = time.perf_counter() - begin
        on = {"nodes": nodes, "edges": edges, "clusters": clusters or workers}
        record("time", took, "s", most=10, **on)
        begin = time.perf_counter()
        graph.gather()
        record("fetching all", time.perf_counter() - begin, "s", **on)
        record("memory before", watch.idle / 1e6, "MB", **on)
        record("peak", watch.peak / 1e6, "MB", **on)
        above = 1 + (watch.peak - watch.idle) / size
        record("peak, idle processes taken off", above, "x", peer="input", **on)
        # the interpreters alone exceed six times a small input
        bound = 6 if size >= 160e6 else None
        record("peak, everything counted", watch.peak / size, "x", most=bound, peer="input", **on)


def held(cluster: Any) -> int:
    """Bytes of a cluster's adjacency."""
    return int(cluster.indptr.nbytes + cluster.indices.nbytes)


def processor(client: Any) -> float:
    """Processor time of all workers, in seconds."""
    return sum(client.run(time.process_time).values())


def generate(scale: int, workers: int) -> None:
    """Generate and build a Kronecker graph on a cluster of its own."""
    from dgsuite import genval

    with common.cluster(workers) as client:
        genval.graph("rmat", 2**16, client=client)  # workers have imported what they need
        gc.collect()
        before = processor(client)
        with Watch() as watch:
            begin = time.perf_counter()
            graph = genval.graph("rmat", 2**scale, client=client)
            took = time.perf_counter() - begin
        used = processor(client) - before
        size = sum(client.gather(client.map(held, graph.parts)))
        on = {"scale": scale}
        record("generating and building", took, "s", **on)
        record("processor time of the workers", used, "s", **on)
        record("graph", size / 1e6, "MB", **on)
        above = (watch.peak - watch.idle) / size
        bound = 1.4 if scale >= 20 else None
        record("peak, idle processes taken off", above, "x", most=bound, peer="graph", **on)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--nodes", 1_000_000, 1_000)
    options.size("--edges", 10_000_000, 10_000)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--clusters", type=int, nargs="+", help="by default one a worker")
    options.add_argument("--source", choices=("numpy", "dask"), default="numpy")
    options.add_argument("--growth", action="store_true", help="first a quarter and half of it")
    options.add_argument("--kron", type=int, nargs="+", metavar="SCALE", help="Kronecker graphs")
    with options.recorded(arguments) as given:
        for scale in given.kron or ():
            generate(scale, given.workers)
        if given.kron:
            return
        for part in (4, 2, 1) if given.growth else (1,):
            nodes, edges = given.nodes // part, given.edges // part
            for clusters in given.clusters or (None,):
                measure(nodes, edges, given.workers, clusters, given.source)


if __name__ == "__main__":
    main()
