"""Some of networkx's generators, with the same random numbers; they make the graphs of `deferred`."""

from __future__ import annotations

import math
import random
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.faces.nx_backend.calls import Offered, of_networkx
from dgsuite.faces.nx_backend.constructors import is_directed, plain
from dgsuite.faces.nx_backend.deferred import made_of

DRAWS = 1 << 20
"""Random numbers that are drawn at a time."""


def _pairs(n: int, places: NDArray[np.int64], directed: bool) -> tuple[NDArray, NDArray]:
    """Ends of pairs of nodes, by their places among all pairs in ascending order."""
    if directed:
        source, rest = np.divmod(places, max(n - 1, 1))
        return source, rest + (rest >= source)
    rows = np.arange(n)
    first = rows * n - rows * (rows + 1) // 2
    source = np.searchsorted(first, places, side="right") - 1
    return source, places - first[source] + source + 1


def _made(n: int, source: NDArray, target: NDArray, directed: bool) -> nx.Graph:
    return made_of(list(range(n)), source, target, directed)


def _all_pairs(n: int, directed: bool) -> int:
    return n * (n - 1) // (1 if directed else 2)


def _uniform(seed: Any, count: int) -> NDArray[np.float64]:
    """What `count` calls of ``seed.random()`` would return."""
    if type(seed) is not random.Random:
        values: NDArray[np.float64] = seed._rng.random(count)
        return values
    # NumPy's Mersenne Twister makes the same floats as Python's from the same state
    version, (*keys, place), gauss = seed.getstate()
    twister: Any = np.random.RandomState()
    twister.set_state(("MT19937", np.array(keys, np.uint32), place))
    values = twister.random_sample(count)
    _, after, place = twister.get_state(legacy=True)[:3]
    seed.setstate((version, (*map(int, after), int(place)), gauss))
    return values


def _small(n: Any, create_using: Any) -> str | None:
    if type(n) is not int or not 0 <= n < 1 << 31:
        return "n: no number of nodes"
    return plain(create_using)


@Offered
def gnp_random_graph(
    n: int, p: float, seed: Any = None, directed: bool = False, *, create_using: Any = None
) -> nx.Graph:
    """A graph in which each pair of nodes has an edge with probability p."""
    total = _all_pairs(n, directed) if p > 0 else 0
    if p >= 1:
        return _made(n, *_pairs(n, np.arange(total), directed), directed)
    found = [np.empty(0, np.int64)]
    for first in range(0, total, DRAWS):
        drawn = _uniform(seed, min(DRAWS, total - first))
        found.append(first + np.flatnonzero(drawn < p))
    return _made(n, *_pairs(n, np.concatenate(found), directed), directed)


@Offered
def fast_gnp_random_graph(
    n: int, p: float, seed: Any = None, directed: bool = False, *, create_using: Any = None
) -> nx.Graph:
    """A graph in which each pair of nodes has an edge with probability p, in time of the number of edges."""
    if p <= 0 or p >= 1:
        return gnp_random_graph._function(n, p, seed, directed)
    downwards = [_skipped(n, p, seed) for _ in range(1 + directed)]
    if not directed:
        return _made(n, *downwards[0], False)
    (high, low), (source, target) = downwards
    return _made(n, np.append(low, source), np.append(high, target), True)


def _skipped(n: int, p: float, seed: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of nodes, the higher one first, of which some are skipped (Batagelj and Brandes 2005)."""
    # logarithms are Python's, since those of NumPy may differ in the last bit
    log, draw, per = math.log, seed.random, math.log(1.0 - p)
    total, place, places = _all_pairs(n, False), -1, []
    while n > 1:
        place += 1 + int(log(1.0 - draw()) / per)
        if place >= total:
            break
        places.append(place)
    at = np.array(places, np.int64)
    first = np.arange(n) * (np.arange(n) - 1) // 2
    high = np.searchsorted(first[1:], at, side="right")
    return high, at - first[high]


@gnp_random_graph.unless
@fast_gnp_random_graph.unless
def _(n: Any, p: Any, seed: Any, directed: Any, create_using: Any, **_: Any) -> str | None:
    if type(p) not in (int, float) or not (p <= 0 or p > 1e-12):
        return "p: no probability"
    if type(seed) is not random.Random and not hasattr(seed, "_rng"):
        return "seed: a generator of random numbers of another type"
    if type(directed) is not bool or create_using not in (
        None,
        nx.DiGraph if directed else nx.Graph,
    ):
        return "create_using: a graph is an nx.Graph, or an nx.DiGraph with directed=True"
    return _small(n, None)


@Offered
def path_graph(n: int, create_using: Any = None) -> nx.Graph:
    """Nodes one after the other."""
    nodes = np.arange(n)
    return _made(n, nodes[:-1], nodes[1:], is_directed(create_using))


@Offered
def cycle_graph(n: int, create_using: Any = None) -> nx.Graph:
    """Nodes in a circle."""
    nodes = np.arange(n)
    return _made(n, nodes, np.roll(nodes, -1), is_directed(create_using))


@Offered
def complete_graph(n: int, create_using: Any = None) -> nx.Graph:
    """Each node with all others."""
    directed = is_directed(create_using)
    return _made(n, *_pairs(n, np.arange(_all_pairs(n, directed)), directed), directed)


@Offered
def star_graph(n: int, create_using: Any = None) -> nx.Graph:
    """Node 0 with n others."""
    of_networkx("star_graph", 0, create_using)  # refuses directed graphs before 3.6
    others = np.arange(1, n + 1)
    return _made(n + 1, np.zeros_like(others), others, is_directed(create_using))


@path_graph.unless
@cycle_graph.unless
@complete_graph.unless
@star_graph.unless
def _(n: Any, create_using: Any, **_: Any) -> str | None:
    return _small(n, create_using)


@Offered
def grid_2d_graph(m: int, n: int, periodic: bool = False, create_using: Any = None) -> nx.Graph:
    """Nodes (row, column), each with those beside, above and below it."""
    place = np.arange(m * n).reshape(m, n)
    along = [(place[1:], place[:-1]), (place[:, 1:], place[:, :-1])]
    if periodic and m > 2:
        along.append((place[0], place[-1]))
    if periodic and n > 2:
        along.append((place[:, 0], place[:, -1]))
    source, target = (np.concatenate([pair[k].ravel() for pair in along]) for k in (0, 1))
    return made_of([(i, j) for i in range(m) for j in range(n)], source, target, False)


@grid_2d_graph.unless
def _(m: Any, n: Any, periodic: Any, create_using: Any, **_: Any) -> str | None:
    if create_using not in (None, nx.Graph):
        return "create_using: a grid is an nx.Graph"
    if type(periodic) is not bool:
        return "periodic: True or False"
    return _small(m, None) or _small(n, None)
