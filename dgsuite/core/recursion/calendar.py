"""Tasks that are on their way on a network whose messages take time, by the tick at which they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush, heapreplace
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.recursion.batches import Batch

ARRIVAL = "arrival_tick"
"""Field of tasks on their way: when they arrive."""

NARROW = 1 << 16
"""Numbers below are sorted in linear time."""


class Flight(NamedTuple):
    """Tasks that were spawned together, by the tick at which they arrive: those of ``ticks[i]`` are
    ``starts[i]`` to ``starts[i + 1]`` of the batch.
    """

    ticks: NDArray[np.int64]
    starts: NDArray[np.int64]
    batch: Batch


class Calendar:
    """Tasks on their way to the clusters of a site.

    What is spawned together is sorted by tick once, and stays one batch: the calendar holds no object for
    each tick or message.

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
        self._number = 0
        self._heap: list[tuple[int, int, int, Flight]] = []

    @property
    def due(self) -> float:
        """Tick at which the next tasks arrive; infinite if there are none."""
        return self._heap[0][0] if self._heap else inf

    def put(self, batch: Batch) -> None:
        """Take in tasks that were spawned; `ARRIVAL` says when they arrive."""
        flight = _sorted(batch)
        heappush(self._heap, (int(flight.ticks[0]), self._number, 0, flight))
        self._number += 1

    def advance(self, tick: int) -> Iterator[Batch]:
        """Go on to a tick; the tasks that arrive then, in the order in which they were spawned."""
        if tick > self.now:
            self.now = tick
            self.ticks.append(tick)
        heap = self._heap
        while heap and heap[0][0] == tick:
            _, number, at, flight = heap[0]
            if at + 1 < len(flight.ticks):
                heapreplace(heap, (int(flight.ticks[at + 1]), number, at + 1, flight))
            else:
                heappop(heap)
            part = slice(flight.starts[at], flight.starts[at + 1])
            depth, task, cluster, letters = flight.batch
            yield Batch(depth, task, cluster, letters.take(part))


def _sorted(batch: Batch) -> Flight:
    """Tasks by the tick at which they arrive."""
    letters = batch.letters
    fields = {name: values for name, values in letters.fields.items() if name != ARRIVAL}
    ticks, letters = letters.fields[ARRIVAL], letters._replace(fields=fields)
    first = ticks.min()
    after = ticks - first
    last = after.max()
    if last == 0:
        heads = np.zeros(1, np.int64)
    else:
        if last < NARROW:
            after = after.astype(np.uint16)
        order = np.argsort(after, kind="stable")
        after, letters = after[order], letters.take(order)
        heads = np.concatenate([[0], np.flatnonzero(after[1:] != after[:-1]) + 1])
    starts = np.append(heads, len(ticks))
    return Flight(first + after[heads].astype(np.int64), starts, batch._replace(letters=letters))
