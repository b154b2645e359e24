"""Colouring by random trials (Johansson 1999, Simple distributed Delta + 1-coloring of graphs; Barenboim and
Elkin 2013, Distributed Graph Coloring, section 10.1; after Luby's algorithm for independent sets).

A node has a palette: at first as many colours as it has neighbours, and one more. In each round a node
without a colour tries one of its palette, each with the same probability. If no neighbour tries the same, it
keeps the colour, and neighbours take that out of their palettes. So a palette always has more colours than
the node has neighbours without one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import uniform
from dgsuite.partition.arrays.segments import expand, ranges


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know. Palettes of all nodes lie one after the other."""

    colour: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    settled: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    tried: NDArray[np.int64] = bsp.per_node(-1)  # colour of this round
    left: NDArray[np.int64] = bsp.every_node()  # nodes without a colour
    palette: NDArray[np.int64] = bsp.initial(lambda c: c.indptr[:-1] + np.arange(c.size))  # starts
    free: NDArray[np.bool_] = bsp.initial(lambda c: np.ones(len(c.indices) + c.size, bool))


class TrialColouring(bsp.Kernel):
    """Colours that differ between neighbours, by random trials, in O(log n) rounds.

    Outputs ``colour``, at most the number of the node's neighbours, so the graph has at most one colour more
    than the largest degree; and ``settled``, the round in which the node took it. Both are -1 for none.

    Colours of nodes that have not crashed differ, however many do. Where messages are lost, neighbours may
    take the same.

    Notes
    -----
    Rounds: no bound that holds for each seed; at most ``log(n) / log(4 / 3) + 5`` are expected. For a node
    that tries a colour keeps it with probability 1/4 or more: each of its d neighbours that also try one has
    two colours at least, and so tries the same with probability 1/2 at most; over the d + 1 colours or more
    that the node may have tried, fewer than one neighbour does on average.

    Exchanges: at most ``2 * rounds``.

    Messages: at most ``4 * m * rounds``: a node tells each neighbour what it tries, and what it keeps.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("trial_colouring", graph)
    >>> ds.colour.values, ds.settled.values
    (array([1, 2, 3, 0], dtype=int32), array([1, 0, 1, 1], dtype=int32))
    """

    name = "trial_colouring"
    obeys = bsp.Model("edges", reduces="control")
    outputs = {
        "colour": bsp.Output("colour, from 0 on, -1 for none"),
        "settled": bsp.Output("round in which the node took its colour, -1 for none"),
    }
    fields = {"colour": np.int32}
    ranges = {"colour": bsp.nodes}
    refuses = {"recovery": bsp.KEEPS_LISTS}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.attempt, self.keep)

    def attempt(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        """Strike what neighbours have kept, and try one of the other colours."""
        at, theirs = self.told(c, s, inbox)
        node = s.left[at]
        known = (theirs >= 0) & (theirs <= c.degree[node])
        s.free[s.palette[node[known]] + theirs[known]] = False

        first, size = s.palette[s.left], c.degree[s.left].astype(np.int64) + 1
        at, entry = ranges(first, size)
        vacant = np.flatnonzero(s.free[entry])
        many = np.bincount(at[vacant], minlength=len(s.left))  # colours of each palette
        luck = uniform("counter", self.seed, c.ids[s.left], inbox.round)
        which = np.cumsum(many) - many + (luck * many).astype(np.int64)
        s.tried[s.left] = entry[vacant[which]] - first
        return bsp.broadcast(s.left, colour=s.tried[s.left])

    def keep(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Broadcast, bsp.Vote]:
        at, theirs = self.told(c, s, inbox)
        alone = np.ones(len(s.left), bool)
        alone[at[theirs == s.tried[s.left[at]]]] = False
        kept, s.left = s.left[alone], s.left[~alone]
        s.colour[kept], s.settled[kept] = s.tried[kept], inbox.round
        return bsp.broadcast(kept, colour=s.tried[kept]), bsp.vote(any=len(s.left) > 0)

    def told(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[NDArray, NDArray]:
        """Of each message to a node without a colour, which of these nodes, and the colour."""
        at, entry = expand(c.indptr, s.left)
        sent, theirs = inbox.along("colour", entry)
        return at[sent], theirs[sent]
