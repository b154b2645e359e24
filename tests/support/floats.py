"""Small kernels that vote, sum and combine floats. Importable by name on workers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dgsuite.kernels.bsp import Finish, Program, Round, State, broadcast, unicast, vote
from dgsuite.kernels.bsp.rounds import spawn
from dgsuite.partition.clusters.subset import Subset
from tests.support.toys import Toy, named


def draws(nodes):
    """A float a node, of either sign and very different sizes."""
    return (nodes * 7919 % 1009 - 504) * 10.0 ** (nodes * 31 % 40 - 20) / 7


@dataclass(frozen=True)
class FloatVotes(Toy):
    """The reply to floats is exact, rounded once, as if all nodes were in one cluster."""

    def program(self, net) -> Program:
        values = draws(np.arange(net.n))
        for _ in range(2):
            reply = yield Round(self.cast)
            assert reply.sum == math.fsum(values)
            assert reply.min == values.min()
            assert reply.max == values.max()
            assert reply.any

    def cast(self, c, s, inbox):
        values = draws(c.ids)
        return vote(sum=values, min=values, max=values, any=c.ids == 0)


@dataclass(frozen=True)
class FloatSums(Toy):
    """Sums of floats that neighbours broadcast: all of them, every third, and a few."""

    fields: ClassVar = {"value": np.float64, "half": np.float32, "count": np.int32}
    outputs: ClassVar = named("all", "third", "few", "half", "count", "totals", "thirds", "counts")

    def program(self, net) -> Program:
        yield Round(self.send, self.read, self.read_third, self.read_few)

    def start(self, c) -> State:
        return State(**{name: c.zeros(float) for name in self.outputs})

    def say(self, c, part):
        nodes = np.flatnonzero(c.ids % part == 0)
        values = draws(c.ids[nodes])
        return broadcast(nodes, value=values, half=values, count=np.int64(2**31 - 1))

    def send(self, c, s, inbox):
        return self.say(c, 1)

    def read(self, c, s, inbox):
        for name, field in (("all", "value"), ("half", "half"), ("count", "count")):
            nodes, sums = inbox.sum(field)
            getattr(s, name)[nodes] = sums
        s.totals, s.counts = inbox.totals("value"), inbox.totals("count")
        return self.say(c, 3)

    def read_third(self, c, s, inbox):
        nodes, sums = inbox.sum("value", among=Subset(c.ids % 2 == 0))
        s.third[nodes] = sums
        s.thirds = inbox.totals("value")
        return self.say(c, 40)

    def read_few(self, c, s, inbox):
        nodes, sums = inbox.sum("value")
        s.few[nodes] = sums


@dataclass(frozen=True)
class FoldedFloats(Toy):
    """Floats to node id // 5, from several nodes of several clusters, added by a combiner."""

    fields: ClassVar = {"value": np.float64}
    outputs: ClassVar = named("got", "listed")

    def program(self, net) -> Program:
        yield Round(self.send, self.read)
        yield Round(self.list_, self.read_list)

    def start(self, c) -> State:
        return State(got=c.zeros(float), listed=c.zeros(float))

    def messages(self, c, combine):
        src = np.repeat(np.arange(c.size), 3)
        dst = (c.ids[src] // 5 + np.arange(len(src)) % 3 * 7) % c.n
        return unicast(dst, src, value=draws(c.ids[src]), combine=combine)

    def send(self, c, s, inbox):
        return self.messages(c, "sum")

    def read(self, c, s, inbox):
        s.got[inbox.node] = inbox["value"]

    def list_(self, c, s, inbox):
        return self.messages(c, None)

    def read_list(self, c, s, inbox):
        nodes, sums = inbox.sum("value")
        s.listed[nodes] = sums
        assert (sums == s.got[nodes]).all()


@dataclass(frozen=True)
class SpawnedFloats(Toy):
    """Each node has the node of its id // 5 add a float."""

    form: ClassVar[str] = "recursive"
    fields: ClassVar = {"value": np.float64}

    def program(self, net) -> Program:
        yield Finish(self.send)

    def start(self, c) -> State:
        return State(got=c.zeros(float))

    def send(self, c, s, inbox):
        nodes = np.arange(c.size)
        return spawn(self.read, c.ids // 5, by=nodes, value=draws(c.ids), combine="sum")

    def read(self, c, s, inbox):
        s.got[inbox.node] = inbox["value"]


@dataclass(frozen=True)
class Vectors(Toy):
    """Reductions of a broadcast of vectors, and of truth values and half floats."""

    fields: ClassVar = {"value": np.float64, "yes": bool, "half": np.float16}
    outputs: ClassVar = named("least", "most", "total", "some", "half")

    def widths(self, n):
        return {"value": 3}

    def start(self, c) -> State:
        return State(**{name: c.zeros(float) for name in self.outputs})

    def send(self, c, s, inbox):
        values = np.stack([draws(c.ids), draws(c.ids + 3), draws(c.ids + 50)], axis=1)
        return broadcast(value=values, yes=c.ids % 7 == 0, half=c.ids % 100 / 8)

    def read(self, c, s, inbox):
        for name, op in (("least", inbox.min), ("most", inbox.max), ("total", inbox.sum)):
            nodes, values = op("value")
            assert values.shape == (len(nodes), 3)
            getattr(s, name)[nodes] = values.sum(axis=1)
        nodes, some = inbox.max("yes")
        s.some[nodes] = some
        nodes, half = inbox.max("half")
        s.half[nodes] = half
