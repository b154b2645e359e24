"""Election on an anonymous ring (Itai and Rodeh, Symmetry breaking in distributed networks, Information and
Computation 1990; Fokkink 2018, Distributed algorithms, section 9.3).

Active nodes draw a number in each phase, and send it around the ring. A node that gets a larger number, or
one of a later phase, is passive from then on, and passes messages on. A node whose own message comes back is
the leader if no other had drawn its number; otherwise it begins another phase.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.events.kernel import EventKernel, Events, EventState
from dgsuite.kernels.tools.rng import uniform


@dataclass(eq=False)
class State(EventState):
    """What the nodes of a cluster know."""

    leader: NDArray[np.bool_] = bsp.per_node(False)
    active: NDArray[np.bool_] = bsp.per_node(True)
    phase: NDArray[np.int64] = bsp.per_node(0)
    number: NDArray[np.int64] = bsp.per_node(0)  # drawn in the phase


@dataclass(frozen=True)
class ItaiRodeh(EventKernel):
    """A leader on a ring whose nodes have no identifiers, and know how many they are.

    Outputs ``leader`` and ``phase``, the last in which a node was active. With probability 1 there is a
    leader in the end, and never a second. Messages must arrive in the order of sending:
    ``dgsuite.Network(fifo=True)``.

    Parameters
    ----------
    numbers
        Nodes draw from 1 to it, 2 at least; by default as many as there are nodes.

    Notes
    -----
    Rounds: less than ``4 * n`` are expected, where each message takes a tick.

    Exchanges: at most ``rounds``.

    Messages: in proportion to ``n * log(n)`` are expected.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> slow = dgsuite.Network(delay=("uniform", 1, 9), fifo=True)
    >>> ds = dgsuite.run("itai_rodeh", genval.graph("ring", 8), network=slow)
    >>> int(ds.leader.sum())
    1
    """

    numbers: int | None = None

    name = "itai_rodeh"
    needs = ("ring",)
    outputs = {
        "leader": bsp.Output("1 if the node is the leader"),
        "phase": bsp.Output("the last phase in which the node was active, from 1"),
    }
    fields = {"phase": np.int64, "number": np.int64, "hops": np.int64, "alone": np.bool_}
    ranges = {"hops": bsp.counts}
    allowed = {"numbers": (2, 1 << 62)}
    needs_fifo = True
    state = State

    def on_start(self, c: bsp.Cluster, s: State, e: Events) -> bsp.Unicast:
        return self.begin(c, s, e.node)

    def begin(self, c: bsp.Cluster, s: State, nodes: NDArray) -> bsp.Unicast:
        """Begin another phase."""
        luck = uniform("counter", self.seed, c.ids[nodes], s.phase[nodes])
        s.number[nodes] = 1 + (luck * (self.numbers or c.n)).astype(np.int64)
        s.phase[nodes] += 1
        return self.pass_on(c, nodes, s.phase[nodes], s.number[nodes], np.ones(len(nodes)), True)

    def pass_on(self, c: bsp.Cluster, nodes: NDArray, *values: object) -> bsp.Unicast:
        """Tell the next nodes of the ring."""
        names = "phase", "number", "hops", "alone"
        return self.send(c.successor[nodes], nodes, **dict(zip(names, values, strict=True)))

    def on_message(self, c: bsp.Cluster, s: State, e: Events) -> Iterator[bsp.Unicast]:
        active, back = s.active[e.node], e["hops"] == c.n
        phase, number = s.phase[e.node], s.number[e.node]
        same = (e["phase"] == phase) & (e["number"] == number)
        larger = (e["phase"] > phase) | ((e["phase"] == phase) & (e["number"] > number))
        s.leader[e.node[active & back & e["alone"]]] = True
        yield self.begin(c, s, e.node[active & back & ~e["alone"]])
        s.active[e.node[active & ~back & larger]] = False
        passes = ~back & (~active | larger | same)
        on = e.among(passes)
        alone = on["alone"] & ~(active & same)[passes]
        yield self.pass_on(c, on.node, on["phase"], on["number"], on["hops"] + 1, alone)
