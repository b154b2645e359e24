"""Refusals of invitations to join a tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


class Refusals(NamedTuple):
    """Nodes that refuse, how many invitations each, how many of these from other clusters, and in a traced
    run the edges on which they came.
    """

    nodes: NDArray[np.int64]
    times: NDArray[np.int64]
    remote: NDArray[np.int64]
    edges: NDArray[np.int64] | None

    @classmethod
    def of(
        cls,
        c: bsp.Cluster,
        inbox: bsp.Inbox,
        invited: NDArray,
        times: NDArray,
        remote: NDArray,
        accepted: tuple[NDArray, NDArray],
    ) -> Refusals:
        """The refusals of some nodes, `times` each.

        Parameters
        ----------
        remote
            Invitations to each node from other clusters, the accepted one included.
        accepted
            Nodes that accept an invitation, and the parent that each accepts.
        """
        new, parent = accepted
        remote, edges = remote.copy(), inbox.edges(invited)
        remote[np.searchsorted(invited, new)] -= c.partition.owner(parent) != c.index
        if edges is not None:
            edges = np.setdiff1d(edges, c.entries(new, parent))
        some = times > 0
        return cls(invited[some], times[some], remote[some], edges)
