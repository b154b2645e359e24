"""Self-stabilising maximal independent sets in the state model (Turau, Linear self-stabilizing algorithms for
the independent and dominating set problems using an unfair distributed scheduler, IPL 103(3), 2007; Shukla,
Rosenkrantz and Ravi, Observations on self-stabilizing graph algorithms for anonymous networks, 1995).

Shukla's nodes join if they have no neighbour in the set, and leave if they have one. Where two neighbours do
so at once they may do so for ever. So Turau's nodes wait before they join: of neighbours that wait the one
with the smallest id joins.
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
from dgsuite.kernels.lab.views import Rule, Variable, View, rule

OUT, IN, WAITS = range(3)
"""What ``in_mis`` can be."""


@dataclass(eq=False)
class State(state_model.State):
    """What the nodes of a cluster know."""

    in_mis: NDArray[np.int64]


@dataclass(frozen=True)
class StableMIS(StateModel):
    """A maximal independent set that recovers from any state.

    Outputs ``in_mis``, 1 in the set and 0 outside, and ``moves``. While the run goes on, nodes that wait have
    2. `dgsuite.kernels.lab.state_model.StateModel` says what the other parameters, variables and attributes
    are. A state is legitimate if no node is enabled: then the set is independent, and no node can be added.

    Parameters
    ----------
    protocol
        "turau", for any daemon; or "shukla", which has two rules and no ids, for daemons that pick one node.
        With others it may never end: limit it with ``max_rounds``.

    Notes
    -----
    Rounds: where the daemon picks a node in each step, no more steps than moves from the last fault. By
    Turau's protocol a node moves at most three times: it may leave the set or stop to wait, since it has a
    neighbour that was in the set at first; then it waits, and joins or leaves for good, as nodes that join
    have no neighbour that does at the same time. By Shukla's it moves twice at most, with daemons that pick
    one node: a node that joins never leaves.

    Messages: at most ``2 * m * rounds``: a node tells its neighbours at first, and whenever it has changed.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("stable_mis", graph, begin={"in_mis": 0})
    >>> ds.in_mis.values, ds.moves.values, ds.enabled.values
    (array([1, 0, 1, 0]), array([2, 2, 2, 2]), array([4, 1, 1, 1, 1, 0]))

    Two neighbours join and leave for ever:

    >>> how = {"protocol": "shukla", "begin": {"in_mis": 0}}
    >>> ds = dgsuite.lab.legitimacy("stable_mis", graph, max_rounds=7, **how)
    >>> ds.legitimate.values, ds.moved.values
    (array([0, 0, 0, 0, 0, 0, 0]), array([0, 4, 4, 4, 4, 4, 4]))
    """

    protocol: Literal["turau", "shukla"] = "turau"

    name = "stable_mis"
    outputs = {
        "in_mis": bsp.Output("whether the node is in the set"),
        "moves": bsp.Output("how often the node has moved"),
    }
    variables = {"in_mis": Variable(bsp.values(3))}
    state = State

    def rules(self, v: View) -> Sequence[Rule]:
        own, near = v.own["in_mis"], v.near["in_mis"]
        blocked = v.any(near == IN)
        if self.protocol == "shukla":
            return [
                rule((own != IN) & ~blocked, in_mis=IN),
                rule((own != OUT) & blocked, in_mis=OUT),
            ]
        earlier = v.any((near == WAITS) & (v.other < v.id[v.row]))
        return [
            rule((own == OUT) & ~blocked, in_mis=WAITS),
            rule((own == WAITS) & blocked, in_mis=OUT),
            rule((own == WAITS) & ~blocked & ~earlier, in_mis=IN),
            rule((own == IN) & blocked, in_mis=OUT),
        ]
