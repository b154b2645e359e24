"""Votes: what clusters contribute to a round's reply, on which the program decides."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels.tools.exact import exact_sum


class Vote(NamedTuple):
    """A contribution to the round's reply; see `vote`."""

    any: bool = False
    sum: int | Fraction = 0
    """A fraction where floats were voted, so that it is exact."""
    min: float | None = None
    max: float | None = None
    given: int = 0
    """Which of the others were voted, as a bitmap of `VOTES`."""
    targets: tuple[tuple[float, int, int], ...] = ()
    """What an adversary may strike: score, node, and neighbour or -1. Kernels vote none."""


VOTES = {"any": 1, "sum": 2, "min": 4, "max": 8}
"""Bit of each kind of vote in `Vote.given`."""


_UNSAID: Any = object()


def vote(*, any: Any = _UNSAID, sum: Any = _UNSAID, min: Any = _UNSAID, max: Any = _UNSAID) -> Vote:
    """Contribute to the round's reply, which is the same for every partition.

    Parameters
    ----------
    any
        Whether something holds: a truth value or a number, or an array of such.
    sum
        An integer, or an array of numbers such as one per node. Floats come as an array only, and
        finite: they are added exactly, over all clusters, and the sum is rounded once. A sum that
        a phase computes itself would be rounded in a way that depends on the cluster's nodes, unless
        it is a `fractions.Fraction`.
    min, max
        A number but NaN, or an array of such; None, or an empty array, where the cluster has none.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.vote(any=True)
    Vote(any=True, sum=0, min=None, max=None, given=1, targets=())
    >>> bsp.vote(sum=3, min=None)
    Vote(any=False, sum=3, min=None, max=None, given=6, targets=())
    """
    given = (any is not _UNSAID) | (sum is not _UNSAID) << 1  # the bits of VOTES
    given |= (min is not _UNSAID) << 2 | (max is not _UNSAID) << 3
    holds = any is not _UNSAID and _holds(any)
    total = 0 if sum is _UNSAID else _total(sum)
    least = None if min is _UNSAID else _extreme(min, np.min)
    most = None if max is _UNSAID else _extreme(max, np.max)
    return Vote(holds, total, least, most, given)


def _holds(value: Any) -> bool:
    """Whether something holds for a cluster."""
    if type(value) is bool:
        return value
    values = np.asarray(value)
    if values.dtype.kind not in "biuf":
        raise InputError(
            f"vote(any={value!r:.80}) is no truth value: vote True or False, a number, or an array of such"
        )
    return bool(values.any())


def _total(value: Any) -> int | Fraction:
    """What a cluster adds to the sum of the votes."""
    if isinstance(value, np.ndarray) and value.ndim:
        return exact_sum(value)
    if isinstance(value, Fraction):
        return value
    try:
        return int(operator.index(bool(value) if isinstance(value, np.bool_) else value))
    except TypeError:
        raise InputError(
            f"vote(sum={value!r}) is not an integer: a float that a cluster's phase adds up is rounded in "
            f"a way that depends on the cluster's nodes; vote the array of what is to be added"
        ) from None


def _extreme(value: Any, pick: Callable[[NDArray], Any]) -> float | None:
    """What a cluster votes as the least or greatest, picked from an array."""
    if value is None or type(value) is int:
        return value
    values = np.asarray(value)
    if not values.size:
        return None
    found = pick(values).item() if values.dtype.kind in "biuf" else value
    if not isinstance(found, int | float) or found != found:
        raise InputError(f"vote: {found!r} cannot be compared with other numbers")
    return found + 0  # no negative zero, and no truth value


class Reply(Protocol):
    """The votes of a round, reduced over all clusters.

    Read a vote only where the program needs it: until then the engine may run rounds ahead. A
    cluster that does not vote contributes nothing; to read what no cluster voted is an error.

    Examples
    --------
    A program of `Round` gets one for each round. Two clusters vote here:

    >>> from dataclasses import dataclass
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> @dataclass(frozen=True)
    ... class Count(bsp.Kernel):
    ...     name = "count"
    ...     outputs = {}
    ...
    ...     def program(self, net):
    ...         reply = yield bsp.Round(self.count)
    ...         print(reply.any, reply.sum, reply.min, reply.max)
    ...
    ...     def start(self, c):
    ...         return bsp.State()
    ...
    ...     def count(self, c, s, inbox):
    ...         return bsp.vote(any=c.degree > 1, sum=c.degree, min=c.ids, max=c.ids)
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> ds = dgsuite.run(Count, graph, style="serial")
    True 6 0 3
    """

    @property
    def any(self) -> bool: ...
    @property
    def sum(self) -> Any: ...
    @property
    def min(self) -> Any: ...
    @property
    def max(self) -> Any: ...
