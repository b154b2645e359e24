"""Event-driven kernels: what a delivered message costs, and thousands of executions at once.

python benchmarks/events.py [--nodes N] [--edges M] [--turns T] [--times K]

A flood along the edges, once in rounds and once by events with uniform delays of 1 to 10 ticks and a loss of
1 %, in turns, in this process: seconds for each delivered message. Then K executions of Paxos with five nodes
under loss and crashes, and K / 10 groups of five that elect a leader by Raft.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from common import Options, record
from numpy.typing import NDArray

import dgsuite
from dgsuite import genval
from dgsuite.kernels import bsp
from dgsuite.kernels.events.kernel import EventKernel, Events, EventState

MOST, SECONDS = 3.0, 60.0
"""Times of the synchronous run per message; seconds for 10,000 executions of Paxos."""


@dataclass(eq=False)
class State(EventState):
    """Whether a node has been told."""

    told: NDArray[np.bool_] = bsp.per_node(False)


@dataclass(frozen=True)
class Flood(EventKernel):
    """Node 0 tells its neighbours; a node that is told for the first time does the same."""

    name = "flood"
    at_once = True
    outputs = {"told": bsp.Output("1 if the node has been told")}
    fields = {"hops": np.int32}
    state = State

    def on_start(self, c: bsp.Cluster, s: State, e: Events) -> bsp.Unicast:
        return self.tell_all(c, s, c.local(0))

    def on_message(self, c: bsp.Cluster, s: State, e: Events) -> bsp.Unicast:
        told = np.zeros(c.size, bool)
        told[e.node] = True
        return self.tell_all(c, s, np.flatnonzero(told & ~s.told))

    def tell_all(self, c: bsp.Cluster, s: State, nodes: NDArray) -> bsp.Unicast:
        s.told[nodes] = True
        return self.tell(c, nodes, hops=1)


@dataclass(frozen=True)
class FloodInRounds(bsp.Kernel):
    """The same in rounds."""

    name = "flood_in_rounds"
    obeys = bsp.Model("edges", None, "control")
    outputs = Flood.outputs
    fields = {"hops": np.int32}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.act, after=bsp.Round(self.begin))

    def begin(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        s.told[c.local(0)] = True
        return bsp.broadcast(c.local(0), hops=1), bsp.vote(any=True)

    def act(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        nodes = inbox.receivers()
        new = nodes[~s.told[nodes]]
        s.told[new] = True
        return bsp.broadcast(new, hops=1), bsp.vote(any=len(new) > 0)


def flood(nodes: int, edges: int, turns: int) -> None:
    """Time per delivered message, each way in turn."""
    ends = np.random.default_rng(1).integers(0, nodes, (2, edges))
    graph = dgsuite.Graph.from_edges(*ends, n=nodes, duplicates="min", clusters=1)
    late = dgsuite.Network(delay=("uniform", 1, 10), loss=0.01)
    lossy = dgsuite.Network(loss=0.01)
    ways: dict[str, tuple[Any, Any]] = {
        "rounds": (FloodInRounds, None),
        "rounds, 1 % loss": (FloodInRounds, lossy),
        "events, delays and 1 % loss": (Flood, late),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(turns + 1):  # the first one does not count
        for name, (kernel, network) in ways.items():
            ds = dgsuite.run(kernel, graph, style="serial", network=network)
            arrived = int(ds.messages.sum()) - (int(ds.lost.sum()) if network else 0)
            if turn:
                found[name].append(float(ds.attrs["seconds"]) / arrived)
    on = {"nodes": nodes, "edges": edges, "clusters": 1}
    for name, times in found.items():
        record("a delivered message", [1e9 * t for t in times], "ns", run=name, **on)
    *_, late_times = found.values()
    for name in [*ways][:2]:
        ratios = [mine / other for mine, other in zip(late_times, found[name], strict=True)]
        most = MOST if nodes >= 1_000_000 else None
        record("per message, of that in rounds", ratios, "x", most=most, run=name, **on)


def at_once(times: int, turns: int) -> None:
    """Many executions of a group of five."""
    five = genval.graph("cplt", 5, clusters=1)
    faults = dgsuite.Network(delay=("uniform", 1, 6), loss=0.05, crashes=0.005)
    for kernel, count, most in (("paxos", times, SECONDS), ("raft", times // 10, None)):
        seconds = []
        for _ in range(turns):
            begin = perf_counter()
            dgsuite.lab.repeat(kernel, five, count, network=faults, validate=False)
            seconds.append(perf_counter() - begin)
        bound = most if times >= 10_000 else None
        record("executions at once", seconds, "s", most=bound, run=kernel, times=count)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--nodes", 1_000_000, 2_000)
    options.size("--edges", 5_000_000, 10_000)
    options.size("--turns", 3, 1)
    options.size("--times", 10_000, 50)
    with options.recorded(arguments) as given:
        flood(given.nodes, given.edges, given.turns)
        at_once(given.times, given.turns)


if __name__ == "__main__":
    main()
