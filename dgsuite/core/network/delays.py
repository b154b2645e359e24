"""How long the messages of a network take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Self

from dgsuite.base.errors import InputError, unknown
from dgsuite.core.network.names import is_whole
from dgsuite.kernels.lab.delays import wrong_delay

VALUES = {"uniform": ("low", "high"), "geometric": ("p",), "weight": ()}
"""Kinds of delays, and what each has."""


@dataclass(frozen=True)
class Delay:
    """How many ticks a message takes.

    Parameters
    ----------
    kind
        A whole number of ticks; "uniform": from `low` to `high`, all alike; "geometric": until a trial of
        probability `p` succeeds, of which there is one a tick; or "weight": the weight of the edge, a whole
        number from 0.
    low, high
        Least and greatest uniform delay, 0 <= low <= high <= 2^31.
    p
        Probability of geometric delays, from 1e-7 to 1.

    Raises
    ------
    InputError
        A value is not one of these.

    Examples
    --------
    >>> from dgsuite.core.network.delays import Delay
    >>> Delay.of(("uniform", 1, 6))
    Delay(kind='uniform', low=1, high=6, p=0.5)
    >>> Delay.of(3).parameters
    {'delay': 3, 'low': 1, 'high': 10, 'p': 0.5}
    """

    kind: int | str = 1
    low: int = 1
    high: int = 10
    p: float = 0.5

    def __post_init__(self) -> None:
        if not is_whole(self.kind) and self.kind not in (*VALUES,):
            raise InputError(
                f"delay must be a whole number of ticks, ('uniform', low, high), ('geometric', p) or "
                f"'weight', got {self.kind!r}"
            )
        for name in ("low", "high"):
            if not is_whole(value := getattr(self, name)):
                raise InputError(f"delay: {name} must be a whole number of ticks, got {value!r}")
        if not isinstance(self.p, Real) or isinstance(self.p, bool):
            raise InputError(f"delay: p must be a probability, got {self.p!r}")
        if wrong := wrong_delay(self.kind, self.low, self.high, self.p):
            raise InputError(f"delay: {wrong}")

    @classmethod
    def of(cls, given: Any) -> Self:
        """The delay that a network or an experiment file names.

        Parameters
        ----------
        given
            A `Delay` or a mapping of its parameters; a number of ticks, or a kind; or a sequence such as
            ("uniform", low, high) or ("geometric", p).

        Raises
        ------
        InputError
            It is none of these.
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, Mapping):
            known = [f.name for f in fields(cls)]
            if wrong := sorted(given.keys() - set(known)):
                raise InputError(unknown("parameter of delay", wrong[0], known))
            return cls(**given)
        if not isinstance(given, Sequence) or isinstance(given, str):
            return cls(given)
        kind, *values = given or [None]
        made = cls(kind)  # before the values, so that a wrong kind is named
        names = VALUES.get(str(kind), ())
        if len(values) != len(names):
            wanted = ", ".join((repr(kind), *names))
            raise InputError(f"delay must be ({wanted}), got {given!r}")
        return cls(kind, **dict(zip(names, values, strict=True))) if values else made

    @property
    def parameters(self) -> dict[str, Any]:
        """The delay as the parameters of a synchroniser's kernel."""
        return {"delay": self.kind, "low": self.low, "high": self.high, "p": self.p}
