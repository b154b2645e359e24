"""Kernels 2 and 3: a search from every root, each tree validated, each peer run beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import xarray as xr
from distributed import Client

import dgsuite
from dgsuite import peers
from dgsuite.graph500.problem import WEIGHTS, Problem
from dgsuite.graph500.size import EDGE_FACTOR
from genval import validate
from partition.errors import RunError
from partition.graph import Graph

DELTA = WEIGHTS / EDGE_FACTOR
"""Width of a bucket: a node has about one edge lighter than that (Meyer and Sanders 2003)."""


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
        Run once after each of ours, on the same root.
    on_root
        Called with the number of roots done.

    Raises
    ------
    RunError
        A tree is wrong.
    """
    found = Searches(peers={name: [] for name in peers or {}})

    def tree(root: int) -> xr.Dataset:
        if kernel == "sssp":
            return dgsuite.run("sssp", problem.graph, client=client, root=root, delta=DELTA)
        if problem.grid is not None:
            return dgsuite.run("bfs2d", problem.graph, client=client, root=root)
        return dgsuite.run("bfs", problem.graph, client=client, root=root, direction=direction)

    tree(roots[0])
    for peer in (peers or {}).values():
        peer(roots[0])
    for done, root in enumerate(roots):
        on_root(done)
        ds = tree(root)
        found.roots.append(root)
        found.seconds.append(float(ds.attrs["seconds"]))
        found.edges.append(int(problem.tuples.sum(where=np.asarray(ds.parent) >= 0)))
        found.wire.append(int(ds.wire_bytes.sum()))
        for name, peer in (peers or {}).items():
            begin = time.perf_counter()
            peer(root)
            found.peers[name].append(time.perf_counter() - begin)
        if check:
            begin = time.perf_counter()
            report = validate(kernel, problem.graph, ds)
            found.checks.append(time.perf_counter() - begin)
            if not report.ok:
                raise RunError(f"the tree from root {root} is wrong: {report}")
        del ds  # before the next one comes
    return found


def make_peers(names: Sequence[str], graph: Graph) -> dict[str, Callable[[int], object]]:
    """Breadth-first searches of other libraries on the same graph, in this process."""
    matrix = graph.to_scipy() if names else None
    return {name: peers.PEERS[name](matrix) for name in names}
