"""Searches from 64 sources at once, over 64 searches, taking turns: medians of rounds and of whole calls.

python benchmarks/searches.py [--scale 20] [--random 1000000 10000000] [--graphs kronecker,random] [--turns 5]
    [--processor-time]

Two worker processes, style "clocked". The 64 searches follow one another in the same tasks (`run_each`). With
--processor-time all times are processor time of this process, in style "serial" on two clusters, and rounds
are the phases alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from analytics import add_graphs, asked, clock_of, cluster, in_rounds, made, name_of, where
from common import Options, record

SOURCES, WORKERS = 64, 2


def compare(graph: Any, client: Any, turns: int) -> dict[str, dict[str, float]]:
    """Medians in seconds, of rounds and of whole calls, at once and one by one."""
    import dgsuite
    from dgsuite.suites import sources

    roots = sources.choose(sources.able(graph), SOURCES, 101)
    how, clock = where(client), clock_of(client)

    def once() -> float:
        found = dgsuite.run("bfs_many", graph, sources=roots, **how)
        return in_rounds(found, client)

    def one_by_one() -> float:
        found = dgsuite.run_each("bfs", graph, [{"root": root} for root in roots], **how)
        return sum(in_rounds(ds, client) for ds in found)

    calls = {"at once": once, "one by one": one_by_one}
    times: dict[str, dict[str, list[float]]] = {
        what: {name: [] for name in calls} for what in ("rounds", "whole call")
    }
    for turn in range(turns + 1):
        for name in sorted(calls, reverse=bool(turn % 2)):
            begin = clock()
            seconds = calls[name]()
            if turn:  # the first loads compiled code
                times["rounds"][name].append(seconds)
                times["whole call"][name].append(clock() - begin)
    return {
        what: {name: statistics.median(some) for name, some in each.items()}
        for what, each in times.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    add_graphs(options)
    options.size("--turns", 5, 1)
    with options.recorded(arguments) as given, cluster(WORKERS, given) as client:
        for wanted in asked(given):
            graph = made(client, weighted=False, directed=False, what=wanted)
            on = {"graph": name_of(wanted)}
            for what, found in compare(graph, client, given.turns).items():
                for name, seconds in found.items():
                    record(f"{SOURCES} searches {name}, {what}", 1e3 * seconds, "ms", **on)
                ratio = found["at once"] / found["one by one"]
                bound = 0.2 if what == "rounds" else None
                record(f"at once, {what}", ratio, "x", most=bound, peer="one by one", **on)
            del graph


if __name__ == "__main__":
    main()
