"""Rumours that spread by calls to random neighbours (Karp, Schindelhauer, Shenker and Voecking 2000,
Randomized rumor spreading; Demers et al. 1987, Epidemic algorithms for replicated database maintenance).

In each round a node calls a neighbour, each with the same probability. A caller that knows the rumour pushes
it to the node that it calls; one that does not pulls it from there. A node that hears of it in a round passes
it on from the next round on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.lab.calls import called


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    informed: NDArray[np.int32] = bsp.per_node(-1, np.int32)


@dataclass(frozen=True)
class Gossip(bsp.Kernel):
    """How a rumour gets around by calls to random neighbours; on a connected graph.

    Outputs ``informed``: the number of rounds after which the node knows the rumour, 0 at the root. The run
    ends when all nodes know it. No node finds that out: the votes of the run, which are not messages, say it.
    Where a node has crashed before it knows, the run goes on to `max_rounds`.

    Parameters
    ----------
    root
        The node that knows the rumour first.
    mode
        "push": nodes that know it call. "pull": nodes that do not know it call. "push-pull": all call.

    Notes
    -----
    Rounds: no bound that holds for each seed. On a complete graph "push" takes about ``log2(n) + ln(n)``
    (Pittel 1987, On spreading a rumor), and "push-pull" O(log log n) more than ``log3(n)`` (Karp et al.).

    Messages: at most ``2 * n * rounds``: a call, and an answer to a call that asks for the rumour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    >>> dgsuite.run("gossip", graph, root=1).informed.values
    array([1, 0, 2, 2, 2], dtype=int32)
    >>> dgsuite.run("gossip", graph, root=0, mode="push").informed.values
    array([0, 1, 8, 4, 2], dtype=int32)
    """

    root: bsp.Node = bsp.FIRST
    mode: Literal["push", "pull", "push-pull"] = "push-pull"

    name = "gossip"
    streams = True
    outputs = {"informed": bsp.Output("rounds after which it knows the rumour, -1 if it does not")}
    fields = {"knows": np.bool_}
    needs = ("connected",)
    state = State
    along_edges = True

    def check(self, c: bsp.Cluster) -> str | None:
        return bsp.no_node("root", self.root, c.n)

    def start(self, c: bsp.Cluster) -> State:
        state = State.of(c)
        state.informed[c.local(self.root)] = 0
        return state

    def program(self, net: bsp.Net) -> bsp.Program:
        if net.n > 1:
            answered = () if self.mode == "push" else (self.answer,)
            yield from bsp.until_quiet(self.call, *answered, self.hear)

    def call(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        knows = s.informed >= 0
        calls = {"push": knows, "pull": ~knows, "push-pull": knows | True}[self.mode]
        callers = np.flatnonzero(calls & (c.degree > 0))
        to = called(c, callers, self.seed, inbox.round)
        return bsp.unicast(to, callers, knows=knows[callers])

    def answer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """Nodes that knew before this round tell those that ask; others hear of it from callers that know."""
        node, knows = inbox.node, inbox["knows"]
        asked = ~knows & (s.informed[node] >= 0)
        self.learn(s, node[knows], inbox.round)
        return bsp.unicast(inbox.src[asked], node[asked], knows=True)

    def hear(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        self.learn(s, inbox.receivers(), inbox.round)
        return bsp.vote(any=s.informed < 0)

    def learn(self, s: State, nodes: NDArray, number: int) -> None:
        s.informed[nodes[s.informed[nodes] < 0]] = number + 1
