"""Shortest paths where weights may be negative (Bellman 1958; Ford 1956; Cormen et al., Introduction to
Algorithms, section 24.1).

Nodes that have come nearer tell their neighbours, until none has. A negative cycle would never end it: then
the parents of some nodes form a cycle, after n rounds at the latest (Cormen et al., lemma 24.16). So parents
are looked at after 16, 32, 64, ... rounds (as Cherkassky and Goldberg 1999, "Negative-cycle detection
algorithms", do after n relaxations).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import NegativeCycle
from dgsuite.kernels import bsp
from dgsuite.kernels.analytics import sssp
from dgsuite.kernels.tools import sources
from dgsuite.partition.arrays.segments import put

FIRST_LOOK = 16
"""Rounds before parents are looked at for the first time."""

LISTED = 20
"""Nodes of a cycle that an error names, at most."""


@dataclass(eq=False)
class State(sssp.Paths):
    """What the nodes of a cluster know."""

    fresh: NDArray[np.int64]  # nodes that have come nearer
    top: NDArray[np.int64] = bsp.later()  # see `Climbing`


@dataclass(frozen=True)
class NegativePaths(sssp.Climbing):
    """Distances from a root and a tree of shortest paths, where weights may be negative.

    Outputs ``distance``, infinite where there is no way, and ``parent``, -1 there; the root is its own
    parent. Weights are lengths; edges are 1 long where the graph has none. Kernel "sssp" is faster where no
    weight is negative.

    Parameters
    ----------
    root
        Node to start from.
    sources
        Different nodes to start from, all at distance 0, in place of the root.

    Raises
    ------
    NegativeCycle
        Paths lead to a cycle whose edges are negative in all, so there is none that is the shortest. The
        message names its nodes. An edge of an undirected graph that is negative is one: there and back.

    Notes
    -----
    Rounds: at most ``n + 1 + log2(n + 1) * (log2(n + 1) + 1)``; mostly one for each edge of the longest
    shortest path and one more, and few to look for cycles.

    Messages: at most ``rounds * 2 * arcs``.

    Examples
    --------
    >>> import dgsuite
    >>> ends = [0, 0, 1], [1, 2, 2]
    >>> graph = dgsuite.Graph.from_edges(*ends, weights=[4, 3, -2], directed=True)
    >>> ds = dgsuite.run("bellman_ford", graph)
    >>> ds.distance.values, ds.parent.values
    (array([0., 4., 2.]), array([0, 0, 1], dtype=int32))
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 1], weights=[4, 3, -5], directed=True)
    >>> dgsuite.run("bellman_ford", graph)
    Traceback (most recent call last):
    dgsuite.base.errors.NegativeCycle: kernel 'bellman_ford': the cycle 1 -> 2 -> 1 is of negative length, ...
    """

    root: bsp.Node = bsp.FIRST
    sources: Sequence[bsp.Node] | None = None

    name = "bellman_ford"
    obeys = bsp.Model("nodes", reduces="data")
    weighs = True
    streams = True
    outputs = sssp.ShortestPaths.outputs
    fields = {"distance": np.float64, "top": np.int64}
    undirected = False
    pulls = True
    prepares = ("nearer",)

    def check(self, c: bsp.Cluster) -> str | None:
        return sources.wrong(self.sources, c.n, some=True)

    def program(self, net: bsp.Net) -> bsp.Program:
        rounds, nearer = 0, True
        while nearer:
            nearer = (yield bsp.Round(self.tell, self.relax)).any
            rounds += 1
            due = rounds == net.n or (rounds >= FIRST_LOOK and rounds.bit_count() == 1)
            if nearer and due and (yield from self.climb(net.n)):
                yield from self.report()
        yield bsp.Round(self.verify, closing=True)

    def start(self, c: bsp.Cluster) -> State:
        distance, parent, starts = sssp.begun(self, c)
        return State.of(c, distance=distance, parent=parent, fresh=starts)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(s.fresh, distance=s.distance[s.fresh])

    def relax(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        nodes, offer, parent = inbox.nearer("distance")
        nearer = offer < s.distance[nodes]  # where paths start, 0 is less than most offers
        s.fresh = nodes[nearer]
        put(s.distance, s.fresh, offer[nearer])
        put(s.parent, s.fresh, parent[nearer])
        return bsp.vote(any=len(s.fresh) > 0)

    def verify(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        far = np.minimum(np.abs(s.distance), sssp.LARGEST)  # also where a sum is below all numbers
        sssp.check_distances(c, np.where(s.parent < 0, np.inf, far))

    # Of a cycle.

    def report(self) -> bsp.Program:
        """Walk along a cycle of parents, and raise the error that names it."""
        cycle = [(yield bsp.Round(self.find)).min]
        while len(cycle) <= LISTED and (len(cycle) == 1 or cycle[-1] != cycle[0]):
            cycle.append((yield bsp.Round(self.above, node=cycle[-1])).max)
        closed = cycle[-1] == cycle[0]
        names = " -> ".join(map(str, reversed(cycle)))
        raise NegativeCycle(
            f"kernel {self.name!r}: the cycle {'' if closed else '... -> '}{names} is of negative "
            f"length, and paths lead to it, so no path to its nodes is the shortest"
        )

    def find(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        """The vote is a node on a cycle: the ancestor of one without a root."""
        return bsp.vote(min=s.top[s.top >= 0])

    def above(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, node: int) -> bsp.Vote:
        return bsp.vote(max=s.parent[c.local(node)])
