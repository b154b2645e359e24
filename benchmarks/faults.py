"""Runs under faults: what lost messages, crashes and counted bits add to the time of `mis`.

python benchmarks/faults.py [--only PART ...] [--nodes N] [--edges M] [--turns T]

Times are seconds per round, of the rounds, on two workers. Those of tasks that arrive late are processor time
of whole runs in this process, by task. Runs with and without take turns.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import common
import numpy as np
from common import Options, record

WAYS: dict[str, dict[str, Any]] = {
    "without a network": {},
    "1 % loss and 1 % crashes": {"network": {"loss": 0.01, "crashes": 0.01}},
    "bits counted": {"congest": float("inf")},
}
"""Options of a run, by what it is."""

MOST = {"1 % loss and 1 % crashes": 3.0, "bits counted": 1.2}
"""Of the time without them, per round."""


def rounds(client: Any, nodes: int, edges: int, turns: int) -> None:
    """Rounds of `mis`, each way in turn."""
    import dgsuite

    ends = np.random.default_rng(1).integers(0, nodes, (2, edges))
    graph = dgsuite.Graph.from_edges(*ends, n=nodes, duplicates="min", client=client)
    found: dict[str, list[float]] = {name: [] for name in WAYS}
    for turn in range(turns + 1):  # the first one does not count
        for name, how in WAYS.items():
            ds = dgsuite.run("mis", graph, style="clocked", **how)
            if turn:
                found[name].append(float(ds.attrs["seconds"]) / ds.sizes["round"])
    on = {"nodes": nodes, "edges": edges, "workers": 2, "kernel": "mis"}
    for name, times in found.items():
        record("a round", times, "s", run=name, **on)
    plain = found["without a network"]
    for name, most in MOST.items():
        shares = [mine / other for mine, other in zip(found[name], plain, strict=True)]
        bound = most if nodes >= 1_000_000 else None
        record("time per round, of that without", shares, "x", most=bound, run=name, **on)


LATE: dict[str, Any] = {
    "on time": None,
    "1 to 10 ticks, uniform": {"delay": ("uniform", 1, 10)},
    "geometric, 5 ticks on average": {"delay": ("geometric", 0.2)},
}
"""Networks of recursive runs, by how late messages are."""

PER_TASK = 5.0
"""Most time per task with delays, of that without."""


def late(nodes: int, turns: int) -> None:
    """Tasks of recursive `bf` on a random graph with ten edges a node, each way in turn."""
    import dgsuite

    ends = np.random.default_rng(1).integers(0, nodes, (2, 10 * nodes))
    graph = dgsuite.Graph.from_edges(*ends, n=nodes, duplicates="min", clusters=2)
    found: dict[str, list[float]] = {name: [] for name in LATE}
    tasks: dict[str, float] = {}
    for turn in range(turns + 1):  # the first one does not count
        for name, network in LATE.items():
            begin = time.process_time()
            ds = dgsuite.run("bf", graph, form="recursive", style="serial", network=network)
            took = time.process_time() - begin
            tasks[name] = float(ds.messages.sum())
            if turn:
                found[name].append(1e9 * took / tasks[name])
    on = {"nodes": nodes, "edges": 10 * nodes, "kernel": "bf, recursive"}
    for name, times in found.items():
        record("processor time per task", times, "ns", delays=name, **on)
        record("tasks", tasks[name], "", delays=name, **on)
        if name != "on time":
            shares = [mine / other for mine, other in zip(times, found["on time"], strict=True)]
            bound = PER_TASK if nodes >= 100_000 else None
            record("time per task, of that on time", shares, "x", most=bound, delays=name, **on)


def many(times: int, nodes: int, turns: int) -> None:
    """Runs on a small graph under loss, as one."""
    import dgsuite
    from dgsuite import genval

    graph, lossy = genval.graph("er", nodes, seed=1), dgsuite.Network(loss=0.01)
    took = []
    for _ in range(turns):
        begin = time.perf_counter()
        dgsuite.lab.repeat("mis", graph, times, network=lossy)
        took.append(time.perf_counter() - begin)
    bound = 20.0 if times >= 10_000 else None
    record("runs on a small graph, validated", took, "s", most=bound, runs=times, nodes=nodes)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    parts = ("rounds", "late", "many")
    options.add_argument("--only", default=parts, nargs="+", choices=parts)
    options.size("--nodes", 1_000_000, 2_000)
    options.size("--edges", 10_000_000, 8_000)
    options.size("--late", (100_000, 1_000_000), (2_000,), nargs="+", type=int)
    options.size("--times", 10_000, 20)
    options.size("--turns", 5, 1)
    with options.recorded(arguments) as given:
        if "rounds" in given.only:
            with common.cluster(2) as client:
                rounds(client, given.nodes, given.edges, given.turns)
        for nodes in given.late if "late" in given.only else ():
            late(nodes, given.turns)
        if "many" in given.only:
            many(given.times, 100, given.turns)


if __name__ == "__main__":
    main()
