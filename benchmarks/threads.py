"""What the threads of workers are good for: the same runs on several numbers of workers and threads.

python benchmarks/threads.py
python benchmarks/threads.py --shapes 1x2 2x1 --kernels bfs --scale 18

Each graph has a cluster for each thread. Processor time is that of all workers in a run, with what comes
before and after its rounds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import common
from common import Options, record

PARAMETERS = {"pagerank": {"iterations": 10}}
"""Of kernels, for as many rounds in each run."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    shapes = ["1x2", "2x1", "1x4", "2x2"]
    options.size("--shapes", shapes, ["1x2"], nargs="+", help="workers x threads of each")
    options.add_argument("--kernels", nargs="+", default=["bfs", "pagerank", "mis", "triangles"])
    options.size("--scale", 18, 8, help="2^scale nodes, eight times as many edges")
    options.size("--times", 5, 1, help="runs, of which the median counts")
    with options.recorded(arguments) as given:
        for shape in given.shapes:
            workers, threads = map(int, shape.split("x"))
            measure(workers, threads, given.kernels, given.scale, given.times)


def processor_time() -> float:
    """On a worker: seconds of processor time so far."""
    return time.process_time()


def measure(workers: int, threads: int, kernels: Sequence[str], scale: int, times: int) -> None:
    """All kernels in both styles on so many workers with so many threads each."""
    import dgsuite
    import genval

    with common.cluster(workers, "tcp", threads) as client:
        n = 2**scale
        graph = genval.graph("rmat", n, m=8 * n, clusters=workers * threads, client=client)
        for kernel in kernels:
            for style in ("clocked", "finish_async"):
                took, used = [], []
                for _ in range(times + 1):
                    before = sum(client.run(processor_time).values())
                    ds = dgsuite.run(
                        kernel, graph, style=style, client=client, **PARAMETERS.get(kernel, {})
                    )
                    took.append(1e3 * ds.attrs["seconds"])
                    used.append(1e3 * (sum(client.run(processor_time).values()) - before))
                    del ds
                on = {"kernel": kernel, "style": style, "workers": workers, "threads": threads}
                record("rounds", took[1:], "ms", **on)
                record("processor time of the workers", used[1:], "ms", **on)


if __name__ == "__main__":
    main()
