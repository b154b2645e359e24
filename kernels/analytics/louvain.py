"""Communities by modularity (Blondel, Guillaume, Lambiotte and Lefebvre 2008, the Louvain method).

On each level every node moves to the community of a neighbour where modularity gains most, as long as it
gains. Then communities become the nodes of the next level, and their edges are added up. A community is named
by one of its nodes, which holds its total degree and its edges. In each iteration a random half of the nodes
may move: if all moved at once, neighbours would change places for ever (Lu, Halappanavar and Kalyanaraman
2015).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.extremes import exponent, extremes
from dgsuite.kernels.tools.rng import uniform
from dgsuite.partition.arrays.segments import add

GAIN = 1e-6
"""A level ends when two iterations have gained less modularity, or no node would gain."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    # of the level: its nodes are some rows of the cluster
    row: NDArray[np.int64] = bsp.later()  # of each edge
    to: NDArray[np.int64] = (
        bsp.later()
    )  # other end of each edge, as a node id; rows, and ends in a row, ascend
    weight: NDArray[np.float64] = bsp.later()  # of each edge
    theirs: NDArray[np.int64] = bsp.later()  # community at the other end of each edge
    degree: NDArray[np.float64] = bsp.later()  # total weight of the edges of each row
    inside: NDArray[np.float64] = bsp.per_node(0.0)  # weight of edges within a row, both ways
    label: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())  # community of each row
    total: NDArray[np.float64] = bsp.later()  # degree of the community named by each row
    fresh: NDArray[np.int64] = bsp.later()  # rows with a new label
    rows: NDArray[np.int64] = bsp.later()  # of each pair of a row and a community next to it
    near: NDArray[np.int64] = bsp.later()  # the communities
    shared: NDArray[np.float64] = bsp.later()  # weight of the edges between them
    # of all levels
    community: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())


@dataclass(frozen=True)
class Louvain(bsp.Weighted):
    """Communities of high modularity, of an undirected graph.

    Output ``community``: the smallest node of the community. No two communities would gain modularity if they
    were one. `seed` decides which half of the nodes may move in an iteration, and so, among the many good
    results, which one it is.

    Parameters
    ----------
    resolution
        Above 1 for more and smaller communities, below for fewer and larger ones (Reichardt and Bornholdt
        2006).
    weighted
        Whether edges count by their weights, which must not be negative; all alike without. By default
        where the graph has weights. Only proportions matter; weights further apart than float64 holds are
        refused.

    Notes
    -----
    Rounds: as many as modularity gains in; no useful bound is known.

    Messages: at most ``rounds * (6 * m + 4 * n)``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> dgsuite.run("louvain", graph).community.values
    array([0, 0, 0, 3, 3, 3])
    """

    resolution: float = 1.0

    name = "louvain"
    outputs = {"community": bsp.Output("smallest node of the community", nodes=True)}
    fields = {"label": np.int64, "total": np.float64, "weight": np.float64}

    def check(self, c: bsp.Cluster) -> str | None:
        if not 0 < self.resolution < np.inf:
            return f"resolution must be above 0 and finite, got {self.resolution}"
        if self.weighted and c.weights is not None and not (c.weights >= 0).all():
            return f"weights must not be negative, got {c.weights.min()}"
        return None

    def program(self, net: bsp.Net) -> bsp.Program:
        if self.weighted:
            power = exponent(self.name, (yield bsp.Round(self.survey, opening=True)))
            if power:
                yield bsp.Round(self.divide, power=power, opening=True)
        weight = yield bsp.Round(self.weigh, opening=True)
        if not weight.sum:
            return
        draw, moved = count(), True
        while moved:
            best, idle, moved = -np.inf, 0, False
            while idle < 2:
                step = {"all_weight": weight.sum, "draw": next(draw)}
                found = yield bsp.Round(
                    self.tell, self.ask, self.answer, self.move, self.update, **step
                )
                if not found.any:
                    break
                idle = 0 if found.sum > best + GAIN else idle + 1
                best, moved = max(best, found.sum), True
            if moved:
                yield bsp.Round(self.inquire, self.inform, self.adopt)
                yield bsp.Round(self.tell, self.report, self.gather)
        yield bsp.Round(self.claim, self.choose, self.adopt, closing=True)

    def start(self, c: bsp.Cluster) -> State:
        row, to = c.edges(np.arange(c.size))
        weight = np.ones(len(to))
        if self.weighted and c.weights is not None:
            weight = c.weights.astype(np.float64)
        state = State.of(c)
        self.begin(c, state, row, to.astype(np.int64), weight)
        return state

    def begin(self, c: bsp.Cluster, s: State, row: NDArray, to: NDArray, weight: NDArray) -> None:
        """Begin a level: every node is a community."""
        s.row, s.to, s.weight, s.theirs = row, to, weight, to.copy()
        s.degree = np.bincount(row, weight, c.size) + s.inside
        s.label, s.total = c.ids.copy(), s.degree.copy()
        s.fresh = np.empty(0, np.int64)

    def survey(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        return extremes(s.weight)

    def divide(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, power: int) -> None:
        """Divide weights by 2 to a power, on which communities do not depend."""
        self.begin(c, s, s.row, s.to, np.ldexp(s.weight, -power))

    def weigh(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        return bsp.vote(sum=s.degree)

    # An iteration.

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        fresh = np.isin(s.row, s.fresh)
        return bsp.unicast(s.to[fresh], s.row[fresh], label=s.label[s.row[fresh]])

    def ask(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, all_weight: float
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        """Rows request the degrees of the communities next to them, and of their own."""
        self.look(c, s, inbox)
        inside = s.shared[s.near == s.label[s.rows]]
        return bsp.unicast(s.near, s.rows), bsp.vote(sum=inside / all_weight)

    def look(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        """Add up the weights of each row's edges by the community at the other end."""
        edge = np.searchsorted(s.row * c.n + s.to, inbox.node * c.n + inbox.src)
        s.theirs[edge] = inbox["label"]
        live = np.union1d(s.row, np.flatnonzero(s.inside))
        row = np.concatenate([s.row, live])
        label = np.concatenate([s.theirs, s.label[live]])
        weight = np.concatenate([s.weight, s.inside[live]])
        s.rows, s.near, s.shared = added(row, label, weight)

    def answer(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, all_weight: float
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        lost = -self.resolution * (s.total / all_weight) ** 2
        return bsp.unicast(inbox.src, inbox.node, total=s.total[inbox.node]), bsp.vote(sum=lost)

    def move(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, all_weight: float, draw: int
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        """Drawn rows move to the community with the largest gain; of equal ones, to the first."""
        # messages come by row, then sender: as the pairs of rows and communities
        total, degree = inbox["total"], s.degree[s.rows]
        own = s.near == s.label[s.rows]
        other = s.shared - own * s.inside[s.rows]  # without the row's own edges
        gain = other - self.resolution * degree * (total - own * degree) / all_weight
        order = np.lexsort((s.near, ~own, -gain, s.rows))
        rows, first = np.unique(s.rows[order], return_index=True)
        best = s.near[order][first]
        wants = best != s.label[rows]
        rows, best = rows[wants], best[wants]
        chosen = uniform("counter", self.seed, c.ids[rows], draw) < 0.5
        s.fresh, best, old = rows[chosen], best[chosen], s.label[rows[chosen]]
        s.label[s.fresh] = best
        weight = s.degree[s.fresh]
        sent = bsp.unicast(
            np.concatenate([old, best]),
            np.concatenate([s.fresh, s.fresh]),
            weight=np.concatenate([-weight, weight]),
        )
        return sent, bsp.vote(any=len(rows) > 0)

    def update(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        nodes, change = inbox.sum("weight")
        s.total[nodes] += change

    # The next level.

    def inquire(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        return bsp.unicast(s.community)

    def inform(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        return bsp.unicast(inbox.src, inbox.node, label=s.label[inbox.node])

    def adopt(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.community[inbox.node] = inbox["label"]

    def report(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """Rows send their edges to their community, added up by the community at the other end."""
        self.look(c, s, inbox)
        return bsp.unicast(s.label[s.rows], s.rows, label=s.near, weight=s.shared)

    def gather(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        row, to, weight = added(inbox.node, inbox["label"], inbox["weight"])
        within = to == c.ids[row]
        s.inside[:] = 0
        s.inside[row[within]] = weight[within]
        self.begin(c, s, row[~within], to[~within], weight[~within])

    # Names.

    def claim(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        return bsp.unicast(s.community, label=c.ids)

    def choose(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes, least = inbox.min("label")
        s.label[nodes] = least
        return self.inform(c, s, inbox)


def added(
    row: NDArray[np.int64], label: NDArray[np.int64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Pairs of a row and a label, ascending, each once, and their weights, added in the order given."""
    order = np.lexsort((label, row))
    row, label, weight = row[order], label[order], weight[order]
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (label[1:] != label[:-1])
    heads = np.flatnonzero(first)
    return row[heads], label[heads], add(weight, np.append(heads, len(row)))
