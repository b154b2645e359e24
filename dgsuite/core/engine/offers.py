"""Offers along edges: the value that a node broadcast plus the weight of the edge.

A site keeps the least offer that each of its nodes got in a run, so a phase tells a kernel of those nodes
alone that get a smaller one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.thresholds import compiles
from dgsuite.partition.arrays.loops import loops
from dgsuite.partition.arrays.segments import expand, lent, listed
from dgsuite.partition.clusters.halo import Halo

LARGEST = float(np.finfo(np.float64).max)
"""Offers are no larger: infinity is for nodes that got none."""

NONE = np.uint32(2**32 - 1)
"""The same as infinity where offers are whole numbers of 32 bits."""


class Offers:
    """The least offers of a run at a site.

    On large graphs they take 32 bits as long as all are whole numbers that fit: phases read them at random,
    and more of them are in a processor's cache then.

    Parameters
    ----------
    halo
        Of the site.

    Attributes
    ----------
    source
        By own node: the smallest sender of its least offer, in the phase in which that first came.
    """

    def __init__(self, halo: Halo) -> None:
        self.halo = halo
        short = compiles(len(halo.indices)) and (
            not len(halo.weights) or halo.weights.dtype.kind == "u"
        )
        self._least: NDArray = np.full(halo.own, NONE if short else np.inf)
        self.source = np.empty(halo.own, halo.names.dtype)
        self._fresh = np.zeros(halo.own, bool)
        self._found = np.empty(halo.own + 1, np.int64)

    @property
    def _short(self) -> bool:
        return self._least.dtype == NONE.dtype

    @property
    def _most(self) -> float | np.uint32:
        """The largest offer."""
        return NONE if self._short else LARGEST

    def least(self, rows: NDArray | slice) -> NDArray[np.float64]:
        """Least offers of own nodes so far, infinity without one."""
        least = self._least[rows].astype(np.float64)
        if self._short:
            least[least == NONE] = np.inf
        return least

    def restore(self, rows: slice, least: NDArray[np.float64], source: NDArray) -> None:
        """Set the least offers of some rows and their senders."""
        if self._short and not self._fit(least[least < np.inf]):
            self._lengthen()
        self._least[rows] = np.minimum(least, NONE) if self._short else least
        self.source[rows] = source

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
        if self._short and not all(self._fit(values[some]) for some in senders):
            self._lengthen()
        count = 0
        room = self._most, self._least, self.source, self._fresh, self._found
        for every in senders:
            along = (*halo.out(every), halo.weights_out(every), self._heaviest, every, values)
            count = loops().push_nearer(*along, halo.names, *room, count)
        found = self._found[:count]
        rows = listed(found, self._fresh)
        self._fresh[rows] = False
        return rows

    @cached_property
    def _heaviest(self) -> float:
        """The largest weight of an edge to or from own nodes."""
        if not len(self.halo.weights):
            return 1.0
        return float(max(w.max(initial=0) for w in (self.halo.out_weights, self.halo.weights)))

    def _fit(self, values: NDArray) -> bool:
        """Whether values plus any weight are whole numbers below `NONE`."""
        if not len(values):
            return True
        least, most = values.min(), values.max()
        return bool(
            least >= 0 and most + self._heaviest < NONE and (values == np.floor(values)).all()
        )

    def _lengthen(self) -> None:
        self._least = self.least(slice(None))

    def _take_listed(self, senders: list[NDArray], values: NDArray) -> NDArray[np.int64]:
        """The same without compiled loops."""
        halo, known = self.halo, self._least
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
        less = offer < known[row]
        row, offer, name = row[less], offer[less], name[less]
        order = np.lexsort((name, offer, row))
        rows, first = np.unique(row[order], return_index=True)
        known[rows], self.source[rows] = offer[order][first], name[order][first]
        return rows.astype(np.int64)

    def samples(self, dtype: np.dtype) -> dict[str, Any]:
        """What the compiled loop takes, besides what the halo has; makes the weights in the loop's order."""
        return {
            "weights": self.halo.out_weights,
            "heaviest": self._heaviest,
            "offered": lent(np.empty(0, dtype)),
            "offers": np.empty(0),
            "least": self._least,
            "most": self._most,
        }
