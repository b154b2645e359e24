"""Leader election in general graphs by flooding (Lynch 1996, Distributed Algorithms, section 4.1: FloodMax
and OptFloodMax).

In each round nodes tell all neighbours the largest identifier that they have seen. After as many rounds as
the diameter all nodes have seen the largest one, and the node whose own it is leads. OptFloodMax tells only
what is new to the node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    leader: NDArray[np.int64] = bsp.initial(lambda c: c.uid.copy())
    fresh: NDArray[np.int64] = bsp.every_node()  # nodes with news


@dataclass(frozen=True)
class FloodMax(bsp.Kernel):
    """The largest identifier of each component leads it, as all nodes learn by flooding.

    Outputs ``leader``, the largest identifier that the node has seen. The node that has it leads.

    Nodes may crash. On a complete graph all nodes that are left know the same leader after f + 1 rounds, if
    at most f crash, as in FloodSet (section 6.2). It may be one that has crashed: no node finds that out. On
    other graphs nodes may know different ones. Where messages are lost FloodMax says everything again in the
    next round, and OptFloodMax does not.

    Parameters
    ----------
    iterations
        Rounds, which nodes know: at least as many as the diameter. By default it runs until no node hears of
        a larger identifier, as the votes of the run tell, which are not messages.
    opt
        As OptFloodMax: nodes tell what they know only if it is new to them.

    Notes
    -----
    Rounds: at most ``iterations``, by default ``diameter + 1``.

    Messages: at most ``2 * m * rounds``; exactly as many unless with `opt`.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], uid=[7, 1, 2, 3])
    >>> dgsuite.run("floodmax", graph).leader.values
    array([7, 7, 7, 7])
    >>> dgsuite.run("floodmax", graph, iterations=2).leader.values
    array([7, 7, 7, 3])
    >>> [int(dgsuite.run("floodmax", graph, opt=opt).messages.sum()) for opt in (False, True)]
    [24, 13]
    """

    iterations: int | None = None
    opt: bool = False

    name = "floodmax"
    streams = True
    outputs = {"leader": bsp.Output("largest identifier that the node has seen", identifiers=True)}
    fields = {"uid": np.int64}
    ranges = {"uid": bsp.nodes}
    bounds = {"uid": None}
    state = State

    def check(self, c: bsp.Cluster) -> str | None:
        if self.iterations is not None and self.iterations < 0:
            return f"iterations must be at least 0, got {self.iterations}"
        return None

    def program(self, net: bsp.Net) -> bsp.Program:
        if self.iterations is None:
            yield from bsp.until_quiet(self.tell, self.learn)
        for _ in range(self.iterations or 0):
            yield bsp.Round(self.tell, self.learn)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        nodes = s.fresh if self.opt else np.arange(c.size)
        return bsp.broadcast(nodes, uid=s.leader[nodes])

    def learn(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        nodes, uid = inbox.max("uid")
        larger = uid > s.leader[nodes]
        s.fresh = nodes[larger]
        s.leader[s.fresh] = uid[larger]
        return bsp.vote(any=len(s.fresh) > 0)
