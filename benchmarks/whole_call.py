"""What a whole call of `dgsuite.run` costs beyond its rounds.

python benchmarks/whole_call.py [--scale 20] [--nodes 10000000] [--json FILE]

On two workers: a search of Graph500's graph, and one whose result stays on the workers; each with the time
before the first round, of the rounds, and after the last one. In this process: a graph of 100 nodes, and the
first call of a fresh process. Times by the clock need a quiet machine; processor times stand beside them.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common
import numpy as np
from common import line

TIMES = 15
"""Calls of each kind, of which the medians are said."""

FRESH = """
import numpy as np
import dgsuite
nodes = np.arange(100)
graph = dgsuite.Graph.from_edges(nodes, (nodes + 1) % 100)
dgsuite.run("bfs", graph)
"""


def phases(graph, client, path: Path, times: int = TIMES) -> dict[str, float]:
    """Seconds before, in and after the rounds of a search, and the client's processor time; medians."""
    from kernels_for_benchmarks import TimedSearch

    import dgsuite

    found = []
    for root in range(times + 1):
        path.write_text("")
        begin, used = time.monotonic(), time.process_time()
        ds = dgsuite.run(
            TimedSearch(root=root, times=str(path)), graph, style="clocked", client=client
        )
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


def small() -> dict[str, float]:
    """Seconds of a call on 100 nodes in this process after the first."""
    import dgsuite

    ends = np.random.default_rng(seed=1).integers(0, 100, (2, 400))
    graph = dgsuite.Graph.from_edges(*ends, n=100)
    clocks, used = [], []
    for _ in range(200):
        begin, spent = time.perf_counter(), time.process_time()
        dgsuite.run("bfs", graph, style="serial")
        clocks.append(time.perf_counter() - begin)
        used.append(time.process_time() - spent)
    return {"whole": statistics.median(clocks[1:]), "processor": statistics.median(used[1:])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=10_000_000)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    options = parser.parse_args()
    import dask

    import genval

    found: dict[str, dict[str, float]] = {}
    found["small"] = small()
    line("100 nodes in this process", 1e3 * found["small"]["whole"], "ms", 2)
    line("100 nodes in this process, processor", 1e3 * found["small"]["processor"], "ms")
    for name, code, bound in (("import", "import dgsuite", 0.2), ("first_call", FRESH, 2)):
        empty = fresh("pass")
        runs = [fresh(code) for _ in range(5)]
        found[name] = {
            key: statistics.median(run[key] for run in runs) - empty[key] * (name == "import")
            for key in empty
        }
        line(f"{name} in a fresh process", found[name]["whole"], "s", bound)
        line(f"{name}, processor", found[name]["processor"], "s")
    with common.cluster(2) as client, tempfile.TemporaryDirectory() as folder:
        stamps = Path(folder) / "stamps"
        graph = genval.graph("rmat", 2**options.scale, m=16 * 2**options.scale, client=client)
        found["search"] = phases(graph, client, stamps)
        del graph
        with dask.config.set({"dgsuite.gather-limit": "1 MiB"}):
            n = options.nodes
            graph = genval.graph("er", n, m=2 * n, client=client)
            found["lazy"] = phases(graph, client, stamps, 5)
    for name in ("search", "lazy"):
        for part, seconds in found[name].items():
            bound = 50 if (name, part) == ("lazy", "after") else None
            line(f"{name}, {part}", 1e3 * seconds, "ms", bound)
    ratio = found["search"]["whole"] / found["search"]["rounds"]
    line("search, whole call over its rounds", ratio, "x", 1.3)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
