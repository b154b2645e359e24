"""Communities by modularity (Blondel, Guillaume, Lambiotte and Lefebvre 2008, the Louvain method).

On each level every node moves to the community of a neighbour where modularity gains most, as long as it
gains (`dgsuite.kernels.analytics.moving`). Then communities become the nodes of the next level, and their
edges are added up.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.levelled import Levelled
from dgsuite.kernels.analytics.moving import Moving, State

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph


@dataclass(frozen=True)
class Louvain(Moving):
    """Communities of high modularity, or of the constant Potts model, of an undirected graph.

    Output ``community``: the smallest node of the community. No two communities would gain if they were
    one. `seed` decides which nodes look for a better community at the same time, and so, among the many
    good results, which one it is. A community may fall apart into pieces; those of `Leiden` do not.

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

    def suited(self, graph: Graph) -> Moving:  # type: ignore[override]
        kernel = super().suited(graph)
        return LevelledLouvain(**vars(kernel)) if self.levels else kernel

    def refined(self, factor: float, degree: float, draws: count) -> Generator[Any, Any, bool]:
        """Whole communities become the nodes of the next level."""
        yield bsp.Round(self.merge, opening=True)
        return True

    def merge(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.small, s.group = s.parts, c.ids.copy()


@dataclass(frozen=True)
class LevelledLouvain(Levelled, Louvain):
    """`Louvain` with the communities of every level."""
