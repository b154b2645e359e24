"""Programs: which phases run in which order, decided from votes alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from functools import cache
from typing import Any, NamedTuple

from kernels.votes import Reply
from partition.errors import InputError

Phase = Callable[..., Any]
"""A method of a kernel: ``phase(cluster, state, inbox)``, and values of its round by keyword."""


class Net(NamedTuple):
    """What a program knows of the network."""

    n: int
    """Nodes."""


def phase_name(what: str, phase: Phase | str) -> str:
    """Name of a phase, or task, that is given as a method or by its name."""
    name = phase if isinstance(phase, str) else getattr(phase, "__name__", None)
    if name is None:
        raise InputError(
            f"{what} takes methods of the kernel, or their names, got {type(phase).__name__}"
        )
    return name


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
    """

    def __init__(
        self, *phases: Phase | str, opening: bool = False, closing: bool = False, **values: Any
    ) -> None:
        if not phases:
            raise InputError("Round() needs at least one phase, such as Round(self.send)")
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
        the reply. See `kernels.recursion`.
    """

    def __init__(self, launch: Phase | str) -> None:
        self.launch = phase_name("Finish", launch)


Program = Generator[Round | Finish, Reply, None]


def until_quiet(
    *phases: Phase | str, opening: bool = False, closing: bool = False, **values: Any
) -> Generator[Round | Finish, Reply, Reply]:
    """Repeat a round as long as a cluster votes `any`; returns the last reply.

    Use it in a program as ``last = yield from until_quiet(self.send, self.read)``. The parameters are
    those of `Round`.
    """
    while True:
        reply = yield Round(*phases, opening=opening, closing=closing, **values)
        if not reply.any:
            return reply
