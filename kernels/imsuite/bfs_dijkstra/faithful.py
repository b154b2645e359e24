"""What IMSuite's bfsDijkstra does otherwise: it searches for a layer beyond the last.

In the recursive form the echo ends at the root as well, which takes every phase for phase 0, in which it
was itself discovered.
"""

from __future__ import annotations

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.bfs_dijkstra.recursive import RecursiveDijkstra
from dgsuite.kernels.imsuite.bfs_dijkstra.textbook import Dijkstra, State


class FaithfulDijkstra(Dijkstra, faithful_to=Dijkstra):
    """A breadth-first tree; see `Dijkstra`."""

    def goes_on(self, reached: int, n: int) -> bool:
        return True


class FaithfulRecursiveDijkstra(RecursiveDijkstra, FaithfulDijkstra, faithful_to=RecursiveDijkstra):
    """A breadth-first tree; see `RecursiveDijkstra`."""

    def start_echo(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        return self.descend(s, s.layers[0][:0])
