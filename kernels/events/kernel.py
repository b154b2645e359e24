"""Kernels whose nodes act when they start, when a message arrives, and when a timer ends.

Time is counted in ticks, and a round is a tick: a phase takes the messages of a cluster's nodes that are due,
and has the nodes act. All that happens to rounds, such as a crash in round 7, happens at that tick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.pairs import pair_key
from dgsuite.kernels import bsp
from dgsuite.kernels.events.channel import NEVER, Channel, Mail

Sent = bsp.Unicast | Iterable[bsp.Unicast] | None
"""What nodes send when they act: each of these has at most one message from a node to another."""


@dataclass(frozen=True)
class Events:
    """What happens to some nodes of a cluster at one tick.

    Attributes
    ----------
    tick
        When.
    node
        Local indices of the nodes. A node acts on one event after the other, so each is there once, unless
        the kernel takes events `EventKernel.at_once`.
    src
        Node ids of the senders of messages; empty of other events.
    fields
        Of the messages.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.kernels.events.kernel import Events
    >>> e = Events(7, np.array([0, 1]), np.array([5, 6]), {"value": np.array([8, 9])})
    >>> e["value"], e.among(e["value"] > 8).src
    (array([8, 9]), array([6]))
    """

    tick: int
    node: NDArray[np.int64]
    src: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    fields: Mapping[str, NDArray] = field(default_factory=dict)

    def __getitem__(self, name: str) -> NDArray:
        return self.fields[name]

    def __len__(self) -> int:
        return len(self.node)

    def among(self, which: NDArray) -> Events:
        """Some of the events."""
        fields = {name: values[which] for name, values in self.fields.items()}
        return replace(self, node=self.node[which], src=self.src[which], fields=fields)

    def one_by_one(self) -> Iterator[Events]:
        """Events in turns: the first of each node, then the second of each, and so on."""
        fresh = np.diff(self.node, prepend=-1) != 0
        if fresh.all():
            yield self
            return
        starts = np.flatnonzero(fresh)
        turn = np.arange(len(self)) - np.repeat(starts, np.diff(np.append(starts, len(self))))
        order = np.argsort(turn, kind="stable")
        for part in np.split(order, np.cumsum(np.bincount(turn))[:-1]):
            yield self.among(part)


@dataclass(eq=False)
class EventState(bsp.ClusterState):
    """What the nodes of a cluster know, and what is on its way to them."""

    started: NDArray[np.bool_] = bsp.per_node(False)  # not so after a crash without memory
    mail: Mail = bsp.initial(lambda c: Mail())


def timer() -> Any:
    """Declare a field of a state: a timer of each node, the tick at which it ends.

    Examples
    --------
    >>> from dgsuite.kernels.events.kernel import timer
    >>> patience = timer()  # in an `EventState`
    """
    return bsp.per_node(NEVER)


@dataclass(frozen=True)
class EventKernel(bsp.Kernel):
    """A kernel whose nodes act on events: define `on_message`, and `on_start` and `on_timer` where needed.

    Each of them is called with the cluster, its state, and `Events`; it changes the state of the nodes that
    these name, and returns what they send (`send`, `tell`). A node acts on the messages of a tick in the
    order of sending, then of senders; then on its timers, in the order of `timers`. A message takes a tick at
    least.

    Parameters
    ----------
    ticks
        Ticks after which the run ends, if nothing else ends it.

    Examples
    --------
    A node that gets a number less than it knows tells its neighbours:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from numpy.typing import NDArray
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> from dgsuite.kernels.events.kernel import EventKernel, EventState
    >>> @dataclass(eq=False)
    ... class State(EventState):
    ...     least: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())
    >>> @dataclass(frozen=True)
    ... class Least(EventKernel):
    ...     name = "least"
    ...     outputs = {"least": bsp.Output("smallest node that is known", nodes=True)}
    ...     fields = {"id": np.int64}
    ...     state = State
    ...
    ...     def on_start(self, c, s, e):
    ...         return self.tell(c, e.node, id=s.least[e.node])
    ...
    ...     def on_message(self, c, s, e):
    ...         less = e.among(e["id"] < s.least[e.node])
    ...         s.least[less.node] = less["id"]
    ...         return self.tell(c, less.node, id=less["id"])
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> slow = dgsuite.Network(delay=("uniform", 1, 6), fifo=True)
    >>> ds = dgsuite.run(Least, graph, network=slow)
    >>> ds.least.values, ds.sizes["round"]
    (array([0, 0, 0, 0]), 14)
    """

    ticks: int = 10_000
    channel: Channel = field(default=Channel(), init=False)  # how messages travel: of ``network=``

    timers: ClassVar[tuple[str, ...]] = ()
    """Fields of the state that are timers."""
    at_once: ClassVar[bool] = False
    """Whether nodes take all messages of a tick at once: `Events.node` then has repeats, in any order."""
    needs_fifo: ClassVar[bool] = False
    """Whether messages between two nodes must arrive in the order of sending, as they do by default."""

    said: ClassVar[tuple[str, ...]] = ()
    """Fields of messages without ``due``, when a message arrives: it is made from `fields`."""

    obeys = bsp.Model("edges", None, "control")
    sorts = False  # messages are sorted when they are due

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        # when a message arrives is the network's, and nothing that a node says
        if "fields" in vars(cls):
            cls.said = tuple(name for name in cls.fields if name != "due")
            cls.fields = {"due": np.int64, **cls.fields}
            cls.unforgeable = ("due", *cls.unforgeable)
            cls.ranges = {**cls.ranges, "due": bsp.values(1 << 62)}

    def bits(self, n: int) -> dict[str, int]:
        return super().bits(n) | {"due": 0}

    def check(self, c: bsp.Cluster) -> str | None:
        if self.ticks < 1:
            return f"ticks must be at least 1, got {self.ticks}"
        # messages that all take the same time arrive in order
        if self.needs_fifo and not (self.channel.fifo or isinstance(self.channel.delay, int)):
            return "messages must arrive in the order of sending: take fifo=True in network="
        return super().check(c) or self.channel.wrong(c)

    def program(self, net: bsp.Net) -> bsp.Program:
        for _ in range(self.ticks):
            reply = yield bsp.Round(self.act)
            if not reply.any:
                return

    def crash(self, s: Any, nodes: NDArray[np.int64]) -> None:
        s.mail.drop(np.bincount(nodes, minlength=len(s.started)) > 0)
        s.started[nodes] = True
        for name in self.timers:
            getattr(s, name)[nodes] = NEVER

    def waiting(self, s: Any) -> NDArray[np.bool_]:
        """Which nodes of a cluster wait for a message that is on its way, or for a timer."""
        found = np.zeros(len(s.started), bool)
        for name in self.timers:
            found |= getattr(s, name) < NEVER
        for node, *_ in chain(*s.mail.batches.values()):
            found[node] = True
        return found

    def on_start(self, c: bsp.Cluster, s: Any, e: Events) -> Sent:
        """What nodes do at the first tick, and when they are back from a crash without memory."""
        return None

    def on_message(self, c: bsp.Cluster, s: Any, e: Events) -> Sent:
        """What nodes do with messages."""
        raise NotImplementedError

    def on_timer(self, c: bsp.Cluster, s: Any, e: Events, timer: str) -> Sent:
        """What nodes do when a timer ends."""
        raise NotImplementedError

    def set_timer(
        self,
        c: bsp.Cluster,
        s: Any,
        e: Events,
        timer: str,
        ticks: Any,
        nodes: NDArray | None = None,
    ) -> None:
        """Set a timer of nodes, by default those of events, so that it ends after so many ticks."""
        nodes = e.node if nodes is None else nodes
        getattr(s, timer)[nodes] = e.tick + self.channel.timer(c, self.seed, nodes, ticks)

    def send(self, to: NDArray, by: NDArray, **fields: Any) -> bsp.Unicast:
        """A message to each of some nodes, by others; fields that are left out are 0."""
        return bsp.unicast(to, by, **fields)

    def tell(self, c: bsp.Cluster, by: NDArray, **fields: Any) -> bsp.Unicast:
        """A message from each of some nodes to all its neighbours: fields have a value for each node."""
        at, to = c.edges(by)
        each = {name: v[at] if np.ndim(v) else v for name, v in fields.items()}
        return bsp.unicast(to, by[at], **each)

    def act(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Sent:
        """All that happens at a tick."""
        tick, sent = inbox.round, list[bsp.Unicast]()
        s.mail.put(inbox, self.said)
        new = np.flatnonzero(~s.started)
        if len(new):
            s.started[new] = True
            sent += listed(self.on_start(c, s, Events(tick, new)))
        if (mail := s.mail.take(tick, None if self.at_once else c.size)) is not None:
            node, src, *said = mail
            events = Events(tick, node, src, dict(zip(self.said, said, strict=True)))
            for some in [events] if self.at_once else events.one_by_one():
                sent += listed(self.on_message(c, s, some))
        for name in self.timers:
            ends = getattr(s, name)
            ended = np.flatnonzero(ends <= tick)  # or before, of nodes that are back
            if len(ended):
                ends[ended] = NEVER
                sent += listed(self.on_timer(c, s, Events(tick, ended), name))
        sent += s.mail.added
        pending = any((getattr(s, name) < NEVER).any() for name in self.timers)
        goes_on = pending or bool(s.mail.batches) or any(len(one.dst) for one in sent)
        if not sent:
            return bsp.vote(any=goes_on)
        return self.posted(c, s, tick, sent), bsp.vote(any=goes_on)

    def posted(self, c: bsp.Cluster, s: Any, tick: int, sent: list[bsp.Unicast]) -> bsp.Unicast:
        """All that nodes send at a tick, with when it arrives."""
        dtypes = self.dtypes(c.n)

        def column(name: str) -> Any:
            values = ((one.fields.get(name, 0), len(one.dst)) for one in sent)
            parts = [v if np.ndim(v) else np.full(size, v) for v, size in values]
            return np.concatenate(parts, dtype=dtypes[name], casting="unsafe")

        # of one type, so that the bytes that travel do not depend on the cut
        dst = np.concatenate([one.dst for one in sent], dtype=c.indices.dtype)
        src = np.concatenate([np.asarray(one.src, np.int64) for one in sent])
        whole = bsp.unicast(dst, src, **{name: column(name) for name in self.said})
        due = self.channel.due(c, self.seed, tick, whole, single=len(sent) == 1)
        if self.channel.fifo or self.channel.capacity is not None:
            due = s.mail.ahead.enter(self.channel, tick, pair_key(c.ids[src], dst, c.n), due)
        return whole._replace(fields={"due": due, **whole.fields})


def listed(sent: Sent) -> list[bsp.Unicast]:
    """What nodes send, as a list."""
    if sent is None:
        return []
    return [sent] if isinstance(sent, bsp.Unicast) else [*sent]
