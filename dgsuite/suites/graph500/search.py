"""Kernels 2 and 3: a search from every root, each tree validated, each peer run beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from distributed import Client

from dgsuite.partition.graph.graph import Graph
from dgsuite.suites import running
from dgsuite.suites.graph500 import peers
from dgsuite.suites.graph500.problem import WEIGHTS, Problem
from dgsuite.suites.size import EDGE_FACTOR

DELTA = WEIGHTS / EDGE_FACTOR
"""Width of a bucket: a node has about one edge lighter than that (Meyer and Sanders 2003)."""

TURN = 16
"""Most searches that follow one another before peers have their turn."""


@dataclass
class Searches:
    """What the searches measured: one entry a root."""

    roots: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    wire: list[int] = field(default_factory=list)
    checks: list[float] = field(default_factory=list)
    peers: dict[str, list[float]] = field(default_factory=dict)


def search(
    problem: Problem,
    roots: Sequence[int],
    client: Client,
    *,
    kernel: str = "bfs",
    direction: str | None = "optimising",
    check: bool = True,
    peers: dict[str, Callable[[int], object]] | None = None,
    on_root: Callable[[int], object] = lambda done: None,
) -> Searches:
    """Search from every root.

    Parameters
    ----------
    kernel
        "bfs", which takes the grid if the problem has one, or "sssp".
    direction
        Of a search without a grid.
    check
        Whether to validate the trees.
    peers
        They take turns with ours, on the same roots.
    on_root
        Called with the number of roots done.

    Raises
    ------
    RunError
        A tree is wrong.
    """
    peers = peers or {}
    found = Searches(peers={name: [] for name in peers})
    turn = running.turn(problem.graph, TURN if peers else len(roots))
    each = [{"root": root} for root in roots]
    options: dict[str, Any] = {}
    if kernel == "sssp":
        options["delta"] = DELTA
    elif problem.grid is None:
        options["direction"] = direction
    program = "bfs2d" if kernel == "bfs" and problem.grid is not None else kernel
    for peer in peers.values():
        peer(roots[0])
    for ds in running.trials(program, problem.graph, each, client, turn, **options):
        root = roots[len(found.roots)]
        on_root(len(found.roots))
        found.roots.append(root)
        found.seconds.append(float(ds.attrs["seconds"]))
        found.edges.append(int(problem.tuples.sum(where=np.asarray(ds.parent) >= 0)))
        found.wire.append(int(ds.wire_bytes.sum()))
        if check:
            begin = time.perf_counter()
            running.check(kernel, problem.graph, ds, f"the tree from root {root}")
            found.checks.append(time.perf_counter() - begin)
        del ds  # before the next one comes
        done = len(found.roots)
        if done % turn == 0 or done == len(roots):
            for name, peer in peers.items():
                times = found.peers[name]
                times += [_seconds(peer, each) for each in roots[len(times) : done]]
    return found


def _seconds(peer: Callable[[int], object], root: int) -> float:
    begin = time.perf_counter()
    peer(root)
    return time.perf_counter() - begin


def make_peers(names: Sequence[str], graph: Graph) -> dict[str, Callable[[int], object]]:
    """Breadth-first searches of other libraries on the same graph, in this process."""
    matrix = graph.to_scipy() if names else None
    return {name: peers.PEERS[name](matrix) for name in names}
