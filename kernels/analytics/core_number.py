"""Core numbers: layer by layer, by blocks, and on from an earlier result.

Core numbers by peeling (Seidman 1983; Batagelj and Zaversnik 2003), all nodes of a level at once.

Nodes with the fewest live neighbours leave, and then those that have no more than that left. It takes as
many rounds as there are layers to peel, and one a level: some hundreds on a Kronecker graph, half its nodes
on a path.

Core numbers by blocks: each cluster lowers its own nodes to the end, and sends what crosses its border.

A node's core number is the largest k such that k of its neighbours have k or more. Starting from degrees,
nodes take that as their new value until none falls (Montresor, De Pellegrini and Miorandi 2013). In whatever
order they do, the same values are left.

Core numbers of a graph that has grown: nodes rise by one, from the ends of new edges on, until none does.

With more edges no core number falls. Nodes of core number k that rise together are connected by nodes that
rise, too, and one of them is an end of a new edge (Sariyuce et al. 2013). So a search starts from these ends
and goes along nodes of the same core number. A node drops out when fewer than k + 1 of its neighbours are
left that have a larger core number or may rise; the others rise by one. Then the search starts again, from
the nodes that have risen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.tools import blocks


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    # live neighbours; of a node that has left, its core number
    core: NDArray[np.int32] = bsp.initial(lambda c: c.degree.astype(np.int32))
    live: NDArray[np.int64] = bsp.every_node()  # at the end of a level
    due: NDArray[np.int64] = bsp.no_nodes()  # live nodes with the fewest live neighbours


class CoreNumber(bsp.Kernel):
    """The largest k such that the node is in the k-core.

    The k-core is the largest set of nodes of which each has k neighbours or more in the set.
    Outputs ``core``. Each node sends one message to each neighbour, when it leaves. Weights do
    not count.

    Notes
    -----
    Rounds: at most ``2 * n``: one for each layer that is peeled, and one for each level.

    Exchanges: at most ``rounds``.

    Messages: exactly ``2 * m``: a node sends once to each neighbour, when it leaves.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("core_number", graph).core.values
    array([2, 2, 2, 1], dtype=int32)
    """

    name = "core_number"
    obeys = bsp.Model("edges", reduces="data")
    streams = True
    outputs = {"core": bsp.Output("largest k of whose k-core the node is part")}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        least = yield bsp.Round(self.rest, k=-1, opening=True)
        while least.min is not None:
            least = yield bsp.Round(self.peel, k=least.min)

    def peel(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, k: int) -> bsp.Sent:
        due = inbox.count_down(s.core, floor=k)
        if not len(due):  # as where a level begins
            due = s.due[s.core[s.due] == k]
        if not len(due):
            return self.rest(c, s, inbox, k)
        s.due = due[:0]
        return bsp.broadcast(due), bsp.vote(min=k)

    def rest(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, k: int) -> bsp.Vote:
        """All nodes up to `k` have left. Of the others, those with the fewest live neighbours are next."""
        s.live = s.live[s.core[s.live] > k]
        left = s.core[s.live]
        least = left.min(initial=c.n)
        s.due = s.live[left == least]
        return bsp.vote(min=least if len(left) else None)


NOT_HEARD = np.iinfo(np.int32).max
"""What a node holds of a neighbour that has sent nothing yet."""


@dataclass(eq=False)
class BlockState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    # what a node's core number is at most
    core: NDArray[np.int32] = bsp.initial(lambda c: c.degree.astype(np.int32))
    # by entry: that of a neighbour in another cluster
    heard: NDArray[np.int32] = bsp.initial(lambda c: np.full(len(c.indices), NOT_HEARD, np.int32))
    support: NDArray[np.int32] = bsp.per_node(0, np.int32)  # neighbours with no less than the node
    due: NDArray[np.bool_] = bsp.per_node(False)  # nodes with too few of them


class BlockCoreNumber(bsp.Kernel):
    """The largest k such that the node is in the k-core; see `CoreNumber`.

    Notes
    -----
    Rounds: one more than the times that a change crosses the border.

    Messages: at most ``rounds * 2 * m``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("core_number", graph, form="block").core.values
    array([2, 2, 2, 1], dtype=int32)
    """

    name = "core_number"
    obeys = bsp.Model("edges", reduces="control")
    form = "block"
    outputs = CoreNumber.outputs
    fields = {"core": np.int32}
    state = BlockState

    def extra_bytes(self, n: int, nodes: int, entries: int) -> int:
        return 4 * entries  # what each neighbour said

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.fall, after=bsp.Round(self.begin))

    def begin(self, c: bsp.Cluster, s: BlockState, inbox: bsp.Inbox) -> bsp.Sent:
        analytics._cores.count(c.indptr, c.positions, c.first, s.core, s.support)
        self.lower(c, s, np.flatnonzero(s.support < s.core))
        return blocks.tell(c, np.flatnonzero(c.remote_degree), core=s.core)

    def fall(self, c: bsp.Cluster, s: BlockState, inbox: bsp.Inbox) -> bsp.Sent:
        entry, short = c.entries(inbox.node, inbox.src), np.empty(c.size, np.int64)
        news = inbox.node, entry, inbox["core"]
        count = analytics._cores.hear(*news, s.heard, s.core, s.support, s.due, short)
        return blocks.tell(c, self.lower(c, s, short[:count]), core=s.core)

    def lower(self, c: bsp.Cluster, s: BlockState, short: NDArray) -> NDArray[np.int64]:
        """Lower nodes that have too few neighbours, and others as they lose theirs; returns all of them."""
        fallen = np.empty(c.size, np.int64)
        rows = c.indptr, c.positions, c.first
        count = analytics._cores.lower(*rows, s.heard, s.core, s.support, s.due, short, fallen)
        return fallen[:count]


@dataclass(eq=False)
class RisingState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    core: NDArray[np.int32] = bsp.initial(lambda c: np.zeros(c.size, np.int32))
    # of `_cores`: whether a node may have one more
    status: NDArray[np.int8] = bsp.initial(lambda c: np.zeros(c.size, np.int8))
    # neighbours that then count, of a node that may
    support: NDArray[np.int32] = bsp.initial(lambda c: np.zeros(c.size, np.int32))
    # by entry: whether a neighbour in another cluster has said that it does not
    refused: NDArray[np.bool_] = bsp.initial(lambda c: np.zeros(len(c.indices), np.bool_))
    # nodes that are not untried
    tried: NDArray[np.int64] = bsp.no_nodes()


class CoreNumberSince(bsp.Kernel):
    """Core numbers, from those of the graph before it grew; see `CoreNumber` for the output.

    Notes
    -----
    Rounds: two for each time that nodes rise by one, and those that a change takes from cluster to cluster.

    Messages: at most ``rounds * 4 * m``: none but along new edges from a node that cannot have one more.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> before = dgsuite.run("core_number", graph)
    >>> dgsuite.run("core_number", graph.with_edges([2], [0]), since=before).core.values
    array([2, 2, 2, 1], dtype=int32)
    """

    name = "core_number"
    obeys = bsp.Model("edges", None, "data")
    form = "block"
    outputs = CoreNumber.outputs
    fields = {"reach": np.int32}
    broadcasts = False
    state = RisingState

    def program(self, net: bsp.Net) -> bsp.Program:
        reply = yield bsp.Round(self.tell, self.begin)
        while True:
            if reply.any:
                yield from bsp.until_quiet(self.spread)
            reply = yield bsp.Round(self.rise)
            if not reply.sum:
                return

    def tell(self, c: bsp.Cluster, s: RisingState, inbox: bsp.Inbox) -> bsp.Unicast:
        assert c.earlier is not None
        rows, ends = c.earlier.rows, c.earlier.ends
        return bsp.unicast(ends, rows, reach=s.core[rows])

    def begin(self, c: bsp.Cluster, s: RisingState, inbox: bsp.Inbox) -> bsp.Sent:
        """Try the nodes with a new neighbour that has no less than they have."""
        nodes, ends, reach = self.search(c, s, inbox.node[inbox["reach"] >= s.core[inbox.node]])
        return bsp.unicast(ends, nodes, reach=reach), bsp.vote(any=len(ends) > 0)

    def rise(self, c: bsp.Cluster, s: RisingState, inbox: bsp.Inbox) -> bsp.Sent:
        """Nodes that may have one more than before have it, and are the next to be tried."""
        count = analytics._cores.lift(c.indptr, s.core, s.status, s.refused, s.tried)
        risen, s.tried = s.tried[:count], s.tried[:0]
        nodes, ends, reach = self.search(c, s, risen)
        return bsp.unicast(ends, nodes, reach=reach), bsp.vote(any=len(ends) > 0, sum=count)

    def spread(self, c: bsp.Cluster, s: RisingState, inbox: bsp.Inbox) -> bsp.Sent:
        """Try the nodes whose neighbours ask, count those that refuse, and refuse what cannot be."""
        node, reach = inbox.node, inbox["reach"]
        asked, same = reach > 0, np.abs(reach) == s.core[node] + 1
        told = same & (s.status[node] == analytics._cores.TOLD)
        refusing = np.flatnonzero(told & ~asked)
        entry = c.entries(node[refusing], inbox.src[refusing])
        first = ~s.refused[entry]
        s.refused[entry[first]] = True
        short, fewer = np.unique(node[refusing[first]], return_counts=True)
        s.support[short] -= fewer.astype(np.int32)
        short = short[s.support[short] <= s.core[short]]

        nodes, ends, reaches = self.search(c, s, node[asked & same], short)
        able = s.core[node] + (s.status[node] == analytics._cores.TOLD)
        refuse = asked & (able < reach) & ~told  # those that were told and have fallen tell all
        nodes, ends = np.append(nodes, node[refuse]), np.append(ends, inbox.src[refuse])
        reaches = np.append(reaches, -reach[refuse])
        return bsp.unicast(ends, nodes, reach=reaches), bsp.vote(any=len(ends) > 0)

    def search(
        self, c: bsp.Cluster, s: RisingState, seeds: NDArray, short: NDArray | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """Find out which nodes may have one more; returns what other clusters are to know.

        Parameters
        ----------
        seeds
            Nodes to try.
        short
            Nodes that have too few neighbours left.

        Returns
        -------
        nodes, ends
            By message: the node that tells, and the node id of the receiver.
        reach
            The core number that the node may have, or with a minus sign, that it does not have.
        """
        short = seeds[:0] if short is None else short
        tried, fallen = np.empty((2, c.size), np.int64)
        rows = c.indptr, c.positions, c.first
        states = s.core, s.status, s.support
        found, lost = analytics._cores.rise(*rows, *states, seeds, short, tried, fallen)
        s.tried = np.concatenate([s.tried, tried[:found]])
        new = tried[:found][s.status[tried[:found]] == analytics._cores.NEW]
        s.status[new] = analytics._cores.TOLD
        nodes, _, ends = blocks.crossing(c, np.concatenate([new, fallen[:lost]]))
        able = s.status[nodes] == analytics._cores.TOLD
        return nodes, ends, np.where(able, 1, -1).astype(np.int32) * (s.core[nodes] + 1)
