"""MIS and BF on a large random graph, two workers and one, beside NetworKit and SciPy.

python benchmarks/large.py [--nodes N] [--edges M]

Rounds only, graph built; peers and ours take turns, on the same graph.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import common
import numpy as np
import psutil
from common import line

# a peer's idle threads must not spin into our turn
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def timed(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def peers(src: np.ndarray, dst: np.ndarray, n: int) -> dict[str, Callable[[], object]]:
    """NetworKit's Luby with two threads, and SciPy's breadth-first search."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import breadth_first_order

    keep = src != dst
    low, high = np.minimum(src, dst)[keep], np.maximum(src, dst)[keep]
    key = np.unique(low * n + high)
    low, high = key // n, key % n
    both = (np.concatenate([low, high]), np.concatenate([high, low]))
    ones = np.ones(2 * len(low))
    matrix = sp.coo_array((ones, tuple(b.astype(np.int32) for b in both)), shape=(n, n)).tocsr()
    found: dict[str, Callable[[], object]] = {"bf": lambda: breadth_first_order(matrix, 5)}
    try:
        import networkit as nk
    except ImportError:
        print("networkit is not installed: pip install 'dgsuite[bench]'")
        return found
    nk.setNumberOfThreads(2)
    ends = (low.astype(np.uint64), high.astype(np.uint64))
    graph = nk.GraphFromCoo(ends, n=n, directed=False)
    found["mis"] = lambda: nk.independentset.Luby().run(graph)
    return found


def memory() -> int:
    """Largest resident set of a worker."""
    workers = [p for p in psutil.Process().children(recursive=True) if not p.children()]
    return max(p.memory_info().rss for p in workers)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nodes", type=int, default=1_000_000)
    options.add_argument("--edges", type=int, default=10_000_000)
    options.add_argument("--times", type=int, default=11)
    given = options.parse_args()
    n = given.nodes

    import dgsuite

    src, dst = np.random.default_rng(3).integers(0, n, (2, given.edges))
    others = peers(src, dst, n)
    with common.cluster(2) as two, common.cluster(1) as one:
        graphs = {
            client: dgsuite.Graph.from_edges(src, dst, n=n, clusters=2, client=client)
            for client in (two, one)
        }
        for kernel, options_, share in (("mis", {}, 0.33), ("bf", {"root": 5}, 0.5)):
            times: dict[object, list[float]] = {two: [], one: [], "peer": []}
            for turn in range(given.times + 1):
                for client, graph in graphs.items():
                    ds = dgsuite.run(kernel, graph, client=client, **options_)
                    if turn:
                        times[client].append(ds.attrs["seconds"])
                    if client is two:
                        kept = ds
                if kernel in others:
                    took = timed(others[kernel])
                    if turn:
                        times["peer"].append(took)
            median = {who: statistics.median(t) if t else np.nan for who, t in times.items()}
            pairs = zip(times[one], times[two], strict=True)
            gain = statistics.median(a / b for a, b in pairs)
            line(f"{kernel}, 2 workers, rounds", 1e3 * median[two], "ms")
            line(f"{kernel}, 1 worker, rounds", 1e3 * median[one], "ms")
            line(f"{kernel}, peer", 1e3 * median["peer"], "ms")
            line(f"{kernel}, 2 workers over peer", median[two] / median["peer"], "x", share)
            line(f"{kernel}, 1 worker over 2", gain, "x")
            print(
                f"  {kept.sizes['round']} rounds, {int(kept.messages.sum()):,} messages, "
                f"{int(kept.wire_bytes.sum()):,} bytes on the wire, "
                f"{memory() / 1e6:.0f} MB in the largest worker"
            )


if __name__ == "__main__":
    main()
