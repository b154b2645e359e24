"""Small kernels that are wrong, fail, or take long. Importable by name on workers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.partition.clusters.cluster import Links
from dgsuite.partition.clusters.subset import Subset
from tests.support.toys import Toy


@dataclass(frozen=True)
class Refuses(Toy):
    """Takes no cluster that has node 0."""

    def check(self, c) -> str | None:
        return "refuses node 0" if 0 in c.ids else None


@dataclass(frozen=True)
class Endless(Toy):
    """Goes on for ever: its program asks for another round whatever is voted."""

    def program(self, net) -> bsp.Program:
        while (yield bsp.Round(self.send, self.read)).sum:
            pass

    def read(self, c, s, inbox):
        return bsp.vote(sum=c.size)


@dataclass(frozen=True)
class Greedy(Toy):
    """Node 0's cluster takes memory until its worker is killed."""

    def read(self, c, s, inbox):
        taken = []
        while len(c.local(0)):
            taken.append(np.ones(1 << 21))
            time.sleep(0.02)
        return bsp.vote(sum=c.size)


@dataclass(frozen=True)
class EndlessTasks(Toy):
    """Each task spawns another at the next node, perhaps until one fails."""

    form: ClassVar[str] = "recursive"
    fail_at: int = -1

    def program(self, net) -> bsp.Program:
        yield bsp.Finish(self.send)

    def send(self, c, s, inbox):
        return bsp.spawn(self.read, c.ids[:1], by=np.arange(c.size)[:1])

    def read(self, c, s, inbox):
        if inbox.round == self.fail_at:
            raise ZeroDivisionError("on purpose")
        return bsp.spawn(self.read, (c.ids[inbox.node] + 1) % c.n, by=inbox.node)


@dataclass(frozen=True)
class BadProgram(Toy):
    """A program that is none, or reads a vote that no cluster cast."""

    what: str = "list"

    def program(self, net):
        return getattr(self, "_" + self.what.replace(" ", "_"))(net)

    def _list(self, net):
        return [bsp.Round(self.send), bsp.Round(self.read)]

    def _nothing(self, net):
        return None

    def _phase(self, net):
        yield self.send

    def _unvoted(self, net):
        reply = yield bsp.Round(self.send, self.cast)
        while reply.sum:
            yield bsp.Round(self.read)

    def _unvoted_at_all(self, net):
        reply = yield bsp.Round(self.send)
        while not reply.any:
            yield bsp.Round(self.read)

    def _no_phases(self, net):
        yield bsp.Round()

    def _nameless_phase(self, net):
        yield bsp.Round(self.send, lambda c, s, inbox: None)

    def _too_many_phases(self, net):
        yield bsp.Round(*[self.send] * 32_768)

    def _list_of_phases(self, net):
        yield bsp.Round([self.send, self.read])

    def cast(self, c, s, inbox):
        return bsp.vote(any=True)


@dataclass(frozen=True)
class Unfit(Toy):
    """Sends, in some kind of message, a value that a field cannot hold."""

    fields: ClassVar = {"value": np.int64, "small": np.int8, "half": np.float32, "yes": bool}
    kind: str = "broadcast"
    field: str = "value"
    number: float = 0.5

    def send(self, c, s, inbox):
        fields = {self.field: np.where(c.ids == c.n - 1, self.number, 1)}
        if self.kind == "unicast":
            return bsp.unicast(c.ids, **fields)
        if self.kind == "announce":
            return bsp.announce(np.arange(c.size), **fields)
        if self.kind == "ship":
            return bsp.ship(np.zeros(c.size, int), **fields)
        return bsp.broadcast(**fields)


SHARED = np.zeros(100, int)


@dataclass(frozen=True)
class Sly(Toy):
    """Does what only a checked run sees."""

    obeys: ClassVar = bsp.Model("edges", None, "data")
    what: str = "nothing"

    def start(self, c) -> bsp.State:
        more = {"shared": SHARED} if self.what == "state" else {}
        return bsp.State(got=c.full(-1), care=Subset(c.ids >= 0), **more)

    def send(self, c, s, inbox):
        if self.what == "graph":
            c.degree[0] += 1
        if self.what == "beside":
            return bsp.unicast((c.ids + 2) % c.n, value=1)
        if self.what == "repeat":
            return bsp.broadcast(repeat=c.full(-1), value=1)
        if self.what == "links":
            links = Links(c)
            links.degree += 1
            return bsp.broadcast(links=links, value=1)
        return bsp.broadcast(value=2**62, half=np.where(c.ids == 0, np.nan, 1))

    def read(self, c, s, inbox):
        if self.what == "set":
            s.care.mask[0] = False
        if self.what == "output":
            s.got = 3
        {
            "set": lambda: inbox.receivers(among=s.care),
            "size": lambda: inbox.count(among=Subset(np.ones(c.size + 1, bool))),
            "counts": lambda: inbox.count_down(c.zeros(float)),
            "least": lambda: inbox.min("half"),
            "minima": lambda: inbox.local_minima("half", c.zeros(float)),
            "sum": lambda: inbox.sum("value"),
            "entries": lambda: inbox.along("value", np.array([-1])),
            "written": lambda: inbox["value"].fill(0),
        }.get(self.what, lambda: None)()


@dataclass(frozen=True)
class Fails(Toy):
    """Fails in one cluster, round 3."""

    def program(self, net) -> bsp.Program:
        for _ in range(5):
            yield bsp.Round(self.send)

    def send(self, c, s, inbox):
        if inbox.round == 3 and c.index == c.partition.clusters - 1:
            raise ZeroDivisionError("no such luck")


@dataclass(frozen=True)
class Sleeps(Toy):
    """Takes its time, and votes, so that every round is joined."""

    rounds: int = 3
    nap: float = 0.01

    def program(self, net) -> bsp.Program:
        for _ in range(self.rounds):
            reply = yield bsp.Round(self.send)
            assert reply.any

    def send(self, c, s, inbox):
        time.sleep(self.nap)
        return bsp.vote(any=True)


@dataclass(frozen=True)
class Wrong(Toy):
    """Sends something that cannot be sent."""

    what: str = "missing node"

    def send(self, c, s, inbox):
        two = np.arange(2)
        return {
            "missing node": lambda: bsp.unicast(c.full(c.n), value=1),
            "negative node": lambda: bsp.unicast(c.full(-1), value=1),
            "no sender": lambda: bsp.unicast(np.zeros(c.size + 1, int), value=1),
            "unknown field": lambda: bsp.unicast(c.ids, colour=1),
            "wrong length": lambda: bsp.unicast(c.ids, value=np.zeros(c.size + 1)),
            "two kinds": lambda: (bsp.unicast(c.ids, value=1), bsp.broadcast(value=1)),
            "nonsense": lambda: "hello",
            "known to one": lambda: bsp.known(1) if c.index else bsp.known(2),
            "unknown to one": lambda: bsp.known(1) if c.index else None,
            "known from nowhere": lambda: bsp.known(c.n),
            "missing sender": lambda: bsp.unicast(c.ids, np.arange(c.size) + 1, value=1),
            "negative sender": lambda: bsp.unicast(c.ids, np.arange(c.size) - 1, value=1),
            "too few senders": lambda: bsp.unicast(c.ids, np.arange(c.size)[:1], value=1),
            "float receivers": lambda: bsp.unicast(c.ids + 0.5, value=1),
            "unsorted senders": lambda: bsp.broadcast(np.arange(c.size)[::-1], value=1),
            "repeated senders": lambda: bsp.broadcast(np.arange(c.size) // 2, value=1),
            "a mask of senders": lambda: bsp.broadcast(c.ids > 0, value=1),
            "far senders": lambda: bsp.broadcast(np.array([0, 10**9, 1]), value=1),
            "missing cluster": lambda: bsp.ship(c.ids * 0 + 99, value=1),
            "missing announcer": lambda: bsp.announce(np.array([c.size]), value=1),
            "unsorted lists": lambda: bsp.share(np.array([1, 0]), np.array([1, 1]), value=[1, 2]),
            "a negative length": lambda: bsp.share(two, np.array([3, -1]), value=[1, 2]),
            "lists too short": lambda: bsp.share(two, np.array([1, 2]), value=[1, 2]),
            "lists without lengths": lambda: bsp.share(two, np.array([2]), value=[1, 2]),
            "or of floats": lambda: bsp.unicast(c.ids, half=1.5, combine="or"),
            "other combiners": lambda: bsp.unicast(c.ids, value=1, combine=("sum", "or")[c.index]),
            "a sum too large": lambda: bsp.unicast(c.ids * 0, count=2**30, combine="sum"),
            "absent sender": lambda: bsp.broadcast(np.array([c.size]), value=1),
            "sender below 0": lambda: bsp.broadcast(np.array([-1]), value=1),
            "backwards": lambda: bsp.broadcast(value=1, backwards=True),
            "unknown combiner": lambda: bsp.unicast(c.ids, value=1, combine="mean"),
        }[self.what]()
