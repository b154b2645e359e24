"""The average of values by calls to random neighbours (Kempe, Dobra and Gehrke 2003, Gossip-based computation
of aggregate information: Push-Sum).

A node has a mass, at first its value, and a weight, at first 1. In each round it keeps half of both, sends
the other half to a random neighbour, and adds what it gets. No mass is lost, so that mass by weight tends to
the average at all nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.lab.calls import called

GREATEST = 2.0**900
"""Largest value, of which sums are finite."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    input: NDArray[np.float64]
    mass: NDArray[np.float64]
    average: NDArray[np.float64]
    weight: NDArray[np.float64] = bsp.per_node(1.0)


@dataclass(frozen=True)
class PushSum(bsp.Kernel):
    """Averages by calls to random neighbours; on a connected graph.

    Outputs ``average``, each node's estimate of the average of all values; ``mass`` and ``weight``, whose
    quotient it is; and ``input``, the value of each node; float64. In each round masses add up to the sum of
    all values, to within rounding, and weights to n: sums are taken by ascending sender, so that all have the
    same bits on any cut.

    The run ends when estimates are close together. No node finds that out: the votes of the run, which are
    not messages, say it. A message that is lost takes its mass along.

    Parameters
    ----------
    inputs
        The value of each node, at most 2^900; by default its degree.
    tolerance
        Stop when no two estimates differ by more than the largest absolute value times this.
    iterations
        Rounds at most.

    Notes
    -----
    Rounds: at most ``iterations``. On a complete graph O(log n + log(1 / tolerance)) are enough with high
    probability (Kempe et al.).

    Messages: at most ``n * rounds``: each node sends one in each round.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> ds = dgsuite.run("push_sum", graph, inputs=[1.0, 2.0, 6.0], tolerance=0.01)
    >>> ds.average.values.round(2)
    array([3., 3., 3.])
    >>> float(ds.mass.sum())
    9.0
    """

    inputs: Sequence[float] | None = None
    tolerance: float = 1e-6
    iterations: int = 1000

    name = "push_sum"
    streams = True
    outputs = {
        "average": bsp.Output("estimate of the average"),
        "mass": bsp.Output("share of the sum of all values"),
        "weight": bsp.Output("share of the number of nodes"),
        "input": bsp.Output("value of the node"),
    }
    fields = {"mass": np.float64, "weight": np.float64}
    needs = ("connected",)
    state = State
    along_edges = True

    def check(self, c: bsp.Cluster) -> str | None:
        if not self.tolerance >= 0:
            return f"tolerance must be at least 0, got {self.tolerance}"
        if self.iterations < 1:
            return f"iterations must be at least 1, got {self.iterations}"
        if self.inputs is None:
            return None
        if len(self.inputs) != c.n:
            return f"inputs must have one for each of {c.n} nodes, got {len(self.inputs)}"
        given = np.asarray(self.inputs, np.float64)[c.ids]
        if (wrong := np.flatnonzero(~(np.abs(given) <= GREATEST))).size:
            at = wrong[0]
            return f"inputs must be from -2^900 to 2^900, got {given[at]} for node {c.ids[at]}"
        return None

    def start(self, c: bsp.Cluster) -> State:
        given = c.degree if self.inputs is None else np.asarray(self.inputs)[c.ids]
        own = given.astype(np.float64)
        return State.of(c, input=own, mass=own.copy(), average=own.copy())

    def program(self, net: bsp.Net) -> bsp.Program:
        largest = yield bsp.Round(self.measure, opening=True)
        for _ in range(self.iterations):
            reply = yield bsp.Round(self.push, self.add)
            if net.n and reply.max - reply.min <= self.tolerance * largest.max:
                return

    def measure(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        return bsp.vote(max=np.abs(s.input))

    def push(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes = np.flatnonzero(c.degree > 0)
        s.mass[nodes] /= 2
        s.weight[nodes] /= 2
        to = called(c, nodes, self.seed, inbox.round)
        return bsp.unicast(to, nodes, mass=s.mass[nodes], weight=s.weight[nodes])

    def add(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        s.mass += inbox.totals("mass")
        s.weight += inbox.totals("weight")
        np.divide(s.mass, s.weight, out=s.average, where=s.weight > 0)  # it may underflow
        return bsp.vote(min=s.average, max=s.average)
