"""Kernels of few nodes that send more messages than 32 bits can count. Importable by name on workers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dgsuite.kernels.bsp import Finish, Program, announce, broadcast, known, ship, unicast
from dgsuite.kernels.bsp.rounds import spawn
from dgsuite.partition.clusters.cluster import Links
from tests.support.toys import Toy

TIMES = 1 << 30


@dataclass(frozen=True)
class Loud(Toy):
    """Every node sends in one of the ways that there are, counted in 32 bits where the kernel counts."""

    how: str = "repeat"

    def send(self, c, s, inbox):
        times = c.full(TIMES, np.int32)
        links = Links(c)
        links.degree[:] = links.remote[:] = TIMES
        to, four = np.zeros(c.size, np.int8), c.full(4, np.int8)
        return {
            "repeat": lambda: broadcast(value=c.ids, repeat=times),
            "to": lambda: broadcast(value=c.ids, to=(times, times)),
            "links": lambda: broadcast(value=c.ids, links=links),
            "links and repeat": lambda: broadcast(value=c.ids, links=links, repeat=four),
            "plain": lambda: broadcast(value=c.ids),
            "known": lambda: known(0),
            "announce": lambda: announce(np.arange(c.size), value=c.ids),
            "ship": lambda: ship(to, value=c.ids),
            "unicast": lambda: unicast(c.successor, value=c.ids),
            "to itself": lambda: unicast(c.ids // 2 * 2, value=c.ids),
        }[self.how]()


@dataclass(frozen=True)
class LoudTasks(Toy):
    """Every node spawns tasks that each stand for many of the original's, at its neighbours or at itself."""

    form = "recursive"
    to_self: bool = False

    def program(self, net) -> Program:
        yield Finish(self.go)

    def go(self, c, s, inbox):
        nodes = np.arange(c.size)
        at, ends = (nodes, c.ids) if self.to_self else c.edges(nodes)
        return spawn(self.end, ends, by=nodes, at=at, repeat=c.full(TIMES, np.int32))

    def end(self, c, s, inbox):
        return None
