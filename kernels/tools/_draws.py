"""Compiled draws: random numbers by key and counter, and choices in proportion to weights."""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.base.mixing import GOLDEN, mix

mixed = compiled(mix)


@compiled
def keyed(key, number):
    """The key of something numbered, such as a node, made of the key of all of these."""
    return mixed(key + np.uint64(number) * GOLDEN)


@compiled
def paired(key, first, second):
    """The keys of pairs of numbers, each made of the key of its first."""
    out = np.empty(len(first), np.uint64)
    for i in range(len(out)):
        out[i] = keyed(keyed(key, first[i]), second[i])
    return out


@compiled
def uniform(key, draw):
    """A number in [0, 1), of draw `draw`."""
    return (keyed(key, draw + 1) >> np.uint64(11)) * 2.0**-53


@compiled
def running(weights, sums):
    """Sums of weights up to each, in their order."""
    total = 0.0
    for i in range(len(weights)):
        total += weights[i]
        sums[i] = total


@compiled
def running_by_row(indptr, weights):
    """Sums of weights up to each entry of a row."""
    sums = np.empty(len(weights))
    for row in range(len(indptr) - 1):
        a, b = indptr[row], indptr[row + 1]
        running(weights[a:b], sums[a:b])
    return sums


@compiled
def picked(sums, luck):
    """The place of a weight, in proportion to the weights: the first whose running sum is above a share of
    all.

    A weight of 0 is not picked. The last sum must be above 0.
    """
    share = min(luck * sums[-1], np.nextafter(sums[-1], 0.0))
    return np.searchsorted(sums, share, side="right")
