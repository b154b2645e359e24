"""What IMSuite's leader_elect_dp does otherwise than the textbook: it floods the leader's identifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.leader_dp import textbook


@dataclass(eq=False)
class State(textbook.State):
    """What the nodes of a cluster know."""

    uninformed: bsp.Subset = bsp.node_set()  # nodes that the final flood has not reached


class FaithfulPelegLeader(textbook.PelegLeader, faithful_to=textbook.PelegLeader):
    """Leader election on a connected graph; see `PelegLeader`."""

    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        fresh = yield bsp.Round(self.proclaim, closing=True)
        if fresh.any:
            yield from bsp.until_quiet(self.pass_on, closing=True)

    def proclaim(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox
    ) -> tuple[bsp.Broadcast, bsp.Vote]:
        return self.spread(s, np.flatnonzero(s.leader == c.uid))

    def pass_on(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Broadcast, bsp.Vote]:
        return self.spread(s, inbox.receivers(among=s.uninformed))

    def spread(self, s: State, nodes: NDArray) -> tuple[bsp.Broadcast, bsp.Vote]:
        """Nodes tell their neighbours; each does so once."""
        s.uninformed.remove(nodes)
        return bsp.broadcast(nodes), bsp.vote(any=len(nodes))
