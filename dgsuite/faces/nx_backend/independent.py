"""Independent sets, colours and matchings, by the kernels `mis`, `colouring` and `matching`.

networkx promises a random set, colours in a random order, any maximal matching; its own are others.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable
from typing import Any

import networkx as nx
import numpy as np

import dgsuite
from dgsuite.faces.nx_backend.calls import LOOPS, Offered, Way, type_in_networkx, values
from dgsuite.faces.nx_backend.graph import ConvertedGraph, Held

SET = type_in_networkx("maximal_independent_set", nx.empty_graph(1), [0])
"""What a set of nodes is: a set, or a list before networkx 3.7."""


@Offered
def maximal_independent_set(
    G: ConvertedGraph, nodes: Iterable[Hashable] | None, seed: Any, **how: Any
) -> Any:
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
        return SET(given)
    # a generator of NumPy's draws integers below 2^63 - 1, and has no getrandbits
    drawn = int(seed.randrange(2**63 - 1))
    way = Way.of(how)
    held = Held(None, False, way.clusters, way.client)
    graph = G.graph(held, any_weight=True).subgraph(free)
    ds = dgsuite.run("mis", graph, style=way.style, client=way.client, seed=drawn)
    return SET([*given, *G.of(free[ds["in_mis"].values])])


@Offered
def greedy_color(G: ConvertedGraph, strategy: Any, **how: Any) -> dict[Hashable, int]:
    """Colours; nodes take the first that is free, one after the other in a random order."""
    if not len(G):
        return {}
    # networkx's order is that of Python's own generator of random numbers
    return G.by_node(values("colouring", G, how, "colour", seed=random.getrandbits(63)))


@greedy_color.unless
def _(G: Any, strategy: Any, **_: Any) -> str | None:
    if strategy != "random_sequential":
        return "strategy: the order is random, as with 'random_sequential'"
    return "only undirected graphs are coloured" if G.is_directed() else None


@Offered
def maximal_matching(G: ConvertedGraph, **how: Any) -> set[tuple[Hashable, Hashable]]:
    """Edges that share no end, so many that no other can be added."""
    mate = values("matching", G, how, "mate").astype(np.int64)
    one = np.flatnonzero(mate > np.arange(len(G)))
    return set(zip(G.of(one), G.of(mate[one]), strict=True))
