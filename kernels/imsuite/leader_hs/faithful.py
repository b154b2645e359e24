"""What IMSuite's leader_elect_hs does otherwise than the textbook: its nodes know how long the ring is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.leader_hs.textbook import HirschbergSinclair


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    leader: NDArray[np.int64] = bsp.per_node(-1)
    back: NDArray[np.int8] = bsp.per_node(2, np.int8)  # own messages back; 2 make a candidate


class FaithfulHirschbergSinclair(HirschbergSinclair, faithful_to=HirschbergSinclair):
    """Leader election on a ring 0, 1, ..., n - 1, 0 with distinct identifiers; see `HirschbergSinclair`."""

    fields = {"uid": np.int64, "hops": np.int64, "way": np.int8}
    ranges = {"uid": bsp.nodes, "hops": bsp.nodes, "way": bsp.values(2)}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        for phase in range((net.n - 1).bit_length()):
            yield bsp.Round(self.launch, self.relay, reach=2**phase)
            for _ in range(2 * 2**phase - 1):
                yield bsp.Round(self.relay)
        yield bsp.Round(self.proclaim, *repeat(self.pass_on, net.n // 2))

    def launch(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, reach: int) -> bsp.Unicast:
        candidates = np.flatnonzero(s.back == 2)
        s.back[:] = 0
        return self.send_around(c, candidates, reach, reach)

    def relay(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:  # type: ignore[override]
        node, uid, hops, way = inbox.node, inbox["uid"], inbox["hops"], inbox["way"]
        own = c.uid[node]
        home = node[(uid == own) & (hops == 0)]
        np.add.at(s.back, home, 1)
        larger = uid > own
        node, uid, hops = node[larger], uid[larger], hops[larger]
        way = np.where(hops == 1, -way[larger], way[larger])
        on = (c.ids[node] + way) % c.n
        return bsp.unicast(on, node, uid=uid, hops=np.maximum(hops - 1, 0), way=way)

    def proclaim(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """The one that is left sends its identifier half the ring both ways."""
        leader = np.flatnonzero(s.back == 2)
        s.leader[leader] = c.uid[leader]
        return self.send_around(c, leader, c.n // 2, (c.n - 1) // 2)

    def pass_on(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        node, uid, hops, way = inbox.node, inbox["uid"], inbox["hops"], inbox["way"]
        s.leader[node] = uid
        far = hops > 1
        on = (c.ids[node] + way) % c.n
        return bsp.unicast(on[far], node[far], uid=uid[far], hops=hops[far] - 1, way=way[far])

    def send_around(self, c: bsp.Cluster, nodes: NDArray, ahead: int, behind: int) -> bsp.Unicast:
        """Nodes send their identifier so many hops ahead and behind."""
        ways = np.array([way for way, hops in ((1, ahead), (-1, behind)) if hops], np.int8)
        hops = np.array([hops for hops in (ahead, behind) if hops], np.int64)
        sender = np.repeat(nodes, len(ways))
        way, hops = np.tile(ways, len(nodes)), np.tile(hops, len(nodes))
        to = (c.ids[sender] + way) % c.n
        return bsp.unicast(to, sender, uid=c.uid[sender], hops=hops, way=way)
