"""Triangles, clustering and cores, by `triangles`, `lcc`, `square_clustering` and `core_number`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.faces.nx_backend.calls import LOOPS, SQUARES, How, Offered, values
from dgsuite.faces.nx_backend.graph import ConvertedGraph


def _simple(G: ConvertedGraph) -> None:
    """Refuse multigraphs, as networkx does."""
    if G.multigraph:
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def _pick(G: ConvertedGraph, nodes: Any, values: dict[Hashable, Any]) -> Any:
    """The value of a node, or those of some nodes, or of all."""
    if nodes is None:
        return values
    _simple(G)
    return values[nodes] if nodes in G else {node: values[node] for node in G.chosen(nodes)}


def _coefficients(G: ConvertedGraph, nodes: Any, how: How) -> Any:
    _simple(G)
    found = G.by_node(values("lcc", G, how, "coefficient"))
    # networkx has the integer 0 where there is no triangle
    return _pick(G, nodes, {node: value or 0 for node, value in found.items()})


@Offered
def triangles(G: ConvertedGraph, nodes: Any, **how: Any) -> Any:
    """Triangles that each node is in."""
    return _pick(G, nodes, G.by_node(values("triangles", G, how, "triangles")))


@Offered
def clustering(G: ConvertedGraph, nodes: Any, **how: Any) -> Any:
    """Share of the pairs of a node's neighbours that have an edge."""
    return _coefficients(G, nodes, how)


@Offered
def average_clustering(G: ConvertedGraph, nodes: Any, count_zeros: bool, **how: Any) -> float:
    """Mean of `clustering`."""
    found = [*_coefficients(G, nodes, how).values()]
    if not count_zeros:
        found = [value for value in found if value]
    return sum(found) / len(found)


@Offered
def transitivity(G: ConvertedGraph, **how: Any) -> float:
    """Share of the pairs of edges that meet whose other ends have an edge."""
    _simple(G)
    closed = 2 * int(values("triangles", G, how, "triangles").sum())
    if not closed:
        return 0
    proper = G.source != G.target
    ends = np.concatenate([G.source[proper], G.target[proper]])
    degree = np.bincount(ends, minlength=len(G))
    return closed / int(degree @ (degree - 1))


@Offered
def square_clustering(G: ConvertedGraph, nodes: Any, **how: Any) -> Any:
    """Share of the possible squares at each node that are there."""
    if G.loops and not SQUARES:
        raise NotImplementedError(LOOPS)
    found = G.by_node(values("square_clustering", G, how, "coefficient"))
    for node in G.of(_without_squares(G, how)):
        found[node] = 0  # networkx has the integer where no square is possible
    wanted = G.chosen(nodes)
    return found[nodes] if nodes in G else {node: found[node] for node in wanted}


def _without_squares(G: ConvertedGraph, how: How) -> NDArray[np.bool_]:
    """At which nodes no square is possible: each pair of neighbours has no other neighbours.

    There are no two neighbours, or all of them have no others, or the node is in a triangle of its own.
    """
    proper = G.source != G.target
    source, target = G.source[proper], G.target[proper]
    if G.multigraph:
        pairs = np.minimum(source, target) * len(G) + np.maximum(source, target)
        source, target = np.divmod(np.unique(pairs), len(G))
    ends, others = np.concatenate([source, target]), np.concatenate([target, source])
    degree = np.bincount(ends, minlength=len(G))
    around = np.bincount(ends, degree[others] - 1, minlength=len(G))
    alone = (degree == 2) & (around == 2)
    if alone.any():
        alone &= values("triangles", G, how, "triangles") == 1
    return (degree < 2) | (around == 0) | alone


@Offered
def core_number(G: ConvertedGraph, **how: Any) -> dict[Hashable, int]:
    """The largest k of whose k-core each node is part."""
    if G.loops:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.by_node(values("core_number", G, how, "core"))


@clustering.unless
@average_clustering.unless
@transitivity.unless
@square_clustering.unless
@core_number.unless
def _(G: Any, **_: Any) -> str | None:
    return "only undirected graphs are counted" if G.is_directed() else None
