"""Communities, by the kernel `leiden`. networkx has no Leiden method of its own."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from dgsuite.faces.nx_backend.calls import PARALLEL, Offered, run
from dgsuite.faces.nx_backend.graph import ConvertedGraph


@Offered
def leiden_communities(
    G: ConvertedGraph,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
    **how: Any,
) -> list[set[Hashable]]:
    """Sets of nodes, by their first nodes; each is connected."""
    if not len(G):
        return []
    values = G.weight(weight)
    if values is not None and (values < 0).any():
        raise NotImplementedError(f"an edge has a negative {weight}")
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
        seed=drawn,
    )
    label = ds["community"].values
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    nodes = G.of(order)
    ends = [*starts[1:].tolist(), len(G)]
    return [set(nodes[first:end]) for first, end in zip(starts.tolist(), ends, strict=True)]


@leiden_communities.unless
def _(G: Any, resolution: float, max_level: int | None, **_: Any) -> str | None:
    if G.is_multigraph():
        return PARALLEL
    if G.is_directed():
        return "only undirected graphs have such communities"
    if max_level is not None:
        return "max_level: all levels are gone through"
    return None if 0 < resolution < np.inf else "resolution must be above 0 and finite"
