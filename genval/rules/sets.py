"""Independent sets that dominate, colourings, and matchings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval import counters
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, Rule, at_edges, collect, ends, marked, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster


@judges("mis", outputs={"in_mis": 1})
def mis(job: Job) -> list[Found]:
    """Maximal independent set: no two members are neighbours; every other node has a member as neighbour."""
    return job.each(_independent_and_dominating, name="in_mis")


@judges("ds", outputs={"in_ds": 1})
def ds(job: Job) -> list[Found]:
    """Independent dominating set, which is the same as a maximal independent set."""
    return job.each(_independent_and_dominating, name="in_ds")


def _independent_and_dominating(c: Cluster, outputs: Outputs, name: str) -> Found:
    mine, other = outputs[name][c.ids], ends(c)[1]
    member, members = mine != 0, outputs[name][other] != 0
    told = "no neighbour in the set"
    what, near, *texts = at_edges(c, "independence", members, told, "node {}", other)
    return collect(
        c.ids,
        ("flag", member & (mine != 1), "0 or 1", mine),
        (what, member & near, *texts),
        ("domination", ~member & ~near, "itself or a neighbour in the set", "neither"),
    )


@judges("vc", outputs={"colour": 1})
def vc(job: Job) -> list[Found]:
    """Colouring with three colours: the ends of every edge differ."""
    return job.each(_colouring)


def _colouring(c: Cluster, outputs: Outputs) -> Found:
    colour = outputs["colour"]
    mine = colour[c.ids]
    known = "colour", (mine < 0) | (mine > 2), "0, 1 or 2", mine
    return collect(c.ids, known, _proper(c, colour))


def _proper(c: Cluster, colour: NDArray) -> Rule:
    """That the ends of every edge have different colours."""
    mine = colour[c.ids]
    row, other = ends(c)
    same, told = colour[other] == mine[row], says("no neighbour of colour {}", mine)
    return at_edges(c, "neighbours", same, told, "node {}", other)


@judges("colouring", outputs={"colour": 1})
def colouring(job: Job) -> list[Found]:
    """Greedy colouring: the ends of every edge differ, and a node of a colour has neighbours of all smaller
    ones, so there are no more than the largest degree and one.
    """
    return job.each(_greedy)


def _greedy(c: Cluster, outputs: Outputs) -> Found:
    colour = outputs["colour"]
    mine = colour[c.ids]
    row, other = ends(c)
    theirs = colour[other]
    smaller = (theirs >= 0) & (theirs < mine[row])
    pairs = np.unique(row[smaller].astype(np.int64) * c.n + theirs[smaller])
    seen = np.bincount(pairs // c.n, minlength=c.size)
    wrong = (mine < 0) | (mine >= c.n) | (seen != mine)
    told = says("{} smaller colours at neighbours, from 0 on", mine)
    return collect(c.ids, ("colour", wrong, told, seen), _proper(c, colour))


@judges("trial_colouring", outputs={"colour": 1, "settled": 1})
def trial_colouring(job: Job) -> list[Found]:
    """Colours are from 0 to the number of the node's neighbours, and differ from theirs. A node without
    neighbours takes its colour in the first round. Nodes that have crashed need none. If nothing was lost,
    and the seed is known, each node draws one of the colours that are left to it until it draws one that no
    neighbour draws in the round: that is the round in which it has settled, and the colour.
    """
    alive, lost = job.alive, job.given("lost")
    found = job.each(_trial, alive=alive)
    seed = job.fact("seed")
    if seed is None or not alive.all() or (lost is not None and lost.any()):
        job.left_out.append("when nodes draw their colours")
    elif not any(part.total for part in found):
        found += _drawn(job, int(seed))
    return found


def _drawn(job: Job, seed: int) -> list[Found]:
    """Violations of the rule that nodes settle in the first round in which no neighbour draws the same."""
    settled, colour = job.integers("settled", "colour")
    wrong = np.zeros(job.n, bool)
    for now in range(int(settled.max(initial=-1)) + 1):
        tried = job.values(_tried, seed=seed, now=now)
        met = job.values(_met, bool, tried=tried)
        wrong |= (settled == now) & (met | (tried != colour))
        wrong |= (settled > now) & ~met
    told = "the first round in which no neighbour draws the node's colour"
    return [job.found(("settled", wrong, told, says("colour {} in round {}", colour, settled)))]


def _tried(
    c: Cluster, outputs: Outputs, seed: int, now: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What the nodes of a cluster that have no colour when a round begins draw in it; -1 at others."""
    colour, settled = outputs["colour"], outputs["settled"]
    rows = np.flatnonzero(settled[c.ids] >= now)
    size = c.degree[rows].astype(np.int64) + 1
    start = np.cumsum(size) - size
    free = np.ones(int(size.sum()), bool)
    at = np.full(c.size, -1)
    at[rows] = np.arange(len(rows))
    row, other = ends(c)
    kept = (at[row] >= 0) & (settled[other] < now) & (colour[other] <= c.degree[row])
    free[start[at[row[kept]]] + colour[other[kept]]] = False
    entry = np.flatnonzero(free)
    many = np.add.reduceat(free.astype(np.int64), start) if len(rows) else start
    luck = counters.of_nodes(seed, c.ids[rows], now)
    which = np.cumsum(many) - many + (luck * many).astype(np.int64)
    tried = np.full(c.size, -1)
    tried[rows] = entry[which] - start
    return c.ids, tried


def _met(
    c: Cluster, outputs: Outputs, tried: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The nodes of a cluster, and whether a neighbour draws the same colour as the node."""
    row, other = ends(c)
    own = tried[c.ids]
    return c.ids, marked(c.size, row[(own[row] >= 0) & (own[row] == tried[other])])


def _trial(c: Cluster, outputs: Outputs, alive: NDArray[np.bool_]) -> Found:
    colour, settled = (outputs[name][c.ids] for name in ("colour", "settled"))
    live = alive[c.ids]
    distinct = np.where(alive, outputs["colour"], -1 - np.arange(c.n))  # of nodes that have crashed
    what, same, *texts = _proper(c, distinct)
    begun = np.where(c.degree == 0, "round 0", "a round from 0 on")
    beyond, limits = (colour < 0) | (colour > c.degree), says("a colour from 0 to {}", c.degree)
    return collect(
        c.ids,
        ("palette", live & beyond, limits, colour),
        ("round", live & ((settled < 0) | ((c.degree == 0) & (settled > 0))), begun, settled),
        (what, same & live, *texts),
    )


@judges("matching", outputs={"mate": 1})
def matching(job: Job) -> list[Found]:
    """Maximal matching: a node's mate is a neighbour whose mate it is, and no two neighbours have none."""
    return job.each(_matching)


def _matching(c: Cluster, outputs: Outputs) -> Found:
    mate = outputs["mate"]
    mine = mate[c.ids]
    row, other = ends(c)
    paired = np.flatnonzero(mine != -1)
    linked = np.ones(c.size, bool)
    linked[paired] = c.entries(paired, mine[paired]) >= 0
    back = linked.copy()
    back[linked] = (mine == -1)[linked] | (mate[mine[linked]] == c.ids[linked])
    alone = (mine[row] == -1) & (mate[other] == -1)
    other_mate = "a node whose mate it is", lambda i: f"node {mine[i]}, with mate {mate[mine[i]]}"
    none, two = "a mate, or no neighbour without one", "none, and node {} has none"
    return collect(
        c.ids,
        ("mate", ~linked, "one of its neighbours, or none", mine),
        ("mate", linked & ~back, *other_mate),
        at_edges(c, "maximal", alone, none, two, other),
    )
