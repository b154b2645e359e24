"""Deep graphs: iterative and block forms on a grid, roads, a path and a tree, beside SciPy, in turns.

python benchmarks/deep.py [--side 1000] [--turns 5] [--workers 2]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from common import Options, cluster, in_turns, record
from numpy.typing import NDArray
from scipy.sparse import coo_array, csgraph

import dgsuite
from dgsuite import Graph
from dgsuite.genval.families import plan

BOUND = 500
"""Milliseconds of the rounds on a path and a tree, at most."""


def ends(shape: str, side: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Edges of a graph of ``side ** 2`` nodes."""
    n = side * side
    if shape == "path":
        return np.arange(n - 1), np.arange(1, n)
    if shape == "tree":
        return (np.arange(1, n) - 1) // 2, np.arange(1, n)
    if shape == "road":
        src, dst, _ = plan("road", n, seed=1).edges(0, n)
        return src.astype(np.int64), dst.astype(np.int64)
    at = np.arange(n).reshape(side, side)
    across, down = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
    return tuple(  # type: ignore[return-value]
        np.concatenate([one.ravel(), two.ravel()]) for one, two in zip(across, down, strict=True)
    )


def peers(src: NDArray, dst: NDArray, weights: NDArray, n: int) -> dict[str, Callable[[], Any]]:
    """What SciPy has for each kernel."""
    matrix = coo_array((weights, (src, dst)), (n, n)).tocsr()
    both = (matrix + matrix.T).tocsr()
    return {
        "bfs": lambda: csgraph.breadth_first_order(both, 0),
        "wcc": lambda: csgraph.connected_components(both, directed=False),
        "sssp": lambda: csgraph.dijkstra(both, indices=0),
        "mst": lambda: csgraph.minimum_spanning_tree(matrix),
    }


def ours(run: Callable[..., Any], form: str, rounds: dict[str, int]) -> float:
    """Milliseconds of the rounds of a run, whose number is noted."""
    ds = run(form=form)
    rounds[form] = ds.sizes["round"]
    return 1e3 * float(ds.attrs["seconds"])


def theirs(peer: Callable[[], Any]) -> float:
    """Milliseconds of a peer."""
    begin = perf_counter()
    peer()
    return 1e3 * (perf_counter() - begin)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--side", 1000, 20)
    options.size("--turns", 5, 1)
    options.size("--workers", 2, 1)
    with options.recorded(arguments) as given, cluster(given.workers) as client:
        n = given.side**2
        for shape in ("grid", "road", "path", "tree"):
            src, dst = ends(shape, given.side)
            weights = np.random.default_rng(1).integers(1, 256, len(src))
            graph = Graph.from_edges(src, dst, weights=weights, client=client)
            for name, peer in peers(src, dst, weights.astype(float), n).items():
                rounds: dict[str, int] = {}
                run = partial(dgsuite.run, name, graph, client=client, style="clocked")
                # a path takes a round a node in iterative form
                forms = ["block", *["iterative"] * (shape != "path" or name == "wcc")]
                measures = {form: partial(ours, run, form, rounds) for form in forms}
                found = in_turns(measures | {"scipy": partial(theirs, peer)}, given.turns)
                bounded = shape in ("path", "tree") and name != "mst" and not given.tiny
                bound = BOUND if bounded else None
                for form in forms:
                    most = bound if form == "block" else None
                    record(
                        "rounds take",
                        found[form],
                        "ms",
                        most=most,
                        graph=shape,
                        kernel=name,
                        form=form,
                    )
                    record("rounds", rounds[form], "", graph=shape, kernel=name, form=form)
                record("SciPy takes", found["scipy"], "ms", graph=shape, kernel=name)


if __name__ == "__main__":
    main()
