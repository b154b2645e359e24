"""Maximal independent sets, by the kernel `mis`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import networkx as nx
import numpy as np

import dgsuite
from dgsuite.nx_backend.calls import LOOPS, Offered, Way
from dgsuite.nx_backend.graph import ConvertedGraph, Held


@Offered
def maximal_independent_set(
    G: ConvertedGraph, nodes: Iterable[Hashable] | None = None, seed: Any = None, **how: Any
) -> list[Hashable]:
    """A random maximal independent set with some nodes in it; others than networkx draws."""
    given = set(nodes) if nodes else {seed.choice(G.nodes)}
    if not all(node in G for node in given):
        raise nx.NetworkXUnfeasible(f"{given} is not a subset of the nodes of G")
    if G.loops:
        raise NotImplementedError(LOOPS)
    chosen = np.zeros(len(G), bool)
    chosen[[G.number[node] for node in given]] = True
    beside = np.zeros(len(G), bool)
    beside[G.target[chosen[G.source]]] = True
    beside[G.source[chosen[G.target]]] = True
    if (chosen & beside).any():
        raise nx.NetworkXUnfeasible(f"{given} is not an independent set of G")
    free = np.flatnonzero(~(chosen | beside))
    if not len(free):
        return [*given]
    way = Way.of("maximal_independent_set", how)
    held = Held(None, False, way.clusters, way.client)
    graph = G.graph(held, any_weight=True).subgraph(free)
    ds = dgsuite.run("mis", graph, style=way.style, client=way.client, seed=seed.getrandbits(63))
    return [*given, *G.of(free[ds["in_mis"].values])]
