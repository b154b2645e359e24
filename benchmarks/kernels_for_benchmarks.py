"""Kernels of benchmarks: one that does nothing, the task graphs of Task Bench, and a search with times.

It also sets attributes on workers, which import it by name.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from task_graphs import TaskGraph

from dgsuite.kernels import BreadthFirst
from dgsuite.kernels.bsp import Kernel, Output, Program, Round, State, unicast, vote


@dataclass(frozen=True)
class Empty(Kernel):
    """Rounds of one empty phase, each of which is joined, since the program reads the reply."""

    rounds: int = 100

    name = "empty"
    outputs = {"nothing": Output("zeros")}

    def program(self, net) -> Program:
        for _ in range(self.rounds):
            reply = yield Round(self.tick)
            if not reply.any:
                return

    def start(self, c) -> State:
        return State(nothing=c.zeros())

    def tick(self, c, s, inbox):
        return vote(any=True)


@dataclass(frozen=True)
class TaskBench(Kernel):
    """A task graph: a node is a column, a round a step."""

    pattern: str = "stencil"
    width: int = 1
    steps: int = 10
    operations: int = 0

    name = "taskbench"
    outputs = {"done": Output("tasks done")}
    fields = {"step": np.int64, "column": np.int64}

    @property
    def tasks(self) -> TaskGraph:
        return TaskGraph(self.pattern, self.width, self.steps, self.operations)

    def program(self, net) -> Program:
        for step in range(self.steps):
            yield Round(self.point, step=step)

    def start(self, c) -> State:
        return State(done=c.zeros())

    def point(self, c, s, inbox, step):
        found = np.stack([inbox["step"], inbox["column"]], axis=1)
        made, nodes, to = [], [], []
        for node, column in enumerate(c.ids.tolist()):
            made.append(self.tasks.task(step, column, found[inbox.node == node]))
            receivers = self.tasks.receivers(step, column)
            nodes += [node] * len(receivers)
            to += receivers
        s.done += 1
        if not to:
            return None
        steps, columns = np.array(made)[nodes].T
        return unicast(np.array(to), np.array(nodes), step=steps, column=columns)


@dataclass(frozen=True)
class TimedSearch(BreadthFirst):
    """Each worker adds the times at which its program begins and ends to a file."""

    times: str = ""

    def program(self, net) -> Program:
        begin = time.monotonic()
        yield from super().program(net)
        with open(self.times, "a") as file:
            file.write(f"{begin} {time.monotonic()}\n")


BEFORE: list[tuple[Any, str, Any]] = []
"""Objects, and what the attribute of a name was that `replace` has set."""


def replace(attributes: Mapping[str, Any]) -> None:
    """Set attributes by ``module:object`` in this process."""
    for where, value in attributes.items():
        module, _, names = where.partition(":")
        *owners, last = names.split(".")
        owner: Any = import_module(module)
        for each in owners:
            owner = getattr(owner, each)
        BEFORE.append((owner, last, vars(owner)[last]))
        setattr(owner, last, value)


def restore() -> None:
    """Set them to what they were."""
    while BEFORE:
        setattr(*BEFORE.pop())
