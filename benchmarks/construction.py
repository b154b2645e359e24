"""Building a graph of an edge array on two workers: time, and memory of all processes.

python benchmarks/construction.py [--nodes N] [--edges M]

Memory is the proportional set size (PSS), which counts a page shared by k processes as 1/k in each,
summed over this process, the nannies and the workers, sampled every 10 ms.
"""

from __future__ import annotations

import argparse
import threading
import time

import common
import psutil
from common import line


class Watch:
    """Peak memory of this process and all below it, while it is entered."""

    def __init__(self) -> None:
        self.peak = 0
        self._stop = threading.Event()

    @staticmethod
    def now() -> int:
        total = 0
        me = psutil.Process()
        for process in (me, *me.children(recursive=True)):
            try:
                total += process.memory_full_info().pss
            except psutil.Error:
                continue
        return total

    def _run(self) -> None:
        while not self._stop.wait(0.01):
            self.peak = max(self.peak, self.now())

    def __enter__(self) -> Watch:
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nodes", type=int, default=1_000_000)
    options.add_argument("--edges", type=int, default=10_000_000)
    options.add_argument("--workers", type=int, default=2)
    given = options.parse_args()

    import dgsuite
    from genval.generate import random_edges

    with common.cluster(given.workers):
        small = random_edges(1000, 400_000, 1)
        dgsuite.Graph.from_edges(*small, n=1000)  # workers have imported what they need
        idle = Watch.now()
        src, dst = random_edges(given.nodes, given.edges, 1)
        size = src.nbytes + dst.nbytes
        with Watch() as watch:
            begin = time.perf_counter()
            graph = dgsuite.Graph.from_edges(src, dst, n=given.nodes)
            took = time.perf_counter() - begin
        print(f"{graph}; input {size / 1e6:.0f} MB")
        line("construction", took, "s", 10)
        line("idle processes", idle / 1e6, "MB")
        line("peak of all processes", watch.peak / 1e6, "MB")
        line("peak over input, idle processes taken off", (watch.peak - idle) / size, "x", 6)
        line("peak over input, everything counted", watch.peak / size, "x", 6)


if __name__ == "__main__":
    main()
