"""Small kernels, each made to catch one kind of engine fault. Importable by name on workers."""

from __future__ import annotations

import math
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from kernels.base import (
    Finish,
    Kernel,
    Output,
    Program,
    Round,
    State,
    announce,
    broadcast,
    known,
    share,
    ship,
    unicast,
    until_quiet,
    vote,
)
from kernels.recursion import spawn
from partition.cluster import Links
from partition.subset import Subset


@dataclass(frozen=True)
class Toy(Kernel):
    """One round of two phases: `send`, then `read`."""

    name: ClassVar[str] = "toy"
    outputs: ClassVar = {"got": Output("what arrived")}
    fields: ClassVar = {"value": np.int64, "half": np.float32, "count": np.int32}

    def program(self, net) -> Program:
        yield Round(self.send, self.read)

    def start(self, c) -> State:
        return State(value=c.ids.copy(), got=c.full(-1))

    def send(self, c, s, inbox):
        return None

    def read(self, c, s, inbox):
        return None


@dataclass(frozen=True)
class MutatesAfterSending(Toy):
    """Sends its state itself, then changes it: receivers must get what was sent."""

    def program(self, net) -> Program:
        yield Round(self.send, self.read)

    def send(self, c, s, inbox):
        message = unicast((c.ids + 1) % c.n, value=s.value)
        s.value = s.value.copy()
        return message

    def read(self, c, s, inbox):
        got = inbox["value"].copy()
        s.value[:] = -7
        s.got[inbox.node] = got


@dataclass(frozen=True)
class MutatesInPlace(Toy):
    """Two rounds over one array that is sent in the first and overwritten in the second."""

    def program(self, net) -> Program:
        yield Round(self.send, self.read)
        yield Round(self.add)

    def send(self, c, s, inbox):
        return broadcast(value=s.value)

    def read(self, c, s, inbox):
        s.value += 1000
        nodes, least = inbox.min("value")
        s.got[nodes] = least
        return unicast((c.ids + 1) % c.n, value=s.value)

    def add(self, c, s, inbox):
        s.value[:] = 0
        s.got[inbox.node] += inbox["value"]


@dataclass(frozen=True)
class Order(Toy):
    """Everyone writes to node 0 and to the last node: the order of arrival must be by sender."""

    def send(self, c, s, inbox):
        src = np.repeat(np.arange(c.size), 2)[::-1]
        dst = np.where(np.arange(len(src)) % 2 == 0, 0, c.n - 1)
        return unicast(dst, src, value=c.ids[src])

    def read(self, c, s, inbox):
        for node in np.unique(inbox.node):
            mine = inbox.node == node
            order = inbox["value"][mine]
            assert (inbox.src[mine] == order).all()
            s.got[node] = int((order[1:] >= order[:-1]).all()) * 100 + len(order)


@dataclass(frozen=True)
class Folded(Toy):
    """Messages to node id // 3, folded by a combiner on the way."""

    combine: str = "min"

    def send(self, c, s, inbox):
        return unicast(c.ids // 3, value=c.ids + 5, combine=self.combine)

    def read(self, c, s, inbox):
        assert len(np.unique(inbox.node)) == len(inbox)
        s.got[inbox.node] = inbox["value"]


@dataclass(frozen=True)
class Reductions(Toy):
    """All that an inbox can say of a broadcast by every third node."""

    outputs: ClassVar = {
        name: Output(name) for name in ("least", "most", "total", "count", "away", "first", "mail")
    }

    def start(self, c) -> State:
        return State(value=(c.ids * 7919) % 1009, **{name: c.full(-1) for name in self.outputs})

    def send(self, c, s, inbox):
        nodes = np.flatnonzero(c.ids % 3 == 0)
        return broadcast(nodes, value=s.value[nodes])

    def read(self, c, s, inbox):
        care = Subset(c.ids % 2 == 0)
        for name, op in (("least", inbox.min), ("most", inbox.max), ("total", inbox.sum)):
            nodes, values = op("value", among=care)
            getattr(s, name)[nodes] = values
        s.least[inbox.local_minima("value", s.value, among=care)] += 5000
        nodes, counts, _ = inbox.count(among=care)
        s.count[nodes] = counts
        nodes, counts, away = inbox.count()
        assert (away <= counts).all()
        s.away[nodes] = counts
        receivers = inbox.receivers()
        assert (receivers == nodes).all()
        node = inbox.node
        s.first[node[::-1]] = inbox.src[::-1]
        s.mail[:] = np.bincount(node, inbox["value"], c.size)


@dataclass(frozen=True)
class EmptyInbox(Toy):
    """Nobody sends; the inbox is empty, of the declared dtypes, and the clock still ticks."""

    outputs: ClassVar = {"got": Output("rounds seen")}

    def program(self, net) -> Program:
        for _ in range(3):
            yield Round(self.read)

    def read(self, c, s, inbox):
        assert len(inbox) == 0
        assert inbox["value"].dtype == np.int64
        assert inbox["half"].dtype == np.float32
        assert inbox.min("half")[1].dtype == np.float32
        assert len(inbox.node) == len(inbox.src) == len(inbox.receivers()) == 0
        s.got[:] = inbox.round


BOTH = threading.Barrier(2)


@dataclass(frozen=True)
class Meets(Toy):
    """In each phase two clusters of a process must compute at once."""

    def send(self, c, s, inbox):
        BOTH.wait(10)

    def read(self, c, s, inbox):
        BOTH.wait(10)
        s.got[:] = 1


@dataclass(frozen=True)
class Carries(Toy):
    """Rounds carry values made from votes, to the phases that have a parameter for them."""

    bad: str = ""

    def program(self, net) -> Program:
        low = yield Round(self.lowest)
        while low.min < 40:
            yield Round(self.send, self.read, least=low.min, factor=low.sum)
            low = yield from until_quiet(self.climb, ceiling=2 * low.min + 9, closing=True)
        if self.bad == "unused":
            yield Round(self.send, self.read, least=1, factor=1, nobody=1)
        if self.bad == "missing":
            yield Round(self.send, self.read, least=1)

    def lowest(self, c, s, inbox):
        return vote(min=s.value, sum=s.value % 5)

    def send(self, c, s, inbox, factor):
        return broadcast(value=s.value * factor)

    def read(self, c, s, inbox, least, factor):
        nodes, sums = inbox.sum("value")
        s.got[nodes] += sums + 1000 * least + factor

    def climb(self, c, s, inbox, ceiling):
        s.value += s.value < ceiling
        return vote(any=s.value < ceiling, min=s.value, sum=s.value % 5)


@dataclass(frozen=True)
class CarriesAmongTasks(Carries):
    """As `Carries`, with tasks between the rounds."""

    form: ClassVar[str] = "recursive"

    def program(self, net) -> Program:
        yield Finish(self.launch)
        yield from super().program(net)

    def launch(self, c, s, inbox):
        return spawn(self.arrive, (c.ids + 1) % c.n, by=np.arange(c.size))

    def arrive(self, c, s, inbox):
        s.got[inbox.node] = 0


@dataclass(frozen=True)
class Votes(Toy):
    """The reply is the same everywhere and is what the clusters voted."""

    def program(self, net) -> Program:
        reply = yield Round(self.cast)
        assert reply.sum == net.n
        assert reply.min == 0
        assert reply.max == net.n - 1
        assert reply.any
        reply = yield Round(self.none_of_all)
        assert (reply.sum, reply.min, reply.max, reply.any) == (0, None, None, False)

    def cast(self, c, s, inbox):
        if not c.size:
            return None
        return vote(sum=c.size, min=c.ids.min(), max=c.ids.max(), any=0 in c.ids)

    def none_of_all(self, c, s, inbox):
        return vote(sum=0, min=None, max=[], any=False)


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
class Endless(Toy):
    """Goes on for ever: its program asks for another round whatever is voted."""

    def program(self, net) -> Program:
        while (yield Round(self.send, self.read)).sum:
            pass

    def read(self, c, s, inbox):
        return vote(sum=c.size)


@dataclass(frozen=True)
class EndlessTasks(Toy):
    """Each task spawns another at the next node."""

    form: ClassVar[str] = "recursive"

    def program(self, net) -> Program:
        yield Finish(self.send)

    def send(self, c, s, inbox):
        return spawn(self.read, c.ids[:1], by=np.arange(c.size)[:1])

    def read(self, c, s, inbox):
        return spawn(self.read, (c.ids[inbox.node] + 1) % c.n, by=inbox.node)


GATES = {2: threading.Barrier(2, timeout=20)}
"""By number of threads, what opens when as many of a process have come."""


@dataclass(frozen=True)
class MeetingTasks(Toy):
    """Tasks of different clusters wait for each other, in a launch and under a finish."""

    form: ClassVar[str] = "recursive"

    def program(self, net) -> Program:
        yield Finish(self.send)

    def send(self, c, s, inbox):
        GATES[2].wait()
        return spawn(self.read, (c.ids + c.n // 2) % c.n, by=np.arange(c.size))

    def read(self, c, s, inbox):
        GATES[2].wait()
        s.got[inbox.node] = inbox.node


@dataclass(frozen=True)
class Stamps(Toy):
    """When each cluster computed each of two phases: nanoseconds of one clock for all processes."""

    outputs: ClassVar = {
        f"{name}_{end}": Output(f"{end} of {name}")
        for name in ("send", "read")
        for end in ("begin", "end")
    }

    def start(self, c) -> State:
        return State(**{name: c.full(-1) for name in self.outputs})

    def send(self, c, s, inbox):
        self._stamp("send", s)
        return broadcast(value=c.ids)

    def read(self, c, s, inbox):
        self._stamp("read", s)

    def _stamp(self, name, s):
        getattr(s, f"{name}_begin")[:] = time.monotonic_ns()
        time.sleep(0.01)
        getattr(s, f"{name}_end")[:] = time.monotonic_ns()


@dataclass(frozen=True)
class BadProgram(Toy):
    """A program that is none, or reads a vote that no cluster cast."""

    what: str = "list"

    def program(self, net):
        return getattr(self, "_" + self.what.replace(" ", "_"))(net)

    def _list(self, net):
        return [Round(self.send), Round(self.read)]

    def _nothing(self, net):
        return None

    def _phase(self, net):
        yield self.send

    def _unvoted(self, net):
        reply = yield Round(self.send, self.cast)
        while reply.sum:
            yield Round(self.read)

    def _unvoted_at_all(self, net):
        reply = yield Round(self.send)
        while not reply.any:
            yield Round(self.read)

    def _no_phases(self, net):
        yield Round()

    def _list_of_phases(self, net):
        yield Round([self.send, self.read])

    def cast(self, c, s, inbox):
        return vote(any=True)


@dataclass(frozen=True)
class FloatSums(Toy):
    """Sums of floats that neighbours broadcast: all of them, every third, and a few."""

    fields: ClassVar = {"value": np.float64, "half": np.float32, "count": np.int32}
    outputs: ClassVar = {
        name: Output(name)
        for name in ("all", "third", "few", "half", "count", "totals", "thirds", "counts")
    }

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
class Some(Toy):
    """Some nodes broadcast their numbers, from 1 on; whether the engine sees that all did that could."""

    speaks: tuple[bool, ...] = ()
    adds_all: ClassVar[bool] = True
    fields: ClassVar = {"value": np.float64}
    outputs: ClassVar = {name: Output(name) for name in ("total", "least", "full")}

    def start(self, c):
        return State(total=c.zeros(), least=c.zeros(), full=c.zeros(bool))

    def send(self, c, s, inbox):
        nodes = np.flatnonzero(np.array(self.speaks)[c.ids])
        return broadcast(nodes, value=c.ids[nodes] + 1)

    def read(self, c, s, inbox):
        s.total = inbox.totals("value")
        nodes, least = inbox.min("value")
        s.least[nodes] = least
        s.full[:] = inbox._messages.is_full


@dataclass(frozen=True)
class FoldedFloats(Toy):
    """Floats to node id // 5, from several nodes of several clusters, added by a combiner."""

    fields: ClassVar = {"value": np.float64}
    outputs: ClassVar = {"got": Output("sum"), "listed": Output("sum of the messages one by one")}

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
    outputs: ClassVar = {name: Output(name) for name in ("least", "most", "total", "some", "half")}

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


@dataclass(frozen=True)
class OverwritesSenders(Toy):
    """Broadcasts from a list of nodes, and overwrites the list in the next phase."""

    def send(self, c, s, inbox):
        s.list = np.flatnonzero(c.ids % 2 == 0)
        return broadcast(s.list, value=c.ids[s.list])

    def read(self, c, s, inbox):
        s.list[:] = 0
        nodes, least = inbox.min("value")
        s.got[nodes] = least


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
            return unicast(c.ids, **fields)
        if self.kind == "announce":
            return announce(np.arange(c.size), **fields)
        if self.kind == "ship":
            return ship(np.zeros(c.size, int), **fields)
        return broadcast(**fields)


SHARED = np.zeros(100, int)


@dataclass(frozen=True)
class Sly(Toy):
    """Does what only a checked run sees."""

    along_edges: ClassVar[bool] = True
    what: str = "nothing"

    def start(self, c) -> State:
        more = {"shared": SHARED} if self.what == "state" else {}
        return State(got=c.full(-1), care=Subset(c.ids >= 0), **more)

    def send(self, c, s, inbox):
        if self.what == "graph":
            c.degree[0] += 1
        if self.what == "beside":
            return unicast((c.ids + 2) % c.n, value=1)
        if self.what == "repeat":
            return broadcast(repeat=c.full(-1), value=1)
        if self.what == "links":
            links = Links(c)
            links.degree += 1
            return broadcast(links=links, value=1)
        return broadcast(value=2**62, half=np.where(c.ids == 0, np.nan, 1))

    def read(self, c, s, inbox):
        if self.what == "set":
            s.care.mask[0] = False
            inbox.receivers(among=s.care)
        elif self.what == "size":
            inbox.count(among=Subset(np.ones(c.size + 1, bool)))
        elif self.what == "least":
            inbox.min("half")
        elif self.what == "minima":
            inbox.local_minima("half", c.zeros(float))
        elif self.what == "sum":
            inbox.sum("value")
        elif self.what == "entries":
            inbox.along("value", np.array([-1]))
        elif self.what == "written":
            inbox["value"][:] = 0
        elif self.what == "output":
            s.got = 3


@dataclass(frozen=True)
class Fails(Toy):
    """Fails in one cluster, round 3."""

    def program(self, net) -> Program:
        for _ in range(5):
            yield Round(self.send)

    def send(self, c, s, inbox):
        if inbox.round == 3 and c.index == c.partition.clusters - 1:
            raise ZeroDivisionError("no such luck")


@dataclass(frozen=True)
class Sleeps(Toy):
    """Takes its time, and votes, so that every round is joined."""

    rounds: int = 3
    nap: float = 0.01

    def program(self, net) -> Program:
        for _ in range(self.rounds):
            reply = yield Round(self.send)
            assert reply.any

    def send(self, c, s, inbox):
        time.sleep(self.nap)
        return vote(any=True)


@dataclass(frozen=True)
class Slow(Sleeps):
    """Takes its time before it begins, and says on a pipe that it does."""

    wait: float = 3
    begun: str = ""

    def check(self, c):
        Path(self.begun).write_text("x")
        time.sleep(self.wait)


@dataclass(frozen=True)
class Wrong(Toy):
    """Sends something that cannot be sent."""

    what: str = "missing node"

    def send(self, c, s, inbox):
        return {
            "missing node": lambda: unicast(c.full(c.n), value=1),
            "negative node": lambda: unicast(c.full(-1), value=1),
            "no sender": lambda: unicast(np.zeros(c.size + 1, int), value=1),
            "unknown field": lambda: unicast(c.ids, colour=1),
            "wrong length": lambda: unicast(c.ids, value=np.zeros(c.size + 1)),
            "two kinds": lambda: (unicast(c.ids, value=1), broadcast(value=1)),
            "nonsense": lambda: "hello",
            "known to one": lambda: known(1) if c.index else known(2),
            "unknown to one": lambda: known(1) if c.index else None,
            "known from nowhere": lambda: known(c.n),
            "missing sender": lambda: unicast(c.ids, np.arange(c.size) + 1, value=1),
            "negative sender": lambda: unicast(c.ids, np.arange(c.size) - 1, value=1),
            "too few senders": lambda: unicast(c.ids, np.arange(c.size)[:1], value=1),
            "float receivers": lambda: unicast(c.ids + 0.5, value=1),
            "unsorted senders": lambda: broadcast(np.arange(c.size)[::-1], value=1),
            "repeated senders": lambda: broadcast(np.arange(c.size) // 2, value=1),
            "a mask of senders": lambda: broadcast(c.ids > 0, value=1),
            "far senders": lambda: broadcast(np.array([0, 10**9, 1]), value=1),
            "missing cluster": lambda: ship(c.ids * 0 + 99, value=1),
            "missing announcer": lambda: announce(np.array([c.size]), value=1),
            "unsorted lists": lambda: share(np.array([1, 0]), np.array([1, 1]), value=[1, 2]),
            "a negative length": lambda: share(np.array([0, 1]), np.array([3, -1]), value=[1, 2]),
            "lists too short": lambda: share(np.array([0, 1]), np.array([1, 2]), value=[1, 2]),
            "lists without lengths": lambda: share(np.array([0, 1]), np.array([2]), value=[1, 2]),
            "or of floats": lambda: unicast(c.ids, half=1.5, combine="or"),
            "other combiners": lambda: unicast(c.ids, value=1, combine="or" if c.index else "sum"),
            "a sum too large": lambda: unicast(c.ids * 0, count=2**30, combine="sum"),
            "unknown combiner": lambda: unicast(c.ids, value=1, combine="mean"),
        }[self.what]()


@dataclass(frozen=True)
class Where(Toy):
    """Which processors the thread may use, as a bitmap."""

    def send(self, c, s, inbox):
        s.got[:] = sum(1 << cpu for cpu in os.sched_getaffinity(0))


@dataclass(frozen=True)
class Calls(Toy):
    """A node tells its neighbours that it is there, which they know as a message or anyway."""

    node: int = 0
    anyway: bool = True

    def program(self, net) -> Program:
        yield Round(self.send, self.read, self.rest, self.read)

    def send(self, c, s, inbox):
        return known(self.node) if self.anyway else broadcast(c.local(self.node))

    def read(self, c, s, inbox):
        s.got[inbox.receivers()] = inbox.src
        assert len(inbox) == len(inbox.first()[0])

    def rest(self, c, s, inbox):
        assert len(inbox) == 0
        return known() if self.anyway else None
