"""Communities of high modularity: by Louvain and by Leiden.

Communities by modularity (after Blondel, Guillaume, Lambiotte and Lefebvre 2008, the Louvain method).

On each level every node moves to the community of a neighbour where modularity gains most, as long as it
gains. Then communities become the nodes of the next level, and their edges are added up. Blondel et al. look
at all nodes, one after the other, until none moves. Here nodes look in four turns, those of a turn at once;
from the second time on only those do that are next to one that has moved (Traag, Waltman and van Eck 2019,
fast local move); and a level ends when less than one node in 256 has moved, or after 32 times
(`dgsuite.kernels.analytics.moving`).

Communities whose nodes hang together (Traag, Waltman and van Eck 2019, the Leiden method).

On each level nodes move between communities (`dgsuite.kernels.analytics.moving`). Then each community is
refined: its nodes start alone, and join a small community within it that has edges to them, by chance, but
none that loses. These become the nodes of the next level, which begins with the communities before they
were refined.

Here, too, nodes take turns, by chance. A node joins no small community that is named by a node of the same
turn. So small communities only grow, and stay connected.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from dgsuite.base.mixing import keyed
from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.levels import Parts, rows
from dgsuite.kernels.analytics.moving import Moving, State


class Louvain(Moving):
    """Communities of high modularity, or of the constant Potts model, of an undirected graph.

    Output ``community``: the smallest node of the community. No two communities would gain if they were
    one. `seed` decides which nodes look for a better community at the same time, and so, among the many
    good results, which one it is. A level ends when few nodes move, so some of them may gain elsewhere. A
    community may fall apart into pieces; those of `Leiden` do not.

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


JOINS = 8
"""Parts in which nodes of a community join small ones."""

RANDOMNESS = 0.01
"""How freely a small community is chosen: theta of the paper, for gains in units of the mean degree."""


@dataclass(frozen=True)
class Leiden(Moving):
    """Communities of high modularity, each connected, of an undirected graph.

    Output ``community``: the smallest node of the community. Every community is connected, by edges with
    weights above 0, and no two would gain as one. `seed` decides which of the many good results it is.

    Parameters
    ----------
    iterations
        How often all levels are gone through; each time begins with the communities found before.

    Notes
    -----
    Rounds: as many as quality gains in; no useful bound is known.

    Messages: those of the cut; no useful bound is known.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> dgsuite.run("leiden", graph).community.values
    array([0, 0, 0, 3, 3, 3])
    >>> dgsuite.run("leiden", graph, objective="cpm", resolution=0.01).community.values
    array([0, 0, 0, 0, 0, 0])
    """

    iterations: int = 2

    name = "leiden"
    allowed = {"iterations": (1, np.inf)}

    @property
    def times(self) -> int:
        return self.iterations

    def refined(self, factor: float, degree: float, draws: count) -> Generator[Any, Any, int]:
        """Nodes join small communities within theirs; returns how many did."""
        draw, joined = next(draws), 0
        yield bsp.Round(self.split, self.tell_small, opening=True)
        step = {"draw": draw, "factor": factor, "warmth": RANDOMNESS * degree}
        phases = self.propose, self.accept, self.settle, self.hear_small, self.tell_small
        for turn in range(JOINS):
            joined += (yield bsp.Round(*phases, turn=turn, **step)).sum
        return joined

    def split(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Nodes are alone in small communities; what they are in now is what the next level begins with."""
        level, live = s.level, s.level.live
        s.group[live] = s.parts.name(live)
        s.small = Parts(level)
        s.small.note(level.slots, np.append(c.ids, level.ghosts)[level.slots])
        s.inner = np.empty(c.size)
        analytics._communities.within(*level.edges, s.parts.number, np.arange(c.size), s.inner)
        s.small.mass, s.small.outer = level.mass.copy(), s.inner.copy()
        return self.ask(c, s.small)

    def propose(
        self,
        c: bsp.Cluster,
        s: State,
        inbox: bsp.Inbox,
        draw: int,
        turn: int,
        factor: float,
        warmth: float,
    ) -> bsp.Shipment:
        """Rows that are alone, and well connected to their community, choose a small one that is, too."""
        level, parts, small, live = s.level, s.parts, s.small, s.level.live
        small.told(inbox)
        row = live[self.turn(c.ids[live], draw, JOINS) == turn]
        mass, rest = level.mass[row], parts.total[parts.number[row]] - level.mass[row]
        alone = (small.name(row) == c.ids[row]) & (small.mass[row] == mass)
        row = row[alone & (s.inner[row] >= factor * mass * rest)]
        closed = self.turn(small.names, draw, JOINS) == turn
        best, (gain, shared) = np.empty(len(row), np.int64), np.zeros((2, len(row)))
        key = keyed(np.array([self.seed % 2**64], np.uint64), np.array([draw + 1]))[0]
        analytics._communities.propose(
            *((*level.edges, level.mass), parts.number, parts.total),
            *(small.number, small.names, small.total, small.rest, closed),
            *(row, c.ids, key, factor, warmth, *level.room(row, small), best, gain, shared),
        )
        wants = best >= 0
        row, node = row[wants], small.names[best[wants]]
        s.shared[row] = shared[wants]
        asked = {"node": node, "other": c.ids[row], "mass": level.mass[row], "outer": gain[wants]}
        return bsp.ship(c.partition.owner(node), **asked)

    def accept(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, factor: float) -> bsp.Sent:
        """Of those who would join a small community, the ones that gain most do, while that surely gains."""
        node, other, gain = inbox.shipped("node"), inbox.shipped("other"), inbox.shipped("outer")
        order = np.lexsort((other, -gain, node))
        taken = np.empty(len(order), bool)
        mass = inbox.shipped("mass")[order]
        analytics._communities.accept(node[order], gain[order], mass, factor, taken)
        node, other = node[order][taken], other[order][taken]
        return bsp.ship(c.partition.owner(other), node=other, other=node), bsp.vote(sum=len(node))

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        s.fresh, s.left = rows(c, inbox.shipped("node")), inbox.shipped("node").copy()
        s.small.note(s.fresh, inbox.shipped("other"))
        return self.show(c, s, s.small)

    def hear_small(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Clusters learn who has joined, and say what small communities got."""
        level, small, row = s.level, s.small, s.fresh
        small.note(level.slot(inbox.shipped("node")), inbox.shipped("other"))
        # edges to those who joined at the same time no longer lead out, either
        into = np.empty(len(row))
        analytics._communities.within(*level.edges, small.number, row, into)
        outer = np.append(-s.inner[row], s.inner[row] - s.shared[row] - into)
        return self.ask(c, small, *self.changes(s, small), outer)

    def tell_small(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        return self.answer(c, s.small, inbox)
