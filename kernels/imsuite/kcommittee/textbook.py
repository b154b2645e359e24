"""Committees of at most K members (Gupta and Nandivada, IMSuite kcommittee).

K times: in K - 1 rounds all learn the smallest identifier within K - 1 hops among nodes that are in
no committee yet. A node that has found no smaller one than its own leads, and invites the node that it
has found. A node that is invited joins; one that never is makes a committee of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.kcommittee import invitations as kcommittee_invitations
from dgsuite.kernels.imsuite.kcommittee.invitations import NONE, Invitations
from dgsuite.kernels.tools import words


@dataclass(eq=False)
class State(kcommittee_invitations.State):
    """What the nodes of a cluster know."""

    leading: NDArray[np.int64] = bsp.initial(lambda c: c.uid.copy())  # smallest identifier ever
    best: NDArray[np.int64] = bsp.per_node()  # smallest identifier in this poll
    fresh: NDArray[np.int64] = bsp.no_nodes()  # nodes with news


@dataclass(frozen=True)
class KCommittee(Invitations):
    """Committees of at most K nodes, each within K - 1 hops of its leader.

    Outputs ``committee``, the node id of the leader.

    Parameters
    ----------
    k
        Largest size of a committee. One above n, the number of nodes, is as n.
    faithful
        Flood polls and invitations as IMSuite does, where invitations go on through all iterations,
        and one to another node that passes by cancels one's own. Otherwise nodes send news alone, and
        an invitation goes back the way on which the leader learned of the node.

    Notes
    -----
    Rounds: exactly ``min(k, n) * (2 * min(k, n) + 1)``.

    Exchanges: at most ``rounds``.

    Messages: at most ``min(k, n) * (min(k, n) - 1) * (2 * m + n)``: news to all neighbours, and an
    invitation from each leader.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> dgsuite.run("kc", graph, k=2).committee.values
    array([0, 0, 2, 3], dtype=int32)
    """

    k: int = 3

    name = "kc"
    obeys = bsp.Model("edges")
    streams = True
    short_ids = True
    outputs = {"committee": bsp.Output("node id of the committee's leader", nodes=True)}
    fields = {"word": np.int64, "guest": np.int64, "hops": np.int32}
    ranges = {"word": lambda n: n * n, "guest": lambda n: n * n, "hops": bsp.nodes}
    refuses = {
        "liars": "its nodes send to nodes that are parts of words which they are told",
        "recovery": bsp.KEEPS_LISTS,
    }
    state = State

    def check(self, c: bsp.Cluster) -> str | None:
        return f"k must be at least 1, got {self.k}" if self.k < 1 else bsp.wide_identifier(c)

    def program(self, net: bsp.Net) -> bsp.Program:
        k = min(self.k, net.n)  # no committee is larger, and no node farther
        for _ in range(k):
            yield bsp.Round(self.open_poll)
            for _ in range(k - 1):
                yield bsp.Round(self.tell, self.hear)
            yield bsp.Round(self.choose_leader, self.invite)
            for _ in range(k - 1):
                yield self.forward()
            yield bsp.Round(self.accept)
        yield bsp.Round(self.be_alone, closing=True)

    def forward(self) -> bsp.Round:
        """The round in which invitations go one hop."""
        return bsp.Round(self.carry)

    def open_poll(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.best = np.where(s.committee < 0, c.uid, NONE)
        s.fresh = np.flatnonzero(s.committee < 0)
        s.via = []
        s.heard = c.zeros(np.int32)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(s.fresh, word=words.pair(s.best[s.fresh], c.ids[s.fresh]))

    def hear(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        nodes, word = inbox.min("word")
        news = (word < NONE) & (words.first(word) < s.best[nodes])
        s.fresh, word = nodes[news], word[news]
        s.best[s.fresh] = words.first(word)
        s.via.append(c.zeros(np.int32))
        s.via[-1][s.fresh] = words.second(word)
        s.heard[s.fresh] = len(s.via)

    def choose_leader(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Extra:
        others = np.count_nonzero(s.leading != c.uid)
        s.leading = np.minimum(s.leading, s.best)
        return bsp.extra(comm=others)

    def invite(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.offer = c.full(NONE)
        leaders = np.flatnonzero((s.leading == c.uid) & (s.best < NONE))
        self.arrive(s, leaders, words.pair(c.uid[leaders], c.ids[leaders]), s.heard[leaders])

    def be_alone(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        alone = s.committee < 0
        s.committee[alone] = c.ids[alone]
