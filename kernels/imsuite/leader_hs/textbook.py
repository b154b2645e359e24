"""Hirschberg-Sinclair leader election on a bidirectional ring (Lynch 1996, section 3.4).

In phase l each candidate sends its identifier 2^l hops both ways. A node with a larger identifier drops
it; at the end of its way it turns back. A candidate that gets both back goes on to the next phase. One whose
identifier comes round the ring, on the way out, leads. Lynch's nodes learn no more than whether they lead;
here the leader then tells both neighbours, and each node passes on what is new to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp

WAYS = np.array([1, -1], np.int8)
"""Ahead, and behind."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    leader: NDArray[np.int64] = bsp.per_node(-1)
    knows: NDArray[np.bool_] = bsp.per_node(False)  # knows the leader
    reach: NDArray[np.int64] = bsp.per_node(1)  # hops that its identifier goes out in its phase
    back: NDArray[np.int8] = bsp.per_node(0, np.int8)  # own messages that are back in its phase


class HirschbergSinclair(bsp.Kernel):
    """Leader election on a ring 0, 1, ..., n - 1, 0 with distinct identifiers.

    Outputs ``leader``, the identifier of the leader as each node knows it; -1 where it knows none. No node
    knows how many there are.

    Parameters
    ----------
    faithful
        Do as IMSuite, whose nodes know n: phases end when 2^l is half the ring, and the leader's messages go
        half the ring both ways. That takes ``2 * 2 ** ceil(log2(n)) - 1`` rounds.

    Notes
    -----
    Rounds: exactly ``2 * 2 ** ceil(log2(n)) - 1 + n + n // 2``, fewer than 5.5 n: the phases, the leader's
    identifier on its way round the ring, and the news of it.

    Exchanges: exactly ``rounds``.

    Messages: at most ``8 * n * (1 + ceil(log2(n)))``, n + 2 or fewer of which say who leads.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], uid=[4, 9, 2, 7])
    >>> dgsuite.run("hs", graph).leader.values
    array([9, 9, 9, 9])
    """

    name = "hs"
    obeys = bsp.Model("edges", 2)  # both to the only neighbour, on a ring of two
    outputs = {"leader": bsp.Output("identifier of the elected leader", identifiers=True)}
    fields = {"uid": np.int64, "hops": np.int64, "way": np.int8, "elected": np.bool_}
    ranges = {
        "uid": bsp.nodes,
        "hops": lambda n: 2 * n,  # a message may go round the ring
        "way": bsp.values(2),
        "elected": bsp.values(2),
    }
    bounds = {"uid": None, "way": bsp.between(-1, 1)}
    needs = ("ring",)
    state: ClassVar[type[bsp.ClusterState]] = State

    def program(self, net: bsp.Net) -> bsp.Program:
        # the run counts the rounds, to end; no node does
        phases = 2 * 2 ** (net.n - 1).bit_length() - 2
        yield bsp.Round(self.begin)
        for _ in range(phases + net.n + net.n // 2):
            yield bsp.Round(self.relay)

    def begin(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        node = np.repeat(np.arange(c.size), 2)
        way = np.tile(WAYS, c.size)
        on = (c.ids[node] + way) % c.n
        return bsp.unicast(on, node, uid=c.uid[node], hops=1, way=way, elected=False)

    def relay(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """Pass on or turn messages: `hops` are those left on the way out, 0 on the way back."""
        node, uid, hops, way = inbox.node, inbox["uid"], inbox["hops"], inbox["way"]
        elected = inbox["elected"]
        own = (uid == c.uid[node]) & ~elected
        leads = np.unique(node[own & (hops > 0)])
        home = node[own & (hops == 0)]
        np.add.at(s.back, home, 1)
        again = np.unique(home[s.back[home] >= 2])
        s.back[again] = 0
        s.reach[again] *= 2
        larger, news = (uid > c.uid[node]) & ~elected, elected & ~s.knows[node]
        s.leader[node[news]], s.leader[leads] = uid[news], c.uid[leads]
        s.knows[node[news]] = s.knows[leads] = True

        on = larger | news
        new = np.repeat(np.concatenate([again, leads]), 2)
        sender = np.concatenate([node[on], new])
        turned = np.where(larger & (hops == 1), -way, way)
        way = np.concatenate([turned[on], np.tile(WAYS, len(new) // 2)])
        # a node has room for a message each way: one more, where others lie, takes its place
        _, last = np.unique((2 * sender + (way > 0))[::-1], return_index=True)
        kept = len(sender) - 1 - last
        out = np.where(s.knows[new], 0, s.reach[new])
        hops = np.append(np.maximum(hops[on] - 1, 0), out)
        return bsp.unicast(
            (c.ids[sender[kept]] + way[kept]) % c.n,
            sender[kept],
            uid=np.concatenate([uid[on], c.uid[new]])[kept],
            hops=hops[kept],
            way=way[kept],
            elected=np.concatenate([elected[on], s.knows[new]])[kept],
        )
