"""LeLann-Chang-Roberts leader election on a unidirectional ring (Lynch 1996, section 3.3).

Each node passes on the largest identifier it has seen. A node that gets its own identifier back leads;
after n rounds of n messages every node has seen the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    leader: NDArray[np.int64] = bsp.initial(lambda c: c.uid.copy())  # largest identifier seen
    elected: NDArray[np.bool_] = bsp.per_node(False)  # got its own identifier back


@dataclass(frozen=True)
class LCR(bsp.Kernel):
    """Leader election on a ring 0, 1, ..., n - 1, 0 with distinct identifiers.

    Outputs ``leader``, the identifier of the leader as each node knows it.

    Notes
    -----
    Rounds: exactly ``n``.

    Messages: exactly ``n * n``: every node sends in every round.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], uid=[4, 9, 2, 7])
    >>> dgsuite.run("lcr", graph).leader.values
    array([9, 9, 9, 9])
    """

    name = "lcr"
    obeys = bsp.Model("edges")
    outputs = {"leader": bsp.Output("identifier of the elected leader", identifiers=True)}
    fields = {"uid": np.int64}
    ranges = {"uid": bsp.nodes}
    bounds = {"uid": None}
    needs = ("ring",)
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        for _ in range(net.n):
            yield bsp.Round(self.transmit, self.elect)

    def transmit(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        return bsp.unicast(c.successor, uid=s.leader)

    def elect(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        # a node has one predecessor, so no receiver occurs twice
        node, uid = inbox.node, inbox["uid"]
        s.elected[node] |= uid == c.uid[node]
        s.leader[node] = np.maximum(s.leader[node], uid)
