"""Programs: which phases run in which order, decided from votes alone.

The program of a recursive kernel yields a `Finish` where an iterative one would repeat a phase until
no cluster has anything left to do; it may yield rounds as well. A *task* is written like a phase: a
function of (cluster, state, inbox), where the inbox holds the tasks of that name that have arrived
at the cluster and its ``round`` is their depth. It changes the cluster's state and returns what to
`spawn`. The style decides which tasks arrive together, and in which order; results must not depend on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels.bsp.votes import Reply
from dgsuite.partition.arrays.reductions import Reduction, reduction

Phase = Callable[..., Any]
"""A method of a kernel: ``phase(cluster, state, inbox)``, and values of its round by keyword."""

Sent = tuple[Any, ...] | None
"""What a phase returns: a message, a vote or a note, each a named tuple, or a tuple of these."""


class Net(NamedTuple):
    """What a program knows of the network.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> net = bsp.Net(n=8)
    >>> hops = range(net.n - 1)  # in a program, such as that of Bellman and Ford
    """

    n: int
    """Nodes."""


def phase_name(what: str, phase: Phase | str) -> str:
    """Name of a phase, or task, that is given as a method or by its name."""
    name = phase if isinstance(phase, str) else getattr(phase, "__name__", None)
    if name is None or not name.isidentifier():
        got = type(phase).__name__ if name is None else name
        raise InputError(f"{what} takes methods of the kernel, or their names, got {got}")
    return name


MOST_PHASES = 32_767
"""Phases of a round: the log has 16 bits for the place of a phase in its round."""


class Round:
    """One or more phases, with an exchange after each: the unit that results are indexed by.

    Parameters
    ----------
    phases
        Bound methods of the kernel, or their names.
    opening, closing
        Whether the round only prepares the next one, or completes the one before; it is then counted
        with that one.
    values
        Values that the program computes, such as from votes. A phase gets those that it has a
        parameter for: ``Round(self.light, bucket=left.min)`` calls ``light(c, s, inbox, bucket=...)``.
        No message is needed, since the program runs in every place, with the same votes.

    Examples
    --------
    A program is a generator: it yields rounds, and gets their votes back. Here it halves a number as long
    as the cluster votes that it is above 1:

    >>> from dataclasses import dataclass
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> @dataclass(frozen=True)
    ... class Halve(bsp.Kernel):
    ...     name = "halve"
    ...     outputs = {}
    ...
    ...     def program(self, net):
    ...         left = net.n
    ...         while left > 1:
    ...             reply = yield bsp.Round(self.halve, number=left)
    ...             left = reply.max
    ...
    ...     def start(self, c):
    ...         return bsp.State()
    ...
    ...     def halve(self, c, s, inbox, number):
    ...         return bsp.vote(max=number // 2)
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> dgsuite.run(Halve, graph, style="serial").sizes["round"]
    2
    """

    def __init__(
        self, *phases: Phase | str, opening: bool = False, closing: bool = False, **values: Any
    ) -> None:
        if not phases:
            raise InputError("Round() needs at least one phase, such as Round(self.send)")
        if len(phases) > MOST_PHASES:
            raise InputError(
                f"Round() takes at most {MOST_PHASES:,} phases, not {len(phases):,}; yield several rounds"
            )
        self.phases = tuple(phase_name("Round", p) for p in phases)
        self.opening = opening
        self.closing = closing
        self.values = values

    def values_of(self, kernel: object, phase: str) -> dict[str, Any]:
        """Those of the round's values that a phase of the kernel takes."""
        if not self.values:
            return {}
        takes = _parameters(getattr(type(kernel), phase, None))
        return {name: value for name, value in self.values.items() if name in takes}


@cache
def _parameters(phase: Phase | None) -> tuple[str, ...]:
    """Parameters of a method besides self, cluster, state and inbox."""
    return () if phase is None else tuple(inspect.signature(phase).parameters)[4:]


class Finish:
    """Launch tasks and wait until all that they spawn, at any depth, has ended: recursive kernels.

    Parameters
    ----------
    launch
        Runs on every cluster, with an empty inbox, at depth 0; its votes and those of all tasks are
        the reply. See `dgsuite.kernels.bsp.rounds`.

    Examples
    --------
    `dgsuite.kernels.bsp.rounds.spawn` has a kernel whose program yields one.

    >>> from dgsuite.kernels import bsp
    >>> bsp.Finish("launch").launch
    'launch'
    """

    def __init__(self, launch: Phase | str) -> None:
        self.launch = phase_name("Finish", launch)


class Spawn(NamedTuple):
    """Tasks to run at other nodes; see `spawn`."""

    task: str
    to: NDArray
    by: NDArray
    at: NDArray
    repeat: NDArray | None
    combine: Reduction | None
    then: str | None
    fields: dict[str, ArrayLike]


def spawn(
    task: Phase,
    to: NDArray,
    *,
    by: NDArray,
    at: NDArray | None = None,
    repeat: NDArray | None = None,
    combine: str | Reduction | None = None,
    then: Phase | None = None,
    **fields: ArrayLike,
) -> Spawn:
    """Have nodes run a task, each in its own cluster.

    Parameters
    ----------
    task
        Method of the kernel.
    to
        Node id of each that runs it.
    by
        Local indices of the nodes that spawn, each under a finish of its own; each is named once.
    at
        Which of `by` spawns each task, as an index; by default one spawns one.
    repeat
        For each of `by`, how many of the original's tasks each of its tasks stands for.
    combine
        "min", "max", "sum", "or" or a `dgsuite.partition.arrays.reductions.Reduction`: combine what is
        spawned at one node into one task, on the way.
    then
        Method to run at each of `by` when all that it spawned has ended, at any depth; at once where
        it spawned nothing. What that spawns ends before the task does.
    fields
        One value a task, or one for all.

    Examples
    --------
    From the root, a task at each neighbour, and so on along a path of four nodes:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> @dataclass(frozen=True)
    ... class Hops(bsp.Kernel):
    ...     name = "hops"
    ...     form = "recursive"
    ...     outputs = {"distance": bsp.Output("hops from node 0")}
    ...     fields = {"hops": np.int64}
    ...
    ...     def program(self, net):
    ...         yield bsp.Finish(self.launch)
    ...
    ...     def start(self, c):
    ...         return bsp.State(distance=c.full(c.n))
    ...
    ...     def launch(self, c, s, inbox):
    ...         root = c.local(0)
    ...         s.distance[root] = 0
    ...         return self.spread(c, s, root)
    ...
    ...     def visit(self, c, s, inbox):
    ...         nodes, hops = inbox.min("hops")
    ...         nearer = hops < s.distance[nodes]
    ...         s.distance[nodes[nearer]] = hops[nearer]
    ...         return self.spread(c, s, nodes[nearer])
    ...
    ...     def spread(self, c, s, nodes):
    ...         at, to = c.edges(nodes)
    ...         return bsp.spawn(self.visit, to, by=nodes, at=at, hops=s.distance[nodes][at] + 1)
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> dgsuite.run(Hops, graph, style="serial").distance.values
    array([0, 1, 2, 3])
    """
    at = np.arange(len(by)) if at is None else at
    combined = None if combine is None else reduction(combine)
    ended = None if then is None else then.__name__
    return Spawn(task.__name__, to, by, at, repeat, combined, ended, fields)


Program = Generator[Round | Finish, Reply, None]


def until_quiet(
    *phases: Phase | str, after: Round | None = None, **values: Any
) -> Generator[Round | Finish, Reply, Reply]:
    """Repeat a round as long as a cluster votes `any`; returns the last reply.

    Use it in a program as ``last = yield from until_quiet(self.send, self.read)``.

    Parameters
    ----------
    phases, values
        As for `Round`, which takes `opening` and `closing` as well.
    after
        A round that comes before: if no cluster votes `any` in it, there are no others.

    Examples
    --------
    The iterations are rounds of the result:

    >>> from dataclasses import dataclass
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> @dataclass(frozen=True)
    ... class Three(bsp.Kernel):
    ...     name = "three"
    ...     outputs = {}
    ...
    ...     def program(self, net):
    ...         last = yield from bsp.until_quiet(self.count)
    ...         assert not last.any
    ...
    ...     def start(self, c):
    ...         return bsp.State(calls=0)
    ...
    ...     def count(self, c, s, inbox):
    ...         s.calls += 1
    ...         return bsp.vote(any=s.calls < 3)
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> dgsuite.run(Three, graph, style="serial").sizes["round"]
    3
    """
    reply = yield after or Round(*phases, **values)
    while reply.any:
        reply = yield Round(*phases, **values)
    return reply
