"""How long the messages of a network take, and the times of rounds that a synchroniser runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError, one_of
from dgsuite.kernels.lab.delays import Own, wrong_delay
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.network.names import is_whole, made

VALUES = {"uniform": ("low", "high"), "geometric": ("p",), "weight": ()}
"""Kinds of delays, and what each has."""

SYNCHRONISERS = ("alpha", "beta")
"""Kernels that work out virtual times."""


@dataclass(frozen=True)
class Delay:
    """How many ticks a message takes.

    Parameters
    ----------
    kind
        A whole number of ticks; "uniform": from `low` to `high`, all alike; "geometric": until a trial of
        probability `p` succeeds, of which there is one a tick; "weight": the weight of the edge, a whole
        number from 0; or a function of senders, receivers, and ticks at which they send, three int64 arrays,
        which returns how long each message takes.
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
    >>> from dgsuite.studies.network.delays import Delay
    >>> Delay.of(("uniform", 1, 6))
    Delay(kind='uniform', low=1, high=6, p=0.5)
    >>> Delay.of(3).parameters
    {'delay': 3, 'low': 1, 'high': 10, 'p': 0.5}
    """

    kind: int | str | Own = 1
    low: int = 1
    high: int = 10
    p: float = 0.5

    def __post_init__(self) -> None:
        if not is_whole(self.kind) and not callable(self.kind) and self.kind not in (*VALUES,):
            raise InputError(
                f"delay must be a whole number of ticks, ('uniform', low, high), ('geometric', p), 'weight' "
                f"or a function, got {self.kind!r}"
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
        if isinstance(given, cls | Mapping):
            return made(cls, given, "delay")  # type: ignore[no-any-return]
        if not isinstance(given, Sequence) or isinstance(given, str):
            return cls(given)
        kind, *values = given or [None]
        plain = cls(kind)  # before the values, so that a wrong kind is named
        names = VALUES.get(str(kind), ())
        if len(values) != len(names):
            wanted = ", ".join((repr(kind), *names))
            raise InputError(f"delay must be ({wanted}), got {given!r}")
        return cls(kind, **dict(zip(names, values, strict=True))) if values else plain

    @property
    def parameters(self) -> dict[str, Any]:
        """The delay as the parameters of a synchroniser's kernel."""
        return {"delay": self.kind, "low": self.low, "high": self.high, "p": self.p}


class VirtualTimes(NamedTuple):
    """Virtual times of pulses; see `virtual_times`.

    Attributes
    ----------
    time
        int64, shape (pulses,): the tick by which all nodes have begun the pulse after each.
    messages
        int64, shape (pulses,): the messages of each, where every node sends one to each neighbour, and those
        of the synchroniser.
    """

    time: NDArray[np.int64]
    messages: NDArray[np.int64]


def virtual_times(
    run: Callable[..., xr.Dataset],
    graph: Graph,
    pulses: int,
    delay: Any,
    seed: int | None = None,
    synchroniser: str = "alpha",
    late: ArrayLike = (),
    **how: Any,
) -> VirtualTimes:
    """When each pulse is over on a network whose messages take time, under a synchroniser.

    Parameters
    ----------
    run
        `dgsuite.run`.
    graph
        The network; the edges of a directed graph carry messages both ways.
    pulses
        How many pulses: the rounds of a run.
    delay
        How long messages take; see `dgsuite.studies.network.delays.Delay.of`.
    seed
        Key of the delays.
    synchroniser
        "alpha", or "beta", which needs a connected graph.
    late
        What takes longer; see `dgsuite.kernels.lab.synchroniser.Synchroniser`.
    how
        Options of `dgsuite.run`, such as style and client; for "beta" also `root`.

    Raises
    ------
    InputError
        A value is not one of these, or weights are to be delays and are no whole numbers from 0.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.studies.network.delays import virtual_times
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> virtual_times(dgsuite.run, graph, 3, 2)
    VirtualTimes(time=array([ 6, 12, 18]), messages=array([18, 18, 18]))
    """
    one_of("synchroniser", synchroniser, SYNCHRONISERS)
    law = Delay.of(delay)
    if law.kind == "weight" and not graph.weighted:
        raise InputError("delay='weight' needs a graph with weights")
    if not pulses:
        return VirtualTimes(np.zeros(0, np.int64), np.zeros(0, np.int64))
    ds = run(synchroniser, graph, seed=seed, rounds=pulses, late=late, **law.parameters, **how)
    return VirtualTimes(ds["pulse_time"].values, ds["messages"].values)
