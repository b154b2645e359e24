"""The graphs of `benchmarks/questions.py`, each made of the script's options on the workers of a client."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

MIXING = 0.3
"""Share of edges that are of any two nodes."""


def communities(n: int, m: int, degrees: np.ndarray, sizes: np.ndarray, client: Any) -> Any:
    """A graph whose edges have ends in proportion to `degrees`, most of them in the same community.

    Parameters
    ----------
    degrees
        Of each node.
    sizes
        Of the communities, at least n nodes in all; the last one is cut.
    """
    import dgsuite

    rng = np.random.default_rng(5)
    last = np.minimum(np.cumsum(sizes), n)
    group = np.searchsorted(last, np.arange(n), side="right")
    before = np.concatenate([[0], np.cumsum(degrees)])
    low, high = before[np.append(0, last[:-1])], before[last]
    u, v = (np.searchsorted(before, before[-1] * rng.random(m), side="right") - 1 for _ in "uv")
    home, inner = group[u], rng.random(m) >= MIXING
    at = (low[home] + (high - low)[home] * rng.random(m))[inner]
    v[inner] = np.searchsorted(before, at, side="right") - 1
    ends = rng.permutation(n)[np.minimum([u, v], n - 1)]  # so that numbers tell nothing
    return dgsuite.Graph.from_edges(*ends, n=n, client=client, duplicates="first")


def power(count: int, exponent: float, least: int, most: int) -> np.ndarray:
    """Numbers in a range by a power law."""
    low, high = (end ** (1.0 - exponent) for end in (least, most))
    there = np.random.default_rng(6).random(count)
    return (low + there * (high - low)) ** (1 / (1.0 - exponent))


def planted(given: argparse.Namespace, client: Any) -> Any:
    n = given.nodes
    return communities(n, given.edges, np.ones(n), np.full(n // 100 + 1, 100), client)


def lfr(given: argparse.Namespace, client: Any) -> Any:
    n = given.nodes
    mean = 2 * given.edges / n
    sizes = power(n // 20 + 1, 1.5, 20, max(n // 100, 40)).astype(int)
    return communities(n, given.edges, power(n, 2.5, 1, mean * 20), sizes, client)


def family(kind: str, client: Any, n: int, **options: Any) -> Any:
    from dgsuite import genval

    return genval.graph(kind, n, client=client, **options)


def kronecker(given: argparse.Namespace, client: Any) -> Any:
    """The number of nodes is the next power of two."""
    return family("rmat", client, 1 << (given.nodes - 1).bit_length(), m=given.edges)


def potentials(n: int, m: int, client: Any) -> Any:
    """Edges with weights below and above 0; no cycle is negative, since a height is taken off and put on."""
    import dgsuite

    rng = np.random.default_rng(7)
    u, v = rng.integers(0, n, (2, m))
    height = rng.integers(0, 50, n)
    weights = 1 + 2 * (rng.integers(0, 50, m) + height[u] - height[v])
    how = {"n": n, "directed": True, "duplicates": "min", "client": client}
    return dgsuite.Graph.from_edges(u, v, weights=weights, **how)


def acyclic(n: int, m: int, client: Any) -> Any:
    """Random edges that lead to the greater number; then numbers are mixed."""
    import dgsuite

    rng = np.random.default_rng(8)
    ends = rng.permutation(n)[np.sort(rng.integers(0, n, (2, m)), axis=0)]
    how = {"n": n, "directed": True, "duplicates": "first", "client": client}
    return dgsuite.Graph.from_edges(*ends, **how)


GRAPHS: dict[str, Callable[[argparse.Namespace, Any], Any]] = {
    "planted partition": planted,
    "like LFR": lfr,
    "random": lambda given, client: family("er", client, given.nodes, m=given.edges),
    "random, weights": lambda given, client: family(
        "er", client, given.nodes, m=given.edges, weights=255
    ),
    "Kronecker": kronecker,
    "road": lambda given, client: family("road", client, given.nodes).component(),
    "web": lambda given, client: family("web", client, given.nodes).component(),
    "small road": lambda given, client: family("road", client, given.small).component(),
    "small web": lambda given, client: family("web", client, given.small).component(),
    "small random": lambda given, client: family("er", client, given.small, m=5 * given.small),
    "negative": lambda given, client: potentials(given.nodes, given.edges, client),
    "small negative": lambda given, client: potentials(given.small, 5 * given.small, client),
    "acyclic": lambda given, client: acyclic(given.nodes, given.edges, client),
    "small acyclic": lambda given, client: acyclic(given.small, 5 * given.small, client),
}
"""By name; of some kinds the largest component, since diameters are of connected graphs."""
