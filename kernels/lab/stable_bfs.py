"""A self-stabilising breadth-first tree (Dolev, Israeli and Moran, Self-stabilization of dynamic systems
assuming only read/write atomicity, Distributed Computing 7(1), 1993; Dolev, Self-Stabilization, 2000, section
2.5), in the state model (Devismes and Johnen, Silent self-stabilizing BFS tree algorithms revisited, JPDC 97,
2016).

The root has level 0. Every other node takes the least level of its neighbours, and one more; its parent is
the first of these neighbours. Levels that are too low rise from round to round until they are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.lab import state_model
from dgsuite.kernels.lab.state_model import StateModel
from dgsuite.kernels.lab.views import POINTER, Rule, Variable, View, rule


@dataclass(eq=False)
class State(state_model.State):
    """What the nodes of a cluster know."""

    level: NDArray[np.int64]
    parent: NDArray[np.int64]


@dataclass(frozen=True)
class StableBFS(StateModel):
    """A tree of fewest hops from a root that recovers from any state, under any daemon.

    Outputs ``level``, -1 where the root cannot be reached, ``parent`` and ``moves``. Nodes count to n where
    there is no root: level n and beyond are -1. `dgsuite.kernels.lab.state_model.StateModel` says what the
    other parameters, variables and attributes are. A state is legitimate if no node is enabled: then levels
    are those of `bfs`, and parents nearer by one.

    Parameters
    ----------
    root
        The node with level 0.

    Notes
    -----
    Rounds: with the synchronous daemon ``hops + 1`` steps from the last fault if the root reaches every node,
    else n; with any daemon as many asynchronous rounds. After k of them nodes nearer than k have their level
    and parent, and all others a level of k at least. The number of steps may be exponential under an unfair
    daemon (Devismes and Johnen).

    Messages: at most ``2 * m * rounds``: a node tells its neighbours at first, and whenever it has changed.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("stable_bfs", graph, begin={"level": 0, "parent": -1})
    >>> ds.level.values, ds.parent.values, ds.moves.values
    (array([0, 1, 2, 3]), array([-1,  0,  1,  2]), array([0, 1, 2, 3]))
    >>> ds.steps_to_legitimacy, ds.moves_to_legitimacy
    (3, 6)
    """

    root: bsp.Node = bsp.FIRST

    name = "stable_bfs"
    outputs = {
        "level": bsp.Output("hops from the root, -1 if not reached", from_root=True),
        "parent": bsp.Output("parent in the tree, {none} at the root", nodes=True),
        "moves": bsp.Output("how often the node has moved"),
    }
    variables = {"level": Variable(lambda n: n + 1, -1), "parent": POINTER}
    state = State

    def check(self, c: bsp.Cluster) -> str | None:
        return bsp.no_node("root", self.root, c.n) or super().check(c)

    def rules(self, v: View) -> Sequence[Rule]:
        theirs = np.where(v.near["level"] < 0, v.n, v.near["level"])
        least = v.least(theirs, theirs >= 0, otherwise=v.n)
        reached = least < v.n - 1
        parent = v.least(v.other, (theirs == least[v.row]) & reached[v.row], otherwise=-1)
        level = np.where(reached, least + 1, -1)
        level[v.id == self.root], parent[v.id == self.root] = 0, -1
        wrong = (v.own["level"] != level) | (v.own["parent"] != parent)
        return [rule(wrong, level=level, parent=parent)]
