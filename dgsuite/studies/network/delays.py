"""How long the messages of a network take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.mixing import Domain, key, keyed
from dgsuite.base.ticks import Law
from dgsuite.kernels.lab.delays import Own, own, wrong_delay, wrong_weights
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.studies.network.late import DelayedSite
from dgsuite.studies.network.names import is_whole, made

VALUES = {"uniform": ("low", "high"), "geometric": ("p",), "weight": ()}
"""Kinds of delays, and what each has."""


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


@dataclass(frozen=True)
class Delays:
    """How long the messages of tasks of a run take.

    Attributes
    ----------
    delay
        Their law.
    seed
        Key of the delays; None for that of the run.
    """

    delay: Delay
    seed: int | None = None

    site = DelayedSite

    def of_run(self, seed: int) -> Delays:
        """The delays of a run with a seed."""
        return self if self.seed is not None else replace(self, seed=seed)

    def wrong(self, cluster: Cluster) -> str | None:
        """What is wrong with the weights of a cluster's edges as delays, if anything."""
        return wrong_weights(cluster) if self.delay.kind == "weight" else None

    def ticks(self, cluster: Cluster, src: NDArray, dst: NDArray, tick: int) -> NDArray[np.int64]:
        """How long messages take: a function of the seed, the tick, and the two nodes.

        Parameters
        ----------
        cluster
            That of the senders.
        src, dst
            Node ids of senders and receivers.
        tick
            When they are sent.

        Raises
        ------
        InputError
            Weights are the delays, and a message goes along no edge; or a function returns no delays.
        """
        kind = self.delay.kind
        if callable(kind):
            at = np.full(len(src), tick)
            return own(kind, src.astype(np.int64), dst.astype(np.int64), at)
        if kind == "weight":
            assert cluster.weights is not None
            entry, found = cluster.places(cluster.partition.position(src) - cluster.first, dst)
            if not found.all():
                lost = int(np.argmin(found))
                raise InputError(
                    f"delay='weight' takes the weight of an edge, and node {src[lost]} sends to node "
                    f"{dst[lost]}, which is no neighbour"
                )
            return cluster.weights[entry].astype(np.int64)
        law, sure = self._law
        if law.span == 1 and not len(law.powers):
            return np.full(len(src), law.low)
        words = keyed(keyed(key(self.seed or 0, tick, Domain.LATE_TASKS), src), dst)
        if not len(law.powers):
            return law.ticks(words)
        above = sure[words >> np.uint64(54)].astype(np.int64)
        rest = np.flatnonzero(above < 0)
        above[rest] = law.ticks(words[rest]) - law.low
        return law.low + above

    @cached_property
    def _law(self) -> tuple[Law, NDArray[np.int16]]:
        """The law, and what it says where the upper bits of a word are enough."""
        assert not callable(self.delay.kind)
        law = Law.of(self.delay.kind, self.delay.low, self.delay.high, self.delay.p)
        return law, law.sure()
