"""Breadth-first search layer by layer with echo (Peleg 2000, section 5.3; IMSuite bfsDijkstra).

The root's word travels down the tree as far as it goes; the outermost layer invites its neighbours;
who is invited first joins as a child, and the echo of the layer travels back up. So the tree grows
by a layer a round.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat

import numpy as np

from kernels.base import (
    FIRST,
    Broadcast,
    Inbox,
    Kernel,
    Net,
    Node,
    Output,
    Program,
    Round,
    State,
    Unicast,
    Vote,
    broadcast,
    no_node,
    unicast,
    vote,
)
from kernels.tree import Children
from partition.cluster import Cluster, Links, NodeSet

NOBODY = -1


@dataclass(frozen=True)
class Dijkstra(Kernel):
    """A breadth-first tree.

    Outputs ``distance`` and ``parent``, both -1 where there is no way; the root has no parent.

    Parameters
    ----------
    root
        Node to start from.
    faithful
        Search for one more layer when all nodes are in the tree.
    """

    root: Node = FIRST

    name = "dst"
    outputs = {
        "distance": Output("hops from the root, -1 where unreached"),
        "parent": Output("parent in the tree, {none} at the root and where unreached", nodes=True),
    }
    along_edges = True
    fields = {"sender": np.int32}

    def check(self, c: Cluster) -> str | None:
        return no_node("root", self.root, c.n)

    def program(self, net: Net) -> Program:
        depth, reached = 0, 1
        while reached < net.n or self.faithful:
            search = [*repeat(self.start_layer, depth), self.join, self.accept, self.refuse]
            found = yield Round(*search, closing=reached == net.n)
            if not found.sum:
                return
            reached += found.sum
            yield Round(*repeat(self.echo, depth), self.reset, closing=True)
            depth += 1

    def start(self, c: Cluster) -> State:
        root = c.local(self.root)
        distance = c.full(NOBODY, np.int32)
        distance[root] = 0
        return State(
            distance=distance,
            parent=c.full(NOBODY, np.int32),
            layers=[root],
            hop=0,
            children=Children(c.size),
            links=Links(c),
            outside=NodeSet(distance < 0),
            open=NodeSet(c.full(True, bool)),
            refused=(*(np.empty(0, np.int64),) * 3, None),
        )

    def start_layer(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        nodes = inbox.receivers() if s.hop else s.layers[0]
        s.hop += 1
        at, children = s.children.of(nodes)
        return unicast(children, nodes[at])

    def join(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        nodes = s.layers[-1]
        return broadcast(nodes, links=s.links, sender=c.ids[nodes])

    def accept(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Unicast, Vote]:
        asked, times, remote = inbox.count(among=s.open)
        new, parent = inbox.min("sender", among=s.outside)
        s.parent[new] = parent
        s.distance[new] = len(s.layers)
        s.layers.append(new)
        s.hop = len(s.layers) - 2
        joined = s.outside.mask[asked]
        s.links.drop(new, times[joined], remote[joined], inbox.edges(new))
        s.outside.remove(new)
        # all who asked hear no, except the one who hears yes
        times, remote = times - joined, remote.copy()
        remote[joined] -= c.partition.owner(parent) != c.index
        if (edges := inbox.edges(asked)) is not None:
            edges = np.setdiff1d(edges, c.entries(new, parent))
        s.refused = asked[times > 0], times[times > 0], remote[times > 0], edges
        return unicast(parent, new), vote(sum=len(new), min=c.ids[new[0]] if len(new) else None)

    def refuse(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        s.children.add(inbox.node, inbox.src)
        nodes, times, remote, edges = s.refused
        return broadcast(nodes, to=(times, remote), edges=edges)

    def echo(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        nodes = s.layers[s.hop]
        s.hop -= 1
        return unicast(s.parent[nodes], nodes)

    def reset(self, c: Cluster, s: State, inbox: Inbox) -> None:
        s.open.remove(s.layers[-2])
        s.hop = 0
