"""Raft's elections and its log (Ongaro and Ousterhout, In search of an understandable consensus algorithm,
USENIX ATC 2014, figure 2).

Time is divided into terms, with one leader at most in each. A node that hears from no leader becomes a
candidate of the next term, and asks all for their votes. A leader appends entries to its log, and has the
others copy it; an entry that a majority has is committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.events.channel import NEVER
from dgsuite.kernels.events.group import GroupKernel, GroupState, per_member
from dgsuite.kernels.events.kernel import Events, listed, timer

REQUEST, VOTE, APPEND, ANSWER = range(4)
"""Kinds of messages."""

FOLLOWER, CANDIDATE, LEADER = range(3)
"""What a node is."""


@dataclass(eq=False, kw_only=True)
class State(GroupState):
    """What the nodes of a cluster know. Entries of the log are counted from 0."""

    log: NDArray[np.int64]  # values of entries, -1 for none
    log_term: NDArray[np.int64]  # their terms, 0 for none
    length: NDArray[np.int64] = bsp.per_node(0)
    committed: NDArray[np.int64] = bsp.per_node(0)  # entries
    term: NDArray[np.int64] = bsp.per_node(0)
    voted: NDArray[np.int64] = bsp.per_node(-1)  # rank of whom the node has voted for in the term
    role: NDArray[np.int8] = bsp.per_node(FOLLOWER, np.int8)
    led: NDArray[np.int64] = bsp.per_node(0)  # last term in which it was the leader
    votes: NDArray[np.bool_] = per_member(False, bool)
    next: NDArray[np.int64] = per_member()  # of a leader: entries that it takes a member to have
    copied: NDArray[np.int64] = per_member()  # entries that it knows a member to have
    election: NDArray[np.int64] = timer()
    heartbeat: NDArray[np.int64] = timer()


@dataclass(frozen=True)
class Raft(GroupKernel):
    """A log that the nodes of a complete graph hold alike, although messages are late or lost.

    Nodes may crash and come back. A leader appends an entry with each heartbeat until its log has `entries`.
    Outputs ``log``, by node and entry, the rank of the leader who made it, -1 for none; ``log_term``, the
    term of each; ``committed``, how many are; and ``led``, the last term that the node led, 0 for none. No
    two nodes lead the same term. Entries that are committed are the same at all nodes.

    Parameters
    ----------
    entries
        Entries of the log.
    patience
        Ticks without a leader after which a node becomes a candidate: from so many to twice as many, drawn
        each time.
    beat
        Ticks between the heartbeats of a leader.
    ticks
        Ticks after which the run ends: leaders do not stop by themselves.

    Notes
    -----
    Rounds: exactly ``ticks``.

    Exchanges: at most ``rounds``.

    Messages: not limited by n alone: a leader sends ``n - 1`` with each heartbeat, and each is answered.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> slow = dgsuite.Network(delay=("uniform", 1, 4), loss=0.05)
    >>> ds = dgsuite.run("raft", genval.graph("cplt", 5), network=slow)
    >>> ds.committed.values
    array([4, 4, 4, 4, 4])
    """

    entries: int = 4
    patience: int = 20
    beat: int = 8
    ticks: int = 200

    name = "raft"
    outputs = {
        "log": bsp.Output("value of the entry, -1 for none", dims=("node", "entry")),
        "log_term": bsp.Output("term of the entry, 0 for none", dims=("node", "entry")),
        "committed": bsp.Output("entries that the node knows to be committed"),
        "led": bsp.Output("last term that the node led, 0 for none"),
    }
    numbered = ("entry",)
    fields = {
        "kind": np.int8,
        "yes": np.bool_,
        **dict.fromkeys(("term", "index", "before", "entry", "value", "committed"), np.int64),
    }
    ranges = {"kind": bsp.values(4)}
    allowed = {"entries": (1, 1 << 16), "patience": (1, 1 << 20), "beat": (1, 1 << 20)}
    timers = ("election", "heartbeat")
    stable = ("term", "voted", "log", "log_term", "length")
    state = State

    def limits(self, n: int) -> dict[str, tuple[int, int] | None]:
        return super().limits(n) | dict.fromkeys(("index", "committed"), (0, self.entries))

    def start(self, c: bsp.Cluster) -> State:
        log = np.full((c.size, self.entries), -1)
        return State.of(c, log=log, log_term=np.zeros_like(log))

    def on_start(self, c: bsp.Cluster, s: State, e: Events) -> None:
        self.wait(c, s, e, e.node)

    def wait(self, c: bsp.Cluster, s: State, e: Events, nodes: NDArray) -> None:
        """Have nodes wait for a leader from now on."""
        ticks = self.draw(c, Events(e.tick, nodes), self.patience, 2 * self.patience)
        self.set_timer(c, s, e, "election", ticks, nodes)

    def on_timer(self, c: bsp.Cluster, s: State, e: Events, timer: str) -> Iterator[bsp.Unicast]:
        if timer == "heartbeat":
            nodes = e.node[s.role[e.node] == LEADER]
            self.set_timer(c, s, e, "heartbeat", self.beat, nodes)
            more = nodes[s.length[nodes] < self.entries]
            s.log[more, s.length[more]] = s.rank[more]
            s.log_term[more, s.length[more]] = s.term[more]
            s.length[more] += 1
            s.copied[nodes, s.rank[nodes]] = s.length[nodes]
            self.commit(c, s, nodes)
            yield self.append(c, s, nodes)
            return
        s.term[e.node] += 1
        s.role[e.node] = CANDIDATE
        s.voted[e.node] = s.rank[e.node]
        self.count_anew(s, s.votes, e.node)
        self.wait(c, s, e, e.node)
        last = {"index": s.length[e.node], "before": self.term_at(s, e.node, s.length[e.node])}
        yield self.tell(c, e.node, kind=REQUEST, term=s.term[e.node], **last)
        self.elected(c, s, e, e.node)

    def term_at(self, s: State, nodes: NDArray, length: NDArray) -> NDArray[np.int64]:
        """The terms of the last ones of so many entries, 0 for no entries."""
        return np.where(length > 0, s.log_term[nodes, length - 1], 0)

    def append(self, c: bsp.Cluster, s: State, nodes: NDArray) -> bsp.Unicast:
        """What leaders tell the others: the next entry that each lacks, if there is one."""
        by, to, member = self.others(c, s, nodes)
        index = s.next[by, member]
        place = np.minimum(index, self.entries - 1)
        return self.send(
            to,
            by,
            kind=APPEND,
            term=s.term[by],
            index=index,
            before=self.term_at(s, by, index),
            entry=np.where(index < s.length[by], s.log_term[by, place], 0),
            value=s.log[by, place],
            committed=s.committed[by],
        )

    def elected(self, c: bsp.Cluster, s: State, e: Events, nodes: NDArray) -> None:
        """Candidates with the votes of a majority become leaders."""
        won = nodes[(s.role[nodes] == CANDIDATE) & self.majority(c, s.votes, nodes)]
        s.role[won] = LEADER
        s.led[won] = s.term[won]
        s.next[won] = s.length[won][:, None]
        s.copied[won] = 0
        s.election[won] = NEVER
        self.set_timer(c, s, e, "heartbeat", 1, won)

    def commit(self, c: bsp.Cluster, s: State, nodes: NDArray) -> None:
        """Leaders commit entries of their term that a majority has, and all before these."""
        held = np.sort(s.copied[nodes], axis=1)  # columns beyond a smaller group hold 0
        middle = held.shape[1] - (c.degree[nodes] + 1) // 2 - 1
        count = held[np.arange(len(nodes)), middle]
        own = self.term_at(s, nodes, count) == s.term[nodes]
        s.committed[nodes[own]] = np.maximum(s.committed[nodes[own]], count[own])

    def on_message(self, c: bsp.Cluster, s: State, e: Events) -> Iterator[bsp.Unicast]:
        newer = e.among(e["term"] > s.term[e.node])
        s.term[newer.node] = newer["term"]
        s.voted[newer.node] = -1
        led = newer.node[s.role[newer.node] == LEADER]
        s.role[newer.node] = FOLLOWER
        self.wait(c, s, e, led)
        acts = self.on_request, self.on_vote, self.on_append, self.on_answer
        for kind, act in enumerate(acts):
            some = e.among(e["kind"] == kind)
            if len(some):
                yield from listed(act(c, s, some))

    def on_request(self, c: bsp.Cluster, s: State, e: Events) -> bsp.Unicast:
        """A candidate asks for votes: it gets one if its log is no older."""
        nodes, member = e.node, self.member(c, s, e)
        own = self.term_at(s, nodes, s.length[nodes])
        fresh = (e["before"] > own) | ((e["before"] == own) & (e["index"] >= s.length[nodes]))
        free = (s.voted[nodes] < 0) | (s.voted[nodes] == member)
        yes = (e["term"] == s.term[nodes]) & free & fresh
        s.voted[nodes[yes]] = member[yes]
        self.wait(c, s, e, nodes[yes])
        return self.send(e.src, nodes, kind=VOTE, term=s.term[nodes], yes=yes)

    def on_vote(self, c: bsp.Cluster, s: State, e: Events) -> None:
        """A candidate counts votes of its term."""
        mine = e.among(e["yes"] & (e["term"] == s.term[e.node]) & (s.role[e.node] == CANDIDATE))
        s.votes[mine.node, self.member(c, s, mine)] = True
        self.elected(c, s, e, mine.node)

    def on_append(self, c: bsp.Cluster, s: State, e: Events) -> bsp.Unicast:
        """A follower takes over an entry that fits to its log, in place of what it had from there on."""
        now = e["term"] == s.term[e.node]
        s.role[e.node[now]] = FOLLOWER
        self.wait(c, s, e, e.node[now])
        index = e["index"]
        fits = now & (index <= s.length[e.node])
        fits &= self.term_at(s, e.node, np.minimum(index, s.length[e.node])) == e["before"]
        more = (e["entry"] > 0) & (index < self.entries)
        take = e.among(fits & more)
        node, place = take.node, take["index"]
        other = (place >= s.length[node]) | (s.log_term[node, place] != take["entry"])
        cut = np.arange(self.entries) >= place[other, None]
        for held, none in ((s.log, -1), (s.log_term, 0)):
            held[node[other]] = np.where(cut, none, held[node[other]])
        s.length[node[other]] = place[other] + 1
        s.log[node, place], s.log_term[node, place] = take["value"], take["entry"]
        copied = np.where(fits, index + more, index)
        known = np.minimum(e["committed"], copied)[fits]
        s.committed[e.node[fits]] = np.maximum(s.committed[e.node[fits]], known)
        return self.send(e.src, e.node, kind=ANSWER, term=s.term[e.node], yes=fits, index=copied)

    def on_answer(self, c: bsp.Cluster, s: State, e: Events) -> None:
        """A leader notes what a follower has, or tries an earlier entry."""
        mine = e.among((e["term"] == s.term[e.node]) & (s.role[e.node] == LEADER))
        node, member, index = mine.node, self.member(c, s, mine), mine["index"]
        had = np.maximum(s.copied[node, member], index)
        s.copied[node, member] = np.where(mine["yes"], had, s.copied[node, member])
        s.next[node, member] = np.where(mine["yes"], had, np.maximum(index - 1, 0))
        self.commit(c, s, node)
