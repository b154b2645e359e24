"""Communities by modularity (Blondel, Guillaume, Lambiotte and Lefebvre 2008, the Louvain method).

On each level every node moves to the community of a neighbour where modularity gains most, as long as it
gains (`dgsuite.kernels.analytics.moving`). Then communities become the nodes of the next level, and their
edges are added up.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import count
from typing import Any

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.moving import Moving, State


@dataclass(frozen=True)
class Louvain(Moving):
    """Communities of high modularity, of an undirected graph.

    Output ``community``: the smallest node of the community. No two communities would gain modularity if they
    were one. `seed` decides which nodes look for a better community at the same time, and so, among the many
    good results, which one it is. A community may fall apart into pieces; those of `Leiden` do not.

    Parameters
    ----------
    resolution
        Above 1 for more and smaller communities, below for fewer and larger ones (Reichardt and Bornholdt
        2006).
    weighted
        Whether edges count by their weights, which must not be negative; all alike without. By default
        where the graph has weights. Each is rounded to a multiple of the 2^-52nd part of their sum. Weights
        further apart than float64 holds are refused.

    Notes
    -----
    Rounds: as many as modularity gains in; no useful bound is known.

    Messages: those of the cut; no useful bound is known.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> dgsuite.run("louvain", graph).community.values
    array([0, 0, 0, 3, 3, 3])
    """

    name = "louvain"

    def refined(self, factor: float, degree: float, draws: count) -> Generator[Any, Any, bool]:
        """Whole communities become the nodes of the next level."""
        yield bsp.Round(self.merge, opening=True)
        return True

    def merge(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.small, s.group = s.parts, c.ids.copy()
