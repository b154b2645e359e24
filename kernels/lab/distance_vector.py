"""Distributed Bellman-Ford, as in the routing protocol RIP (Hedrick 1988, RFC 1058; Bertsekas and Gallager
1992, Data Networks, section 5.2.4).

In each round a node tells its neighbours how far it is from the destination. It takes the neighbour that is
nearest, and believes whatever that says from then on. A neighbour that has not been heard for some rounds is
taken for away, and with it the way through it.

Where an edge goes away, a node may then take a way that leads back through itself. Distances on such a loop
rise round by round, and only a number that counts as infinite ends that. A node may leave its own next hop
out of what it tells (split horizon), or tell it that the destination cannot be reached (poisoned reverse):
then no loop has two nodes, but longer ones remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.bsp.messages import Range


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    distance: NDArray[np.int32]
    next_hop: NDArray[np.int64] = bsp.per_node(-1)
    silent: NDArray[np.int64] = bsp.per_node(0)  # rounds since the next hop was heard


@dataclass(frozen=True)
class DistanceVector(bsp.Kernel):
    """Routes to one node by distance vectors, as in RIP, which follow edges that come and go.

    Outputs ``distance`` in hops, `infinity` where there is no way, and ``next_hop``, of several that are as
    near the one that it had, or the smallest. The run ends with the first round in which nothing changes,
    from round `least` on.

    Edges and nodes that are away (``dgsuite.Network(churn=)``), crashes and losses are noticed by silence.
    Once the network no longer changes, distances are right after at most `infinity` rounds if each neighbour
    is heard in each round, `timeout` is 1 and `split` is "none"; otherwise later.

    Parameters
    ----------
    root
        The destination.
    infinity
        Distance that counts as infinite; 16 in RIP.
    split
        What a node tells its next hop. "none": the same as the others. "horizon": nothing. "poisoned": that
        it has no way.
    timeout
        Rounds without word from the next hop after which it is away; 6 in RIP.
    least
        Rounds that it takes at least, to study what changes meanwhile.

    Notes
    -----
    Rounds: at most ``max(least, hops + 1)``, on a network that does not change.

    Exchanges: at most ``rounds``.

    Messages: at most ``2 * m * rounds``; exactly as many unless with `split` "horizon".

    Examples
    --------
    The only edge to the destination goes away in round 3, and nodes 1 and 2 count to infinity:

    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1], [1, 2])
    >>> dgsuite.run("distance_vector", graph).distance.values
    array([0, 1, 2], dtype=int32)
    >>> network = dgsuite.Network(churn=[(3, 99, 0, 1)])
    >>> for split in ("none", "horizon", "poisoned"):
    ...     ds = dgsuite.run("distance_vector", graph, network=network, split=split, least=4)
    ...     print(ds.distance.values, ds.sizes["round"])
    [ 0 16 16] 19
    [ 0 16 16] 6
    [ 0 16 16] 6
    """

    root: bsp.Node = bsp.FIRST
    infinity: int = 16
    split: Literal["none", "horizon", "poisoned"] = "none"
    timeout: int = 1
    least: int = 0

    name = "distance_vector"
    obeys = bsp.Model("edges", reduces="control")
    outputs = {
        "distance": bsp.Output("hops to the destination, or what counts as infinite"),
        "next_hop": bsp.Output(
            "neighbour on the way, {none} at the end or without one", nodes=True
        ),
    }
    fields = {"distance": np.int32}
    allowed = {"infinity": (1, (1 << 31) - 1), "timeout": (1, np.inf), "least": (0, np.inf)}
    state = State

    @property
    def ranges(self) -> dict[str, Range]:  # type: ignore[override]
        """Distances, and what counts as infinite."""
        return {"distance": bsp.values(self.infinity + 1)}

    def start(self, c: bsp.Cluster) -> State:
        distance = c.full(self.infinity, np.int32)
        distance[c.local(self.root)] = 0
        return State.of(c, distance=distance)

    def program(self, net: bsp.Net) -> bsp.Program:
        number, changes = 0, True
        while changes or number < self.least:
            reply = yield bsp.Round(self.tell, self.choose)
            number, changes = number + 1, reply.any

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast | bsp.Broadcast:
        if self.split == "none":
            return bsp.broadcast(distance=s.distance)
        at, to = c.edges(np.arange(c.size))
        back = to == s.next_hop[at]
        if self.split == "horizon":
            at, to = at[~back], to[~back]
            return bsp.unicast(to, at, distance=s.distance[at])
        return bsp.unicast(to, at, distance=np.where(back, self.infinity, s.distance[at]))

    def choose(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        node, src = inbox.node, inbox.src
        offer = np.minimum(inbox["distance"].astype(np.int64) + 1, self.infinity)
        s.silent += s.next_hop >= 0
        s.silent[node[src == s.next_hop[node]]] = 0
        kept = (s.silent > 0) & (s.silent < self.timeout)  # a way of which nothing was heard

        nearest = np.where(kept, s.distance, self.infinity).astype(np.int64)
        np.minimum.at(nearest, node, offer)
        good = offer == nearest[node]
        hop = c.full(c.n)
        np.minimum.at(hop, node[good], src[good])
        same = kept & (s.distance == nearest)
        same[node[good & (src == s.next_hop[node])]] = True
        hop = np.where(same, s.next_hop, hop)
        hop[nearest == self.infinity] = -1

        root = c.local(self.root)
        nearest[root], hop[root] = 0, -1
        changed = (nearest != s.distance) | (hop != s.next_hop) | ((s.silent > 0) & same)
        s.silent[~same | (hop < 0)] = 0
        s.distance, s.next_hop = nearest.astype(np.int32), hop
        return bsp.vote(any=changed)
