"""Kernels 2 and 3: a search from every root, each tree validated, each peer run beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from distributed import Client

import dgsuite
from dgsuite.graph500 import peers
from dgsuite.graph500.problem import WEIGHTS, Problem
from dgsuite.graph500.size import EDGE_FACTOR
from genval import validate
from partition.errors import RunError
from partition.graph import Graph

DELTA = WEIGHTS / EDGE_FACTOR
"""Width of a bucket: a node has about one edge lighter than that (Meyer and Sanders 2003)."""

TURN, TREES = 16, 1 << 25
"""Most searches that follow one another before peers have their turn, and bytes that their trees may take."""


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

    how: dict[str, Any] = {"style": "clocked", "client": client}  # also where the graph is small

    def trees(roots: Sequence[int]) -> list[xr.Dataset]:
        each = [{"root": root} for root in roots]
        if kernel == "sssp":
            return dgsuite.run_each("sssp", problem.graph, each, **how, delta=DELTA)
        if problem.grid is not None:
            return dgsuite.run_each("bfs2d", problem.graph, each, **how)
        return dgsuite.run_each("bfs", problem.graph, each, **how, direction=direction)

    def checked(root: int, ds: xr.Dataset) -> None:
        begin = time.perf_counter()
        report = validate(kernel, problem.graph, ds)
        found.checks.append(time.perf_counter() - begin)
        if not report.ok:
            raise RunError(f"the tree from root {root} is wrong: {report}")

    turn = max(1, min(TURN if peers else len(roots), TREES // (8 * problem.graph.n)))
    trees(roots[:1])
    for peer in peers.values():
        peer(roots[0])
    for done in range(0, len(roots), turn):
        some = roots[done : done + turn]
        ours = trees(some)
        for name, peer in peers.items():
            for root in some:
                begin = time.perf_counter()
                peer(root)
                found.peers[name].append(time.perf_counter() - begin)
        for at, root in enumerate(some):
            on_root(done + at)
            ds = ours.pop(0)
            found.roots.append(root)
            found.seconds.append(float(ds.attrs["seconds"]))
            found.edges.append(int(problem.tuples.sum(where=np.asarray(ds.parent) >= 0)))
            found.wire.append(int(ds.wire_bytes.sum()))
            if check:
                checked(root, ds)
            del ds  # before the next one comes
    return found


def make_peers(names: Sequence[str], graph: Graph) -> dict[str, Callable[[int], object]]:
    """Breadth-first searches of other libraries on the same graph, in this process."""
    matrix = graph.to_scipy() if names else None
    return {name: peers.PEERS[name](matrix) for name in names}
