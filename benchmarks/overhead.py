"""What a round costs in which nothing happens, by number of clusters or of workers.

python benchmarks/overhead.py
python benchmarks/overhead.py --workers 2 4 8 16 32 --protocol mpb
"""

from __future__ import annotations

import argparse
import statistics
import time

import common
import numpy as np
from common import line, median

ROUND = {
    "tcp": {2: 0.29, 4: 0.9, 8: 2.5, 16: 7, 32: 20},
    "mpb": {2: 0.12, 4: 0.4, 8: 1.2, 16: 4, 32: 12},
}
"""Milliseconds that an empty round may take on two processors, by protocol and number of workers."""

CALL = {2: 15, 16: 150}
"""Milliseconds that a small run may take from the second one on, by number of workers."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", type=int, nargs="+", help="numbers of workers to measure")
    parser.add_argument("--protocol", choices=sorted(ROUND), default="tcp")
    options = parser.parse_args()
    for workers in options.workers or ():
        by_workers(workers, options.protocol)
    if not options.workers:
        by_clusters()


def ring(clusters: int):
    import dgsuite

    nodes = np.arange(64)
    return dgsuite.Graph.from_edges(nodes, (nodes + 1) % 64, n=64, clusters=clusters)


def each_round(ds) -> float:
    """Milliseconds of a round: the median."""
    return 1e3 * np.median((ds.compute_seconds + ds.exchange_seconds).isel(cluster=0).values)


def whole_call(kernel: str, graph) -> float:
    """Seconds of a run, with all that comes before and after its rounds."""
    import dgsuite

    begin = time.perf_counter()
    dgsuite.run(kernel, graph, style="clocked")
    return time.perf_counter() - begin


def processor_time() -> float:
    """On a worker: seconds of processor time so far."""
    return time.process_time()


def by_workers(workers: int, protocol: str) -> None:
    """An empty round and a small run on so many workers.

    On a busy machine the processor time of all workers together says more than the time that passes.
    """
    from kernels_for_benchmarks import Empty

    import dgsuite

    with common.cluster(workers, protocol) as client:
        graph, rounds = ring(workers), max(50, 2000 // workers)
        dgsuite.run(Empty, graph, style="clocked", rounds=20)
        took, used = [], []
        for _ in range(5):
            before = sum(client.run(processor_time).values())
            ds = dgsuite.run(Empty, graph, style="clocked", rounds=rounds)
            took.append(each_round(ds))
            used.append(1e3 * (sum(client.run(processor_time).values()) - before) / rounds)
        what = f"{protocol}, {workers} workers"
        bound = ROUND[protocol].get(workers)
        line(f"clocked, empty round, {what}", statistics.median(took), "ms", bound)
        line(f"its processor time, {what}", statistics.median(used), "ms")
        hub = np.zeros(399, np.int64)
        star = dgsuite.Graph.from_edges(hub, np.arange(1, 400), n=400, clusters=workers)
        seconds = median(lambda: whole_call("bf", star), 9)
        bound = CALL.get(workers) if protocol == "tcp" else None
        line(f"bf on a star clocked, whole call, {what}", 1e3 * seconds, "ms", bound)


def by_clusters() -> None:
    """Empty rounds and a short run on two workers, by number of clusters."""
    from kernels_for_benchmarks import Empty

    import dgsuite

    with common.cluster(2):
        for clusters in (2, 8):
            ds = dgsuite.run(Empty, ring(clusters), style="clocked", rounds=2000)
            line(f"clocked, empty round, {clusters} clusters", each_round(ds), "ms", 0.6)
        for clusters, bound in ((2, 15), (8, 30)):
            graph = ring(clusters)
            dgsuite.run(Empty, graph, style="finish_async", rounds=5)
            ds = dgsuite.run(Empty, graph, style="finish_async", rounds=60)
            what = f"finish_async, empty phase and its votes, {clusters} clusters"
            line(what, each_round(ds), "ms", bound)
        took = {}
        for clusters in (2, 64):
            graph = ring(clusters)
            took[clusters] = median(lambda graph=graph: whole_call("lcr", graph), 9)
            rounds = [dgsuite.run("lcr", graph, style="clocked").attrs["seconds"] for _ in range(9)]
            took[-clusters] = statistics.median(rounds)
            line(f"lcr n = 64 clocked, {clusters} clusters, whole call", 1e3 * took[clusters], "ms")
            line(f"lcr n = 64 clocked, {clusters} clusters, rounds", 1e3 * took[-clusters], "ms")
        line("lcr, 64 clusters over 2, whole call", took[64] / took[2], "x", 3)
        line("lcr, 64 clusters over 2, rounds", took[-64] / took[-2], "x", 3)


if __name__ == "__main__":
    main()
