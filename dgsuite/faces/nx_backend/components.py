"""Connected components, by the kernels `wcc` and `scc`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.faces.nx_backend.calls import Offered, run
from dgsuite.faces.nx_backend.graph import ConvertedGraph


def component(G: ConvertedGraph, how: Mapping[str, Any], kernel: str = "wcc") -> NDArray[np.int64]:
    """The smallest number in each node's component."""
    if not len(G):
        return np.empty(0, np.int64)
    found: NDArray[np.int64] = run(kernel, G, how, any_weight=True)["component"].values
    return found


def _sets(
    G: ConvertedGraph, how: Mapping[str, Any], kernel: str = "wcc"
) -> Iterator[set[Hashable]]:
    """The components, by their first nodes."""
    labels = component(G, how, kernel)
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order])) + 1
    nodes = G.of(order)
    for first, last in zip([0, *starts.tolist()], [*starts.tolist(), len(G)], strict=True):
        if last:
            yield set(nodes[first:last])


def _count(G: ConvertedGraph, how: Mapping[str, Any], kernel: str = "wcc") -> int:
    labels = component(G, how, kernel)
    return int(np.count_nonzero(labels == np.arange(len(G))))


def _one(G: ConvertedGraph, how: Mapping[str, Any], kernel: str = "wcc") -> bool:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return not component(G, how, kernel).any()


@Offered
def connected_components(G: ConvertedGraph, **how: Any) -> Iterator[set[Hashable]]:
    """Sets of nodes."""
    return _sets(G, how)


@Offered
def weakly_connected_components(G: ConvertedGraph, **how: Any) -> Iterator[set[Hashable]]:
    """Sets of nodes; edges have no direction."""
    return _sets(G, how)


@Offered
def number_connected_components(G: ConvertedGraph, **how: Any) -> int:
    """How many components there are."""
    return _count(G, how)


@Offered
def number_weakly_connected_components(G: ConvertedGraph, **how: Any) -> int:
    """How many components there are; edges have no direction."""
    return _count(G, how)


@Offered
def is_connected(G: ConvertedGraph, **how: Any) -> bool:
    """Whether there is one component."""
    return _one(G, how)


@Offered
def is_weakly_connected(G: ConvertedGraph, **how: Any) -> bool:
    """Whether there is one component; edges have no direction."""
    return _one(G, how)


@Offered
def node_connected_component(G: ConvertedGraph, n: Hashable, **how: Any) -> set[Hashable]:
    """The component of a node."""
    number = G.number[n]
    labels = component(G, how)
    return set(G.of(labels == labels[number]))


@Offered
def strongly_connected_components(G: ConvertedGraph, **how: Any) -> Iterator[set[Hashable]]:
    """Sets of nodes of which each reaches all others, by their first nodes."""
    return _sets(G, how, "scc")


@Offered
def number_strongly_connected_components(G: ConvertedGraph, **how: Any) -> int:
    """How many strongly connected components there are."""
    return _count(G, how, "scc")


@Offered
def is_strongly_connected(G: ConvertedGraph, **how: Any) -> bool:
    """Whether each node reaches all others."""
    return _one(G, how, "scc")
