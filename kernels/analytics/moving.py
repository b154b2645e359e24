"""The base of kernels whose nodes move between communities, level by level (Blondel et al. 2008).

On each level nodes move to the community next to them where quality gains most, as long as that gains, and
only nodes next to one that has moved look again (Traag, Waltman and van Eck 2019, fast local move). Nodes of
a level take turns, by chance: those whose turn it is look and move at once. If all did, neighbours would
change places for ever (Lu, Halappanavar and Kalyanaraman 2015). Then small communities, of which those
of the level consist, become the nodes of the next level.

Weights are made whole numbers (`dgsuite.kernels.analytics.extremes`), so sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.extremes import Scaled, amounts, negative, weights_of
from dgsuite.kernels.analytics.levels import NOBODY, Level, Parts, rows, slots_of
from dgsuite.kernels.tools.rng import uniform
from dgsuite.partition.arrays.segments import distinct, group

TURNS = 4
"""Parts in which the nodes of a level look for a better community."""

SWEEPS = 32
"""Most times that all parts do."""

LEAST_MOVED = 256
"""Nodes move no more on a level where the parts together have moved less than one node in so many."""

PLAIN = bsp.Output("smallest node of the community", nodes=True)
LEVELLED = PLAIN._replace(dims=("node", "level"))

READ, MASS, ASK = 0, 1, 2
"""Kinds of items: the sender wants to know when the node moves; a change of the community that the node
names; the sender wants to know the mass of that community."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    weight: NDArray[np.float64]  # of each entry of the adjacency, then of each self-loop, twice
    community: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())  # node of the level it is in
    wanted: NDArray[np.int64] = bsp.rows()  # these nodes, each once
    level: Level = bsp.later()
    # name of the community in which each row begins the level
    group: NDArray[np.int64] = bsp.later()
    parts: Parts = bsp.later()  # communities of the level
    small: Parts = bsp.later()  # small communities, of which they consist
    active: NDArray[np.bool_] = bsp.later()  # rows that are to look for a better community
    fresh: NDArray[np.int64] = bsp.no_nodes()  # rows that have just moved
    left: NDArray[np.int64] = bsp.rows()  # name of the community that each of them has left
    inner: NDArray[np.float64] = bsp.later()  # weight of each row's edges within its community
    shared: NDArray[np.float64] = bsp.per_node(0.0)  # of those to the small community it would join
    # communities of the levels so far, a row for each, where they are outputs
    levels: NDArray[np.int64] = bsp.rows(lambda c: np.empty((0, c.size), np.int64))


@dataclass(frozen=True)
class Moving(Scaled, bsp.Weighted):
    """A kernel that finds communities; `refined` says which small ones become nodes of the next level.

    Parameters
    ----------
    resolution
        Above 1 for more and smaller communities, below for fewer and larger ones. With "cpm", the share of
        all pairs of nodes between which a community has edges, at least: from 0 to the greatest weight.
    objective
        "modularity" (Reichardt and Bornholdt 2006), or "cpm", the constant Potts model (Traag, Van Dooren
        and Nesterov 2011): the weight of the edges within communities less resolution times the number of
        pairs of nodes in them.
    levels
        Give the communities of every level: the output then has a dimension ``level``, from the first level,
        with the smallest communities, to the last, which is the result. Each level's communities are
        unions of those of the level before.
    weighted
        Whether edges count by their weights, which must not be negative; all alike without. By default
        where the graph has weights. Each is rounded to a multiple of the 2^-52nd part of their sum. Weights
        further apart than float64 holds are refused. Self-loops count where the graph keeps them: in a
        degree twice, as both ends of an edge.
    """

    resolution: float = 1.0
    objective: Literal["modularity", "cpm"] = "modularity"
    levels: bool = False

    obeys = bsp.Model("clusters", None, "data")
    outputs = bsp.by_parameters(lambda kernel: {"community": LEVELLED if kernel.levels else PLAIN})
    numbered = ("level",)
    fields = {
        "kind": np.int8,
        "node": np.int64,
        "other": np.int64,
        "mass": np.float64,
        "outer": np.float64,
    }
    short_ids = True

    @property
    def times(self) -> int:
        """How often all levels are gone through."""
        return 1

    def check(self, c: bsp.Cluster) -> str | None:
        if not 0 < self.resolution < np.inf:
            return f"resolution must be above 0 and finite, got {self.resolution}"
        return super().check(c) or (negative(weights_of(c)) if self.weighted else None)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from self.search(net)
        if self.levels:
            yield bsp.Round(self.stack, closing=True)

    def search(self, net: bsp.Net) -> bsp.Program:
        """All levels, as often as they are gone through."""
        weight, shift = yield from self.scaled(bool(self.weighted))
        if not weight:
            return
        unit = 1 / weight if self.objective == "modularity" else 2.0 ** min(shift, 500)
        factor, draws = self.resolution * unit, count()
        for _ in range(self.times):
            yield bsp.Round(self.restart, opening=True)
            yield from self.climb(factor, weight / net.n, draws)
            yield bsp.Round(self.claim, self.baptise, self.adopt, closing=True)

    def climb(self, factor: float, degree: float, draws: count) -> bsp.Program:
        """All levels, until a level's nodes are alone and none of them would move."""
        nodes = yield from self.begin()
        while True:
            moved = yield from self.settled(nodes, factor, draws)
            if (yield bsp.Round(self.look, closing=True)).any:
                if (yield from self.refined(factor, degree, draws)):
                    yield bsp.Round(self.inquire, self.inform, self.adopt, closing=True)
                    if self.levels:
                        yield bsp.Round(self.claim, self.baptise, self.note, closing=True)
                    yield bsp.Round(self.unite, self.gather, opening=True)
                else:
                    yield bsp.Round(self.part, opening=True)
                nodes = yield from self.begin()
            elif not moved:
                return

    def refined(self, factor: float, degree: float, draws: count) -> Generator[Any, Any, Any]:
        """Make small communities; returns whether they have any nodes together.

        Parameters
        ----------
        factor
            What a product of two masses costs.
        degree
            Mean degree.
        draws
            Numbers of draws.
        """
        raise NotImplementedError

    def begin(self) -> Generator[Any, Any, int]:
        """The clusters get to know each other's nodes and communities; returns the nodes of the level."""
        nodes = (yield bsp.Round(self.meet, self.learn, opening=True)).sum
        yield bsp.Round(self.tell, opening=True)
        return nodes

    def settled(self, nodes: int, factor: float, draws: count) -> Generator[Any, Any, int]:
        """Nodes move, until few do; returns how many moved."""
        moved = 0
        for _ in range(SWEEPS):
            draw, now = next(draws), 0
            for turn in range(TURNS):
                more = {"draw": draw, "turn": turn, "factor": factor}
                now += (yield bsp.Round(self.move, self.hear, self.tell, **more)).sum
            moved += now
            if now * LEAST_MOVED <= nodes:
                break
        return moved

    def start(self, c: bsp.Cluster) -> State:
        weight = amounts(c.weights if self.weighted else None, len(c.indices))
        if c.loops is not None:  # both their ends are the node's
            own = amounts(c.loop_weights if self.weighted else None, len(c.loops))
            weight = np.concatenate([weight, own, own])
        return State.of(c, weight=weight)

    # A level begins.

    def restart(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """The first level: the graph itself, with the communities found so far."""
        ghosts, ends = slots_of(c, c.indices)
        row = np.repeat(np.arange(c.size), c.degree)
        weight, of_loops = np.split(s.weight, [len(c.indices)])
        degree = np.bincount(row, weight, c.size)
        if c.loops is not None:
            degree = degree + np.bincount(np.tile(c.loops, 2), of_loops, c.size)
        mass = degree if self.objective == "modularity" else np.ones(c.size)
        s.level = Level(c.indptr.astype(np.int64), ends, weight, mass, ghosts)
        s.group, s.levels = s.community, s.levels[:0]
        s.community = c.ids.copy()
        return self.enter(c, s)

    def part(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """The same level, where all nodes are alone."""
        s.group = c.ids.copy()
        return self.enter(c, s)

    def enter(self, c: bsp.Cluster, s: State) -> bsp.Shipment:
        level, live = s.level, s.level.live
        s.parts = Parts(level)
        s.active = level.mass > 0
        node = np.append(level.ghosts, s.group[live])
        kind = np.repeat([READ, MASS], [len(level.ghosts), len(live)])
        mass = np.append(np.zeros(len(level.ghosts)), level.mass[live])
        return bsp.ship(c.partition.owner(node), kind=kind, node=node, mass=mass)

    def meet(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        reads, row = inbox.shipped("kind") == READ, rows(c, inbox.shipped("node"))
        s.parts.add(row[~reads], inbox.shipped("mass")[~reads])
        s.level.row, s.level.to = row[reads], inbox.origin[reads]
        row = s.level.row
        return bsp.ship(s.level.to, node=c.ids[row], other=s.group[row])

    def learn(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        name, level = np.empty(c.size + len(s.level.ghosts), np.int64), s.level
        name[: c.size] = s.group
        name[level.slot(inbox.shipped("node"))] = inbox.shipped("other")
        s.parts.note(level.slots, name[level.slots])
        return self.ask(c, s.parts), bsp.vote(sum=len(level.live))

    def ask(self, c: bsp.Cluster, parts: Parts, *changes: NDArray) -> bsp.Shipment:
        """Changes of some communities go to their clusters, and questions after those that are unknown."""
        node, mass, outer = changes or (NOBODY, NOBODY, NOBODY)
        kind = np.repeat([MASS, ASK], [len(node), len(parts.unknown)])
        none = np.zeros(len(parts.unknown))
        node, parts.unknown = np.append(node, parts.unknown), NOBODY
        mass, outer = np.append(mass, none), np.append(outer, none)
        return bsp.ship(c.partition.owner(node), kind=kind, node=node, mass=mass, outer=outer)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        return self.answer(c, s.parts, inbox)

    def answer(self, c: bsp.Cluster, parts: Parts, inbox: bsp.Inbox) -> bsp.Shipment:
        """Clusters tell of the communities that they name: of those that have changed, or are asked for."""
        asks, row = inbox.shipped("kind") == ASK, rows(c, inbox.shipped("node"))
        parts.add(row[~asks], inbox.shipped("mass")[~asks], inbox.shipped("outer")[~asks])
        parts.row = np.append(parts.row, row[asks])
        parts.to = np.append(parts.to, inbox.origin[asks])
        changed = c.zeros(bool)
        changed[row] = True
        which = np.flatnonzero(changed[parts.row])
        row = parts.row[which]
        told = {"mass": parts.mass[row], "outer": parts.outer[row]}
        return bsp.ship(parts.to[which], node=c.ids[row], **told)

    # Nodes move.

    def move(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, draw: int, turn: int, factor: float
    ) -> bsp.Sent:
        """Rows whose turn it is move to the community with the largest gain, or are alone again."""
        level, parts = s.level, s.parts
        parts.told(inbox)
        row = np.flatnonzero(s.active)
        row = row[self.turn(c.ids[row], draw, TURNS) == turn]
        s.active[row] = False
        best = np.empty(len(row), np.int64)
        analytics._communities.choose(
            *(*level.edges, level.mass, parts.number, parts.names, parts.total),
            *(row, parts.mass[row] == 0, factor, *level.room(row, parts), best),
        )
        goes = best != parts.number[row]
        s.fresh, best = row[goes], best[goes]
        s.left = parts.name(s.fresh)
        parts.note(s.fresh, np.where(best < 0, c.ids[s.fresh], parts.names[best]))
        return self.show(c, s, parts), bsp.vote(sum=len(s.fresh))

    def turn(self, nodes: NDArray, draw: int, turns: int) -> NDArray[np.int64]:
        """Whose turn it is when."""
        return (uniform("counter", self.seed, nodes, draw) * turns).astype(np.int64)

    def show(self, c: bsp.Cluster, s: State, parts: Parts) -> bsp.Shipment:
        """Rows that have moved tell the clusters that have edges to them."""
        moved = c.zeros(bool)
        moved[s.fresh] = True
        which = np.flatnonzero(moved[s.level.row])
        row = s.level.row[which]
        return bsp.ship(s.level.to[which], node=c.ids[row], other=parts.name(row))

    def hear(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Clusters learn who has moved, wake the nodes next to them, and say what communities got."""
        level, parts, row = s.level, s.parts, s.fresh
        slots = level.slot(inbox.shipped("node"))
        parts.note(slots, inbox.shipped("other"))
        moved = np.append(row, slots)
        analytics._communities.wake(
            *level.edges[:2], level.coming, moved, parts.number, c.size, s.active
        )
        return self.ask(c, parts, *self.changes(s, parts), np.zeros(2 * len(row)))

    def changes(self, s: State, parts: Parts) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Communities that rows have left, and those they have joined, and what their masses change by."""
        mass = s.level.mass[s.fresh]
        return np.append(s.left, parts.name(s.fresh)), np.append(-mass, mass)

    def look(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        """Whether some nodes are together. All look for a better community from here on."""
        s.parts.told(inbox)
        live = s.level.live
        s.active[live] = True
        return bsp.vote(any=s.parts.total[s.parts.number[live]] > s.level.mass[live])

    # Small communities become nodes.

    def inquire(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        s.wanted = distinct(s.community)
        return bsp.ship(c.partition.owner(s.wanted), node=s.wanted)

    def inform(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        node = inbox.shipped("node")
        row, name = rows(c, node), node.copy()
        live = s.level.mass[row] > 0
        name[live] = s.small.name(row[live])
        return bsp.ship(inbox.origin, node=node, other=name)

    def adopt(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        name = np.empty_like(s.wanted)
        name[np.searchsorted(s.wanted, inbox.shipped("node"))] = inbox.shipped("other")
        s.community = name[np.searchsorted(s.wanted, s.community)]

    def unite(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Clusters send the edges between small communities, added up, to the clusters that name them."""
        level, small = s.level, s.small
        live = level.live
        order = live[np.argsort(small.number[live], kind="stable")]
        one, other = np.empty((2, len(level.ends)), np.int32)
        sums = np.empty(len(level.ends))
        shared = np.zeros(len(small.names))
        found = analytics._communities.between(
            *level.edges, small.number, order, shared, one, other, sums
        )
        node = small.names[one[:found]]
        ends = small.names[other[:found]]
        return bsp.ship(c.partition.owner(node), node=node, other=ends, mass=sums[:found])

    def gather(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        ghosts, ends = slots_of(c, inbox.shipped("other"))
        row, weight = rows(c, inbox.shipped("node")), inbox.shipped("mass")
        indptr, place = np.zeros(c.size + 1, np.int64), np.full(c.size + len(ghosts), -1)
        found, sums = np.empty_like(ends), np.zeros(len(ends))
        grouped = group(row, c.size)
        count = analytics._communities.merge(*grouped, ends, weight, place, indptr[1:], found, sums)
        np.cumsum(indptr, out=indptr)
        s.level = Level(indptr, found[:count].copy(), sums[:count].copy(), s.small.mass, ghosts)
        return self.enter(c, s)

    # Names.

    def claim(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Clusters send the smallest of their nodes in each community to the cluster that names it."""
        s.wanted, first = np.unique(s.community, return_index=True)
        return bsp.ship(c.partition.owner(s.wanted), node=s.wanted, other=c.ids[first])

    def baptise(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        node, least = inbox.shipped("node"), c.full(c.n)
        row = rows(c, node)
        np.minimum.at(least, row, inbox.shipped("other"))
        return bsp.ship(inbox.origin, node=node, other=least[row])

    # Levels, where they are outputs.

    def note(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        community = s.community
        self.adopt(c, s, inbox)
        s.levels = np.vstack([s.levels, s.community])
        s.community = community

    def stack(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        """The last level that was kept is the result; where there is none, nodes are alone."""
        s.community = (s.levels if len(s.levels) else s.community[None]).T.copy()
