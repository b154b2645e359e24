"""Offers along edges: the value that a node broadcast plus the weight of the edge.

A site keeps the least offer that each of its nodes got in a run, so a phase tells a kernel of those nodes
alone that get a smaller one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.thresholds import compiles
from dgsuite.partition.arrays.segments import expand, loops
from dgsuite.partition.clusters.halo import Halo

LARGEST = float(np.finfo(np.float64).max)
"""Offers are no larger: infinity is for nodes that got none."""


class Offers:
    """The least offers of a run at a site.

    Parameters
    ----------
    halo
        Of the site.

    Attributes
    ----------
    least
        By own node: the least offer so far, infinity without one.
    source
        By own node: the smallest sender of that offer, in the phase in which it first came.
    """

    def __init__(self, halo: Halo) -> None:
        self.halo = halo
        self.least = np.full(halo.own, np.inf)
        self.source = np.empty(halo.own, halo.names.dtype)
        self._fresh = np.zeros(halo.own, bool)
        self._found = np.empty(halo.own + 1, np.int64)

    def take(self, senders: list[NDArray], values: NDArray) -> NDArray[np.int64]:
        """Own nodes whose least offer falls in this phase, ascending.

        Parameters
        ----------
        senders
            Slots of own nodes, and of those of other sites.
        values
            By slot, what its node sent.
        """
        halo = self.halo
        if not compiles(len(halo.indices)):
            return self._take_listed(senders, values)
        count = 0
        for some in senders:
            along = (*halo.out(some), halo.weights_out(some), some, values, halo.names, LARGEST)
            room = self.least, self.source, self._fresh, self._found
            count = loops().push_nearer(*along, *room, count)
        found = self._found[:count]
        rows = np.sort(found) if 8 * count < halo.own else np.flatnonzero(self._fresh)
        self._fresh[rows] = False
        return rows

    def _take_listed(self, senders: list[NDArray], values: NDArray) -> NDArray[np.int64]:
        """The same without compiled loops."""
        halo = self.halo
        parts = []
        for slots in senders:
            out, weights = halo.out(slots), halo.weights_out(slots)
            at, entry = expand(out.indptr, slots - out.shift)
            slot, row = slots[at], out.indices[entry] - out.base
            length = weights[entry].astype(np.float64) if len(weights) else 1.0
            with np.errstate(over="ignore"):
                offer = np.minimum(values[slot] + length, LARGEST)
            here = (row >= 0) & (row < halo.own)
            parts.append((row[here], offer[here], halo.named(slot[here])))
        row, offer, name = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        less = offer < self.least[row]
        row, offer, name = row[less], offer[less], name[less]
        order = np.lexsort((name, offer, row))
        rows, first = np.unique(row[order], return_index=True)
        self.least[rows], self.source[rows] = offer[order][first], name[order][first]
        return rows.astype(np.int64)

    def samples(self, dtype: np.dtype) -> dict[str, NDArray]:
        """What the compiled loop takes, besides what the halo has; makes the weights in the loop's order."""
        _ = self.halo.back_weights
        return {
            "weights": self.halo.out_weights,
            "offered": np.empty(0, dtype),
            "least": self.least,
        }
