"""MIS and BF on a large random graph, two workers and one, beside NetworKit and SciPy.

python benchmarks/large.py [--nodes N] [--edges M]

Rounds only, graph built; peers and ours take turns, on the same graph.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import common
import numpy as np
import psutil
from common import Options, record, skip


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
        skip("NetworKit", "not installed: pip install 'dgsuite[bench]'")
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


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--nodes", 1_000_000, 1_000)
    options.size("--edges", 10_000_000, 10_000)
    options.size("--times", 11, 1)
    with options.recorded(arguments) as given:
        measure(given.nodes, given.edges, given.times)


def measure(n: int, edges: int, turns: int) -> None:
    """All figures of a graph."""
    import dgsuite

    src, dst = np.random.default_rng(3).integers(0, n, (2, edges))
    others = peers(src, dst, n)
    on = {"nodes": n, "edges": edges}
    with common.cluster(2) as two, common.cluster(1) as one:
        graphs = {
            client: dgsuite.Graph.from_edges(src, dst, n=n, clusters=2, client=client)
            for client in (two, one)
        }
        for kernel, parameters, name, share in (
            ("mis", {}, "NetworKit", 0.33),
            ("bf", {"root": 5}, "SciPy", 0.5),
        ):
            times: dict[object, list[float]] = {two: [], one: [], "peer": []}
            for turn in range(turns + 1):
                for client, graph in graphs.items():
                    ds = dgsuite.run(kernel, graph, client=client, **parameters)
                    if turn:
                        times[client].append(1e3 * ds.attrs["seconds"])
                    if client is two:
                        kept = ds
                if kernel in others:
                    took = 1e3 * timed(others[kernel])
                    if turn:
                        times["peer"].append(took)
            pairs = zip(times[one], times[two], strict=True)
            gain = statistics.median(a / b for a, b in pairs)
            fast = record(f"{kernel}, 2 workers, rounds", times[two], "ms", **on)
            record(f"{kernel}, 1 worker, rounds", times[one], "ms", **on)
            if kernel in others:
                peer = record(f"{kernel}, {name}", times["peer"], "ms", **on)
                record(f"{kernel}, 2 workers", fast / peer, "x", most=share, peer=name, **on)
            least = 1.4 if kernel == "mis" else None
            record(f"{kernel}, 1 worker", gain, "x", least=least, peer="2 workers", **on)
            record(f"{kernel}, rounds", kept.sizes["round"], "", **on)
            record(f"{kernel}, messages", int(kept.messages.sum()), "", **on)
            record(f"{kernel}, bytes on the wire", int(kept.wire_bytes.sum()), "", **on)
        record("largest worker", memory() / 1e6, "MB", **on)


if __name__ == "__main__":
    main()
