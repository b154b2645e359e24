"""Reductions of messages: how several values for one receiver become one.

A `Reduction` is a value, and all that the engine knows of it. `combine=` of a unicast and
`Inbox.reduce` take any; those in `REDUCTIONS` go by name as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, unknown
from dgsuite.partition.arrays.segments import add, wide


@dataclass(frozen=True)
class Reduction:
    """How several values become one. It must be associative and commutative.

    Parameters
    ----------
    name
        What it is called in messages.
    ufunc
        Reduces two values.
    identity
        Called with a dtype; the value that changes no other, in the type in which values of the dtype
        are reduced.
    pull, push
        Names of compiled loops in `dgsuite.partition.arrays._compiled` that reduce along edges; without them
        messages are listed, and `ufunc` reduces the list.
    runs
        Reduces runs of values, ``starts[i]`` to ``starts[i + 1]``, in place of ``ufunc.reduceat``.
    kinds
        Kinds of dtypes that it takes.
    ordered
        Kinds of dtypes for which the result depends on the order of the values. Such messages are
        reduced by ascending sender, where they arrive, so that the result is the same for every cut.
    """

    name: str
    ufunc: np.ufunc
    identity: Callable[[np.dtype], Any]
    pull: str | None = None
    push: str | None = None
    runs: Callable[[NDArray, NDArray], NDArray] | None = None
    kinds: str = "biuf"
    ordered: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        if REDUCTIONS.get(self.name) is self:  # every process has it
            return reduction, (self.name,)
        return Reduction, tuple(getattr(self, f.name) for f in fields(self))

    @property
    def takes(self) -> str:
        """What it reduces, for messages."""
        numbers, but = ("numbers", "") if "f" in self.kinds else ("integers", ", no floats")
        return f"{numbers} and truth values{but}"

    def result(self, dtype: np.dtype) -> np.dtype:
        """Dtype of reduced values: their own for floats, else that of the identity."""
        found: np.dtype = dtype if dtype.kind == "f" else self.identity(dtype.base).dtype
        return found

    def reduceat(self, values: NDArray, starts: NDArray) -> NDArray:
        """Each run of values along the first axis, ``starts[i]`` to ``starts[i + 1]``, as one."""
        if self.runs is not None:
            return self.runs(values, starts)
        dtype = self.result(values.dtype)
        return self.ufunc.reduceat(values, starts[:-1], dtype=dtype)  # type: ignore[no-any-return]


def least(dtype: np.dtype) -> Any:
    """The smallest value of a dtype."""
    if dtype.kind == "f":
        return dtype.type(-np.inf)
    return np.bool_(False) if dtype.kind == "b" else dtype.type(np.iinfo(dtype).min)


def greatest(dtype: np.dtype) -> Any:
    """The largest value of a dtype."""
    if dtype.kind == "f":
        return dtype.type(np.inf)
    return np.bool_(True) if dtype.kind == "b" else dtype.type(np.iinfo(dtype).max)


def zero(dtype: np.dtype) -> Any:
    """The zero of a dtype."""
    return dtype.type(0)


MIN = Reduction("min", np.minimum, greatest, "pull_min", "push_min")
MAX = Reduction("max", np.maximum, least, "pull_max", "push_max")
SUM = Reduction("sum", np.add, wide, "pull_sum", "push_sum", runs=add, ordered="f")
OR = Reduction("or", np.bitwise_or, zero, "pull_or", "push_or", kinds="biu")

REDUCTIONS = {r.name: r for r in (MIN, MAX, SUM, OR)}
"""Reductions that go by name."""


def reduction(how: str | Reduction, what: str = "combine") -> Reduction:
    """A reduction, given itself or by name; `what` names it in errors.

    Raises
    ------
    InputError
        There is none of that name.
    """
    if isinstance(how, Reduction):
        return how
    if how not in REDUCTIONS:
        raise InputError(unknown(what, how, REDUCTIONS))
    return REDUCTIONS[how]
