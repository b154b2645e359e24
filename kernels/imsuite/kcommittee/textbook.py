"""Committees of at most K members (Gupta and Nandivada, IMSuite kcommittee).

K times: in K - 1 rounds all learn the smallest identifier within K - 1 hops among nodes that are in
no committee yet. A node that has found no smaller one than its own leads, and invites the node that it
has found. A node that is invited joins; one that never is makes a committee of its own.

An invitation goes back the way on which its leader learned of the invited node: a node that receives news in
a poll keeps the sender, by round, and an invitation follows these senders, as many hops as the news came.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools import words

NONE = np.iinfo(np.int64).max
"""Larger than any identifier or word."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know. A word is an identifier and a node id (see `kernels.tools.words`).
    Invitations on their way are `at` a node, carry the leader's `word`, and have `hops` to go.
    """

    committee: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    via: list[NDArray[np.int32]] = field(default_factory=list)  # per round, sender of the news
    heard: NDArray[np.int32] = bsp.per_node(0, np.int32)  # rounds up to the last news
    offer: NDArray[np.int64] = bsp.per_node()  # best invitation: word of the leader
    at: NDArray[np.int64] = bsp.rows()
    word: NDArray[np.int64] = bsp.rows()
    hops: NDArray[np.int64] = bsp.rows()
    leading: NDArray[np.int64] = bsp.initial(lambda c: c.uid.copy())  # smallest identifier ever
    best: NDArray[np.int64] = bsp.per_node()  # smallest identifier in this poll
    fresh: NDArray[np.int64] = bsp.no_nodes()  # nodes with news


@dataclass(frozen=True)
class KCommittee(bsp.Kernel):
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
    obeys = bsp.Model("edges", None)  # several invitations may go back along the same edge
    streams = True
    short_ids = True
    outputs = {"committee": bsp.Output("node id of the committee's leader", nodes=True)}
    fields = {"word": np.int64, "guest": np.int64, "hops": np.int32}
    ranges = {"word": lambda n: n * n, "guest": lambda n: n * n, "hops": bsp.nodes}
    bounds = {"word": None, "guest": None}  # two numbers of nodes, 32 bits each
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

    def carry(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast | None:
        """Invitations go one hop."""
        self.take_in(s, inbox)
        at, word, hops = s.at, s.word, s.hops
        s.at, s.word, s.hops = at[:0], word[:0], hops[:0]
        if not len(at):
            return None
        back = np.stack(s.via)[hops - 1, at]
        return bsp.unicast(back, at, word=word, hops=hops - 1)

    def take_in(self, s: State, inbox: bsp.Inbox) -> None:
        if len(inbox):
            self.arrive(s, inbox.node, inbox["word"], inbox["hops"])

    def arrive(self, s: State, at: NDArray, word: NDArray, hops: NDArray) -> None:
        """Nodes at the end of an invitation's way are invited; the other invitations go on."""
        there = hops == 0
        np.minimum.at(s.offer, at[there], word[there])
        s.at, s.word, s.hops = at[~there], word[~there], hops[~there]

    def accept(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        self.take_in(s, inbox)
        self.join(s)

    def join(self, s: State) -> None:
        """Nodes join the committee of their best invitation."""
        joining = np.flatnonzero(s.offer < NONE)
        s.committee[joining] = words.second(s.offer[joining])

    def be_alone(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        alone = s.committee < 0
        s.committee[alone] = c.ids[alone]
