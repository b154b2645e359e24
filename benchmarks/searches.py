"""Searches from 64 sources at once, over 64 searches, taking turns: medians of rounds and of whole calls.

python benchmarks/searches.py [--scale 20] [--random 1000000 10000000] [--graphs kronecker,random] [--turns 5]
    [--json FILE]

Two worker processes, style "clocked". The 64 searches follow one another in the same tasks (`run_each`).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import common
import numpy as np
from analytics import add_graphs, asked, made, name_of
from common import line

SOURCES, WORKERS = 64, 2


def compare(graph: Any, client: Any, turns: int) -> dict[str, dict[str, float]]:
    """Medians in seconds, of rounds and of whole calls, at once and one by one."""
    import dgsuite
    from dgsuite.suites import sources

    roots = sources.choose(sources.able(graph), SOURCES, 101)
    how: dict[str, Any] = {"style": "clocked", "client": client}

    def once() -> float:
        found = dgsuite.run("bfs_many", graph, sources=roots, **how)
        return float(found.attrs["seconds"])

    def one_by_one() -> float:
        found = dgsuite.run_each("bfs", graph, [{"root": root} for root in roots], **how)
        return float(np.sum([ds.attrs["seconds"] for ds in found]))

    calls = {"at once": once, "one by one": one_by_one}
    times: dict[str, dict[str, list[float]]] = {
        what: {name: [] for name in calls} for what in ("rounds", "whole call")
    }
    for turn in range(turns + 1):
        for name in sorted(calls, reverse=bool(turn % 2)):
            begin = time.perf_counter()
            seconds = calls[name]()
            if turn:  # the first loads compiled code
                times["rounds"][name].append(seconds)
                times["whole call"][name].append(time.perf_counter() - begin)
    return {
        what: {name: statistics.median(some) for name, some in each.items()}
        for what, each in times.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_graphs(parser)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    results = {}
    with common.cluster(WORKERS) as client:
        for wanted in asked(given):
            print(name_of(wanted), flush=True)
            graph = made(client, weighted=False, directed=False, what=wanted)
            results[name_of(wanted)] = found = compare(graph, client, given.turns)
            del graph
            for what, least in found.items():
                for name, seconds in least.items():
                    line(f"{SOURCES} searches {name}: {what}", 1e3 * seconds, "ms")
                ratio = least["at once"] / least["one by one"]
                bound = 0.2 if what == "rounds" else None
                line(f"  {what} at once over one by one", ratio, "x", bound)
    if given.json:
        given.json.write_text(json.dumps({"seconds": results, "workers": WORKERS}))


if __name__ == "__main__":
    main()
