"""Communities of every level, and not of the last alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.moving import Moving, State


@dataclass(frozen=True)
class Levelled(Moving):
    """A kernel that finds communities, and gives those of every level."""

    outputs = {
        "community": bsp.Output(
            "smallest node of the community", dims=("node", "level"), nodes=True
        )
    }
    numbered = ("level",)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        yield bsp.Round(self.stack, closing=True)

    def noted(self) -> bsp.Program:
        yield bsp.Round(self.claim, self.baptise, self.note, closing=True)

    def restart(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        s.levels = s.levels[:0]
        return super().restart(c, s, inbox)

    def note(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        community = s.community
        self.adopt(c, s, inbox)
        s.levels = np.vstack([s.levels, s.community])
        s.community = community

    def stack(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        """The last level that was kept is the result; where there is none, nodes are alone."""
        s.community = (s.levels if len(s.levels) else s.community[None]).T.copy()
