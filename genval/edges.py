"""Edge lists in this process, of NumPy's generator: the same for the same seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partition.errors import InputError


def ring(n: int, seed: int = 101) -> tuple[NDArray, NDArray, NDArray]:
    """A ring 0, 1, ..., n - 1, 0 whose nodes carry the identifiers 1 to n in random order.

    Returns
    -------
    src, dst, uid
        int64, shape (n,).
    """
    if n < 1:
        raise InputError(f"a ring needs at least 1 node, got n = {n}")
    nodes = np.arange(n)
    return nodes, (nodes + 1) % n, np.random.default_rng(seed).permutation(n) + 1


def random_edges(n: int, m: int, seed: int = 101) -> tuple[NDArray, NDArray]:
    """m edges with both ends uniform on n nodes (Erdos and Renyi, with repetition).

    Self-loops and repeated edges occur as chance has it (at 10^7 edges on 10^6 nodes, ten and a
    hundred); building a graph of the edges drops them.

    Returns
    -------
    src, dst
        int64, shape (m,).
    """
    if n < 1 or m < 0:
        raise InputError(f"a random graph needs n >= 1 and m >= 0, got n = {n}, m = {m}")
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, m), rng.integers(0, n, m)
