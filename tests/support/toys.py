"""Small kernels, each made to catch one kind of engine fault. Importable by name on workers."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.partition.clusters.subset import Subset


def named(*names):
    """Outputs that are told by their names alone."""
    return {name: bsp.Output(name) for name in names}


@dataclass(frozen=True)
class Toy(bsp.Kernel):
    """One round of two phases: `send`, then `read`."""

    name: ClassVar[str] = "toy"
    obeys: ClassVar = bsp.Model("clusters", None, "data")
    outputs: ClassVar = {"got": bsp.Output("what arrived")}
    fields: ClassVar = {"value": np.int64, "half": np.float32, "count": np.int32}

    def program(self, net) -> bsp.Program:
        yield bsp.Round(self.send, self.read)

    def start(self, c) -> bsp.State:
        return bsp.State(value=c.ids.copy(), got=c.full(-1))

    def send(self, c, s, inbox):
        return None

    def read(self, c, s, inbox):
        return None


@dataclass(frozen=True)
class TellsAll(Toy):
    """Every node sends a number to every node, one by one."""

    name: ClassVar[str] = "tells_all"

    def send(self, c, s, inbox):
        src = np.repeat(np.arange(c.size), c.n)
        return bsp.unicast(np.tile(np.arange(c.n), c.size), src, value=c.ids[src])

    def read(self, c, s, inbox):
        s.got = np.bincount(inbox.node, minlength=c.size)


@dataclass(frozen=True)
class MutatesAfterSending(Toy):
    """Sends its state itself, then changes it: receivers must get what was sent."""

    def send(self, c, s, inbox):
        message = bsp.unicast((c.ids + 1) % c.n, value=s.value)
        s.value = s.value.copy()
        return message

    def read(self, c, s, inbox):
        got = inbox["value"].copy()
        s.value[:] = -7
        s.got[inbox.node] = got


@dataclass(frozen=True)
class MutatesInPlace(Toy):
    """Two rounds over one array that is sent in the first and overwritten in the second."""

    def program(self, net) -> bsp.Program:
        yield bsp.Round(self.send, self.read)
        yield bsp.Round(self.add)

    def send(self, c, s, inbox):
        return bsp.broadcast(value=s.value)

    def read(self, c, s, inbox):
        s.value += 1000
        nodes, least = inbox.min("value")
        s.got[nodes] = least
        return bsp.unicast((c.ids + 1) % c.n, value=s.value)

    def add(self, c, s, inbox):
        s.value[:] = 0
        s.got[inbox.node] += inbox["value"]


@dataclass(frozen=True)
class Order(Toy):
    """Everyone writes to node 0 and to the last node: the order of arrival must be by sender."""

    def send(self, c, s, inbox):
        src = np.repeat(np.arange(c.size), 2)[::-1]
        dst = np.where(np.arange(len(src)) % 2 == 0, 0, c.n - 1)
        return bsp.unicast(dst, src, value=c.ids[src])

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
        return bsp.unicast(c.ids // 3, value=c.ids + 5, combine=self.combine)

    def read(self, c, s, inbox):
        assert len(np.unique(inbox.node)) == len(inbox)
        s.got[inbox.node] = inbox["value"]


@dataclass(frozen=True)
class Reductions(Toy):
    """All that an inbox can say of a broadcast by every third node."""

    outputs: ClassVar = named("least", "most", "total", "count", "away", "first", "mail")

    def start(self, c) -> bsp.State:
        return bsp.State(value=(c.ids * 7919) % 1009, **{name: c.full(-1) for name in self.outputs})

    def send(self, c, s, inbox):
        nodes = np.flatnonzero(c.ids % 3 == 0)
        return bsp.broadcast(nodes, value=s.value[nodes])

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
        start = (c.ids % 5).astype(np.int32)
        for floor in (0, 2):
            left = start.copy()
            reached = inbox.count_down(left, floor)
            fewer = np.maximum(start[nodes] - counts, np.minimum(start[nodes], floor))
            assert (left[nodes] == fewer).all()
            assert (reached == np.flatnonzero((start > floor) & (left == floor))).all()
        s.away[nodes] = counts
        receivers = inbox.receivers()
        assert (receivers == nodes).all()
        node = inbox.node
        s.first[node[::-1]] = inbox.src[::-1]
        s.mail[:] = np.bincount(node, inbox["value"], c.size)


@dataclass(frozen=True)
class EmptyInbox(Toy):
    """Nobody sends; the inbox is empty, of the declared dtypes, and the clock still ticks."""

    outputs: ClassVar = {"got": bsp.Output("rounds seen")}

    def program(self, net) -> bsp.Program:
        for _ in range(3):
            yield bsp.Round(self.read)

    def read(self, c, s, inbox):
        assert len(inbox) == 0
        assert inbox["value"].dtype == np.int64
        assert inbox["half"].dtype == np.float32
        assert inbox.min("half")[1].dtype == np.float32
        assert len(inbox.node) == len(inbox.src) == len(inbox.receivers()) == 0
        s.got[:] = inbox.round


@dataclass(frozen=True)
class Carries(Toy):
    """Rounds carry values made from votes, to the phases that have a parameter for them."""

    bad: str = ""

    def program(self, net) -> bsp.Program:
        low = yield bsp.Round(self.lowest)
        while low.min < 40:
            yield bsp.Round(self.send, self.read, least=low.min, factor=low.sum)
            low = yield from bsp.until_quiet(self.climb, ceiling=2 * low.min + 9, closing=True)
        if self.bad == "unused":
            yield bsp.Round(self.send, self.read, least=1, factor=1, nobody=1)
        if self.bad == "missing":
            yield bsp.Round(self.send, self.read, least=1)

    def lowest(self, c, s, inbox):
        return bsp.vote(min=s.value, sum=s.value % 5)

    def send(self, c, s, inbox, factor):
        return bsp.broadcast(value=s.value * factor)

    def read(self, c, s, inbox, least, factor):
        nodes, sums = inbox.sum("value")
        s.got[nodes] += sums + 1000 * least + factor

    def climb(self, c, s, inbox, ceiling):
        s.value += s.value < ceiling
        return bsp.vote(any=s.value < ceiling, min=s.value, sum=s.value % 5)


@dataclass(frozen=True)
class CarriesAmongTasks(Carries):
    """As `Carries`, with tasks between the rounds."""

    form: ClassVar[str] = "recursive"

    def program(self, net) -> bsp.Program:
        yield bsp.Finish(self.launch)
        yield from super().program(net)

    def launch(self, c, s, inbox):
        return bsp.spawn(self.arrive, (c.ids + 1) % c.n, by=np.arange(c.size))

    def arrive(self, c, s, inbox):
        s.got[inbox.node] = 0


@dataclass(frozen=True)
class Votes(Toy):
    """The reply is the same everywhere and is what the clusters voted."""

    def program(self, net) -> bsp.Program:
        reply = yield bsp.Round(self.cast)
        assert reply.sum == net.n
        assert reply.min == 0
        assert reply.max == net.n - 1
        assert reply.any
        reply = yield bsp.Round(self.none_of_all)
        assert (reply.sum, reply.min, reply.max, reply.any) == (0, None, None, False)

    def cast(self, c, s, inbox):
        if not c.size:
            return None
        return bsp.vote(sum=c.size, min=c.ids.min(), max=c.ids.max(), any=0 in c.ids)

    def none_of_all(self, c, s, inbox):
        return bsp.vote(sum=0, min=None, max=[], any=False)


@dataclass(frozen=True)
class ManyFields(Toy):
    """Nodes broadcast two of more fields than a number of the machine has bits."""

    outputs: ClassVar = {"got": bsp.Output("what arrived"), "last": bsp.Output("of another field")}
    fields: ClassVar = {f"field_{i}": np.int64 for i in range(70)}

    def start(self, c) -> bsp.State:
        return bsp.State(got=c.full(-1), last=c.full(-1))

    def send(self, c, s, inbox):
        return bsp.broadcast(field_1=c.ids, field_69=-c.ids)

    def read(self, c, s, inbox):
        for output, name in (("got", "field_1"), ("last", "field_69")):
            nodes, largest = inbox.max(name)
            getattr(s, output)[nodes] = largest


@dataclass(frozen=True)
class Stamps(Toy):
    """When each cluster computed each of two phases: nanoseconds of one clock for all processes."""

    outputs: ClassVar = named("send_begin", "send_end", "read_begin", "read_end")

    def start(self, c) -> bsp.State:
        return bsp.State(**{name: c.full(-1) for name in self.outputs})

    def send(self, c, s, inbox):
        self._stamp("send", s)
        return bsp.broadcast(value=c.ids)

    def read(self, c, s, inbox):
        self._stamp("read", s)

    def _stamp(self, name, s):
        getattr(s, f"{name}_begin")[:] = time.monotonic_ns()
        time.sleep(0.01)
        getattr(s, f"{name}_end")[:] = time.monotonic_ns()


@dataclass(frozen=True)
class Some(Toy):
    """Some nodes broadcast their numbers, from 1 on; whether the engine sees that all did that could."""

    speaks: tuple[bool, ...] = ()
    prepares: ClassVar = ("totals",)
    fields: ClassVar = {"value": np.float64}
    outputs: ClassVar = named("total", "least", "full")

    def start(self, c):
        return bsp.State(total=c.zeros(), least=c.zeros(), full=c.zeros(bool))

    def send(self, c, s, inbox):
        nodes = np.flatnonzero(np.array(self.speaks)[c.ids])
        return bsp.broadcast(nodes, value=c.ids[nodes] + 1)

    def read(self, c, s, inbox):
        s.total = inbox.totals("value")
        nodes, least = inbox.min("value")
        s.least[nodes] = least
        s.full[:] = inbox._messages.is_full


@dataclass(frozen=True)
class OverwritesSenders(Toy):
    """Broadcasts from a list of nodes, and overwrites the list in the next phase."""

    def send(self, c, s, inbox):
        s.list = np.flatnonzero(c.ids % 2 == 0)
        return bsp.broadcast(s.list, value=c.ids[s.list])

    def read(self, c, s, inbox):
        s.list[:] = 0
        nodes, least = inbox.min("value")
        s.got[nodes] = least


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

    def program(self, net) -> bsp.Program:
        yield bsp.Round(self.send, self.read, self.rest, self.read)

    def send(self, c, s, inbox):
        return bsp.known(self.node) if self.anyway else bsp.broadcast(c.local(self.node))

    def read(self, c, s, inbox):
        s.got[inbox.receivers()] = inbox.src
        assert len(inbox) == len(inbox.first()[0])

    def rest(self, c, s, inbox):
        assert len(inbox) == 0
        return bsp.known() if self.anyway else None


@dataclass(frozen=True)
class OwnFields(Toy):
    """Clusters broadcast different fields."""

    obeys: ClassVar = bsp.Model("edges", None, "data")

    def send(self, c, s, inbox):
        field = {"value": c.ids} if c.index else {"count": c.ids.astype(np.int32)}
        return bsp.broadcast(**field)


@dataclass(frozen=True)
class LargeNumbers(Toy):
    """Takes the least of numbers whose sum does not fit 64 bits."""

    obeys: ClassVar = bsp.Model("edges", None, "data")

    def send(self, c, s, inbox):
        return bsp.broadcast(value=np.full(c.size, 2**62))

    def read(self, c, s, inbox):
        _, s.got[:] = inbox.reduce("min", "value")
