"""Replay of a program on more places than there are processors, by discrete events.

Every place has a processor of its own and a clock. Units take what the ledger says, messages what the
transport says for their two places: a place sends and takes in one message after another. Messages do not
hinder each other on their way. What comes out is a simulation and is to be called one; at one and two places
it is checked against what was measured.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.studies.scc.ledger import Transport

MAX_PLACES = 1 << 12
"""Places at most: an exchange has an event a pair."""


class Simulation:
    """Clocks of some places.

    Parameters
    ----------
    places
        How many there are.
    transport
        What messages cost.

    Attributes
    ----------
    clock
        Seconds that have passed at each place, shape (places,).
    busy
        Seconds of it spent on units, shape (places,).
    """

    def __init__(self, places: int, transport: Transport) -> None:
        if not 1 <= places <= MAX_PLACES:
            raise InputError(f"places must be from 1 to {MAX_PLACES}, got {places}")
        self.places = places
        self.transport = transport.among(places)
        self.clock = np.zeros(places)
        self.busy = np.zeros(places)

    @property
    def elapsed(self) -> float:
        """Seconds until the last place is done."""
        return float(self.clock.max())

    def compute(self, seconds: float | NDArray) -> None:
        """All places compute for a time: one for all, or one each."""
        self.clock += seconds
        self.busy += seconds

    def static(self, seconds: NDArray, owner: NDArray) -> None:
        """Units that were dealt beforehand.

        Parameters
        ----------
        seconds, owner
            Of each unit: what it takes, and its place.
        """
        self.compute(np.bincount(owner, seconds, self.places))

    def dynamic(
        self,
        seconds: NDArray,
        *,
        chunk: int = 1,
        prefetch: bool = False,
        service: float | None = None,
    ) -> None:
        """Units that places fetch from a counter at place 0, in order, as they become free.

        Parameters
        ----------
        seconds
            Of each unit.
        chunk
            Units a fetch.
        prefetch
            Whether a place asks for its next units when it begins with some.
        service
            What a fetch takes where the counter is, one after another, place 0's own included; by
            default a message, and nothing for place 0.
        """
        starts = np.arange(0, len(seconds), chunk)
        cost = np.add.reduceat(seconds, starts) if len(seconds) else seconds
        ranks = np.arange(self.places)
        messages = np.broadcast_to(self.transport.seconds(0, 0, ranks), self.places).tolist()
        free = 0.0
        asking = [(float(t), place) for place, t in enumerate(self.clock)]
        heapify(asking)
        done = self.clock.copy()
        taken = 0
        while asking:
            asked, place = asking[0]
            if service is None and place == 0:  # the counter is at hand
                answer = asked
            else:
                message = messages[place]
                free = max(asked + message / 2, free) + (message if service is None else service)
                answer = free + message / 2
            if taken == len(cost):
                done[place] = max(done[place], answer)
                heappop(asking)
                continue
            begin = max(answer, done[place])
            done[place] = begin + cost[taken]
            self.busy[place] += cost[taken]
            taken += 1
            heapreplace(asking, (begin if prefetch else float(done[place]), place))
        self.clock = done

    def exchange(self, nbytes: float) -> None:
        """Every place sends every other some bytes, nearest rank first, and waits for theirs.

        Half of what a message takes is the sender's time, half the receiver's.
        """
        if self.places == 1:
            return
        ranks = np.arange(self.places)[:, None]
        steps = np.arange(1, self.places)
        after, before = ((ranks + k) % self.places for k in (steps, -steps))
        half = np.broadcast_to(self.transport.seconds(nbytes, ranks, after) / 2, after.shape)
        sent = self.clock[:, None] + half.cumsum(1)
        # what q sends in its k-th step comes to q + k
        arrival, taken = sent[before, steps - 1], half[before, steps - 1]
        order = arrival.argsort(1)
        arrival, taken = (np.take_along_axis(x, order, 1) for x in (arrival, taken))
        # messages are taken in one after another, none before it is here nor before all was sent
        left = taken[:, ::-1].cumsum(1)[:, ::-1]
        self.clock = (np.maximum(arrival, sent[:, -1:]) + left).max(1)

    def collect(self, nbytes: float) -> None:
        """Place 0 takes in some bytes of every other place, one after another as they come."""
        order = 1 + np.argsort(self.clock[1:], kind="stable")
        each = np.broadcast_to(self.transport.seconds(nbytes, order, 0), order.shape)
        for place, one in zip(order, each, strict=True):
            self.clock[0] = max(self.clock[0], self.clock[place]) + one

    def reduce(self, nbytes: float) -> None:
        """Sums of all places at place 0, along a binomial tree."""
        step = 1
        while step < self.places:
            low = np.arange(0, self.places - step, 2 * step)
            one = self.transport.seconds(nbytes, low + step, low)
            self.clock[low] = np.maximum(self.clock[low], self.clock[low + step]) + one
            step *= 2

    def broadcast(self, nbytes: float) -> None:
        """What place 0 has for all places, along a binomial tree."""
        step = 1 << max((self.places - 1).bit_length() - 1, 0)
        while step and self.places > 1:
            low = np.arange(0, self.places - step, 2 * step)
            self.clock[low] += self.transport.seconds(nbytes, low, low + step)
            self.clock[low + step] = np.maximum(self.clock[low + step], self.clock[low])
            step //= 2
