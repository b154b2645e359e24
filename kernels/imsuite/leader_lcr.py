"""LeLann-Chang-Roberts leader election on a unidirectional ring (Lynch 1996, section 3.3).

Everyone passes on the largest identifier it has seen. Whoever gets its own back leads; after n
rounds of n messages everyone has seen the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.base import Inbox, Kernel, Net, Output, Program, Round, State, Unicast, unicast
from partition.cluster import Cluster


@dataclass(frozen=True)
class LCR(Kernel):
    """Leader election on a ring 0, 1, ..., n - 1, 0 with distinct identifiers.

    Outputs ``leader``, the identifier of the leader as each node knows it.
    """

    name = "lcr"
    outputs = {"leader": Output("identifier of the elected leader", identifiers=True)}
    fields = {"uid": np.int64}
    needs = ("ring",)

    def program(self, net: Net) -> Program:
        for _ in range(net.n):
            yield Round(self.transmit, self.elect)

    def start(self, c: Cluster) -> State:
        return State(send=c.uid.copy(), leader=c.uid.copy(), elected=c.zeros(bool))

    def transmit(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        return unicast(c.successor, uid=s.send)

    def elect(self, c: Cluster, s: State, inbox: Inbox) -> None:
        # a node has one predecessor, so no receiver occurs twice
        node, uid = inbox.node, inbox["uid"]
        s.elected[node] |= uid == c.uid[node]
        s.send[node] = s.leader[node] = np.maximum(s.leader[node], uid)
