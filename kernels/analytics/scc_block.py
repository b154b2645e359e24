"""Strongly connected components by blocks: searches and trimming go on within a cluster to their end.

The steps are those of `dgsuite.kernels.analytics.scc`. A chain that a search or trimming goes along costs a
round for each crossing of the border, not for each node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics import scc
from dgsuite.kernels.tools import blocks


@dataclass(eq=False)
class State(scc.State):
    """What the nodes of a cluster know."""

    seen: NDArray[np.bool_] = bsp.per_node(False)  # scratch of searches


@dataclass(frozen=True)
class BlockStrongComponents(scc.StrongComponents):
    """Strongly connected components, within each cluster first; see `StrongComponents` for the output.

    Notes
    -----
    Rounds: some for each time that a chain, which trimming or a search goes along, crosses the border.

    Messages: at most ``rounds * 2 * (arcs + n)``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=True)
    >>> dgsuite.run("scc", graph, form="block").component.values
    array([0, 0, 0, 3])
    """

    obeys = bsp.Model("nodes", None, "data")
    form = "block"
    state = State
    fields = {"colour": np.int64, "part": np.int64, "backwards": np.bool_}

    def trimming(self) -> bsp.Program:
        yield from bsp.until_quiet(self.peel)

    # Within the cluster.

    def peel(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        """Nodes leave; then those that no live edge enters, or that none leaves."""
        left = np.empty(c.size, np.int64)
        count = analytics._strong.trim(
            *(c.indptr, c.positions, c.senders[0], c.sender_positions, c.first),
            *(s.coming, s.going, s.live.mask),
            *(s.leaving, inbox.node, inbox["backwards"], s.seen, left),
        )
        left = left[:count]
        s.live.remove(left)
        s.leaving = left[:0]
        out, _, to = blocks.crossing(c, left)
        into, _, origin = blocks.crossing(c, left, backwards=True)
        ends, nodes = np.append(to, origin), np.append(out, into)
        backwards = np.arange(len(ends)) >= len(to)
        return bsp.unicast(ends, nodes, backwards=backwards), bsp.vote(any=len(ends) > 0)

    def reached(
        self, c: bsp.Cluster, s: State, rows: tuple, nodes: NDArray, part: NDArray
    ) -> NDArray:
        """Nodes that a search from some nodes reaches in the cluster; they are no longer ahead."""
        found = np.empty(c.size, np.int64)
        count = analytics._strong.reach(*rows, c.first, s.ahead.mask, part, nodes, s.seen, found)
        s.ahead.remove(found[:count])
        return found[:count]

    def opened(self, sent: scc.Search) -> bsp.Sent:
        return sent

    def onwards(self, c: bsp.Cluster, s: State, nodes: NDArray) -> scc.Search:
        found = self.reached(c, s, (c.indptr, c.positions), nodes, scc.ANY)
        nodes, _, ends = blocks.crossing(c, found)
        return bsp.unicast(ends, nodes), bsp.vote(any=len(ends) > 0)

    def join(self, c: bsp.Cluster, s: State, nodes: NDArray, part: NDArray = scc.ANY) -> scc.Search:
        """Nodes and those that reach them within their part become members, and tell across the border."""
        found = self.reached(c, s, (c.senders[0], c.sender_positions), nodes, part)
        s.members[found] = True
        nodes, _, ends = blocks.crossing(c, found, backwards=True)
        return bsp.unicast(ends, nodes, part=s.part[nodes]), bsp.vote(any=len(ends) > 0)

    def show(self, c: bsp.Cluster, s: State, nodes: NDArray) -> scc.Search:
        """Colours of some nodes spread within the cluster, and are told across the border."""
        found = np.empty(c.size, np.int64)
        seeds = nodes[np.lexsort((s.colour[nodes], s.number[nodes]))]
        count = analytics._strong.colour(
            *(c.indptr, c.positions, c.first, s.live.mask, s.part, s.number, s.colour),
            *(seeds, s.seen, found),
        )
        nodes, _, ends = blocks.crossing(c, found[:count])
        sent = bsp.unicast(ends, nodes, colour=s.colour[nodes], part=s.part[nodes])
        return sent, bsp.vote(any=len(ends) > 0)
