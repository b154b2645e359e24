"""Prediction of links, by the kernel `similarity`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from dgsuite.faces.nx_backend.calls import LOOPS, How, Offered, run
from dgsuite.faces.nx_backend.graph import ConvertedGraph

Predictions = Iterator[tuple[Hashable, Hashable, Any]]


def _predictions(G: ConvertedGraph, ebunch: Any, measure: str, how: How) -> Predictions:
    """The pairs in their order, each with its similarity."""
    for node in (node for pair in ebunch for node in pair):
        if node not in G:
            raise nx.NodeNotFound(f"Node {node} not in G.")
    if G.loops:
        raise NotImplementedError(LOOPS)
    if not len(ebunch):
        return iter(())
    ends = np.array([[G.number[node] for node in pair] for pair in ebunch], np.int64)
    wanted, place = np.unique(ends, axis=0, return_inverse=True)
    ds = run("similarity", G, how, any_weight=True, measure=measure, pairs=wanted, weighted=False)
    found = ds["similarity"].values[place.ravel()].tolist()
    return ((u, v, value) for (u, v), value in zip(ebunch, found, strict=True))


@Offered
def jaccard_coefficient(G: ConvertedGraph, ebunch: Any, **how: Any) -> Predictions:
    """Share of the neighbours of two nodes that both have."""
    found = _predictions(G, ebunch, "jaccard", how)
    degree = np.bincount(np.concatenate([G.source, G.target]), minlength=len(G))
    alone = {node for node, many in zip(G, degree.tolist(), strict=True) if not many}
    return ((u, v, 0 if u in alone and v in alone else value) for u, v, value in found)


@Offered
def resource_allocation_index(G: ConvertedGraph, ebunch: Any, **how: Any) -> Predictions:
    """Sum of the inverse degrees of common neighbours."""
    found = _predictions(G, ebunch, "resource_allocation", how)
    return ((u, v, value or 0) for u, v, value in found)  # networkx adds nothing to 0


@Offered
def adamic_adar_index(G: ConvertedGraph, ebunch: Any, **how: Any) -> Predictions:
    """Sum of the inverse logarithms of the degrees of common neighbours."""
    found = _predictions(G, ebunch, "adamic_adar", how)
    return ((u, v, value or 0) for u, v, value in found)  # networkx adds nothing to 0


@jaccard_coefficient.unless
@resource_allocation_index.unless
@adamic_adar_index.unless
def _(ebunch: Any, **_: Any) -> str | None:
    if ebunch is None:
        return "ebunch: all pairs without an edge are too many"
    pairs = isinstance(ebunch, list | tuple | set) and all(
        isinstance(pair, tuple | list) and len(pair) == 2 for pair in ebunch
    )
    if not pairs:
        return "ebunch: it is no list of pairs"
    if any(u is v or u == v for u, v in ebunch):
        return "ebunch: it has a node twice in a pair"
    return None
