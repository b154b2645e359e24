"""All twelve kernels at sizes the original never reached: two workers, clocked, every result validated.

python benchmarks/scale.py [--kernels mst,dr] [--growth 0.25,0.5,1]

Rounds only, graph built; peak memory is the largest worker's. ``--growth`` runs several shares of
each size, and prints how time and messages grow.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import common
import numpy as np
import psutil
from common import Options, record


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
    Case("lcr", "ring", 10_000, 10, options={"faithful": True}),
    Case("hs", "ring", 10_000, 30, options={"faithful": True}),
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
    """Run a case at a size, note what it took, and give its seconds and messages."""
    import dgsuite
    from dgsuite import genval

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
    if not report.ok:
        raise RuntimeError(f"{case.kernel} on {graph}: {report}")
    form = ", faithful" * bool(case.options.get("faithful"))
    on = {"kernel": case.kernel + form, "input": case.kind, "nodes": n, "edges": graph.m}
    bound = case.bound if n == case.n else None
    took = record("time", seconds[1:], "s", most=bound, **on)
    record("rounds", ds.sizes["round"], "", **on)
    messages = record("messages", int(ds.messages.sum()), "", **on)
    record("wire", float(ds.wire_bytes.sum()) / 1e6, "MB", **on)
    record("memory", peak[0] / 1e6, "MB", **on)
    record("check", checked, "s", **on)
    if case.kernel == "mst":
        record("time", took / scipy_tree(graph), "x", most=0.5, peer="SciPy", **on)
    return took, messages


def main(arguments: Sequence[str] | None = None) -> None:
    parser = Options(__file__, __doc__)
    parser.add_argument("--kernels", help="names, with commas; by default all")
    parser.add_argument("--growth", nargs="?", const="0.25,0.5,1", default="1")
    parser.size("--times", 3, 1)
    with parser.recorded(arguments) as given, common.cluster(2) as client:
        cases = [case._replace(n=64) for case in CASES] if given.tiny else CASES
        names = given.kernels.split(",") if given.kernels else [case.kernel for case in cases]
        for case in cases:
            if case.kernel not in names:
                continue
            sizes = [int(case.n * float(share)) for share in given.growth.split(",")]
            found = [measure(case, n, given.times, client) for n in sizes]
            if len(sizes) > 1:
                span = np.log(sizes[-1] / sizes[0])
                form = ", faithful" * bool(case.options.get("faithful"))
                for what, values in zip(
                    ("time", "messages"), zip(*found, strict=True), strict=True
                ):
                    slope = float(np.log(values[-1] / values[0]) / span)
                    on = {"kernel": case.kernel + form, "input": case.kind}
                    record(f"{what}, power of n", slope, "", **on)


if __name__ == "__main__":
    main()
