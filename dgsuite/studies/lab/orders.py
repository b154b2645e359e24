"""All orders in which messages arrive and timers end, of an event-driven kernel on a small graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.progress import Progress, Tell
from dgsuite.core.parameters import make_kernel
from dgsuite.core.running.attempt import as_seen
from dgsuite.genval import validate
from dgsuite.kernels.events.channel import NEVER
from dgsuite.kernels.events.kernel import EventKernel, Events, listed
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.network.node_states import put, take

Message = tuple[int, int, tuple[int, ...]]
"""Sender, receiver, and the values of fields."""

LOST, CRASH = -1, "crashes"

Step = tuple[int, int | str]
"""A node, or `LOST`, and what happens: the number of a message, a timer that ends, or `CRASH`."""


class Configuration(NamedTuple):
    """A moment of an execution; two that are equal have the same future.

    Attributes
    ----------
    nodes
        By node, the number of what it knows.
    messages
        Numbers of those on their way: in any order, sorted; or in order of sending.
    crashed
        Nodes.
    left
        How many messages may be lost yet, nodes crash, and timers end.
    """

    nodes: tuple[int, ...]
    messages: tuple[int, ...]
    crashed: frozenset[int]
    left: tuple[int, int, int]


class Space:
    """The configurations of a kernel, and the steps between them.

    What a node does depends on what it knows, and on what happens to it. So the kernel is asked once for each
    such pair, which is in many configurations.
    """

    def __init__(self, kernel: EventKernel, graph: Graph) -> None:
        self.kernel, self.n = kernel, graph.n
        (self.cluster,) = as_seen(graph, kernel).repartition(1).gather()
        if wrong := kernel.check(self.cluster):
            raise InputError(f"kernel {kernel.name!r}: {wrong}")
        self.names, self.dtypes = kernel.said, kernel.dtypes(graph.n)
        self.state = kernel.start(self.cluster)  # a sheet: what nodes know is put into it
        self.known: list[dict[str, NDArray]] = []
        self.numbers: dict[Any, int] = {}  # of what nodes know
        self.said: list[Message] = []
        self.order: list[Any] = []  # what messages are sorted by
        self.saying: dict[Message, int] = {}
        self.ways: dict[tuple[int, int | str], tuple[int, tuple[int, ...]]] = {}

    def first(self, *left: int) -> Configuration:
        """The configuration in which all nodes have started."""
        self.state.started[:] = True
        sent = listed(self.kernel.on_start(self.cluster, self.state, Events(0, np.arange(self.n))))
        nodes = tuple(map(self._number, range(self.n)))
        start = Configuration(nodes, (), frozenset(), left)  # type: ignore[arg-type]
        return self._with(start, self._sent(sent))

    def held(self, nodes: tuple[int, ...], crashed: frozenset[int]) -> dict[str, NDArray]:
        """What all nodes know, by field of the state, and ``crashed``."""
        each = [self.known[number] for number in nodes]
        found = (
            {name: np.concatenate([one[name] for one in each]) for name in each[0]} if each else {}
        )
        return found | {"crashed": np.array([0 if v in crashed else -1 for v in range(self.n)])}

    def _number(self, node: int) -> int:
        """The number of what a node knows."""
        held = take(self.state, np.array([node]), self.n)
        # when timers end has no meaning, but whether they are set
        timers = self.kernel.timers
        key = [(v < NEVER if name in timers else v).tobytes() for name, v in held.items()]
        number = self.numbers.setdefault((node, *key), len(self.known))
        if number == len(self.known):
            self.known.append(held)
        return number

    def _sent(self, sent: Iterable[Any]) -> tuple[int, ...]:
        """The numbers of messages."""
        found = []
        for one in sent:
            columns = [np.broadcast_to(one.fields.get(x, 0), len(one.dst)) for x in self.names]
            for src, dst, *values in zip(one.src, one.dst, *columns, strict=True):
                message = int(src), int(dst), tuple(map(int, values))
                number = self.saying.setdefault(message, len(self.said))
                if number == len(self.said):
                    self.said.append(message)
                    # of the order of sending only that between two nodes matters
                    self.order.append(message[:2] if self.kernel.needs_fifo else message)
                found.append(number)
        return tuple(found)

    def _with(self, now: Configuration, sent: tuple[int, ...]) -> Configuration:
        """A configuration with more messages on their way."""
        nodes, messages, crashed, left = now
        if crashed:
            sent = tuple(number for number in sent if self.said[number][1] not in crashed)
        if not sent:
            return now
        every = sorted(messages + sent, key=self.order.__getitem__)
        return Configuration(nodes, tuple(every), crashed, left)

    def _way(self, node: int, number: int, event: int | str) -> tuple[int, tuple[int, ...]]:
        """What a node knows, and the messages it sends, after a message, a timer or a crash."""
        kernel, c, s, at = self.kernel, self.cluster, self.state, np.array([node])
        put(s, at, self.n, self.known[number])
        sent: Any = ()
        if isinstance(event, int):
            src, _, values = self.said[event]
            fields = {
                name: np.array([value], self.dtypes[name])
                for name, value in zip(self.names, values, strict=True)
            }
            sent = listed(kernel.on_message(c, s, Events(0, at, np.array([src]), fields)))
        elif event == CRASH:
            kernel.crash(s, at)
        else:
            getattr(s, event)[at] = NEVER
            sent = listed(kernel.on_timer(c, s, Events(0, at), event))
        return self._number(node), self._sent(sent)

    def _step(self, now: Configuration, node: int, event: int | str) -> Configuration:
        """The configuration after something has happened to a node."""
        nodes, messages, crashed, left = now
        asked = nodes[node], event
        if (way := self.ways.get(asked)) is None:
            way = self.ways[asked] = self._way(node, *asked)
        nodes = (*nodes[:node], way[0], *nodes[node + 1 :])
        return self._with(Configuration(nodes, messages, crashed, left), way[1])

    def steps(self, now: Configuration) -> Iterator[tuple[Step, Configuration]]:
        """All that can happen next, and the configuration after it."""
        nodes, messages, crashed, (losses, crashes, ends) = now
        before = None
        for i, number in enumerate(messages):
            one = self.order[number]
            if one == before:  # of several alike, one
                continue
            before, rest = one, messages[:i] + messages[i + 1 :]
            dst = self.said[number][1]
            to = Configuration(nodes, rest, crashed, now.left)
            yield (dst, number), self._step(to, dst, number)
            if losses:
                yield (LOST, number), to._replace(left=(losses - 1, crashes, ends))
        fewer = now._replace(left=(losses, crashes, ends - 1))
        for name in self.kernel.timers if ends else ():
            for node, number in enumerate(nodes):
                if self.known[number][name][0] < NEVER:
                    yield (node, name), self._step(fewer, node, name)
        for node in range(self.n) if crashes else ():
            if node not in crashed:
                there = tuple(m for m in messages if self.said[m][1] != node)
                gone, left = crashed | {node}, (losses, crashes - 1, ends)
                to = Configuration(nodes, there, gone, left)
                yield (node, CRASH), self._step(to, node, CRASH)

    def told(self, step: Step) -> str:
        """A step in words."""
        node, event = step
        if not isinstance(event, int):
            return f"{node} crashes" if event == CRASH else f"{event} of {node} ends"
        src, dst, values = self.said[event]
        said = (f"{name}={value}" for name, value in zip(self.names, values, strict=True))
        return f"{'lost, ' * (node == LOST)}{src} to {dst}: {', '.join(said)}"


def ordered(
    kernel: type[EventKernel],
    graph: Graph,
    property: Any,
    most: int,
    left: tuple[int, int, int],
    parameters: Mapping[str, Any],
    tell: Tell | None,
) -> dict[str, Any]:
    """What holds of all executions: the fields of an `Exploration`. The shortest that breaks the property is
    found first.

    Parameters
    ----------
    tell
        Called with how many configurations have been looked at, if it is given.

    Raises
    ------
    InputError
        There are more than so many configurations.
    """
    how = dict(parameters)
    made: Any = make_kernel(kernel, graph, how.pop("seed", None), how)
    space = Space(made, graph)
    first = space.first(*left)
    keys, after, waiting = {first: 0}, list[list[int]](), deque([first])
    came: list[tuple[int, Step]] = [(0, (LOST, ""))]

    @cache
    def wrong(nodes: tuple[int, ...], crashed: frozenset[int]) -> str:
        """What is wrong, by the property or else at the end by the rule; "" if nothing."""
        held = space.held(nodes, crashed)
        if property is not None:
            return "" if property(graph, held) else "the property does not hold"
        outputs = {name: held[name] for name in (*made.outputs, "crashed")}
        report = validate(made.name, graph, {**vars(made), **outputs})
        return "" if report.ok else str(report)

    while waiting:
        now = waiting.popleft()
        this = len(after)
        after.append([])
        if tell is not None:
            tell(Progress(this))
        steps = [*space.steps(now)]
        if (property is not None or not steps) and (why := wrong(now.nodes, now.crashed)):
            path = list[str]()
            while this:
                this, step = came[this]
                path.append(space.told(step))
            found = {"holds": False, "executions": len(keys), "looked_at": len(after)}
            return found | {"steps": path[::-1], "why": why}
        for step, to in steps:
            number = keys.setdefault(to, len(keys))
            if number == len(came):
                came.append((this, step))
                waiting.append(to)
                if len(keys) > most:
                    raise InputError(
                        f"there are more than most={most:,} configurations: take a smaller graph, or fewer "
                        f"losses, crashes or timeouts"
                    )
            after[this].append(number)
    return {"holds": True, "executions": _paths(after), "looked_at": len(keys)}


def _paths(after: list[list[int]]) -> int:
    """How many paths lead from the first configuration to one without a next; there is no circle."""
    count: list[int] = [0] * len(after)
    stack = [(0, False)]
    while stack:
        this, seen = stack.pop()
        if seen:
            count[this] = sum(count[to] for to in after[this]) or 1
        elif not count[this]:
            stack.append((this, True))
            stack += [(to, False) for to in after[this] if not count[to]]
    return count[0]
