"""Families of graphs of any size: each is a number of items (mostly edges) and a function that makes edges.

All random numbers are counter-based (`dgsuite.genval.counters`). So a graph depends only on its arguments
and seed, not on how it is divided into pieces or which process makes them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from math import inf, isqrt, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.mixing import unit
from dgsuite.genval.counters import Words, below, draw, fast, permute, subkey, subkeys
from dgsuite.genval.imsuite import integer, normalized
from dgsuite.genval.plan import EDGES, EXTRA, NODES, Ends, Plan
from dgsuite.partition.sources.piece import MOST_NODES


def plan(
    kind: str, n: int, *, seed: int = 101, weights: bool | int = False, **options: Any
) -> Plan:
    """The plan of a graph of a family.

    Parameters
    ----------
    kind
        One of `FAMILIES`.
    n
        Number of nodes.
    seed
        Any integer.
    weights
        True for distinct weights from 1 to 2^63 - 1, False for none; or the largest weight, for weights
        from 1 on that may be equal.
    options
        Options of the family.

    Raises
    ------
    InputError
        The message names the argument and what would be right.
    """
    name = normalized(str(kind))
    if name not in FAMILIES:
        raise InputError(f"kind {kind!r} is unknown; one of {', '.join(FAMILIES)}")
    n = integer("n", n, 1, MOST_NODES)
    seed = integer("seed", seed, -inf)
    if not isinstance(weights, bool):
        if not isinstance(weights, int | np.integer):
            raise InputError(f"weights must be True, False or the largest weight, got {weights!r}")
        weights = integer("weights", weights, 1, 2**32)
    options = {option: value for option, value in options.items() if value is not None}
    known = list(inspect.signature(FAMILIES[name]).parameters)[2:]
    for option in options:
        if option not in known:
            there = f"there are {', '.join(known)}" if known else "it has none"
            raise InputError(f"option {option!r} has no meaning for {name}; {there}")
    items, make, each = FAMILIES[name](n, subkey(seed, EDGES), **options)
    return Plan(n, items, make, each, seed, weights)


def _number(name: str, value: Any, low: float, high: float = inf) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputError(f"{name} must be a number, got {value!r}")
    if not low < value < high:
        limits = f"above {low:g}" + (f" and below {high:g}" if high < inf else "")
        raise InputError(f"{name} must be {limits}, got {value}")
    return float(value)


def _edges(m: Any, default: int, least: int, most: int) -> int:
    """A number of edges: m if given, else the default, limited to the range from `least` to `most`."""
    return max(min(default, most), least) if m is None else integer("m", m, least, most)


def _most(n: int, max: Any) -> int | None:
    """The largest number of children, at most n, or None."""
    return None if max is None else min(integer("max", max, 1), n)


def _pairs(n: int) -> int:
    return n * (n - 1) // 2


def _pair(rank: Words) -> Ends:
    """The pair (u, v), u < v, of each rank: (0, 1), (0, 2), (1, 2), (0, 3), ..."""
    high = (np.sqrt(2.0 * rank + 0.25) + 0.5).astype(np.uint64)
    one = np.uint64(1)
    high -= high * (high - one) // np.uint64(2) > rank  # rounding is one off at most
    high += high * (high + one) // np.uint64(2) <= rank
    return rank - high * (high - one) // np.uint64(2), high


def _parent(child: Words, key: int, most: int | None) -> Words:
    """Parents of nodes from 1 in a random tree. A parent is less than its children.

    Without a limit each smaller node is equally likely (a random recursive tree). With one, nodes are
    numbered breadth first, and each has 1 to `most` children, equally likely, until there are n nodes. Two
    consecutive nodes have ``most + 1`` children together, so no sum over all previous nodes is needed.
    """
    if most is None:
        return below(draw(key, child), child)
    pair, index = np.divmod(child - np.uint64(1), np.uint64(most + 1))
    first = below(draw(key, pair), most) + np.uint64(1)
    return pair * np.uint64(2) + (index >= first)


Family = tuple[int, Callable[[Words], Ends], float]


def ring(n: int, key: int) -> Family:
    """0, 1, ..., n - 1, 0."""
    return n if n > 2 else n - 1, partial(_ring, n=n), 1.0


def _ring(at: Words, n: int) -> Ends:
    return at, (at + np.uint64(1)) % np.uint64(n)


def star(n: int, key: int) -> Family:
    """Node 0 is joined to all others."""
    return n - 1, _star, 1.0


def _star(at: Words) -> Ends:
    return np.zeros_like(at), at + np.uint64(1)


def chain(n: int, key: int) -> Family:
    """0, 1, ..., n - 1."""
    return n - 1, _chain, 1.0


def _chain(at: Words) -> Ends:
    return at, at + np.uint64(1)


def tree(n: int, key: int, max: int | None = None) -> Family:
    """A random tree. Parents are smaller than their children, of which each has at most `max`."""
    return n - 1, partial(_tree, key=key, most=_most(n, max)), 1.0


def _tree(at: Words, key: int, most: int | None) -> Ends:
    child = at + np.uint64(1)
    return _parent(child, key, most), child


def spmax(n: int, key: int, m: int | None = None, max: int | None = None) -> Family:
    """The tree and random other edges: m in total, by default n floor(log2 n)."""
    m = _edges(m, n * (n.bit_length() - 1), n - 1, _pairs(n))
    return m, partial(_spmax, n=n, key=key, most=_most(n, max)), 1.0


def _spmax(at: Words, n: int, key: int, most: int | None) -> Ends:
    cut = int(np.searchsorted(at, n - 1))
    src, dst = _tree(at[:cut], key, most)
    if cut == len(at):
        return src, dst
    # node v > 0 has v - 1 smaller nodes besides its parent, so the other edges are a triangle of n - 1 rows
    rank = permute(at[cut:] - np.uint64(n - 1), _pairs(n - 1), subkey(key, EXTRA))
    low, high = _pair(rank)
    high += np.uint64(1)
    low += low >= _parent(high, key, most)
    return np.concatenate([src, low]), np.concatenate([dst, high])


def cplt(n: int, key: int) -> Family:
    """Every pair of nodes."""
    return _pairs(n), _pair, 1.0


def rn(n: int, key: int) -> Family:
    """Every pair of nodes with probability 1/2."""
    return _pairs(n), partial(_rn, key=key), 0.5


def _rn(at: Words, key: int) -> Ends:
    return _pair(at[draw(key, at) >> np.uint64(63) == 1])


def er(n: int, key: int, m: int | None = None) -> Family:
    """m of all pairs, equally likely (the Erdos-Renyi graph G(n, m)); by default m = 8 n."""
    return _edges(m, 8 * n, 0, _pairs(n)), partial(_er, n=n, key=key), 1.0


def _er(at: Words, n: int, key: int) -> Ends:
    return _pair(permute(at, _pairs(n), key))


def rmat(
    n: int, key: int, m: int | None = None, a: float = 0.57, b: float = 0.19, c: float = 0.19
) -> Family:
    """The Kronecker graph of Graph500 (R-MAT: Chakrabarti, Zhan and Faloutsos, SDM 2004).

    m edges are drawn, by default 16 n. Building the graph drops duplicates and self-loops. n must be a power
    of two; nodes are in random order.
    """
    if n & (n - 1):
        raise InputError(f"n must be a power of two for rmat, got {n}")
    for name, share in (("a", a), ("b", b), ("c", c)):
        _number(name, share, 0, 1)
    if a + b + c >= 1:
        raise InputError(f"a + b + c must be below 1, got {a + b + c:g}")
    # thresholds of 32-bit numbers
    cuts = [int(2**32 * share) for share in (a, a + b, a + b + c)]
    return _edges(m, 16 * n, 0, 2**62), partial(_rmat, n=n, key=key, cuts=cuts), 1.0


def _rmat(at: Words, n: int, key: int, cuts: list[int]) -> Ends:
    src, dst = quadrants(at, n, key, cuts)
    nodes = subkey(key, NODES)
    return permute(src, n, nodes), permute(dst, n, nodes)


def quadrants(at: Words, n: int, key: int, cuts: list[int]) -> Ends:
    """Ends of R-MAT edges, one quadrant per bit of n.

    Parameters
    ----------
    cuts
        Cumulative probabilities of the first three quadrants, times 2^32.
    """
    thresholds = right, lower, corner = [np.uint32(cut) for cut in cuts]
    levels = n.bit_length() - 1
    src, dst = np.zeros((2, len(at)), np.uint32)
    if (compiled := fast(len(at))) is not None:
        compiled.quadrants(at, subkeys(key, levels), *thresholds, src, dst)
        return src, dst
    for level in range(levels):
        if level % 2 == 0:
            words = draw(subkey(key, level), at)
            half = words.astype(np.uint32)
        else:
            half = (words >> np.uint64(32)).astype(np.uint32)
        below_half = half >= lower
        beside = (half >= right) ^ below_half | (half >= corner)
        for ends, bit in ((src, below_half), (dst, beside)):
            ends <<= np.uint32(1)
            ends |= bit
    return src, dst


def grid(n: int, key: int, columns: int | None = None) -> Family:
    """A grid, numbered by rows; each node is joined to the next in its row and in its column.

    The default number of columns is the square root of n, rounded up. The last row may be shorter.
    """
    columns = isqrt(n - 1) + 1 if columns is None else min(integer("columns", columns, 1), n)
    return n, partial(_grid, n=n, columns=columns), 2.0


def _grid(at: Words, n: int, columns: int) -> Ends:
    return _lattice(at, n, columns, at % np.uint64(columns) < columns - 1)


def _lattice(at: Words, n: int, columns: int, joined: NDArray[np.bool_]) -> Ends:
    """Edges from nodes to the next in the column, and of those that are joined to it, in the row."""
    right, down = at + np.uint64(1), at + np.uint64(columns)
    beside, beneath = joined & (right < n), down < n
    return np.append(at[beside], at[beneath]), np.append(right[beside], down[beneath])


ROAD = 4
"""Rows of a road network to one road between two columns."""


def road(n: int, key: int, columns: int | None = None) -> Family:
    """A planar network with a long diameter, as roads are: 1.25 edges per node, numbered by rows.

    Every column is a road. The first row is one, and of every four rows below it one, at random, has a
    road from a column to the next. The default number of columns is the square root of n, rounded up.
    """
    columns = isqrt(n - 1) + 1 if columns is None else min(integer("columns", columns, 1), n)
    return n, partial(_road, n=n, key=key, columns=columns), 1 + 1 / ROAD


def _road(at: Words, n: int, key: int, columns: int) -> Ends:
    row, column = np.divmod(at, np.uint64(columns))
    block, place = np.divmod(row - np.uint64(1), np.uint64(ROAD))
    chosen = below(draw(key, block * np.uint64(columns) + column), ROAD)
    joined = ((row == 0) | (place == chosen)) & (column < columns - 1)
    return _lattice(at, n, columns, joined)


SITE = 64
"""A page's site: so many pages before it."""

COPIED, NEAR = 0.6, 0.8
"""Share of links that are copied; and of the others, share that lead to a page of the site."""


def web(n: int, key: int, degree: int = 16) -> Family:
    """A web: pages that copy links of earlier pages of their site (Kumar et al. 2000, FOCS).

    Every page has `degree` links. Its site are the `SITE` pages before it. A link is copied from a page of
    the site, or leads to a page of the site, or to any page. So the number of links to a page follows a
    power law, and most links are to pages with near numbers. Links lead from the first end to the second;
    building the graph drops duplicates and links of a page to itself.
    """
    degree = integer("degree", degree, 1)
    return n * degree, partial(_web, n=n, key=key, degree=degree), 1.0


def _web(at: Words, n: int, key: int, degree: int) -> Ends:
    page, place = np.divmod(at, np.uint64(degree))
    origin, copies = page.copy(), np.arange(len(at))
    while len(copies):  # a link that is copied may be a copy itself
        some = origin[copies]
        link = some * np.uint64(degree) + place[copies]
        copies = copies[(unit(draw(subkey(key, 0), link)) < COPIED) & (some > 0)]
        origin[copies] = _before(origin[copies], subkey(key, 1), origin[copies])
    link = origin * np.uint64(degree) + place
    far = below(draw(subkey(key, 2), link), n)
    near = (unit(draw(subkey(key, 3), link)) < NEAR) & (origin > 0)
    far[near] = _before(origin[near], subkey(key, 4), link[near])
    return page, far


def _before(page: Words, key: int, number: Words) -> Words:
    """A page of the site of each page; none is page 0, which has no site."""
    return page - np.uint64(1) - below(draw(key, number), np.minimum(page, np.uint64(SITE)))


def powerlaw(n: int, key: int, m: int | None = None, exponent: float = 2.5) -> Family:
    """A graph with power-law degrees (Chung and Lu, PNAS 99, 2002).

    m edges are drawn, by default 8 n. The probability of an end is about proportional to
    (i + 1/2)^(-1 / (exponent - 1)), so that the share of nodes with degree d falls as d^-exponent. Building
    the graph drops duplicates and self-loops, which are mostly among the nodes of highest degree. The
    exponent is above 2; nodes are in random order.
    """
    exponent = _number("exponent", exponent, 2)
    power = (exponent - 1) / (exponent - 2)
    return _edges(m, 8 * n, 0, 2**62), partial(_powerlaw, n=n, key=key, power=power), 1.0


def _powerlaw(at: Words, n: int, key: int, power: float) -> Ends:
    luck = (unit(draw(subkey(key, end), at)) for end in range(2))
    # the inverse of the cumulative distribution, rounded down to a node
    ends = (np.minimum(n * one**power, n - 1).astype(np.uint64) for one in luck)
    src, dst = (permute(nodes, n, subkey(key, NODES)) for nodes in ends)
    return src, dst


def geometric(n: int, key: int, degree: float = 10.0) -> Family:
    """Random points in the unit square, joined if they are near (a unit-disk graph).

    A disk of the joining distance holds `degree` points on average; nodes near the border have fewer
    neighbours. The square is divided into strips at least as high as that distance, so that a piece needs
    only its own points and those of one more strip. Each strip has its share of the points, uniformly
    distributed, and nodes are numbered by strip.
    """
    radius = sqrt(_number("degree", degree, 0) / (pi * n))
    strips = max(min(int(1 / radius), isqrt(n)), 1)
    make = partial(_geometric, n=n, key=key, strips=strips, radius=radius)
    return strips, make, min(degree, n) * n / strips / 2


def _geometric(at: Words, n: int, key: int, strips: int, radius: float) -> Ends:
    lo, hi = int(at[0]), int(at[-1]) + 1
    starts = np.array([n * strip // strips for strip in range(lo, min(hi + 1, strips) + 1)])
    strip = np.repeat(np.arange(lo, lo + len(starts) - 1), np.diff(starts))
    nodes = np.arange(starts[0], starts[-1])
    x, y = (unit(draw(subkey(key, axis), nodes.astype(np.uint64))) for axis in range(2))
    cell = strip * strips + (x * strips).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    nodes, cell, x, y = nodes[order], cell[order], x[order], (strip + y)[order] / strips
    own = np.arange(int(starts[hi - lo] - starts[0]))
    # candidates are later points of the own strip and all of the next; cells are sorted by strip and column
    column = cell[own] % strips
    left = cell[own] - np.minimum(column, 1) + strips
    right = cell[own] + (column < strips - 1)
    firsts = np.concatenate([own + 1, np.searchsorted(cell, left)])
    lasts = np.searchsorted(cell, np.concatenate([right, right + strips]), side="right")
    counts = lasts - firsts
    u = np.repeat(np.concatenate([own, own]), counts)
    v = np.arange(len(u)) + np.repeat(firsts - np.cumsum(counts) + counts, counts)
    near = (x[u] - x[v]) ** 2 + (y[u] - y[v]) ** 2 <= radius**2
    return nodes[u[near]], nodes[v[near]]


ALL = ring, star, chain, tree, spmax, cplt, rn, er, rmat, grid, road, web, powerlaw, geometric

FAMILIES: dict[str, Callable[..., Family]] = {make.__name__: make for make in ALL} | {"spmin": tree}
"""The families by name. Their parameters after `n` and `key` are options."""
