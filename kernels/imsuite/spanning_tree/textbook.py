"""Minimum spanning tree by fragments (Boruvka 1926; Lynch 1996, section 4.4, SynchGHS; IMSuite mst).

Each fragment is a rooted tree. In each phase its nodes report their lightest edge that leaves it to
the root, which selects the lightest of all. The path to that edge is reversed, so that its end becomes the
root. Fragments join along their edges; of two that chose the same edge the end with the smaller id
becomes the root of the whole.

In each phase a node tells all its neighbours its fragment, so a phase has 2 m messages, and all phases
O(m log n). The algorithm of Gallager, Humblet and Spira (1983) has levels, and tests each edge from the
lightest on, for O(m + n log n) in all. A root tells the end of the edge that it selected by its name, in one
message, although the two need not be neighbours; along the tree it would take one for each edge of the way.

What goes up or down the trees does so a level per round, in sweeps: leaves report first, then each node whose
children have all reported (convergecast); a new root turns the edges on its way to the old one; the name of a
fragment goes from the root down to the leaves (broadcast).
"""

from __future__ import annotations

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.spanning_tree.state import NONE, State, keys

Sent = tuple[bsp.Unicast, bsp.Vote]
"""What nodes send, and a vote."""


class SpanningTree(bsp.Kernel):
    """Minimum spanning tree, or forest where the graph is not connected: a tree per component.

    Of edges that weigh the same the one with the smaller node comes first, then the one whose other node
    is smaller; so the forest is the same for every partition. Edges weigh 1 where the graph has no weights.
    Outputs ``parent``, -1 at each root.

    Parameters
    ----------
    faithful
        Begin each phase with a message from the roots down to the leaves, and count as IMSuite does,
        which reads all neighbours' fragments anew in each phase.

    Notes
    -----
    Rounds: at most ``log2(n) + 1``: in each the fragments of a component become half as many or fewer.

    Exchanges: at most ``3 * n * rounds``: up a tree, along it and down, one for each level.

    Messages: at most ``rounds * (2 * m + 5 * n)``: a fragment's name to each neighbour, and what goes up
    and down the trees.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[5, 1, 2])
    >>> dgsuite.run("mst", graph).parent.values
    array([ 2, -1,  1], dtype=int32)
    """

    name = "mst"
    obeys = bsp.Model("nodes", reduces="data")  # a root names the end of an edge: see `pick`
    weighs = True
    short_ids = True
    outputs = {"parent": bsp.Output("parent in the tree, {none} at a root", nodes=True)}
    fields = {"fragment": np.int32, "key": np.int64, "inner": np.int32, "outer": np.int32}
    ranges = {"fragment": bsp.nodes, "inner": bsp.nodes, "outer": bsp.nodes}
    state = State
    refuses = {
        "liars": "its nodes take nodes that they are told of for ends of their own edges",
        "recovery": bsp.KEEPS_LISTS,
    }

    def check(self, c: bsp.Cluster) -> str | None:
        if c.weights is not None and (keys(c) == NONE).any():
            return f"weights must be below {c.weights.max()}"
        return None

    def program(self, net: bsp.Net) -> bsp.Program:
        fragments = net.n
        while fragments > 1:
            yield bsp.Round(self.tell_fragment, self.look)
            yield from self.find_lightest()
            yield bsp.Round(self.pick, closing=True)
            yield from self.sweep(self.turn)
            roots = yield bsp.Round(self.connect, self.attach, closing=True)
            yield from self.sweep(self.transmit)
            yield bsp.Round(self.settle, closing=True)
            if roots.sum == fragments:
                return  # each is the tree of a component
            fragments = roots.sum

    def sweep(self, phase: bsp.Phase) -> bsp.Program:
        """Repeat a phase until no cluster has anything left to do."""
        busy = yield bsp.Round(phase, closing=True, first=True)
        if busy.any:
            yield from bsp.until_quiet(phase, closing=True, first=False)

    def find_lightest(self) -> bsp.Program:
        """Report the lightest edges that leave to the roots."""
        yield from self.sweep(self.report)

    def tell_fragment(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(fragment=s.fragment)

    def look(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.look(c, inbox)
        s.pending = s.children.count.copy()
        s.undone = len(s.roots)

    def report(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: bool) -> Sent:
        """Nodes send their lightest edge up, when they have those of all children."""
        nodes = s.take_lighter(c, inbox)
        _, reports, _ = inbox.count()
        s.pending[nodes] -= reports
        ready = np.flatnonzero(s.pending == 0) if first else nodes[s.pending[nodes] == 0]
        child = s.parent[ready] >= 0
        s.undone -= int(np.count_nonzero(~child))
        up = ready[child]
        return bsp.unicast(s.parent[up], up, **s.edge_of(up)), bsp.vote(any=s.undone)

    def pick(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        roots = s.roots[s.best[s.roots] < NONE]
        here = s.inner[roots] == c.ids[roots]
        s.joining = roots[here]
        s.partner[:] = -1
        s.partner[s.joining] = s.outer[s.joining]
        far = roots[~here]
        return bsp.unicast(s.inner[far], far, outer=s.outer[far])

    def turn(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: bool) -> Sent:
        """Nodes on the way from a new root to the old one make their parent a child."""
        node, below = inbox.node, inbox.src
        if first:  # messages are those of the old roots to the new ones
            s.joining = np.concatenate([s.joining, node])
            s.partner[node] = inbox["outer"]
            below = np.full(len(node), -1)
        above = s.reverse(c, node, below)
        on = above >= 0
        return bsp.unicast(above[on], node[on]), bsp.vote(any=on.any())

    def connect(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        s.joining.sort()
        return bsp.unicast(s.partner[s.joining], s.joining)

    def attach(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        node, other = inbox.node, inbox.src
        mutual = s.partner[node] == other
        above = ~mutual | (c.ids[node] < other)
        s.is_child[c.entries(node[above], other[above])] = True
        s.parent[s.joining] = s.partner[s.joining]
        s.parent[node[mutual & above]] = -1
        s.list_roots(c)
        return bsp.vote(sum=len(s.roots))

    def transmit(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: bool) -> Sent:
        """Nodes take the name of their fragment from their parent, and pass it to their children."""
        if not first:
            self.settle(c, s, inbox)
        nodes = s.roots if first else inbox.node
        at, children = s.children.of(nodes)
        message = bsp.unicast(children, nodes[at], fragment=s.fragment[nodes[at]])
        return message, bsp.vote(any=len(at))

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.fragment[inbox.node] = inbox["fragment"]
