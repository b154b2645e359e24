"""What a round costs in which nothing happens, by number of clusters or of workers.

python benchmarks/overhead.py
python benchmarks/overhead.py --workers 2 4 8 16 32 --protocol mpb
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import common
import numpy as np
from common import Options, record, repeated

ROUND = {
    "tcp": {2: 0.29, 4: 0.9, 8: 2.5, 16: 7, 32: 20},
    "mpb": {2: 0.12, 4: 0.4, 8: 1.2, 16: 4, 32: 12},
    "default": {},
}
"""Milliseconds that an empty round may take on two processors, by protocol and number of workers; by default
workers of one host share memory."""

CALL = {2: 15, 16: 150}
"""Milliseconds that a small run may take from the second one on, by number of workers."""

PHASE = {2: 15, 8: 30, 64: 40, 512: 320}
"""Milliseconds that an empty phase of finish_async may take on two workers, by number of clusters."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.add_argument("--workers", type=int, nargs="+", help="numbers of workers to measure")
    options.add_argument("--protocol", choices=sorted(ROUND), nargs="+", default=["tcp"])
    options.size("--clusters", (2, 8, 64, 512), (2, 4), type=int, nargs="+", help="of two workers")
    options.size("--rounds", 2000, 20, help="empty rounds of a run on two workers")
    options.size("--times", 9, 1, help="short runs, of which the median counts")
    with options.recorded(arguments) as given:
        for protocol in given.protocol if given.workers else ():
            for workers in given.workers:
                by_workers(workers, protocol, given.rounds, given.times)
        if not given.workers:
            by_clusters(given.clusters, given.rounds, given.times)


def ring(clusters: int):
    import dgsuite

    nodes = np.arange(64)
    return dgsuite.Graph.from_edges(nodes, (nodes + 1) % 64, n=64, clusters=clusters)


def each_round(ds) -> float:
    """Milliseconds of a round: the median."""
    return 1e3 * np.median((ds.compute_seconds + ds.exchange_seconds).isel(cluster=0).values)


def whole_call(kernel: str, graph, **options) -> float:
    """Seconds of a run, with all that comes before and after its rounds."""
    import dgsuite

    begin = time.perf_counter()
    dgsuite.run(kernel, graph, style="clocked", **options)
    return time.perf_counter() - begin


def processor_time() -> float:
    """On a worker: seconds of processor time so far."""
    return time.process_time()


def by_workers(workers: int, protocol: str, most: int, times: int) -> None:
    """An empty round and a small run on so many workers.

    On a busy machine the processor time of all workers together says more than the time that passes.
    """
    from kernels_for_benchmarks import Empty

    import dgsuite

    with common.cluster(workers, None if protocol == "default" else protocol) as client:
        graph, rounds = ring(workers), max(most // 40, most // workers)
        dgsuite.run(Empty, graph, style="clocked", rounds=20)
        took, used = [], []
        for _ in range(5):
            before = sum(client.run(processor_time).values())
            ds = dgsuite.run(Empty, graph, style="clocked", rounds=rounds)
            took.append(each_round(ds))
            used.append(1e3 * (sum(client.run(processor_time).values()) - before) / rounds)
        on = {"protocol": protocol, "workers": workers}
        record("empty clocked round", took, "ms", most=ROUND[protocol].get(workers), **on)
        record("its processor time, all workers", used, "ms", **on)
        hub = np.zeros(399, np.int64)
        star = dgsuite.Graph.from_edges(hub, np.arange(1, 400), n=400, clusters=workers)
        calls = repeated(lambda: 1e3 * whole_call("bf", star), times)
        bound = CALL.get(workers) if protocol == "tcp" else None
        record("small call, bf on a star of 400 nodes", calls, "ms", most=bound, **on)


def by_clusters(counts: Sequence[int], rounds: int, times: int) -> None:
    """Empty rounds and a short run on two workers, by number of clusters."""
    from kernels_for_benchmarks import Empty

    import dgsuite

    with common.cluster(2):
        for clusters in counts:
            graph = ring(clusters)
            dgsuite.run(Empty, graph, style="clocked", rounds=20)
            ds = dgsuite.run(Empty, graph, style="clocked", rounds=rounds)
            bound = 0.6 if clusters <= 8 else None
            record("empty clocked round", each_round(ds), "ms", most=bound, clusters=clusters)
            dgsuite.run(Empty, graph, style="finish_async", rounds=5)
            some = max(5, min(60, rounds, 2000 // clusters))
            ds = dgsuite.run(Empty, graph, style="finish_async", rounds=some)
            what = "empty phase of finish_async and its votes"
            record(what, each_round(ds), "ms", most=PHASE.get(clusters), clusters=clusters)
        few, many = 2, 64
        calls, inner = {}, {}
        for clusters in (few, many):
            graph, on = ring(clusters), {"clusters": clusters}
            calls[clusters] = record(
                "lcr n = 64 clocked, whole call",
                repeated(lambda graph=graph: 1e3 * whole_call("lcr", graph, faithful=True), times),
                "ms",
                **on,
            )
            seconds = [
                dgsuite.run("lcr", graph, style="clocked", faithful=True).attrs["seconds"]
                for _ in range(times)
            ]
            inner[clusters] = record(
                "lcr n = 64 clocked, rounds", [1e3 * s for s in seconds], "ms", **on
            )
        for what, took in (("whole call", calls), ("rounds", inner)):
            record(
                f"lcr n = 64 clocked, 64 clusters, {what}",
                took[many] / took[few],
                "x",
                most=3,
                peer="2 clusters",
            )


if __name__ == "__main__":
    main()
