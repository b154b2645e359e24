"""What threads and further workers are good for: the same runs on several numbers of workers and threads.

python benchmarks/threads.py
python benchmarks/threads.py --shapes 1x1 2x1 4x1 8x1 16x1 --styles clocked --scale 20 --edges 16

Each graph has a cluster for each thread. Processor time is that of all workers in a run, with what comes
before and after its rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import common
from common import Options, record

MORE = {8: 1.3, 16: 1.8}
"""By number of workers, how many times as long as on two they may take on the same two processors."""

PARAMETERS = {"pagerank": {"iterations": 10}}
"""Of kernels, for as many rounds in each run."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    shapes = ["1x2", "2x1", "1x4", "2x2"]
    options.size("--shapes", shapes, ["1x2"], nargs="+", help="workers x threads of each")
    options.add_argument("--kernels", nargs="+", default=["bfs", "pagerank", "mis", "triangles"])
    options.add_argument("--styles", nargs="+", default=["clocked", "finish_async"])
    options.size("--scale", 18, 8, help="2^scale nodes")
    options.add_argument("--edges", type=int, default=8, help="for each node")
    options.size("--times", 5, 1, help="runs, of which the median counts")
    with options.recorded(arguments) as given:
        found = {}
        for shape in given.shapes:
            workers, threads = map(int, shape.split("x"))
            found[workers, threads] = measure(workers, threads, given)
        for (workers, threads), medians in found.items():
            if workers > 2 and threads == 1 and (2, 1) in found:
                for (kernel, style), median in medians.items():
                    ratio = median / found[2, 1][kernel, style]
                    on = {"kernel": kernel, "style": style, "workers": workers, "threads": 1}
                    most = MORE.get(workers) if style == "clocked" else None
                    record("rounds", ratio, "x", most=most, peer="two workers", **on)


def processor_time() -> float:
    """On a worker: seconds of processor time so far."""
    return time.process_time()


def measure(workers: int, threads: int, given: argparse.Namespace) -> dict[tuple[str, str], float]:
    """Medians of the rounds on so many workers with so many threads each, by kernel and style."""
    import dgsuite
    from dgsuite import genval

    medians = {}
    with common.cluster(workers, threads=threads) as client:
        n = 2**given.scale
        graph = genval.graph(
            "rmat", n, m=given.edges * n, clusters=workers * threads, client=client
        )
        hub = {"bfs": {"root": int(graph.degree.argmax().compute())}}
        for kernel in given.kernels:
            for style in given.styles:
                took, used = [], []
                for _ in range(given.times + 1):
                    before = sum(client.run(processor_time).values())
                    ds = dgsuite.run(
                        kernel,
                        graph,
                        style=style,
                        client=client,
                        **(PARAMETERS | hub).get(kernel, {}),
                    )
                    took.append(1e3 * ds.attrs["seconds"])
                    used.append(1e3 * (sum(client.run(processor_time).values()) - before))
                    del ds
                on = {"kernel": kernel, "style": style, "workers": workers, "threads": threads}
                medians[kernel, style] = record("rounds", took[1:], "ms", **on)
                record("processor time of the workers", used[1:], "ms", **on)
    return medians


if __name__ == "__main__":
    main()
