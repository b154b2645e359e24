"""Every execution of small cases: all first states and schedules, or all crashes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import prod
from typing import Any

import numpy as np

from dgsuite.base.errors import InputError
from dgsuite.core.engine.progress import Progress
from dgsuite.core.running.progress import shown
from dgsuite.kernels.bsp import Kernel
from dgsuite.kernels.events.kernel import EventKernel
from dgsuite.kernels.lab.state_model import StateModel
from dgsuite.kernels.own import named
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.orders import ordered
from dgsuite.studies.lab.searching import Example, Property, Trial, neighbours
from dgsuite.studies.lab.state_space import explored
from dgsuite.studies.network.network import Network
from dgsuite.studies.network.parts import Crash

MOST = 1_000_000
"""Executions, or states, that are looked at, unless `most` is given."""


@dataclass(frozen=True)
class Exploration:
    """What is true of all executions of a small case.

    Attributes
    ----------
    holds
        Whether the property holds in all of them.
    executions
        How many there are; of a self-stabilising kernel, how many states one may begin in.
    looked_at
        How many of these were looked at: others are the same with nodes exchanged, or come after the first
        that breaks the property.
    example
        One that breaks the property with as few crashes as possible; None if none does, and for
        self-stabilising kernels.
    states
        Of a self-stabilising kernel that does not stabilise, why: a short cycle of states that an execution
        can repeat for ever, a state in which no node may move, or a step out of the legitimate states. Each
        state is a mapping from variables to the values of the nodes.
    steps, why
        Of an event-driven kernel, a shortest execution that breaks the property, in words, and how.
    most_moves, most_steps
        Of a self-stabilising kernel, most moves and most steps before the state is legitimate.

    Examples
    --------
    >>> import dgsuite
    >>> ring = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> found = dgsuite.lab.explore("token_ring", ring, daemon="distributed", k=3)
    >>> found.holds, found.executions, found.most_moves
    (True, 27, 8)
    """

    holds: bool
    executions: int
    looked_at: int
    example: Example | None = None
    states: Sequence[Mapping[str, Sequence[int]]] = ()
    most_moves: int = -1
    most_steps: int = -1
    steps: Sequence[str] = ()
    why: str = ""

    def __str__(self) -> str:
        if self.holds:
            return f"holds in all {self.executions:,} executions"
        if self.why:
            return f"broken after {', then '.join(self.steps) or 'nothing'}: {self.why}"
        why = self.example.why if self.example else f"no end: {list(self.states)}"
        return f"broken in one of {self.executions:,} executions: {why}"


def explore(
    kernel: str | type[Kernel],
    graph: Graph,
    property: Property | None = None,
    *,
    crashes: int = 0,
    losses: int = 0,
    timeouts: int = 3,
    rounds: int = 3,
    symmetric: bool = False,
    most: int = MOST,
    vary: Mapping[str, Iterable[Any]] | None = None,
    progress: bool | None = None,
    **parameters: Any,
) -> Exploration:
    """Look at every execution of a small case.

    Of a self-stabilising kernel (`dgsuite.kernels.lab.state_model.StateModel`) these are the executions from
    all states, with all choices that its daemon may make. The property is that each execution reaches a
    legitimate state, and that all later states are legitimate. Of an event-driven kernel
    (`dgsuite.kernels.events.kernel.EventKernel`) these are all orders in which messages arrive and timers
    end. Of other kernels they are all ways in which up to `crashes` nodes crash, each after it has sent to
    some of its neighbours, or to none.

    Parameters
    ----------
    kernel
        Name of a kernel, or its class.
    graph
        A small graph, without labels.
    property
        Called with the graph and the dataset of a run; by default the kernel's rule. Self-stabilising
        kernels have none. Of an event-driven kernel it is called with the fields of the state, after each
        step; the rule judges the end of an execution.
    crashes
        How many nodes crash at most.
    losses, timeouts
        Of an event-driven kernel, how many messages are lost and how many timers end, at most.
    rounds
        Nodes crash in the first so many rounds.
    symmetric
        Whether neither the algorithm nor the property depends on node ids. Then only one of the executions
        that differ by an exchange of nodes is looked at.
    most
        Executions, or states, at most.
    vary
        Values of parameters to try, each with each, such as ``{"inputs": product((0, 1), repeat=4)}``. Where
        executions are symmetric, sequences with an entry for each node are exchanged, too.
    progress
        Whether to show how many executions, or configurations, have been looked at; by default on a terminal
        or in a notebook, after two seconds.
    parameters
        Of the kernel, and ``seed``.

    Raises
    ------
    InputError
        There are more than `most` executions: the message says how many.

    Examples
    --------
    FloodSet with two rounds bears every crash of one node out of three:

    >>> from itertools import product
    >>> import dgsuite
    >>> triangle = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> inputs = {"inputs": list(product((0, 1), repeat=3))}
    >>> print(dgsuite.lab.explore("floodset", triangle, f=1, crashes=1, rounds=2, vary=inputs))
    holds in all 200 executions

    Two nodes ask to be alone, in any order of messages and timers:

    >>> pair = dgsuite.Graph.from_edges([0], [1])
    >>> alone = lambda graph, held: held["inside"].sum() <= 1
    >>> print(dgsuite.lab.explore("ricart_agrawala", pair, alone, timeouts=4))
    holds in all 20 executions
    """
    chosen = named(kernel)
    if issubclass(chosen, StateModel):
        if crashes or property is not None or vary:
            raise InputError(
                "of a self-stabilising kernel all states are looked at, without faults"
            )
        return Exploration(**explored(chosen, graph, most, parameters))
    if issubclass(chosen, EventKernel):
        left = losses, crashes, timeouts
        with shown("explore", "configuration", progress, None) as tell:
            found = ordered(chosen, graph, property, most, left, parameters, tell)
        return Exploration(**found)
    trial = Trial(kernel, property)
    choices = {name: [*values] for name, values in (vary or {}).items()}
    first = {name: values[0] for name, values in choices.items()}
    phases, _ = trial.outline(graph, {**parameters, **first}, rounds)
    near = neighbours(graph)
    count = _count(near, crashes, rounds * len(phases))
    count *= prod(len(values) for values in choices.values())
    if count > most:
        raise InputError(
            f"there are {count:,} executions, and most={most:,}: take fewer crashes, rounds or values"
        )
    images = _images(near) if symmetric else []
    seen, looked_at = set[Any](), 0
    every = product(_crashes(near, crashes, rounds, phases), product(*choices.values()))
    with shown("explore", "execution", progress, None) as tell:
        for listed, values in every:
            if images:
                key = min(_exchanged(listed, values, image) for image in images)
                if key in seen:
                    continue
                seen.add(key)
            looked_at += 1
            if tell is not None:
                tell(Progress(looked_at))
            given = {**parameters, **dict(zip(choices, values, strict=True))}
            example = trial.tried(graph, Network(crashes=listed), given, max_rounds=None)
            if example is not None:
                return Exploration(False, count, looked_at, example)
    return Exploration(True, count, looked_at)


def _count(near: Sequence[Sequence[int]], crashes: int, moments: int) -> int:
    """How many ways there are for up to so many nodes to crash, each in one of some phases."""
    ways = [1, *[0] * crashes]
    for others in near:
        for k in range(crashes, 0, -1):
            ways[k] += ways[k - 1] * moments * 2 ** len(others)
    return sum(ways)


def _crashes(
    near: Sequence[Sequence[int]], crashes: int, rounds: int, phases: Sequence[str]
) -> Iterator[tuple[Crash, ...]]:
    """All ways in which up to so many nodes crash, the fewest first."""
    for count in range(crashes + 1):
        for nodes in combinations(range(len(near)), count):
            told = [_subsets(near[v]) for v in nodes]
            for moments in product(product(range(rounds), phases), repeat=count):
                for receivers in product(*told):
                    yield tuple(
                        Crash(v, r, phase, receivers=some)
                        for v, (r, phase), some in zip(nodes, moments, receivers, strict=True)
                    )


def _subsets(items: Sequence[int]) -> list[tuple[int, ...]]:
    return [some for k in range(len(items) + 1) for some in combinations(items, k)]


def _images(near: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The ways to exchange nodes after which the graph is the same."""
    ends = {(u, v) for u, others in enumerate(near) for v in others}
    return [p for p in permutations(range(len(near))) if {(p[u], p[v]) for u, v in ends} == ends]


def _exchanged(crashes: Sequence[Crash], values: Sequence[Any], image: tuple[int, ...]) -> Any:
    """An execution with nodes exchanged, as a key."""
    struck = sorted(
        (image[c.node], c.round, c.phase, tuple(sorted(image[v] for v in c.receivers or ())))
        for c in crashes
    )
    order = np.argsort(image)
    moved = [
        tuple(value[v] for v in order) if np.shape(value) == (len(image),) else value
        for value in values
    ]
    return tuple(struck), tuple(moved)
