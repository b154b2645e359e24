"""Leader election on a unidirectional ring after LeLann, Chang and Roberts (Lynch 1996, section 3.3).

Each node sends its identifier to its successor. A node passes on an identifier that is larger than its own,
and discards a smaller one. A node that gets its own identifier back leads. Lynch's nodes learn no more than
whether they lead; here the leader then sends its identifier round once more, so that all know it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    leader: NDArray[np.int64] = bsp.per_node(-1)


class LCR(bsp.Kernel):
    """Leader election on a ring 0, 1, ..., n - 1, 0 with distinct identifiers.

    Outputs ``leader``, the identifier of the leader as each node knows it; -1 where it knows none. No node
    knows how many there are.

    Parameters
    ----------
    faithful
        Do as IMSuite: in each of n rounds every node sends the largest identifier that it has seen, n * n
        messages in all.

    Notes
    -----
    Rounds: exactly ``2 * n``: the leader's identifier goes round, and then the message that it leads.

    Exchanges: exactly ``rounds``.

    Messages: at most ``n * (n + 1) / 2 + n``. An identifier goes as far as the next larger one: in random
    order that takes n * (1 + 1/2 + ... + 1/n) messages on average. n more say who leads.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], uid=[4, 9, 2, 7])
    >>> ds = dgsuite.run("lcr", graph)
    >>> ds.leader.values, int(ds.messages.sum())
    (array([9, 9, 9, 9]), 12)
    """

    name = "lcr"
    obeys = bsp.Model("edges")
    outputs = {"leader": bsp.Output("identifier of the elected leader", identifiers=True)}
    fields = {"uid": np.int64, "elected": np.bool_}
    ranges = {"uid": bsp.nodes, "elected": bsp.values(2)}
    bounds = {"uid": None}
    needs = ("ring",)
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        # the run counts the rounds, to end; no node does
        yield bsp.Round(self.begin)
        for _ in range(2 * net.n - 1):
            yield bsp.Round(self.pass_on)

    def begin(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        return bsp.unicast(c.successor, uid=c.uid, elected=False)

    def pass_on(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        node, uid, elected = inbox.node, inbox["uid"], inbox["elected"]
        own = uid == c.uid[node]
        leads = elected | own
        s.leader[node[leads]] = uid[leads]
        on = (uid > c.uid[node]) | (own & ~elected)
        node = node[on]
        return bsp.unicast(c.successor[node], node, uid=uid[on], elected=leads[on])
