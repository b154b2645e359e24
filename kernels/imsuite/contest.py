"""What MIS and dominating set share: random numbers, by which nodes join, and live nodes, which drop out
when they or a neighbour have joined.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import Numbers


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    links: bsp.Links = bsp.initial(bsp.Links)  # live neighbours
    live: bsp.Subset = bsp.node_set()  # undecided nodes

    def drop_links(self, inbox: bsp.Inbox) -> NDArray:
        """Take off the links to neighbours that have dropped out; returns the live nodes that had any."""
        nodes, gone, gone_remote = inbox.count(among=self.live)
        self.links.drop(nodes, gone, gone_remote, inbox.edges(nodes))
        return nodes


@dataclass(frozen=True)
class Contest(bsp.Kernel):
    """A kernel that draws random numbers, by default from IMSuite's generator if faithful."""

    rng: Numbers | None = None

    refuses = {"duplicates": bsp.COUNTS_LINKS}

    @property
    def generator(self) -> Numbers:
        """The generator of random numbers."""
        return self.rng or ("imsuite" if self.faithful else "counter")
