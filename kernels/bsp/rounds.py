"""Programs: which phases run in which order, decided from votes alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from functools import cache
from typing import Any, NamedTuple

from dgsuite.base.errors import InputError
from dgsuite.kernels.bsp.votes import Reply

Phase = Callable[..., Any]
"""A method of a kernel: ``phase(cluster, state, inbox)``, and values of its round by keyword."""


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
        the reply. See `dgsuite.kernels.bsp.recursion`.

    Examples
    --------
    `dgsuite.kernels.bsp.recursion.spawn` has a kernel whose program yields one.

    >>> from dgsuite.kernels import bsp
    >>> bsp.Finish("launch").launch
    'launch'
    """

    def __init__(self, launch: Phase | str) -> None:
        self.launch = phase_name("Finish", launch)


Program = Generator[Round | Finish, Reply, None]


def until_quiet(
    *phases: Phase | str, opening: bool = False, closing: bool = False, **values: Any
) -> Generator[Round | Finish, Reply, Reply]:
    """Repeat a round as long as a cluster votes `any`; returns the last reply.

    Use it in a program as ``last = yield from until_quiet(self.send, self.read)``.

    Parameters
    ----------
    phases, opening, closing, values
        As for `Round`.

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
    while True:
        reply = yield Round(*phases, opening=opening, closing=closing, **values)
        if not reply.any:
            return reply
