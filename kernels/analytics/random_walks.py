"""Random walks, of first order or node2vec's (Grover and Leskovec 2016).

A walker proposes a random neighbour. The neighbour accepts with a probability that depends on the node that
the walker came from, or sends the walker back, which proposes again (rejection sampling; Yang et al. 2019,
KnightKing): so no node has to know the neighbours of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import uniform

PROPOSAL, REFUSAL, RECORD = 0, 1, 2
"""Kinds of messages: a proposal to step to the receiver, a refusal of a proposal, and a step to be recorded
at the node where the walk started."""

MOST = 100
"""Largest `p` and `q`; the smallest are its inverse. Each step takes about so many proposals at most."""

LONGEST = 1 << 24
"""Most steps of a walk."""


class Walkers(NamedTuple):
    """Walkers at the nodes of a cluster, before a proposal."""

    node: NDArray[np.int64]
    start: NDArray[np.int64]  # node where the walk started
    step: NDArray[np.int64]  # number of the step to take, from 1
    before: NDArray[np.int64]  # node of the step before; -1 where it does not matter
    tries: NDArray[np.int64]  # proposals that were refused

    def among(self, chosen: NDArray) -> Walkers:
        return Walkers(*(column[chosen] for column in self))


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    walk: NDArray[np.int32]  # by node and step


@dataclass(frozen=True)
class RandomWalks(bsp.Kernel):
    """A random walk from each node.

    Output ``walk``, by node and step: the nodes of the walk that starts at the node, itself first; -1 after a
    node that no edge leaves. Other walks come with another `seed`. Weights do not count: a
    walker takes any edge with the same probability, but for `p` and `q`.

    Parameters
    ----------
    length
        Number of steps, up to 2^24; a step takes 4 bytes for each node, and a round or more.
    p
        Return parameter, from 0.01 to 100: how much less likely than to a common neighbour a walker returns
        to the node that it came from.
    q
        In-out parameter, from 0.01 to 100: how much less likely than to a common neighbour it goes to a node
        that is not a neighbour of the one that it came from. Unless `p` and `q` are 1, the graph must be
        undirected.

    Notes
    -----
    Rounds: length + 2 where `p` and `q` are 1; else more, since proposals may be refused.

    Messages: 2 for each step of each walker where `p` and `q` are 1; else two more for each refusal.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("random_walks", graph, length=3).walk.values
    array([[0, 1, 2, 0],
           [1, 2, 3, 2],
           [2, 0, 2, 3],
           [3, 2, 0, 1]], dtype=int32)
    """

    length: int = 10
    p: float = 1.0
    q: float = 1.0

    name = "random_walks"
    outputs = {
        "walk": bsp.Output(
            "nodes of a walk, {none} after its end", dims=("node", "step"), nodes=True
        )
    }
    numbered = ("step",)
    fields = {
        "kind": np.int8,
        "start": np.int64,
        "step": np.int64,
        "before": np.int64,
        "tries": np.int64,
    }
    undirected = False

    def check(self, c: bsp.Cluster) -> str | None:
        if not 1 <= self.length <= LONGEST:
            return f"length must be from 1 to {LONGEST}, got {self.length}"
        for name, value in (("p", self.p), ("q", self.q)):
            if not 1 / MOST <= value <= MOST:
                return f"{name} must be from {1 / MOST} to {MOST}, got {value}"
        if c.directed and (self.p, self.q) != (1, 1):
            return "p and q must be 1 on a directed graph; graph.to_undirected() makes another"
        return None

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.depart, opening=True)
        yield from bsp.until_quiet(self.walk)

    def start(self, c: bsp.Cluster) -> State:
        walk = np.full((c.size, self.length + 1), -1, np.int32)
        walk[:, 0] = c.ids
        return State(walk)

    def depart(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        none = c.zeros()
        return self.send(c, Walkers(np.arange(c.size), c.ids, none + 1, none - 1, none))

    def walk(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
        kind, step, source = inbox["kind"], inbox["step"], inbox.src
        here = Walkers(inbox.node, inbox["start"], step, inbox["before"], inbox["tries"])
        records = kind == RECORD
        s.walk[here.node[records], step[records]] = source[records]
        accepted = kind == PROPOSAL
        accepted[accepted] = self.accepts(c, here.among(accepted))
        refused = (kind == PROPOSAL) & ~accepted
        back = here.among(refused)._replace(tries=here.tries[refused] + 1)
        come = here.among(accepted)
        onward = come._replace(step=come.step + 1, before=source[accepted], tries=come.tries * 0)
        again = here.among(kind == REFUSAL)
        walkers = Walkers(*map(np.concatenate, zip(again, onward, strict=True)))
        walkers = walkers.among(walkers.step <= self.length)
        replies = [(RECORD, come.start, come), (REFUSAL, source[refused], back)]
        return self.send(c, walkers, *replies), bsp.vote(any=len(kind) > 0)

    def accepts(self, c: bsp.Cluster, walkers: Walkers) -> NDArray[np.bool_]:
        """Whether each of some proposals is accepted; it depends on the node of the step before."""
        if (self.p, self.q) == (1, 1):
            return np.ones(len(walkers.node), bool)
        free = walkers.before < 0
        common = c.entries(walkers.node, walkers.before) >= 0
        likely = np.where(common, 1.0, 1 / self.q)
        likely[walkers.before == c.ids[walkers.node]] = 1 / self.p
        bound = max(1, 1 / self.p, 1 / self.q)
        return free | (self.draw(c, walkers, 1) * bound < likely)

    def send(
        self,
        c: bsp.Cluster,
        walkers: Walkers,
        *replies: tuple[int, NDArray[np.int64], Walkers],
    ) -> bsp.Unicast:
        """Walkers propose a random neighbour; after them, replies of a kind to some nodes."""
        degree = c.degree[walkers.node]
        walkers, degree = walkers.among(degree > 0), degree[degree > 0]
        # the only neighbour always accepts
        walkers = walkers._replace(before=np.where(degree > 1, walkers.before, -1))
        entry = c.indptr[walkers.node] + (self.draw(c, walkers, 0) * degree).astype(np.int64)
        sent = [(PROPOSAL, c.indices[entry].astype(np.int64), walkers), *replies]
        kinds, to, moving = zip(*sent, strict=True)
        node, start, step, before, tries = map(np.concatenate, zip(*moving, strict=True))
        return bsp.unicast(
            np.concatenate(to),
            node,
            kind=np.repeat(kinds, [len(nodes) for nodes in to]),
            start=start,
            step=step,
            before=before,
            tries=tries,
        )

    def draw(self, c: bsp.Cluster, walkers: Walkers, which: int) -> NDArray[np.float64]:
        """A random number for each walker, step and try."""
        turn = walkers.tries * self.length + walkers.step - 1
        return uniform("counter", self.seed, turn * c.n + walkers.start, which)
