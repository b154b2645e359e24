"""Random walks, of first order or node2vec's (Grover and Leskovec 2016), and with restarts (Tong, Faloutsos
and Pan 2006, Fast random walk with restart and its applications).

A walker proposes a random neighbour, in proportion to the weights of edges where these count. The neighbour
accepts with a probability that depends on the node that the walker came from, or sends the walker back, which
proposes again (rejection sampling; Yang et al. 2019, KnightKing): so no node has to know the neighbours of
another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.mixing import key
from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.extremes import heavy
from dgsuite.partition.arrays.segments import lent
from dgsuite.partition.construction.build import id_dtype

MAX_BIAS = 100
"""Largest `p` and `q`; the smallest are its inverse. Each step takes about so many proposals at most."""

LONGEST = 1 << 24
"""Most steps of a walk."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    walk: bsp.NodeIds  # by node and step, or node, walk and step
    sums: NDArray[np.float64]  # where weights count, those of a row up to each entry


ONE = bsp.Output("nodes of a walk, {none} after its end", dims=("node", "step"), nodes=True)
SEVERAL = ONE._replace(dims=("node", "number", "step"))


@dataclass(frozen=True)
class RandomWalks(bsp.Kernel):
    """Random walks from each node.

    Output ``walk``, by node and step: the nodes of the walk that starts at the node, itself first; -1 after a
    node that no edge leaves. With several `walks` it is by node, number of the walk, and step. Other walks
    come with another `seed`.

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
    walks
        Number of walks from each node.
    restart
        Probability, from 0 to 1, that a walker goes back to where its walk started instead of along an edge.
        If it is above 0, a walk does not end: from a node that no edge leaves, a walker goes back as well.
    weighted
        Whether a walker takes an edge in proportion to its weight, which must not be negative, else all edges
        are alike. With `p` and `q` their factors multiply the weights.

    Notes
    -----
    Rounds: length + 2 where `p` and `q` are 1; else more, since proposals may be refused.

    Exchanges: at most ``rounds``.

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
    >>> dgsuite.run("random_walks", graph, length=3, walks=2).walk.shape
    (4, 2, 4)
    """

    length: int = 10
    p: float = 1.0
    q: float = 1.0
    walks: int = 1
    restart: float = 0.0
    weighted: bool = False

    name = "random_walks"
    obeys = bsp.Model("nodes", None, "control")
    outputs = bsp.by_parameters(lambda kernel: {"walk": SEVERAL if kernel.walks > 1 else ONE})
    numbered = ("number", "step")
    fields = {"kind": np.int8, **dict.fromkeys(("start", "step", "before", "tries"), np.int64)}
    allowed = {
        "length": (1, LONGEST),
        "walks": (1, np.inf),
        "restart": (0, 1),
        **dict.fromkeys(("p", "q"), (1 / MAX_BIAS, MAX_BIAS)),
    }
    undirected = False
    refuses = {
        "liars": "answers that lie become walkers, twice as many with each step",
        "recovery": bsp.KEEPS_LISTS,
    }

    def check(self, c: bsp.Cluster) -> str | None:
        if c.directed and (self.p, self.q) != (1, 1):
            return "p and q must be 1 on a directed graph; graph.to_undirected() makes another"
        wrong = heavy(c.weights, 900, " to walk by them") if self.weighted else None
        return super().check(c) or wrong

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.depart, opening=True)
        yield from bsp.until_quiet(self.walk)

    def start(self, c: bsp.Cluster) -> State:
        walk = np.full((c.size, self.walks, self.length + 1), -1, bsp.node_dtype(c))
        walk[:, :, 0] = c.ids[:, None]
        sums = np.empty(0)
        if self.weighted and c.weights is not None:
            sums = analytics._draws.running_by_row(c.indptr, c.weights)
        return State(walk if self.walks > 1 else walk[:, 0], sums)

    def extra_bytes(self, n: int, nodes: int, entries: int) -> int:
        return np.dtype(id_dtype(n)).itemsize * nodes * self.walks * self.length

    def depart(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        node = np.repeat(np.arange(c.size), self.walks)
        start = (c.ids[:, None] + c.n * np.arange(self.walks)).ravel()
        none = np.zeros(len(node), np.int64)
        kind = np.full(len(node), analytics._walks.REFUSAL, np.int8)
        return self.send(c, s, node, none, kind, start, none + 1, none - 1, none)

    def walk(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        fields = [inbox[name] for name in self.fields]
        return self.send(c, s, inbox.node, inbox.src, *fields), bsp.vote(any=len(inbox) > 0)

    def send(self, c: bsp.Cluster, s: State, *messages: NDArray) -> bsp.Unicast:
        """What nodes send, given what they received: receivers, senders and fields."""
        keys = np.concatenate([key(self.seed, which) for which in range(3)])
        chances = float(self.restart), 1 / self.p, 1 / self.q
        walks = s.walk.reshape(c.size, self.walks, self.length + 1)
        rows, told = (c.indptr, c.indices, lent(c.ids), s.sums), tuple(map(lent, messages))
        kind, sent = analytics._walks.walk(*rows, keys, chances, walks, c.n, told)
        to, node, *rest = sent
        fields: Any = dict(zip(self.fields, (kind, *rest), strict=True))
        return bsp.unicast(to, node, **fields)
