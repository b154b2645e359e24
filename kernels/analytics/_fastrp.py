"""Compiled loops over the vectors of nodes."""

from math import sqrt

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.tools._draws import keyed, uniform
from dgsuite.partition.arrays._compiled.fetching import prefetch

AHEAD = 4
"""Vectors that are fetched from memory before they are read."""

LINE = 16
"""Entries of a vector in a cache line."""


@compiled
def project(ids, share, beta, key, sparsity, out):
    """The random vectors of some nodes, times the power `beta` of the nodes' shares of all edges.

    An entry is the square root of `sparsity`, or minus that, each with probability 1 in twice `sparsity`,
    else 0.
    """
    for i in range(len(ids)):
        mine = keyed(key, ids[i])
        size = sqrt(sparsity) * (share[i] ** beta if share[i] > 0 else 0.0)
        for j in range(out.shape[1]):
            luck = uniform(mine, j) * sparsity
            out[i, j] = size if luck < 0.5 else -size if luck < 1 else 0.0


@compiled(error_model="numpy")  # which divides several entries at a time
def step(indptr, slots, weights, values, normalise, factor, vector, embedding):
    """The mean vector of each node's neighbours; `factor` times it, or times its direction, is added to the
    embedding.

    Vectors are added in float64, in the order of the row.
    """
    first, dims = indptr[0], vector.shape[1]
    total = np.empty(dims)
    for i in range(len(vector)):
        total[:] = 0
        mass = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            if e + AHEAD < len(slots):
                ahead = np.int64(slots[e + AHEAD]) * dims
                for j in range(0, dims, LINE):
                    prefetch(values, ahead + j)
            weight = weights[e - first] if len(weights) else 1.0
            mass += weight
            theirs = values[slots[e]]
            for j in range(dims):
                total[j] += weight * theirs[j]
        total /= mass if mass > 0 else 1.0
        square = 0.0
        for j in range(dims):
            square += total[j] * total[j]
        size = sqrt(square) if normalise and square > 0 else 1.0
        for j in range(dims):
            vector[i, j] = total[j]
            embedding[i, j] += factor * (total[j] / size)
