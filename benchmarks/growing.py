"""Graphs that grow: new edges and the components with them, by the time to build and find all from the start.

python benchmarks/growing.py [--nodes N] [--edges M] [--more K] [--turns T]

Ends of edges are random, so every cluster gets some, and nodes have no labels. The edges are in this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import common
import numpy as np
from common import Options, record

LARGE = 10_000_000
"""Edges from which the share of time has a bound; of fewer, most time is that of starting phases."""


def seconds(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and how long it took."""
    begin = time.perf_counter()
    found = call()
    return found, time.perf_counter() - begin


def measure(ends: np.ndarray, more: np.ndarray, n: int, client: Any, turns: int) -> None:
    """Build a graph and have it grow, some times."""
    import dgsuite

    on = {"nodes": n, "edges": ends.shape[1], "more": more.shape[1]}
    on["workers"] = 0 if client is None else len(client.scheduler_info()["workers"])
    shares, starts, grows = [], [], []
    for turn in range(turns + 1):  # the first one does not count
        build = partial(dgsuite.Graph.from_edges, *ends, n=n, duplicates="min", client=client)
        graph, built = seconds(build)
        before, found = seconds(partial(dgsuite.run, "wcc", graph))
        grown, added = seconds(partial(graph.with_edges, *more))
        _, joined = seconds(partial(dgsuite.run, "wcc", grown, since=before))
        if turn:
            starts.append(built + found)
            grows.append(added + joined)
            shares.append((added + joined) / (built + found))
    record("from the start", starts, "s", **on)
    record("with new edges", grows, "s", **on)
    bound = 0.05 if ends.shape[1] >= LARGE else None
    record("share of the time from the start", shares, "x", most=bound, peer="start", **on)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--nodes", 10_000_000, 1_000)
    options.size("--edges", 20_000_000, 2_000)
    options.size("--more", 100_000, 10)
    options.size("--turns", 5, 1)
    with options.recorded(arguments) as given:
        rng = np.random.default_rng(1)
        ends, more = (rng.integers(0, given.nodes, (2, m)) for m in (given.edges, given.more))
        measure(ends, more, given.nodes, None, given.turns)
        with common.cluster(2) as client:
            measure(ends, more, given.nodes, client, given.turns)


if __name__ == "__main__":
    main()
