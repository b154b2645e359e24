"""Breadth-first search layer by layer with echo (Peleg 2000, section 5.3; IMSuite bfsDijkstra).

A message from the root goes down the tree to its outermost layer, which invites its neighbours. A node
joins as a child of the first that invites it, and the echo of the layer goes back up. So the tree grows
by a layer per round.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.tree import Children


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    layers: list[NDArray[np.int64]]  # nodes by distance
    distance: NDArray[np.int32]
    outside: bsp.Subset  # nodes that have not joined
    # nodes that refuse invitations in this round, how many each, and in a traced run along which edges
    refusals: tuple[NDArray, tuple[NDArray, NDArray], NDArray | None] = bsp.later()
    parent: bsp.NodeIds = bsp.per_node(-1, bsp.NODE)
    children: Children = bsp.initial(lambda c: Children(c.size))
    links: bsp.Links = bsp.initial(bsp.Links)  # neighbours that may be invited
    open: bsp.Subset = bsp.node_set()  # nodes that may be invited
    hop: int = 0  # layer that sends next


@dataclass(frozen=True)
class Dijkstra(bsp.Kernel):
    """A breadth-first tree.

    Outputs ``distance`` and ``parent``, both -1 where there is no way; the root has no parent. Weights do
    not count.

    Parameters
    ----------
    root
        Node to start from.
    faithful
        Search for one more layer when all nodes are in the tree, as in IMSuite.

    Notes
    -----
    Rounds: at most ``hops + 1``: one for each layer.

    Exchanges: at most ``(hops + 1) * (hops + 2)``: for each layer a message goes down the tree and an echo
    comes back, so the time is quadratic.

    Messages: at most ``2 * n * hops + 4 * m``: for each layer a message goes down the tree and comes up
    again.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("dst", graph, root=1)
    >>> ds.distance.values
    array([1, 0, 1, 2], dtype=int32)
    >>> ds.parent.values
    array([ 1, -1,  1,  2], dtype=int32)
    """

    root: bsp.Node = bsp.FIRST

    name = "dst"
    obeys = bsp.Model("edges", reduces="data")
    streams = True
    outputs = {
        "distance": bsp.Output("hops from the root, -1 where unreached", from_root=True),
        "parent": bsp.Output(
            "parent in the tree, {none} at the root and where unreached", nodes=True
        ),
    }
    fields = {"sender": bsp.NODE}
    ranges = {"sender": bsp.nodes}
    refuses = {"recovery": bsp.KEEPS_LISTS, "duplicates": bsp.COUNTS_LINKS}

    def program(self, net: bsp.Net) -> bsp.Program:
        depth, reached = 0, 1
        while self.goes_on(reached, net.n):
            search = [*repeat(self.start_layer, depth), self.join, self.accept, self.refuse]
            found = yield bsp.Round(*search, closing=reached == net.n)
            if not found.sum:
                return
            reached += found.sum
            yield bsp.Round(*repeat(self.echo, depth), self.reset, closing=True)
            depth += 1

    def goes_on(self, reached: int, n: int) -> bool:
        """Whether to search for another layer."""
        return reached < n

    def start(self, c: bsp.Cluster) -> State:
        root, distance = c.local(self.root), c.full(-1, np.int32)
        distance[root] = 0
        return State.of(c, layers=[root], distance=distance, outside=bsp.Subset(distance < 0))

    def start_layer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes = inbox.receivers() if s.hop else s.layers[0]
        s.hop += 1
        at, children = s.children.of(nodes)
        return bsp.unicast(children, nodes[at])

    def join(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        nodes = s.layers[-1]
        return bsp.broadcast(nodes, links=s.links, sender=c.ids[nodes])

    def accept(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
        invited, times, remote = inbox.count(among=s.open)
        new, parent = inbox.min("sender", among=s.outside)
        joined = s.outside.mask[invited]
        s.links.drop(new, times[joined], remote[joined], inbox.edges(new))
        # all invitations but the accepted ones are refused
        times, remote, edges = times - joined, remote.copy(), inbox.edges(invited)
        remote[joined] -= c.partition.owner(parent) != c.index
        if edges is not None:
            edges = np.setdiff1d(edges, c.entries(new, parent))
        some = times > 0
        s.refusals = invited[some], (times[some], remote[some]), edges
        s.parent[new], s.distance[new] = parent, len(s.layers)
        s.outside.remove(new)
        s.layers.append(new)
        s.hop = len(s.layers) - 2
        found = bsp.vote(sum=len(new), min=c.ids[new[0]] if len(new) else None)
        return bsp.unicast(parent, new), found

    def refuse(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        s.children.add(inbox.node, inbox.src)
        nodes, to, edges = s.refusals
        return bsp.broadcast(nodes, to=to, edges=edges)

    def echo(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes = s.layers[s.hop]
        s.hop -= 1
        return bsp.unicast(s.parent[nodes], nodes)

    def reset(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.open.remove(s.layers[-2])
        s.hop = 0
