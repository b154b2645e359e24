"""The synchroniser alpha (Awerbuch 1985; Peleg 2000, section 6.3; Lynch 1996, section 16.4).

A node that is safe tells its neighbours. It begins the next pulse when it and all its neighbours are safe:
then no message of the pulse is still on its way to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.kernels.lab.delays import greatest, latest
from dgsuite.kernels.lab.synchroniser import SAFE, State, Synchroniser


@dataclass(frozen=True)
class Alpha(Synchroniser):
    """The synchroniser alpha: when the nodes of an asynchronous network begin each round.

    In a pulse a node sends a message to each neighbour, which acknowledges it. A node that has all its
    acknowledgements is safe, and tells its neighbours. When it and all its neighbours are safe, it begins the
    next pulse. So with T(v) the tick at which node v begins a pulse, and fresh delays d throughout,

        S(v) = T(v) + the greatest d(v, u) + d(u, v) of its neighbours u,
        T'(v) = the greater of S(v) and the greatest S(u) + d(u, v) of its neighbours u.

    A node without neighbours begins all pulses at tick 0. Edges of a directed graph carry messages both ways.
    Outputs ``time``, int64, and by round ``pulse_time``.

    Notes
    -----
    Rounds: exactly ``rounds``: a round is a pulse. It takes at most three times the longest delay.

    Messages: exactly ``rounds * 6 * m``: a message, an acknowledgement and a word of safety along each edge,
    both ways.

    Examples
    --------
    Where each message takes 2 ticks, a pulse takes 6:

    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("alpha", graph, rounds=3, delay=2)
    >>> ds.pulse_time.values, ds.time.values
    (array([ 6, 12, 18]), array([18, 18, 18, 18]))
    >>> dgsuite.run("alpha", graph, rounds=3, delay="uniform", low=1, high=3).pulse_time.values
    array([ 8, 15, 21])
    """

    name = "alpha"
    streams = True
    state = State

    def steps(self, n: int) -> int:
        return 3

    def program(self, net: bsp.Net) -> bsp.Program:
        for pulse in range(self.rounds):
            yield bsp.Round(self.send, self.acknowledge, self.report, self.begin, pulse=pulse)

    def report(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, pulse: int) -> bsp.Broadcast:
        """Nodes that are safe tell their neighbours."""
        self.wait(c, s, pulse)
        return bsp.broadcast(time=s.time.copy())

    def begin(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, pulse: int) -> bsp.Vote:
        """Nodes that are safe, as are their neighbours, begin the next pulse."""
        if self.drawn(pulse):
            latest(c, self.law, self.key(pulse, SAFE), inbox, "time", s.time)
        else:
            heard, since = inbox.along("time")
            there = since + self.ticks(c, pulse, SAFE, since, inward=True)
            greatest(c, np.where(heard, there, 0), s.time)
        return bsp.vote(max=s.time)
