"""Centralities: PageRank, eigenvectors, and betweenness."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.faces.nx_backend.calls import PARALLEL, SAMPLES, How, Offered, run_either, values
from dgsuite.faces.nx_backend.graph import ConvertedGraph

if TYPE_CHECKING:
    import xarray as xr

LARGE = 2.0**400
"""Products of a few weights up to it, or of their inverses, are far from the ends of a float64's range."""


@Offered
def pagerank(
    G: ConvertedGraph,
    alpha: float,
    personalization: Mapping[Hashable, float] | None,
    max_iter: int,
    tol: float,
    weight: str | None,
    **how: Any,
) -> dict[Hashable, float]:
    """PageRank, by the kernel `pagerank`."""
    n = len(G)
    if not n:
        return {}
    wanted = None
    if personalization is not None:
        wanted = np.array([personalization.get(node, 0) for node in G.nodes], float)
        if wanted.sum() == 0:
            raise ZeroDivisionError
        if not ((wanted >= 0) & (wanted <= LARGE)).all():
            raise NotImplementedError("a number of personalization is negative, or too large")
    ds = _iterate(
        "pagerank", G, how, weight, max_iter, n * tol, damping=alpha, personalisation=wanted
    )
    return G.by_node(ds["rank"].values)


def _iterate(
    kernel: str,
    G: ConvertedGraph,
    how: How,
    weight: str | None,
    max_iter: int,
    tolerance: float,
    **parameters: Any,
) -> xr.Dataset:
    """A run of a kernel that repeats a step until values change by less than a tolerance.

    Raises
    ------
    networkx.PowerIterationFailedConvergence
        They do not, in `max_iter` iterations.
    NotImplementedError
        The graph has weights that are negative, or near the ends of a float64's range.
    """
    lengths = G.lengths(weight)
    above = np.empty(0) if lengths is None else lengths[lengths > 0]
    if len(above) and (above.max() > LARGE or above.min() < 1 / LARGE):
        raise NotImplementedError(f"an edge has a {weight} that networkx rounds to 0 or infinity")
    most = max(max_iter, 0)
    parameters |= {"tolerance": tolerance, "iterations": most + 1}  # one more than may be needed
    ds = run_either(kernel, G, how, weight, loops=True, **parameters)
    if ds.sizes["round"] > most:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return ds


@pagerank.unless
def _(G: Any, alpha: float, tol: float, **_: Any) -> str | None:
    if G.is_multigraph():
        return PARALLEL
    return None if 0 <= alpha <= 1 and tol > 0 else "alpha must be from 0 to 1, and tol above 0"


@Offered
def eigenvector_centrality(
    G: ConvertedGraph, max_iter: int, tol: float, weight: str | None, **how: Any
) -> dict[Hashable, float]:
    """Eigenvector centrality, by the kernel `eigenvector`."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    ds = _iterate("eigenvector", G, how, weight, max_iter, len(G) * tol)
    return G.by_node(ds["centrality"].values)


@Offered
def katz_centrality(
    G: ConvertedGraph,
    alpha: float,
    beta: Any,
    max_iter: int,
    tol: float,
    normalized: bool,
    weight: str | None,
    **how: Any,
) -> dict[Hashable, float]:
    """Katz centrality, by the kernel `katz`."""
    if not len(G):
        return {}
    parameters = {"alpha": alpha, "beta": float(beta), "normalised": bool(normalized)}
    try:
        ds = _iterate("katz", G, how, weight, max_iter, len(G) * tol, **parameters)
    except OverflowError as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    return G.by_node(ds["centrality"].values)


@Offered
def hits(
    G: ConvertedGraph, max_iter: int, tol: float, method: str = "svd", **how: Any
) -> tuple[dict[Hashable, float], dict[Hashable, float]]:
    """Hubs and authorities, by the kernel `hits`."""
    if not len(G):
        return {}, {}
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    weights = G.weight("weight")
    if not len(G.source) or (weights is not None and not weights.any()):
        raise NotImplementedError("there are neither hubs nor authorities without edges")
    try:
        ds = _iterate("hits", G, how, "weight", max_iter, tol)
    except nx.PowerIterationFailedConvergence as error:
        if method == "power_iteration":
            raise
        # networkx iterates by Lanczos' method, which takes fewer iterations
        raise NotImplementedError(str(error)) from error
    return G.by_node(ds["hub"].values), G.by_node(ds["authority"].values)


@hits.unless
def _(G: Any, tol: float, method: Any, **_: Any) -> str | None:
    if G.is_multigraph():
        return PARALLEL
    if method not in ("power_iteration", "svd"):
        return "method: power_iteration or svd"
    return None if tol > 0 else "tol must be above 0"


@eigenvector_centrality.unless
@katz_centrality.unless
def _(tol: float, alpha: float = 1, beta: float = 1, **_: Any) -> str | None:
    return None if min(alpha, beta, tol) > 0 else "alpha, beta and tol must be above 0"


@Offered
def betweenness_centrality(
    G: ConvertedGraph,
    k: int | None,
    normalized: bool,
    weight: str | None,
    endpoints: bool,
    seed: Any,
    **how: Any,
) -> dict[Hashable, float]:
    """Betweenness centrality, by the kernel `bc`; the sources are those that networkx draws."""
    n, drawn = len(G), _drawn(G, k, weight, seed)
    among = n if endpoints else n - 1  # nodes that a path can lead to
    if among < 2:
        return dict.fromkeys(G.nodes, 0.0)
    ds = _paths("bc", G, how, weight, drawn)
    found = ds["betweenness"].values * (1 if G.directed else 2)
    sources = np.full(n, len(drawn))
    if endpoints:
        found += _ends(values("wcc", G, how, "component"), drawn)
    else:
        sources[drawn] -= 1  # no path from a node leads through it
    if not len(drawn):
        raise ZeroDivisionError("k must be at least 1")
    with np.errstate(invalid="ignore"):  # a node that is the only source: 0 / 0
        if normalized:
            return G.by_node(found / (sources * (among - 1)))
        return G.by_node(found * among / (sources * (1 if G.directed else 2)))


def _drawn(G: ConvertedGraph, k: int | None, weight: str | None, seed: Any) -> NDArray[np.int64]:
    """The nodes that paths start from, those that networkx draws.

    Raises
    ------
    NotImplementedError
        Weights are not above 0.
    """
    weights = G.weight(weight)
    if weights is not None and (weights <= 0).any():
        raise NotImplementedError(f"an edge has a {weight} that is not above 0")
    if k is None or k == len(G):
        return np.arange(len(G))
    return np.array([G.number[node] for node in seed.sample(G.nodes, k)], np.int64)


def _paths(
    kernel: str, G: ConvertedGraph, how: How, weight: str | None, drawn: NDArray
) -> xr.Dataset:
    """A run of a kernel on the shortest paths from some nodes."""
    sources = None if len(drawn) == len(G) else drawn
    return run_either(kernel, G, how, weight, sources=sources)


def _ends(component: NDArray[np.int64], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many paths from the sources begin or end at each node of an undirected graph."""
    size = np.bincount(component)[component]
    begin = np.zeros(len(component), np.int64)
    begin[drawn] = size[drawn] - 1
    end = np.bincount(component[drawn], minlength=len(component))[component]
    end[drawn] -= 1
    return begin + end


@Offered
def edge_betweenness_centrality(
    G: ConvertedGraph, k: int | None, normalized: bool, weight: str | None, seed: Any, **how: Any
) -> dict[tuple[Hashable, Hashable], float]:
    """Betweenness centrality of edges, by the kernel `edge_betweenness`."""
    n, drawn = len(G), _drawn(G, k, weight, seed)
    if n > 1 and not len(drawn):
        raise ZeroDivisionError("k must be at least 1")
    if not len(G.source):
        return {}
    ds = _paths("edge_betweenness", G, how, weight, drawn)
    source, target = ds["source"].values.astype(np.int64), ds["target"].values.astype(np.int64)
    low, high = G.source, G.target
    if not G.directed:
        low, high = np.minimum(low, high), np.maximum(low, high)
    real = low != high  # no path takes an edge from a node to itself
    place = np.searchsorted(source * n + target, (low * n + high)[real])
    found = np.zeros(len(low))
    found[real] = ds["betweenness"].values[place]
    both = 1 if G.directed else 2
    found *= both / (len(drawn) * max(n - 1, 1)) if normalized else n / len(drawn)
    return dict(zip(zip(G.of(G.source), G.of(G.target), strict=True), found.tolist(), strict=True))


@betweenness_centrality.unless
def _(G: Any, weight: Any, endpoints: bool, seed: Any, k: Any, **_: Any) -> str | None:
    if endpoints and G.is_directed():
        return "endpoints: those of a directed graph are not counted"
    return PARALLEL if weight is not None and G.is_multigraph() else _draws(k, seed)


def _draws(k: Any, seed: Any) -> str | None:
    """Why sources cannot be drawn, if so."""
    if k is None:
        return None
    if not SAMPLES:
        return "k: results are scaled as in networkx 3.6"
    return None if isinstance(seed, Random) else "seed: sources are drawn from a random.Random"


@edge_betweenness_centrality.unless
def _(G: Any, seed: Any, k: Any, **_: Any) -> str | None:
    if G.is_multigraph():
        return "parallel edges are merged, but here each has a share"
    return "k: networkx takes whole numbers alone" if isinstance(k, float) else _draws(k, seed)
