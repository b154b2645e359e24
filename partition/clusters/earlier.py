"""What a cluster has of an earlier result, from which a run goes on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.segments import lent


class Earlier(NamedTuple):
    """What a run that goes on from an earlier result gives a cluster.

    Attributes
    ----------
    outputs
        Those of the earlier run, by name: of the nodes that the cluster had then, its first ones.
    rows, ends
        Of each entry of the adjacency that is new since, or has another weight: the index of its node in the
        cluster, ascending, and the node id of its other end.
    weights
        Of these entries, 1 where there are none.
    """

    outputs: dict[str, NDArray]
    rows: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray

    def read_only(self) -> Earlier:
        """The same, of which a kernel cannot change the arrays."""
        outputs, *entries = self
        return Earlier({name: lent(a) for name, a in outputs.items()}, *map(lent, entries))
