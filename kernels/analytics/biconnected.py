"""Biconnected components: the blocks of which a graph is made, which meet in cut nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.bridges import SOLVER, Searched, compiled


@dataclass(eq=False)
class State(bsp.ClusterState):
    """The rows of the result."""

    member: NDArray[np.int32] = bsp.later()
    block: NDArray[np.int32] = bsp.later()


@dataclass(frozen=True)
class Biconnected(Searched):
    """Biconnected components: largest parts that stay connected without any one of their nodes.

    Two edges are in the same component if a cycle goes through both, so a bridge is a component of its own.
    Outputs ``member`` and ``block``, a table with a row for each node of each component, ascending: a node
    and the number of the component. A cut node has several rows, a node without neighbours none. An edge is
    in the one component that both its ends are in. Components are numbered from 0 in the order of their
    smallest nodes, and of the next smallest where these are the same.

    Of memory see `Bridges`.

    Notes
    -----
    Rounds: exactly ``1``.

    Messages: at most ``m + 2 * n``: edges that matter, and the rows of the result.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("biconnected", graph)
    >>> print(dgsuite.to_dataframe(ds).compute())
       member  block
    0       0      0
    1       1      0
    2       2      0
    3       2      1
    4       3      1
    """

    name = "biconnected"
    outputs = {
        "member": bsp.Output("node of the component", dims=("pair",), nodes=True),
        "block": bsp.Output("number of the component", dims=("pair",)),
    }
    numbered = ("pair",)
    fields = {"one": np.int32, "other": np.int32, "node": np.int32, "block": np.int32}
    state = State

    def solve(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        if c.index != SOLVER:
            return bsp.ship(np.empty(0, np.int64), node=0, block=0)
        tree = compiled().search(inbox.shipped("one"), inbox.shipped("other"), c.n)
        nodes, block, least = compiled().blocks(*tree)
        place = np.empty(len(least), np.int64)
        place[np.lexsort(least.T[::-1])] = np.arange(len(least))
        return bsp.ship(c.partition.owner(nodes), node=nodes, block=place[block])

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        member, block = inbox.shipped("node"), inbox.shipped("block")
        order = np.lexsort((block, member))
        s.member, s.block = member[order], block[order]
