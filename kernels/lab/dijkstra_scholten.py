"""Termination detection of a diffusing computation (Dijkstra and Scholten 1980, Termination detection for
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

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import uniform

ACKNOWLEDGED = 0
"""What an acknowledgement says; messages of the search say at least 1."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    distance: NDArray[np.int64] = bsp.per_node(-1)
    told: NDArray[np.int64] = bsp.per_node()  # times that it has told its neighbours
    acknowledged: NDArray[np.int64] = bsp.per_node()  # messages
    last: NDArray[np.int64] = bsp.per_node(
        -1
    )  # round in which it last got or sent one of the search
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
    outputs = {
        "distance": bsp.Output("hops from the root, -1 if unreached", from_root=True),
        "told": bsp.Output("times that the node told its neighbours"),
        "acknowledged": bsp.Output("messages that the node acknowledged"),
        "last": bsp.Output("round of the node's last message of the search, -1 for none"),
        "announced": bsp.Output("round in which the root knows that the search is over, else -1"),
    }
    fields = {"distance": np.int64}
    ranges = {"distance": bsp.nodes}
    bounds = {"distance": bsp.between(0, bsp.nodes)}
    state = State
    along_edges = True

    def check(self, c: bsp.Cluster) -> str | None:
        if self.work < 1:
            return f"work must be at least 1, got {self.work}"
        return bsp.no_node("root", self.root, c.n)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.act)

    def act(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
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

        sent = bsp.unicast(
            np.concatenate([ends, to]),
            np.concatenate([telling[at], owed]),
            distance=np.concatenate(
                [s.distance[telling[at]] + 1, np.full(len(owed), ACKNOWLEDGED)]
            ),
        )
        return sent, bsp.vote(any=len(at) + len(owed) > 0 or bool((s.ready >= 0).any()))
