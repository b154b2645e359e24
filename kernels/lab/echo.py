"""The echo algorithm: a wave that goes out from a root and comes back (Tel 2000, Introduction to Distributed
Algorithms, section 6.2.3; Segall 1983, Distributed network protocols: propagation of information with
feedback).

The root sends to all neighbours. A node that gets its first message takes its sender as its parent, and sends
to all other neighbours. When it has heard from all neighbours, it answers its parent. When the root has heard
from all, the wave is over. What nodes answer adds up along the tree (convergecast; Tel, section 6.1.5):
here numbers of nodes, and a value of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


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
    along_edges = True

    def check(self, c: bsp.Cluster) -> str | None:
        wrong = bsp.no_node("root", self.root, c.n)
        return wrong or (bsp.wide_identifier(c) if self.value == "uid" else None)

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
        s.size[woken], s.total[woken] = 1, self.own(c)[woken]
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
            np.concatenate([ends[out], s.parent[done]]),
            np.concatenate([woken[at[out]], done]),
            size=np.concatenate([none, s.size[done]]),
            total=np.concatenate([none, s.total[done]]),
        )
        return sent, bsp.vote(any=len(none) + len(done) > 0)

    def own(self, c: bsp.Cluster) -> NDArray:
        """The value of each node."""
        return c.degree if self.value == "degree" else c.uid
