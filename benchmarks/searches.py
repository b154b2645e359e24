"""Searches from 64 sources at once, over 64 searches, taking turns: medians of rounds and of whole calls.

python benchmarks/searches.py [--scale 20] [--random 1000000 10000000] [--turns 5]

Two worker processes, style "clocked". The 64 searches follow one another in the same tasks (`run_each`).
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import common
import numpy as np
from analytics import THREADS, made
from common import line

SOURCES = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--random", type=int, nargs=2, metavar=("N", "M"))
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    import dgsuite
    from dgsuite.suites import sources

    with common.cluster(THREADS) as client:
        graph = made(given, client, weighted=False)
        roots = sources.choose(sources.able(graph), SOURCES, 101)
        how: dict[str, Any] = {"style": "clocked", "client": client}

        def once() -> float:
            found = dgsuite.run("bfs_many", graph, sources=roots, **how)
            return float(found.attrs["seconds"])

        def one_by_one() -> float:
            found = dgsuite.run_each("bfs", graph, [{"root": root} for root in roots], **how)
            return float(np.sum([ds.attrs["seconds"] for ds in found]))

        calls = {"at once": once, "one by one": one_by_one}
        rounds: dict[str, list[float]] = {name: [] for name in calls}
        whole: dict[str, list[float]] = {name: [] for name in calls}
        for turn in range(given.turns + 1):
            for name in sorted(calls, reverse=bool(turn % 2)):
                begin = time.perf_counter()
                seconds = calls[name]()
                if turn:  # the first loads compiled code
                    rounds[name].append(seconds)
                    whole[name].append(time.perf_counter() - begin)
    for what, times, bound in (("rounds", rounds, 0.2), ("whole call", whole, None)):
        least = {name: statistics.median(some) for name, some in times.items()}
        for name, seconds in least.items():
            line(f"{SOURCES} searches {name}: {what}", 1e3 * seconds, "ms")
        line(
            f"  {what} at once over one by one", least["at once"] / least["one by one"], "x", bound
        )


if __name__ == "__main__":
    main()
