"""Communities, by the kernel `leiden`. networkx has no Leiden method of its own before 3.7."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from dgsuite.faces.nx_backend.calls import PARALLEL, Offered, run
from dgsuite.faces.nx_backend.graph import ConvertedGraph
from dgsuite.kernels.analytics.communities import RANDOMNESS


@Offered
def leiden_communities(
    G: ConvertedGraph,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
    metric: str = "modularity",
    theta: float = RANDOMNESS,
    **how: Any,
) -> list[set[Hashable]]:
    """Sets of nodes, by their first nodes; each is connected."""
    if not len(G):
        return []
    values = G.weight(weight)
    if values is not None and (values < 0).any():
        raise NotImplementedError(f"an edge has a negative {weight}")
    if values is not None and len(values) and not values.any():
        raise NotImplementedError(f"all edges have a {weight} of 0")
    # a generator of NumPy's draws integers below 2^63 - 1, and has no getrandbits
    drawn = int(seed.randrange(2**63 - 1))
    weighted = weight is not None
    ds = run(
        *("leiden", G, how),
        weight=weight,
        any_weight=not weighted,
        weighted=weighted,
        loops=True,
        resolution=float(resolution),
        objective=metric,
        seed=drawn,
    )
    label = ds["community"].values
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    nodes = G.of(order)
    ends = [*starts[1:].tolist(), len(G)]
    return [set(nodes[first:end]) for first, end in zip(starts.tolist(), ends, strict=True)]


@leiden_communities.unless
def _(
    G: Any, resolution: Any, max_level: int | None, metric: Any, theta: Any, **_: Any
) -> str | None:
    if G.is_multigraph():
        return PARALLEL
    if G.is_directed():
        return "directed graphs"
    if max_level is not None:
        return "max_level: all levels are gone through"
    if metric not in ("modularity", "cpm"):
        return "metric: modularity or cpm"
    if theta != RANDOMNESS:
        return f"theta: it is {RANDOMNESS}"
    plain = isinstance(resolution, int | float) and 0 < resolution < np.inf
    return None if plain else "resolution must be above 0 and finite"
