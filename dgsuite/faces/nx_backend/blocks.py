"""Bridges, cut nodes and biconnected components, by the kernels `bridges` and `biconnected`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.faces.nx_backend.calls import PARALLEL, Offered, run
from dgsuite.faces.nx_backend.components import component
from dgsuite.faces.nx_backend.graph import ConvertedGraph

Edge = tuple[Hashable, Hashable]


def _bridges(G: ConvertedGraph, root: Any, how: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Which edges are bridges, of all or of those in the connected component of a node."""
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")
    if not len(G.source):
        return np.zeros(0, bool)
    part = run("bridges", G, how, any_weight=True)["component"].values
    found = part[G.source] != part[G.target]
    if root is not None:
        near = component(G, how)
        found &= near[G.source] == near[G.number[root]]
    return found


@Offered
def bridges(G: ConvertedGraph, root: Any = None, **how: Any) -> Iterator[Edge]:
    """Edges without which the graph falls into more parts."""
    found = _bridges(G, None, how)
    yield from zip(G.of(G.source[found]), G.of(G.target[found]), strict=True)


@Offered
def has_bridges(G: ConvertedGraph, root: Any = None, **how: Any) -> bool:
    """Whether there is such an edge."""
    return bool(_bridges(G, root, how).any())


@Offered
def articulation_points(G: ConvertedGraph, **how: Any) -> Iterator[Hashable]:
    """Nodes without which the graph falls into more parts."""
    if len(G):
        yield from G.of(run("bridges", G, how, any_weight=True)["articulation"].values)


@Offered
def biconnected_components(G: ConvertedGraph, **how: Any) -> Iterator[set[Hashable]]:
    """Sets of nodes that stay connected without any one of them, by their first nodes."""
    if not len(G):
        return
    ds = run("biconnected", G, how, any_weight=True)
    block = ds["block"].values
    order = np.argsort(block, kind="stable")
    nodes = G.of(ds["member"].values[order])
    ends = np.cumsum(np.bincount(block)).tolist()
    for first, last in pairwise([0, *ends]):
        yield set(nodes[first:last])


@bridges.unless
def _(G: Any, root: Any, **_: Any) -> str | None:
    if root is not None:
        return "root: networkx's edges come in the order, and the direction, of a set of nodes"
    return _simple(G)


@has_bridges.unless
@articulation_points.unless
@biconnected_components.unless
def _(G: Any, **_: Any) -> str | None:
    return _simple(G)


def _simple(G: Any) -> str | None:
    """Why a graph has no bridges here, if so."""
    if G.is_directed():
        return "only undirected graphs have bridges and biconnected components"
    return PARALLEL if G.is_multigraph() else None
