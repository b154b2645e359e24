"""How long the messages of a network take, and what comes of it.

Rounds are run by a synchroniser: see `virtual_times`. Tasks spawn tasks whose messages take time:
`DelayedSite` is a simulation of events, tick by tick. All sites run the tasks of a tick before any of a later
one, and agree on which tick is next. Tasks of a tick run in the order of their depths and names; what these
spawn without a delay runs after all of them, in the same tick. A task that is spawned takes time to arrive,
and so does the notice that a task has ended, from its node to that of the finish. Finishes of the program and
rounds between them take none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from math import inf
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError, one_of
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.recursion.site import Batch, Bundle, RecursiveSite, tasks_of
from dgsuite.kernels.events.channel import Channel
from dgsuite.kernels.lab.delays import Own, by_tick, wrong_delay, wrong_weights
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.network.names import is_whole, made

VALUES = {"uniform": ("low", "high"), "geometric": ("p",), "weight": ()}
"""Kinds of delays, and what each has."""

SYNCHRONISERS = ("alpha", "beta")
"""Kernels that work out virtual times."""

ARRIVAL = "arrival_tick"
"""Field of tasks on their way: when they arrive."""


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


class Calendar:
    """Tasks on their way to the clusters of a site.

    What is spawned together is sorted by tick once: there is no object for a message.

    Attributes
    ----------
    now
        The current tick, the same on all sites.
    ticks
        The ticks so far at which something happened, the current one included: the rounds of the run.
    """

    def __init__(self) -> None:
        self.now = 0
        self.ticks = [0]
        self._coming: list[int] = []  # ticks at which tasks arrive, as a heap
        self._batches: dict[int, list[Batch]] = {}

    @property
    def due(self) -> float:
        """Tick at which the next tasks arrive; infinite if there are none."""
        return self._coming[0] if self._coming else inf

    def put(self, batch: Batch) -> None:
        """Take in tasks that were spawned; `ARRIVAL` says when they arrive."""
        fields = dict(batch.letters.fields)
        order, parts = by_tick(fields.pop(ARRIVAL))
        letters = batch.letters._replace(fields=fields).take(order)
        for tick, part in parts:
            if tick not in self._batches:
                heappush(self._coming, tick)
            self._batches.setdefault(tick, []).append(batch._replace(letters=letters.take(part)))

    def advance(self, tick: int) -> list[Batch]:
        """Go on to a tick; the tasks that arrive then, in the order in which they were spawned."""
        if tick > self.now:
            self.now = tick
            self.ticks.append(tick)
        if self.due == tick:
            heappop(self._coming)
        return self._batches.pop(tick, [])


class DelayedSite(RecursiveSite):
    """A `RecursiveSite` with a calendar of what is on its way.

    Attributes
    ----------
    calendar
        Tasks and notices that have not arrived.
    delays
        How long they take.
    """

    combines_early = False  # only what arrives in the same tick is combined

    def __init__(self, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        assert self.spec.delays is not None
        self.delays = self.spec.delays.of_run(self.kernel.seed)
        self.calendar = Calendar()
        for cluster in self.clusters:
            if (problem := self.delays.wrong(cluster)) is not None:
                raise InputError(f"kernel {self.kernel.name!r}: {problem}")

    def logged(self, step: Step) -> Step:
        """A step as the log has it: its round is the current tick."""
        return step._replace(round=len(self.calendar.ticks) - 1)

    def arrive(self, batch: Batch) -> None:
        """Note when tasks arrive."""
        self.calendar.put(batch)

    def due(self, out: Mapping[int, Bundle]) -> float:
        """Tick of the next tasks, here or in `out`."""
        if self.queue:
            return self.calendar.now
        leaving = [batch for bundle in out.values() for batch in tasks_of(bundle)]
        return min(self.calendar.due, *(int(b.letters.fields[ARRIVAL].min()) for b in leaving), inf)

    def tick(self, due: float) -> dict[int, Bundle]:
        """Go on to a tick, and run all tasks that are there, and none that these spawn."""
        for batch in self.calendar.advance(int(due)):
            self.put(batch)
        return super().tick(due)

    def outputs(self) -> dict[str, Any]:
        self.log.ticks = self.calendar.ticks
        return super().outputs()

    def _send(self, k: int, depth: int, task: str, letters: UnicastBatch, owner: NDArray) -> None:
        if not len(owner):
            return
        now = self.calendar.now
        assert letters.src is not None
        try:
            waits = self.delays.ticks(self.clusters[k], letters.src, letters.dst, now)
        except InputError as error:
            raise self.fault(Step(depth, task, False, self.turn), k, str(error)) from None
        fields = {**letters.fields, ARRIVAL: now + waits}
        super()._send(k, depth, task, letters._replace(fields=fields), owner)


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
        if self.delay.kind != "weight":
            return self._channel.waits(self.seed or 0, tick, src.astype(np.int64), dst)
        assert cluster.weights is not None
        entry, found = cluster.places(cluster.partition.position(src) - cluster.first, dst)
        if not found.all():
            lost = int(np.argmin(found))
            raise InputError(
                f"delay='weight' takes the weight of an edge, and node {src[lost]} sends to node "
                f"{dst[lost]}, which is no neighbour"
            )
        return cluster.weights[entry].astype(np.int64)

    @cached_property
    def _channel(self) -> Channel:
        return Channel(**self.delay.parameters)
