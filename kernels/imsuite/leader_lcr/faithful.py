"""What IMSuite's leader_elect_lcr does otherwise than the textbook: nodes repeat the largest identifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.leader_lcr import textbook


@dataclass(eq=False)
class State(textbook.State):
    """What the nodes of a cluster know."""

    leader: NDArray[np.int64] = bsp.initial(lambda c: c.uid.copy())  # largest identifier seen


class FaithfulLCR(textbook.LCR, faithful_to=textbook.LCR):
    """Leader election on a ring 0, 1, ..., n - 1, 0 with distinct identifiers; see `LCR`."""

    fields = {"uid": np.int64}
    ranges = {"uid": bsp.nodes}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        for _ in range(net.n):
            yield bsp.Round(self.transmit, self.elect)

    def transmit(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        return bsp.unicast(c.successor, uid=s.leader)

    def elect(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        # a node has one predecessor, so no receiver occurs twice
        node = inbox.node
        s.leader[node] = np.maximum(s.leader[node], inbox["uid"])
