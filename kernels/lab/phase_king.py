"""The phase king (Berman, Garay and Perry, Towards optimal distributed consensus, FOCS 1989; Attiya and
Welch, Distributed Computing, 2004, section 5.2.5): binary consensus although some nodes lie.

In each phase all nodes tell their preference, and then a king, another node in each phase, the majority that
it has seen. A node keeps its own majority if more than n / 2 + f nodes share it, and else takes the king's.
In one of f + 1 phases the king does not lie; all then prefer the same, and go on to do so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.lab.binary import BinaryConsensus


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    input: NDArray[np.int8]
    value: NDArray[np.int8]  # preference
    majority: NDArray[np.int8] = bsp.per_node(0, np.int8)
    multiplicity: NDArray[np.int64] = bsp.per_node(0)  # nodes that prefer what the majority does
    decision: NDArray[np.int8] = bsp.per_node(-1, np.int8)


@dataclass(frozen=True)
class PhaseKing(BinaryConsensus):
    """Agreement on one of two values on a complete graph, although f nodes lie, n > 4 f.

    Outputs ``decision`` and ``input``. All nodes that do not fail decide alike, and on their input if they
    all have the same. Nodes 0 to f are the kings. A message that is missing counts as 0.

    Parameters
    ----------
    f
        Nodes that may fail; by default as many as are allowed.
    inputs
        0 or 1 for each node; by default drawn by seed.
    ones
        Share of the nodes whose input is 1, on average, where inputs are drawn.

    Notes
    -----
    Rounds: exactly ``f + 1``: a round is a phase.

    Messages: exactly ``(f + 1) * (n * n - 1)``.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = genval.graph("cplt", 9)
    >>> liars = dgsuite.Network(byzantine=dgsuite.Byzantine([0, 5]))
    >>> ds = dgsuite.run("phase_king", graph, inputs=[0, 1, 1, 0, 1, 0, 1, 1, 0], network=liars)
    >>> ds.decision.values, ds.sizes["round"]
    (array([1, 1, 1, 1, 1, 1, 1, 1, 1], dtype=int8), 3)
    """

    name = "phase_king"
    outputs = {
        "decision": bsp.Output("what the node decided"),
        "input": bsp.Output("what the node held at first"),
    }
    fields = {"value": np.int8}
    ranges = {"value": bsp.values(2)}
    state = State

    def most(self, n: int) -> int:
        return (n - 1) // 4

    def program(self, net: bsp.Net) -> bsp.Program:
        for phase in range(self.failing(net.n) + 1):
            yield bsp.Round(self.tell, self.reign, self.follow, phase=phase)
        yield bsp.Round(self.decide, closing=True)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(value=s.value)

    def reign(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, phase: int) -> bsp.Broadcast:
        ones = inbox.totals("value") + s.value
        s.majority = (2 * ones > c.n).astype(np.int8)
        s.multiplicity = np.maximum(ones, c.n - ones)
        king = c.local(phase)
        return bsp.broadcast(king, value=s.majority[king])

    def follow(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, phase: int) -> None:
        said, king = c.zeros(np.int8), c.local(phase)
        nodes, values = inbox.max("value")
        said[nodes] = values
        said[king] = s.majority[king]
        sure = 2 * s.multiplicity > c.n + 2 * self.failing(c.n)
        s.value = np.where(sure, s.majority, said)

    def decide(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.decision = s.value.copy()
