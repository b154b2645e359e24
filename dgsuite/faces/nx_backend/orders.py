"""Orders of nodes along edges, by the kernels `topological` and `bipartite`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.faces.nx_backend.calls import LOOPS, Offered, run
from dgsuite.faces.nx_backend.graph import ConvertedGraph


def _values(kernel: str, G: ConvertedGraph, how: Mapping[str, Any], output: str) -> NDArray:
    """An output of a kernel."""
    if G.loops:
        raise NotImplementedError(LOOPS)
    if not len(G):
        return np.empty(0, np.int64)
    found: NDArray = run(kernel, G, how, any_weight=True)[output].values
    return found


@Offered
def is_directed_acyclic_graph(G: ConvertedGraph, **how: Any) -> bool:
    """Whether a graph is directed and has no cycle."""
    return G.directed and bool((_values("topological", G, how, "generation") >= 0).all())


@Offered
def is_bipartite(G: ConvertedGraph, **how: Any) -> bool:
    """Whether two colours do."""
    return bool((_values("bipartite", G, how, "colour") >= 0).all())


@Offered
def color(G: ConvertedGraph, **how: Any) -> dict[Hashable, int]:
    """Two colours, of which the first node of each component has 1, if it has neighbours."""
    colour = _values("bipartite", G, how, "colour")
    if (colour < 0).any():
        raise nx.NetworkXError("Graph is not bipartite.")
    degree = np.bincount(np.concatenate([G.source, G.target]), minlength=len(G))
    return G.by_node(np.where(degree, 1 - colour, 0))


@color.unless
def _(G: Any, **_: Any) -> str | None:
    return "colours of a directed graph depend on its sinks" if G.is_directed() else None
