"""All twelve kernels at sizes the original never reached: two workers, clocked, every result validated.

python benchmarks/scale.py [--kernels mst,dr] [--growth 0.25,0.5,1]

Rounds only, graph built; peak memory is the largest worker's. ``--growth`` runs several shares of
each size, and prints how time and messages grow.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import common
import numpy as np
import psutil


class Case(NamedTuple):
    """A kernel, its input and the most its rounds may take."""

    kernel: str
    kind: str
    n: int
    bound: float
    m: int | None = None
    """Edges a node, for kinds that have a choice."""
    weights: bool | int = False
    options: dict[str, Any] = {}


CASES = [
    Case("bf", "spmax", 1_000_000, 1, 10),
    Case("dst", "spmax", 1_000_000, 4, 10),
    Case("mis", "spmax", 1_000_000, 2, 10),
    Case("dp", "spmax", 1_000_000, 4, 10),
    Case("kc", "spmax", 1_000_000, 20, 10, options={"k": 8}),
    Case("ds", "spmax", 200_000, 15),
    Case("mst", "spmax", 200_000, 20, weights=True),
    Case("vc", "tree", 1_000_000, 1.5),
    Case("vc", "star", 1_000_000, 1.5),
    Case("vc", "chain", 1_000_000, 1.5),
    Case("lcr", "ring", 10_000, 10),
    Case("hs", "ring", 10_000, 30),
    Case("by", "spmax", 1_024, 30, options={"traitors": range(127)}),
    Case("by", "spmax", 1_024, 30, options={"traitors": range(127), "faithful": True}),
    Case("dr", "spmax", 4_096, 25, weights=20 * 4_096),
]


@contextmanager
def watch() -> Iterator[list[int]]:
    """Peak resident set of the largest worker meanwhile, in bytes."""
    workers = [p for p in psutil.Process().children(recursive=True) if not p.children()]
    peak = [0]
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], *(p.memory_info().rss for p in workers))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def scipy_tree(graph: Any) -> float:
    """Seconds that SciPy takes for a minimum spanning tree of the same graph, as float64."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    matrix = graph.to_scipy().astype(np.float64)
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        minimum_spanning_tree(matrix)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure(case: Case, n: int, times: int, client: Any) -> tuple[float, float]:
    """Run a case at a size, print a line, and give its seconds and messages."""
    import dgsuite
    import genval

    options = dict(case.options)
    if "traitors" in options:
        options["traitors"] = list(range(n // 8 - 1))
    m = None if case.m is None else case.m * n
    graph = genval.graph(case.kind, n, m=m, weights=case.weights, client=client)
    seconds = []
    with watch() as peak:
        for _ in range(times + 1):
            ds = dgsuite.run(case.kernel, graph, client=client, **options)
            seconds.append(ds.attrs["seconds"])
    begin = time.perf_counter()
    report = genval.validate(case.kernel, graph, ds)
    checked = time.perf_counter() - begin
    took = statistics.median(seconds[1:])
    bound = case.bound if n == case.n else None
    what = f"{case.kernel} {case.kind} {n:,} nodes, {graph.m:,} edges"
    if case.options.get("faithful"):
        what += ", faithful"
    common.line(what, took, "s", bound)
    print(
        f"  {ds.sizes['round']:,} rounds, {float(ds.messages.sum()):.3g} messages, "
        f"{float(ds.wire_bytes.sum()) / 1e6:.1f} MB on the wire, {peak[0] / 1e6:.0f} MB in the "
        f"largest worker; {report} in {checked:.1f} s",
        flush=True,
    )
    if case.kernel == "mst" and n == case.n:
        common.line("  over scipy's minimum_spanning_tree", took / scipy_tree(graph), "x")
    return took, float(ds.messages.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", help="names, with commas; by default all")
    parser.add_argument("--growth", nargs="?", const="0.25,0.5,1", default="1")
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    names = given.kernels.split(",") if given.kernels else [case.kernel for case in CASES]
    with common.cluster(2) as client:
        for case in CASES:
            if case.kernel not in names:
                continue
            sizes = [int(case.n * float(share)) for share in given.growth.split(",")]
            found = [measure(case, n, given.times, client) for n in sizes]
            if len(sizes) > 1:
                span = np.log(sizes[-1] / sizes[0])
                times, messages = zip(*found, strict=True)
                slope = [float(np.log(v[-1] / v[0]) / span) for v in (times, messages)]
                print(f"  grows as n^{slope[0]:.2f}, its messages as n^{slope[1]:.2f}", flush=True)


if __name__ == "__main__":
    main()
