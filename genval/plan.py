"""The plan of a generated graph: any process can make any piece of its edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.counters import Words, below, draw, fast, permute, subkey
from dgsuite.partition.construction.build import id_dtype
from dgsuite.partition.sources.edges import step_of
from dgsuite.partition.sources.piece import Piece

Ends = tuple[NDArray, NDArray]
"""Sources and targets of edges, integers of any kind."""

BLOCK = 1 << 13
"""Edges that are made at a time, so that all steps fit a processor's cache."""

EDGES, EXTRA, NODES, IDENTIFIERS, WEIGHTS = range(5)
"""Uses of a seed, for `subkey`."""


@dataclass(frozen=True)
class Plan:
    """The plan of a graph.

    Attributes
    ----------
    n
        Number of nodes.
    items
        Number of items that edges are made from.
    make
        Function from consecutive items (uint64, shape (k,), ascending) to their edges.
    each
        Approximate number of edges per item.
    seed
        Any integer.
    weights
        True for distinct weights, False for none; or the largest weight, for weights that may be equal.
    """

    n: int
    items: int
    make: Callable[[Words], Ends]
    each: float
    seed: int
    weights: bool | int

    @property
    def m(self) -> float:
        """Approximate number of edges."""
        return self.items * self.each

    def bounds(self) -> list[int]:
        """Bounds of pieces of the items: see `dgsuite.partition.sources.edges.step_of`."""
        pieces = max(min(ceil(self.m / step_of(self.m)), self.items), 1)
        return [self.items * i // pieces for i in range(pieces + 1)]

    def edges(self, lo: int, hi: int) -> Piece:
        """Edges of items lo to hi - 1.

        Returns
        -------
        src, dst
            int32 where ids fit, else int64; shape (edges,).
        weights
            int64, or None.
        """
        small = id_dtype(self.n)
        fast(hi - lo)  # blocks are small, but many
        step = max(int(BLOCK / max(self.each, 1e-9)), 1)
        found: list[list[NDArray]] = [[np.empty(0, kind)] for kind in (small, small, np.int64)]
        for start in range(lo, hi, step):
            src, dst = self.make(np.arange(start, min(start + step, hi), dtype=np.uint64))
            found[0].append(src.astype(small))
            found[1].append(dst.astype(small))
            if self.weights:
                found[2].append(pair_weights(src, dst, self.n, self.weights, self.seed))
        src, dst, weights = map(np.concatenate, found)
        return src, dst, weights if self.weights else None

    def uid(self, nodes: NDArray) -> NDArray[np.int64]:
        """Identifiers of the given nodes. Those of all nodes are 1 to n in random order."""
        at = np.asarray(nodes).astype(np.uint64)
        return permute(at, self.n, subkey(self.seed, IDENTIFIERS)).astype(np.int64) + 1


def pair_weights(
    src: NDArray, dst: NDArray, n: int, weights: bool | int, seed: int
) -> NDArray[np.int64]:
    """Weights of edges of a graph with n nodes, which depend on their ends alone; (u, v) and (v, u) agree.

    Parameters
    ----------
    weights
        True for distinct numbers from 1 to 2^63 - 1; or the largest, for uniform numbers from 1 on.
    seed
        Any integer.
    """
    pairs = np.minimum(src, dst).astype(np.uint64)
    pairs *= np.uint64(n)
    pairs += np.maximum(src, dst).astype(np.uint64)
    key = subkey(seed, WEIGHTS)
    if weights is True:
        return permute(pairs, 2**63 - 1, key).astype(np.int64) + 1
    return below(draw(key, pairs), weights).astype(np.int64) + 1
