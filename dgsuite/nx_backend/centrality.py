"""Which nodes matter: PageRank and betweenness."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from random import Random
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.nx_backend.calls import CALLABLE, LOOPS, PARALLEL, Offered, run
from dgsuite.nx_backend.components import component
from dgsuite.nx_backend.graph import ConvertedGraph


@Offered
def pagerank(
    G: ConvertedGraph,
    alpha: float = 0.85,
    personalization: Mapping[Hashable, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Any = None,
    weight: str | None = "weight",
    dangling: Any = None,
    **how: Any,
) -> dict[Hashable, float]:
    """PageRank, by the kernel `pagerank`."""
    n = len(G)
    if not n:
        return {}
    if G.loops:
        raise NotImplementedError(LOOPS)
    wanted = None
    if personalization is not None:
        wanted = np.array([personalization.get(node, 0) for node in G.nodes], float)
        if wanted.sum() == 0:
            raise ZeroDivisionError
        if not (np.isfinite(wanted) & (wanted >= 0)).all():
            raise NotImplementedError("a number of personalization is negative, or not finite")
    values = G.weight(weight)
    if values is not None and (values < 0).any():
        raise NotImplementedError(f"an edge has a negative {weight}")
    most = max(max_iter, 0)
    ds = run(
        "pagerank",
        G,
        how,
        weight=weight,
        any_weight=weight is None,
        damping=alpha,
        tolerance=n * tol,
        iterations=most + 1,  # one more than may be needed
        personalisation=wanted,
        weighted=weight is not None,
    )
    if ds.sizes["round"] > most:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return G.by_node(ds["rank"].values)


@pagerank.unless
def _(G: Any, alpha: float, tol: float, nstart: Any, dangling: Any, **_: Any) -> str | None:
    if G.is_multigraph():
        return PARALLEL
    if nstart is not None:
        return "nstart: ranks are equal at first"
    if dangling is not None:
        return "dangling: from nodes without edges out, walkers go on as personalization says"
    return None if 0 <= alpha <= 1 and tol > 0 else "alpha must be from 0 to 1, and tol above 0"


@Offered
def betweenness_centrality(
    G: ConvertedGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
    **how: Any,
) -> dict[Hashable, float]:
    """Betweenness centrality, by the kernel `bc`; the sources are those that networkx draws."""
    n = len(G)
    values = G.weight(weight)
    if values is not None and (values <= 0).any():
        raise NotImplementedError(f"an edge has a {weight} that is not above 0")
    drawn = np.arange(n)
    if k is not None and k != n:
        drawn = np.array([G.number[node] for node in seed.sample(G.nodes, k)], np.int64)
    among = n if endpoints else n - 1  # nodes that a path can lead to
    if among < 2:
        return dict.fromkeys(G.nodes, 0.0)
    weighted = weight is not None
    ds = run(
        *("bc", G, how),
        weight=weight,
        any_weight=not weighted,
        weighted=weighted,
        sources=None if len(drawn) == n else drawn,
    )
    found = ds["betweenness"].values * (1 if G.directed else 2)
    sources = np.full(n, len(drawn))
    if endpoints:
        found += _ends(component(G, how), drawn)
    else:
        sources[drawn] -= 1  # no path from a node leads through it
    if not len(drawn):
        raise ZeroDivisionError("k must be at least 1")
    with np.errstate(invalid="ignore"):  # a node that is the only source: 0 / 0
        if normalized:
            return G.by_node(found / (sources * (among - 1)))
        return G.by_node(found * among / (sources * (1 if G.directed else 2)))


def _ends(component: NDArray[np.int64], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many paths from the sources begin or end at each node of an undirected graph."""
    size = np.bincount(component)[component]
    begin = np.zeros(len(component), np.int64)
    begin[drawn] = size[drawn] - 1
    end = np.bincount(component[drawn], minlength=len(component))[component]
    end[drawn] -= 1
    return begin + end


@betweenness_centrality.unless
def _(G: Any, weight: Any, endpoints: bool, seed: Any, k: Any, **_: Any) -> str | None:
    if endpoints and G.is_directed():
        return "endpoints: those of a directed graph are not counted"
    if weight is not None and G.is_multigraph():
        return PARALLEL
    if k is not None and not isinstance(seed, Random):
        return "seed: sources are drawn from a random.Random"
    return CALLABLE if callable(weight) else None
