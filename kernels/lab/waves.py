"""Waves that go out from a root and come back.

The echo algorithm: a wave that goes out from a root and comes back (Tel 2000, Introduction to Distributed
Algorithms, section 6.2.3; Segall 1983, Distributed network protocols: propagation of information with
feedback).

The root sends to all neighbours. A node that gets its first message takes its sender as its parent, and sends
to all other neighbours. When it has heard from all neighbours, it answers its parent. When the root has heard
from all, the wave is over. What nodes answer adds up along the tree (convergecast; Tel, section 6.1.5):
here numbers of nodes, and a value of each.

Termination detection of a diffusing computation (Dijkstra and Scholten 1980, Termination detection for
diffusing computations; Lynch 1996, Distributed Algorithms, section 19.1; Tel 2000, section 8.2.1).

What is to be detected is the end of an asynchronous search (AsynchBFS; Lynch, section 15.4): a node to which
a shorter way is told works for some rounds, and then tells all its neighbours. It may do so several times.

Each message of the search is acknowledged. A node that was idle, and gets one, becomes a child of its sender,
and acknowledges that message last: when it neither works nor waits for acknowledgements of its own messages.
All others it acknowledges at once. Nodes that take part thus form a tree, which shrinks from its leaves. When
the root neither works nor waits, the search is over everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import uniform


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    missing: NDArray[np.int64] = bsp.initial(lambda c: c.degree.astype(np.int64))  # neighbours
    parent: NDArray[np.int64] = bsp.per_node(-1)
    level: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    size: NDArray[np.int64] = bsp.per_node()  # of the subtree, as far as it has answered
    total: NDArray[np.int64] = bsp.per_node()
    decided: NDArray[np.bool_] = bsp.per_node(False)


@dataclass(frozen=True)
class Echo(bsp.Kernel):
    """A wave from a root and back, which counts nodes and adds up a value of each.

    Outputs ``parent``, the node that the wave came from, of several at a time the smallest; ``level``, the
    round in which it came, which is the number of hops from the root; ``size`` and ``total``, the number of
    nodes in the node's subtree and the sum of their values, at the root those of its component; and
    ``decided``, which is true at the root once the wave is over. Nodes that it does not reach have 0.

    It tolerates no faults: if a message is lost, or a node crashes before it has answered, the root does not
    decide.

    Parameters
    ----------
    root
        The node that starts the wave.
    value
        What each node adds to the total: its "degree", or its identifier, "uid", from 0 to 2^32 - 1.

    Notes
    -----
    Rounds: at most ``2 * hops + 2``: the wave reaches the farthest nodes, these hear from each other, and
    answers come back.

    Exchanges: at most ``rounds``.

    Messages: at most ``2 * m``; exactly two along each edge of the root's component, one each way.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("echo", graph)
    >>> ds.parent.values, ds["size"].values
    (array([-1,  0,  0,  2]), array([4, 1, 2, 1]))
    >>> int(ds.total[0]), bool(ds.decided[0]), int(ds.messages.sum())
    (8, True, 8)
    """

    root: bsp.Node = bsp.FIRST
    value: Literal["degree", "uid"] = "degree"

    name = "echo"
    obeys = bsp.Model("edges", reduces="control")
    outputs = {
        "parent": bsp.Output("parent in the tree, {none} at the root", nodes=True),
        "level": bsp.Output("hops from the root, -1 if unreached", from_root=True),
        "size": bsp.Output("nodes of the subtree"),
        "total": bsp.Output("sum of the values of the subtree's nodes"),
        "decided": bsp.Output("whether the wave is over, as the node knows"),
    }
    fields = {"size": np.int64, "total": np.int64}
    ranges = {"size": bsp.nodes}  # of a subtree without the root
    state = State

    def check(self, c: bsp.Cluster) -> str | None:
        return bsp.wide_identifier(c) if self.value == "uid" else None

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.pass_on)

    def pass_on(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
        nodes, senders, _ = inbox.first()
        new = s.level[nodes] < 0
        woken, parents = nodes[new], senders[new]
        done = inbox.count_down(s.missing)
        if inbox.round == 0:
            woken = c.local(self.root)
            parents, done = np.full(len(woken), -1), woken[s.missing[woken] == 0]
        s.parent[woken], s.level[woken] = parents, inbox.round
        own = c.degree if self.value == "degree" else c.uid
        s.size[woken], s.total[woken] = 1, own[woken]
        for name, sums in (("size", s.size), ("total", s.total)):
            nodes, added = inbox.sum(name)
            sums[nodes] += added

        at, ends = c.edges(woken)
        out = ends != parents[at]
        answered = s.parent[done] >= 0
        s.decided[done[~answered]] = True
        done = done[answered]
        none = np.zeros(np.count_nonzero(out), np.int64)
        sent = bsp.unicast(
            np.append(ends[out], s.parent[done]),
            np.append(woken[at[out]], done),
            size=np.append(none, s.size[done]),
            total=np.append(none, s.total[done]),
        )
        return sent, bsp.vote(any=len(none) + len(done) > 0)


ACKNOWLEDGED = 0
"""What an acknowledgement says; messages of the search say at least 1."""


@dataclass(eq=False)
class SearchState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    distance: NDArray[np.int64] = bsp.per_node(-1)
    told: NDArray[np.int64] = bsp.per_node()  # times that it has told its neighbours
    acknowledged: NDArray[np.int64] = bsp.per_node()  # messages
    last: NDArray[np.int64] = bsp.per_node(-1)  # round of its last message of the search
    announced: NDArray[np.int64] = bsp.per_node(-1)
    ready: NDArray[np.int64] = bsp.per_node(-1)  # round in which it has worked enough, -1 if idle
    parent: NDArray[np.int64] = bsp.per_node(-1)  # -1 if it takes no part
    deficit: NDArray[np.int64] = bsp.per_node()  # messages that are not acknowledged


@dataclass(frozen=True)
class DijkstraScholten(bsp.Kernel):
    """A root learns that a search which it has begun is over everywhere.

    Outputs ``announced``, the round in which the root learns it, -1 at all others; ``distance``, hops from
    the root, which the search finds; ``told``, how many times the node told all its neighbours;
    ``acknowledged``, how many messages it acknowledged; and ``last``, the round in which it last got or sent
    a message of the search. Nodes that it does not reach have -1 as distance and last round.

    If a message is lost, or one for a node that has crashed, the root waits for ever. It never announces the
    end too early.

    Parameters
    ----------
    root
        The node that begins.
    work
        Rounds that a node works, at most, until it tells its neighbours: from 1 on, drawn by seed.

    Notes
    -----
    Rounds: at most ``work * (hops + 1) + n + 1``: until the last node has told its neighbours, and until the
    tree, which may be a path, has shrunk to the root.

    Exchanges: at most ``rounds``.

    Messages: at most ``4 * m * n``; one half are acknowledgements, one for each message of the search.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("dijkstra_scholten", graph)
    >>> ds.distance.values, ds.told.values, ds.acknowledged.values
    (array([0, 1, 1, 2]), array([1, 1, 1, 1]), array([2, 2, 3, 1]))
    >>> ds["last"].values, int(ds.announced[0]), int(ds.messages.sum())
    (array([5, 5, 8, 7]), 11, 16)
    """

    root: bsp.Node = bsp.FIRST
    work: int = 4

    name = "dijkstra_scholten"
    obeys = bsp.Model("edges", None, "control")
    outputs = {
        "distance": bsp.Output("hops from the root, -1 if unreached", from_root=True),
        "told": bsp.Output("times that the node told its neighbours"),
        "acknowledged": bsp.Output("messages that the node acknowledged"),
        "last": bsp.Output("round of the node's last message of the search, -1 for none"),
        "announced": bsp.Output("round in which the root knows that the search is over, else -1"),
    }
    fields = {"distance": np.int64}
    ranges = {"distance": bsp.counts}
    allowed = {"work": (1, np.inf)}
    state = SearchState

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.act)

    def act(self, c: bsp.Cluster, s: SearchState, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
        now, node, src, said = inbox.round, inbox.node, inbox.src, inbox["distance"]
        done = said == ACKNOWLEDGED
        np.subtract.at(s.deficit, node[done], 1)
        node, src, said = node[~done], src[~done], said[~done]
        s.last[node] = now

        # a node that takes no part becomes a child of its smallest sender, and owes it an acknowledgement
        idle = (s.parent < 0) & (c.ids != self.root)
        first = c.full(c.n)
        np.minimum.at(first, node, src)
        joins = idle[node] & (src == first[node])
        s.parent[node[joins]] = src[joins]
        owed, to = node[~joins], src[~joins]

        # the search
        nearest = np.where(s.distance < 0, c.n, s.distance)
        np.minimum.at(nearest, node, said)
        nearer = np.flatnonzero((nearest < s.distance) | ((s.distance < 0) & (nearest < c.n)))
        if now == 0:
            nearer, nearest[c.local(self.root)] = c.local(self.root), 0
        s.distance[nearer] = nearest[nearer]
        begin = nearer[s.ready[nearer] < 0]
        luck = uniform("counter", self.seed, c.ids[begin], now)
        s.ready[begin] = now + (luck * self.work).astype(np.int64)
        telling = np.flatnonzero(s.ready == now)
        s.ready[telling], s.last[telling] = -1, now
        s.told[telling] += 1
        s.deficit[telling] += c.degree[telling]
        at, ends = c.edges(telling)

        # nodes that neither work nor wait leave
        over = (s.ready < 0) & (s.deficit == 0)
        leaving = np.flatnonzero(over & (s.parent >= 0))
        owed, to = np.concatenate([owed, leaving]), np.concatenate([to, s.parent[leaving]])
        s.parent[leaving] = -1
        np.add.at(s.acknowledged, owed, 1)
        root = c.local(self.root)
        s.announced[root[over[root] & (s.announced[root] < 0)]] = now

        said = np.append(s.distance[telling[at]] + 1, np.full(len(owed), ACKNOWLEDGED))
        sent = bsp.unicast(np.append(ends, to), np.append(telling[at], owed), distance=said)
        return sent, bsp.vote(any=len(at) + len(owed) > 0 or bool((s.ready >= 0).any()))
