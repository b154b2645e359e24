"""What IMSuite's mst does otherwise than the textbook: messages and reads that the tree does not need."""

from __future__ import annotations

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.spanning_tree.recursive import RecursiveSpanningTree
from dgsuite.kernels.imsuite.spanning_tree.state import State
from dgsuite.kernels.imsuite.spanning_tree.textbook import Sent, SpanningTree


class FaithfulSpanningTree(SpanningTree, faithful_to=SpanningTree):
    """Minimum spanning tree, or forest; see `SpanningTree`."""

    def find_lightest(self) -> bsp.Program:
        yield from self.sweep(self.wake)
        yield from super().find_lightest()

    def look(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Extra:
        """Nodes read the fragment of each neighbour, also of those known to be in their own."""
        super().look(c, s, inbox)
        return bsp.extra(comm=len(c.indices))

    def wake(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: bool) -> Sent:
        """The roots start the search, down to the leaves."""
        nodes = s.roots if first else inbox.receivers()
        at, children = s.children.of(nodes)
        return bsp.unicast(children, nodes[at]), bsp.vote(any=len(at))

    def attach(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Vote, bsp.Extra]:
        """Each new root looks at its partner's fragment. Of two that are each other's partners one sets
        two values at the other; all others enter themselves in their partner's list.
        """
        counted = super().attach(c, s, inbox)
        node, other = inbox.node, inbox.src
        mutual = s.partner[node] == other
        leaders = np.count_nonzero(mutual & (c.ids[node] < other))
        alone = len(s.joining) - np.count_nonzero(mutual)
        return counted, bsp.extra(len(s.joining) + 2 * leaders + alone, leaders + alone)


class FaithfulRecursiveSpanningTree(
    RecursiveSpanningTree, FaithfulSpanningTree, faithful_to=RecursiveSpanningTree
):
    """Minimum spanning tree, or forest; see `RecursiveSpanningTree`."""

    obeys = bsp.Model("nodes", None, "data")

    def look(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Extra:
        """Nodes read all fragments; leaves, which search on their own, and roots count besides."""
        super().look(c, s, inbox)
        leaves = s.children.count == 0
        besides = int(np.sum(1 + c.degree[leaves])) + len(s.roots)
        return bsp.extra(comm=c.size * (c.n - 1) + besides)

    def attach(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Vote, bsp.Extra]:
        """As in the iterative form, and each new root goes to itself to join."""
        counted, work = super().attach(c, s, inbox)
        return counted, bsp.extra(work.comm + len(s.joining), work.mutexes)

    def end_phase(self) -> bsp.Program:
        yield bsp.Round(self.name_first, self.compare_first)

    def name_first(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Announcement:
        """Node 0 names its fragment."""
        first = c.local(0)
        return bsp.announce(first, fragment=s.fragment[first])

    def compare_first(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        """The driver looks for a node in another fragment."""
        others = c.ids[s.fragment != inbox.board("fragment")[0]]
        return bsp.vote(min=others[0] if len(others) else None)
