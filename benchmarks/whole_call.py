"""What a whole call of `dgsuite.run` costs beyond its rounds.

python benchmarks/whole_call.py [--scale 20] [--nodes 10000000]

On two workers: a search of Graph500's graph, and one whose result stays on the workers; each with the time
before the first round, of the rounds, and after the last one. In this process: a graph of 100 nodes, and the
first call of a fresh process. Times by the clock need a quiet machine; processor times stand beside them.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import common
import numpy as np
from common import Options, record

FRESH = """
import numpy as np
import dgsuite
nodes = np.arange(100)
graph = dgsuite.Graph.from_edges(nodes, (nodes + 1) % 100)
dgsuite.run("bfs", graph)
"""


def phases(run: Callable[..., Any], path: Path, times: int) -> dict[str, float]:
    """Seconds before, in and after the rounds of a search, and the client's processor time; medians."""
    from kernels_for_benchmarks import TimedSearch

    found = []
    for root in range(times + 1):
        path.write_text("")
        begin, used = time.monotonic(), time.process_time()
        ds = run(TimedSearch(root=root, times=str(path)), style="clocked")
        end, used = time.monotonic(), time.process_time() - used
        stamps = np.array([float(stamp) for stamp in path.read_text().split()])
        found.append(
            (stamps.min() - begin, ds.attrs["seconds"], end - stamps.max(), end - begin, used)
        )
        del ds
    names = ("before", "rounds", "after", "whole", "client_processor")
    return dict(zip(names, map(statistics.median, zip(*found[1:], strict=True)), strict=True))


def fresh(code: str) -> dict[str, float]:
    """Seconds of a fresh process by the clock, and of its processor."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, cwd=common.ROOT)
    took, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"whole": took, "processor": used}


def small(times: int) -> dict[str, float]:
    """Seconds of a call on 100 nodes in this process after the first."""
    import dgsuite

    ends = np.random.default_rng(seed=1).integers(0, 100, (2, 400))
    graph = dgsuite.Graph.from_edges(*ends, n=100)
    clocks, used = [], []
    for _ in range(times + 1):
        begin, spent = time.perf_counter(), time.process_time()
        dgsuite.run("bfs", graph, style="serial")
        clocks.append(time.perf_counter() - begin)
        used.append(time.process_time() - spent)
    return {"whole": statistics.median(clocks[1:]), "processor": statistics.median(used[1:])}


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--scale", 20, 8)
    options.size(
        "--nodes", 10_000_000, 400_000, help="of the graph whose result stays on the workers"
    )
    options.size("--times", 15, 1, help="calls, of which the medians count")
    options.size("--small", 200, 5, help="calls on 100 nodes")
    with options.recorded(arguments) as given:
        measure(given)


def measure(given: argparse.Namespace) -> None:
    """All figures."""
    import dask

    import dgsuite
    from dgsuite import genval

    for part, seconds in small(given.small).items():
        bound = 2 if part == "whole" else None
        record(part, 1e3 * seconds, "ms", most=bound, call="100 nodes in this process")
    for call, code, bound in (
        ("import dgsuite", "import dgsuite", 0.2),
        ("the first in a fresh process", FRESH, 2),
    ):
        empty = fresh("pass")
        runs = [fresh(code) for _ in range(min(5, given.times))]
        for part, idle in empty.items():
            taken = statistics.median(run[part] for run in runs) - idle * (code != FRESH)
            record(part, taken, "s", most=bound if part == "whole" else None, call=call)
    with common.cluster(2) as client, tempfile.TemporaryDirectory() as folder:
        stamps = Path(folder) / "stamps"
        scale, n = given.scale, given.nodes
        graph = genval.graph("rmat", 2**scale, m=16 * 2**scale, client=client)
        search = phases(partial(dgsuite.run, graph=graph, client=client), stamps, given.times)
        del graph
        with dask.config.set({"dgsuite.gather-limit": "1 MiB"}):
            graph = genval.graph("er", n, m=2 * n, client=client)
            run = partial(dgsuite.run, graph=graph, client=client)
            lazy = phases(run, stamps, min(5, given.times))
    for call, found, after in (
        (f"search, scale {scale}", search, None),
        (f"search, result of {n:,} nodes on the workers", lazy, 50),
    ):
        for part, seconds in found.items():
            record(part, 1e3 * seconds, "ms", most=after if part == "after" else None, call=call)
    ratio = search["whole"] / search["rounds"]
    record("whole", ratio, "x", most=1.3, peer="rounds", call=f"search, scale {scale}")


if __name__ == "__main__":
    main()
