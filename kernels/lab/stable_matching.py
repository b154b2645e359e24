"""Self-stabilising maximal matchings in the state model (Manne, Mjelde, Pilard and Tixeuil, A new
self-stabilizing maximal matching algorithm, TCS 410(14), 2009; Hsu and Huang, A self-stabilizing algorithm
for maximal matching, IPL 43(2), 1992).

A node points to a neighbour, or to none. It accepts a neighbour that points to it; if there is none, it
points to a neighbour that points to none; and it gives up a neighbour that points elsewhere. In Manne's
protocol nodes also tell whether they are married, and only point to neighbours with a larger id, so that
there are no circles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.lab import state_model
from dgsuite.kernels.lab.state_model import StateModel
from dgsuite.kernels.lab.views import POINTER, Rule, Variable, View, rule


@dataclass(eq=False)
class State(state_model.State):
    """What the nodes of a cluster know."""

    mate: NDArray[np.int64]
    married: NDArray[np.int64]


@dataclass(frozen=True)
class StableMatching(StateModel):
    """A maximal matching that recovers from any state.

    Outputs ``mate``, -1 where the node has none, and ``moves``. `dgsuite.kernels.lab.state_model.StateModel`
    says what the other parameters, variables and attributes are. A state is legitimate if no node is enabled:
    then nodes point to nodes that point to them, and no two neighbours point to none.

    Parameters
    ----------
    protocol
        "manne", for any daemon; or "hsu-huang", for daemons that pick one node. With others it may never end:
        limit it with ``max_rounds``. Which of several neighbours it takes is left open by Hsu and Huang: here
        the one with the next larger id, and after the largest the smallest. (With the smallest id for all,
        the synchronous daemon would do, too: Goddard, Hedetniemi, Jacobs and Srimani 2003.)

    Notes
    -----
    Rounds: where the daemon picks a node in each step, no more steps than moves from the last fault, which
    are O(m) with any daemon (Manne et al.), and of Hsu's and Huang's protocol ``2 * m + n`` at most with
    daemons that pick one node (Hedetniemi, Jacobs and Srimani, Maximal matching stabilizes in time O(m), IPL
    80(5), 2001).

    Messages: at most ``2 * m * rounds``: a node tells its neighbours at first, and whenever it has changed.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> ds = dgsuite.run("stable_matching", graph, begin={"mate": -1, "married": 0})
    >>> ds.mate.values, ds.moves.values, ds.enabled.values
    (array([1, 0, 3, 2]), array([4, 4, 2, 2]), array([3, 1, 2, 2, 1, 1, 2, 0]))

    On this ring all point to the next node, and give up, for ever:

    >>> how = {"protocol": "hsu-huang", "begin": {"mate": -1}}
    >>> ds = dgsuite.lab.legitimacy("stable_matching", graph, max_rounds=7, **how)
    >>> ds.legitimate.values, ds.moved.values
    (array([0, 0, 0, 0, 0, 0, 0]), array([0, 4, 4, 4, 4, 4, 4]))
    """

    protocol: Literal["manne", "hsu-huang"] = "manne"

    name = "stable_matching"
    outputs = {
        "mate": bsp.Output("the other end of the edge in the matching, {none} alone", nodes=True),
        "moves": bsp.Output("how often the node has moved"),
    }
    variables = {"mate": POINTER, "married": Variable(bsp.values(2))}
    state = State

    def rules(self, v: View) -> Sequence[Rule]:
        return self.manne(v) if self.protocol == "manne" else self.hsu_huang(v)

    def manne(self, v: View) -> Sequence[Rule]:
        """Update, marriage, seduction and abandonment."""
        own, mate, me = v.own["mate"], v.near["mate"], v.id[v.row]
        mine = v.other == own[v.row]
        married = v.any(mine & (mate == me))
        told = (v.own["married"] == 1) == married
        single = (mate == -1) & (v.other > me) & (v.near["married"] == 0)
        suitor = v.greatest(v.other, mate == me, otherwise=-1)
        wooed = v.greatest(v.other, single, otherwise=-1)
        hopeless = v.any(mine & (mate != me) & ((v.near["married"] == 1) | (v.other <= me)))
        return [
            rule(~told, married=married),
            rule((own == -1) & (suitor >= 0), mate=suitor),
            rule((own == -1) & (wooed >= 0), mate=wooed),
            rule(hopeless, mate=-1),
        ]

    def hsu_huang(self, v: View) -> Sequence[Rule]:
        """Marriage, seduction and abandonment."""
        own, mate, me = v.own["mate"], v.near["mate"], v.id[v.row]
        turn = (v.other - me) % v.n
        suitor = v.least(turn, mate == me, otherwise=0)
        wooed = v.least(turn, mate == -1, otherwise=0)
        hopeless = v.any((v.other == own[v.row]) & (mate != me) & (mate != -1))
        return [
            rule((own == -1) & (suitor > 0), mate=(v.id + suitor) % v.n),
            rule((own == -1) & (wooed > 0), mate=(v.id + wooed) % v.n),
            rule(hopeless, mate=-1),
        ]
