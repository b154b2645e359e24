"""What IMSuite's MIS does otherwise than the textbook."""

from __future__ import annotations

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.mis.textbook import MIS, State


class FaithfulMIS(MIS, faithful_to=MIS):
    """Maximal independent set; see `MIS`."""

    obeys = bsp.Model("edges", None, "data")

    def retire(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        beaten, winners, _ = inbox.count(among=s.live)
        return self.drop_out(s, beaten, times=winners)
