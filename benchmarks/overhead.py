"""What a round costs in which nothing happens, and what many clusters cost.

python benchmarks/overhead.py
"""

from __future__ import annotations

import statistics
import time

import common
import numpy as np
from common import line, median


def main() -> None:
    from kernels_for_benchmarks import Empty

    import dgsuite

    def ring(clusters: int):
        n = max(64, clusters)
        nodes = np.arange(n)
        return dgsuite.Graph.from_edges(nodes, (nodes + 1) % n, n=n, clusters=clusters)

    with common.cluster(2):
        for clusters in (2, 8):
            ds = dgsuite.run(Empty, ring(clusters), style="clocked", rounds=2000)
            each = (ds.compute_seconds + ds.exchange_seconds).isel(cluster=0).values
            line(f"clocked, empty round, {clusters} clusters", 1e3 * np.median(each), "ms", 0.6)
        for clusters, bound in ((2, 15), (8, 30), (64, 40), (512, 320)):
            graph = ring(clusters)
            dgsuite.run(Empty, graph, style="finish_async", rounds=5)
            ds = dgsuite.run(Empty, graph, style="finish_async", rounds=60 if clusters < 512 else 9)
            each = (ds.compute_seconds + ds.exchange_seconds).isel(cluster=0).values
            what = f"finish_async, empty phase and its votes, {clusters} clusters"
            line(what, 1e3 * np.median(each), "ms", bound)
        took = {}
        for clusters in (2, 64):
            graph = ring(clusters)

            def whole(graph=graph) -> float:
                begin = time.perf_counter()
                dgsuite.run("lcr", graph, style="clocked")
                return time.perf_counter() - begin

            took[clusters] = median(whole, 9)
            rounds = [dgsuite.run("lcr", graph, style="clocked").attrs["seconds"] for _ in range(9)]
            took[-clusters] = statistics.median(rounds)
            line(f"lcr n = 64 clocked, {clusters} clusters, whole call", 1e3 * took[clusters], "ms")
            line(f"lcr n = 64 clocked, {clusters} clusters, rounds", 1e3 * took[-clusters], "ms")
        line("lcr, 64 clusters over 2, whole call", took[64] / took[2], "x", 3)
        line("lcr, 64 clusters over 2, rounds", took[-64] / took[-2], "x", 3)


if __name__ == "__main__":
    main()
