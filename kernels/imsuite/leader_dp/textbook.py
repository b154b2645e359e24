"""Leader election on a general graph (Peleg 1990; IMSuite leader_elect_dp).

In each pulse every node tells its neighbours the largest identifier it knows, and how far that has come.
A node that receives no larger identifier than its own, and its own from no greater distance for two
pulses, leads; it sends a stop message, which spreads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools import words


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    leader: NDArray[np.int64] = bsp.initial(lambda c: c.uid.copy())  # largest identifier known
    distance: NDArray[np.int64] = bsp.per_node()  # farthest that `leader` is known to have come
    heard: NDArray[np.int64] = bsp.per_node(-1)  # largest word received: identifier and distance
    young: NDArray[np.bool_] = bsp.per_node(False)  # knows a larger identifier than its own
    quiet: NDArray[np.int32] = bsp.per_node(0, np.int32)  # pulses without news
    running: bsp.Subset = bsp.node_set()  # nodes that have not stopped
    stopping: NDArray[np.int64] = bsp.no_nodes()  # nodes that stop in this pulse


class PelegLeader(bsp.Kernel):
    """Leader election on a connected graph with identifiers 0 to 2^32 - 1.

    Outputs ``leader``, the identifier of the leader as each node knows it.

    Parameters
    ----------
    faithful
        At the end flood the graph with the leader's identifier, which all know, as in IMSuite.

    Notes
    -----
    Rounds: at most ``3 * diameter + 3``: identifiers spread, distances come back, and the stop message
    spreads.

    Exchanges: at most ``2 * rounds``.

    Messages: at most ``(rounds + 1) * 2 * m``: a node sends to each neighbour in each round, and once to
    stop.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("dp", graph).leader.values
    array([3, 3, 3, 3])
    """

    name = "dp"
    obeys = bsp.Model("edges", reduces="control")
    streams = True
    outputs = {"leader": bsp.Output("identifier of the elected leader", identifiers=True)}
    fields = {"word": np.int64}
    ranges = {"word": lambda n: n * n}
    bounds = {"word": None}  # an identifier and a distance
    needs = ("connected",)
    state = State

    def check(self, c: bsp.Cluster) -> str | None:
        return bsp.wide_identifier(c)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.tell, self.compare, self.stop)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        s.stopping = inbox.receivers(among=s.running)
        nodes = s.running.members
        heard = np.where(s.heard[nodes] < 0, 0, words.second(s.heard[nodes]))
        distance = np.maximum(s.distance[nodes], heard)
        return bsp.broadcast(nodes, word=words.pair(s.leader[nodes], distance))

    def compare(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        nodes, word = inbox.max("word", among=s.running)
        s.heard[nodes] = np.maximum(s.heard[nodes], word)
        listening = s.running.mask.copy()
        listening[s.stopping] = False
        nodes = np.flatnonzero(listening & (s.heard >= 0))
        uid, distance = words.first(s.heard[nodes]), words.second(s.heard[nodes])

        larger = uid > s.leader[nodes]
        new = nodes[larger]
        s.leader[new] = uid[larger]
        s.young[new] = True
        s.distance[new] = inbox.round + 1

        own = ~larger & ~s.young[nodes]
        candidates, uid, distance = nodes[own], uid[own], distance[own]
        beaten = uid < s.leader[candidates]
        farther = ~beaten & (distance > s.distance[candidates])
        s.distance[candidates[farther]] = distance[farther]
        quiet = np.where(farther, 0, s.quiet[candidates] + 1)
        s.quiet[candidates] = np.where(beaten, 1, quiet)
        done = candidates[s.quiet[candidates] >= 2]
        isolated = np.flatnonzero(s.running.mask & (c.degree == 0))  # they lead themselves
        s.stopping = np.unique(np.concatenate([s.stopping, done, isolated]))

    def stop(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Broadcast, bsp.Vote]:
        s.running.remove(s.stopping)
        return bsp.broadcast(s.stopping), bsp.vote(any=s.running.count)
