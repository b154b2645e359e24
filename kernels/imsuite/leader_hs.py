"""Hirschberg-Sinclair leader election on a bidirectional ring (Lynch 1996, section 3.4).

In phase l all who are still in send their identifier 2^l hops both ways. It is dropped where someone
has a larger one, and turned back at the end of its way. Whoever gets both back goes on to the next
phase, until the way is half the ring: then one is left, who tells all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat

import numpy as np

from kernels.base import Inbox, Kernel, Net, Output, Program, Round, State, Unicast, unicast
from partition.cluster import Cluster


@dataclass(frozen=True)
class HirschbergSinclair(Kernel):
    """Leader election on a ring 0, 1, ..., n - 1, 0 with distinct identifiers.

    Outputs ``leader``, the identifier of the leader as each node knows it.
    """

    name = "hs"
    outputs = {"leader": Output("identifier of the elected leader", identifiers=True)}
    fields = {"uid": np.int64, "hops": np.int64, "way": np.int8}
    needs = ("ring",)

    def program(self, net: Net) -> Program:
        for phase in range((net.n - 1).bit_length()):
            yield Round(self.launch, self.relay)
            for _ in range(2 * 2**phase - 1):
                yield Round(self.relay)
        yield Round(self.proclaim, *repeat(self.pass_on, net.n // 2))

    def start(self, c: Cluster) -> State:
        return State(leader=c.full(-1), back=c.full(2, np.int8), phase=0)

    def launch(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        active = np.flatnonzero(s.back == 2)
        s.back[:] = 0
        s.phase += 1
        return self.both_ways(c, active, 2 ** (s.phase - 1), 2 ** (s.phase - 1))

    def relay(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        """Pass on or turn what came: `hops` are those to go on the way out, 0 on the way back."""
        node, uid, hops, way = inbox.node, inbox["uid"], inbox["hops"], inbox["way"]
        own = c.uid[node]
        home = node[(uid == own) & (hops == 0)]
        np.add.at(s.back, home, 1)
        larger = uid > own
        node, uid, hops = node[larger], uid[larger], hops[larger]
        way = np.where(hops == 1, -way[larger], way[larger])
        on = (c.ids[node] + way) % c.n
        return unicast(on, node, uid=uid, hops=np.maximum(hops - 1, 0), way=way)

    def proclaim(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        leader = np.flatnonzero(s.back == 2)
        s.leader[leader] = c.uid[leader]
        return self.both_ways(c, leader, c.n // 2, (c.n - 1) // 2)

    def pass_on(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        node, uid, hops, way = inbox.node, inbox["uid"], inbox["hops"], inbox["way"]
        s.leader[node] = uid
        far = hops > 1
        on = (c.ids[node] + way) % c.n
        return unicast(on[far], node[far], uid=uid[far], hops=hops[far] - 1, way=way[far])

    def both_ways(self, c: Cluster, nodes: np.ndarray, ahead: int, behind: int) -> Unicast:
        """Nodes send their identifier so many hops forth and back round the ring."""
        ways = np.array([way for way, hops in ((1, ahead), (-1, behind)) if hops], np.int8)
        hops = np.array([hops for hops in (ahead, behind) if hops], np.int64)
        sender = np.repeat(nodes, len(ways))
        way, hops = np.tile(ways, len(nodes)), np.tile(hops, len(nodes))
        return unicast((c.ids[sender] + way) % c.n, sender, uid=c.uid[sender], hops=hops, way=way)
