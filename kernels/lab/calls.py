"""Calls to random neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import uniform


def called(c: bsp.Cluster, nodes: NDArray, seed: int, number: int) -> NDArray:
    """A neighbour of each of some nodes, each with the same probability.

    Parameters
    ----------
    nodes
        Local indices of nodes that have neighbours.
    seed, number
        Of the run, and of the round.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite import Graph
    >>> from dgsuite.kernels.lab.calls import called
    >>> (c,) = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], clusters=1).gather()
    >>> called(c, np.array([0, 3]), 101, 0), called(c, np.array([0, 3]), 101, 1)
    (array([1, 2], dtype=int32), array([2, 2], dtype=int32))
    """
    luck = uniform("counter", seed, c.ids[nodes], number)
    return c.indices[c.indptr[nodes] + (luck * c.degree[nodes]).astype(np.int64)]
