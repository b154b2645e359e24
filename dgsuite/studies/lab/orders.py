"""All orders in which messages arrive and timers end, of an event-driven kernel on a small graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from dgsuite.base.errors import InputError
from dgsuite.core.parameters import make_kernel
from dgsuite.core.running.attempt import as_seen
from dgsuite.genval import validate
from dgsuite.kernels.events.channel import NEVER
from dgsuite.kernels.events.kernel import EventKernel, Events, listed
from dgsuite.partition.graph.graph import Graph

Message = tuple[int, int, tuple[int, ...]]
"""Sender, receiver, and the values of fields."""


class Configuration(NamedTuple):
    """A moment of an execution.

    Attributes
    ----------
    state
        What the nodes know.
    messages
        On their way: in any order, sorted; or in order of sending.
    crashed
        Nodes.
    left
        How many messages may be lost yet, nodes crash, and timers end.
    """

    state: Any
    messages: tuple[Message, ...]
    crashed: frozenset[int]
    left: tuple[int, int, int]


class Space:
    """The configurations of a kernel, and the steps between them."""

    def __init__(self, kernel: EventKernel, graph: Graph) -> None:
        self.kernel, self.graph = kernel, graph
        (self.cluster,) = as_seen(graph, kernel).repartition(1).gather()
        if wrong := kernel.check(self.cluster):
            raise InputError(f"kernel {kernel.name!r}: {wrong}")
        self.names = kernel.said
        self.dtypes = kernel.dtypes(graph.n)

    def first(self, *left: int) -> Configuration:
        """The configuration in which all nodes have started."""
        state = self.kernel.start(self.cluster)
        state.started[:] = True
        events = Events(0, np.arange(self.graph.n))
        sent = listed(self.kernel.on_start(self.cluster, state, events))
        return self._sent(Configuration(state, (), frozenset(), left), sent)  # type: ignore[arg-type]

    def key(self, now: Configuration) -> Any:
        """The same for configurations with the same future."""
        held = {name: v for name, v in vars(now.state).items() if isinstance(v, np.ndarray)}
        for name in self.kernel.timers:  # when they end has no meaning, but whether they are set
            held[name] = held[name] < NEVER
        return b"".join(v.tobytes() for v in held.values()), *now[1:]

    def _sent(self, now: Configuration, sent: Any) -> Configuration:
        """A configuration with more messages on their way."""
        more: list[Message] = []
        for one in sent:
            columns = [
                np.broadcast_to(one.fields.get(name, 0), len(one.dst)).tolist()
                for name in self.names
            ]
            for i, (dst, src) in enumerate(zip(one.dst.tolist(), one.src.tolist(), strict=True)):
                if dst not in now.crashed:
                    more.append((src, dst, tuple(int(column[i]) for column in columns)))
        messages = (*now.messages, *more)
        if not self.kernel.needs_fifo:
            return now._replace(messages=tuple(sorted(messages)))
        # of the order of sending only that between two nodes matters
        return now._replace(messages=tuple(sorted(messages, key=lambda m: m[:2])))

    def _copied(self, now: Configuration) -> Configuration:
        state = copy(now.state)
        for name, value in vars(state).items():
            if isinstance(value, np.ndarray):
                setattr(state, name, value.copy())
        return now._replace(state=state)

    def steps(self, now: Configuration) -> Iterator[tuple[str, Configuration]]:
        """All that can happen next, in words, and the configuration after it."""
        losses, crashes, ends = now.left
        kernel, cluster, seen = self.kernel, self.cluster, set[Any]()
        for i, message in enumerate(now.messages):
            src, dst, values = message
            one = (src, dst) if kernel.needs_fifo else message  # of several alike, one
            if one in seen:
                continue
            seen.add(one)
            told = ", ".join(
                f"{name}={value}" for name, value in zip(self.names, values, strict=True)
            )
            rest = now._replace(messages=now.messages[:i] + now.messages[i + 1 :])
            to = self._copied(rest)
            fields = {
                name: np.array([value], self.dtypes[name])
                for name, value in zip(self.names, values, strict=True)
            }
            event = Events(0, np.array([dst]), np.array([src]), fields)
            sent = listed(kernel.on_message(cluster, to.state, event))
            yield f"{src} to {dst}: {told}", self._sent(to, sent)
            if losses:
                yield (
                    f"lost, {src} to {dst}: {told}",
                    rest._replace(left=(losses - 1, crashes, ends)),
                )
        for name in kernel.timers if ends else ():
            for node in np.flatnonzero(getattr(now.state, name) < NEVER).tolist():
                to = self._copied(now)
                getattr(to.state, name)[node] = NEVER
                event = Events(0, np.array([node]))
                sent = listed(kernel.on_timer(cluster, to.state, event, name))
                to = to._replace(left=(losses, crashes, ends - 1))
                yield f"{name} of {node} ends", self._sent(to, sent)
        for node in range(self.graph.n) if crashes else ():
            if node not in now.crashed:
                to = self._copied(now)
                kernel.crash(to.state, np.array([node]))
                messages = tuple(m for m in now.messages if m[1] != node)
                gone = now.crashed | {node}
                yield (
                    f"{node} crashes",
                    Configuration(to.state, messages, gone, (losses, crashes - 1, ends)),
                )


def ordered(
    kernel: type[EventKernel],
    graph: Graph,
    property: Any,
    most: int,
    left: tuple[int, int, int],
    parameters: Mapping[str, Any],
) -> dict[str, Any]:
    """What holds of all executions: the fields of an `Exploration`. The shortest that breaks the property is
    found first.

    Raises
    ------
    InputError
        There are more than so many configurations.
    """
    how = dict(parameters)
    made: Any = make_kernel(kernel, graph, how.pop("seed", None), how)
    space = Space(made, graph)
    first = space.first(*left)
    keys, came, after = {space.key(first): 0}, [(0, "")], list[list[int]]()
    waiting = deque([first])
    while waiting:
        now = waiting.popleft()
        this = len(after)
        after.append([])
        steps = [*space.steps(now)]
        if why := _wrong(made, graph, property, now, over=not steps):
            path = list[str]()
            while this:
                this, step = came[this]
                path.append(step)
            found = {"holds": False, "executions": len(keys), "looked_at": len(after)}
            return found | {"steps": path[::-1], "why": why}
        for told, to in steps:
            key = space.key(to)
            if key not in keys:
                keys[key] = len(keys)
                came.append((this, told))
                waiting.append(to)
                if len(keys) > most:
                    raise InputError(
                        f"there are more than most={most:,} configurations: take a smaller graph, or fewer "
                        f"losses, crashes or timeouts"
                    )
            after[this].append(keys[key])
    return {"holds": True, "executions": _paths(after), "looked_at": len(keys)}


def _wrong(kernel: Any, graph: Graph, property: Any, now: Configuration, over: bool) -> str:
    """What is wrong with a configuration; "" if nothing."""
    held = {name: v for name, v in vars(now.state).items() if isinstance(v, np.ndarray)}
    held["crashed"] = np.array([0 if v in now.crashed else -1 for v in range(graph.n)])
    if property is not None:
        return "" if property(graph, held) else "the property does not hold"
    if not over:
        return ""
    outputs = {name: held[name] for name in (*kernel.outputs, "crashed")}
    report = validate(kernel.name, graph, {**vars(kernel), **outputs})
    return "" if report.ok else str(report)


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
