"""How messages of event-driven kernels and late tasks travel: delays, order, a bound from some tick on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.mixing import Domain, key, keyed, unit
from dgsuite.base.ticks import Law
from dgsuite.kernels import bsp
from dgsuite.kernels.lab import delays
from dgsuite.partition.arrays.segments import group

NEVER = 1 << 62
"""The tick of what does not happen, such as a timer that is not set."""


@dataclass(frozen=True)
class Channel:
    """How messages travel, and how clocks run: what ``dgsuite.Network`` tells event-driven kernels and
    recursive forms.

    Parameters
    ----------
    delay, low, high, p
        How many ticks a message takes, at least 1: see `dgsuite.studies.network.delays.Delay`. A function
        whose attribute ``sees`` is true gets the messages' fields, a mapping, as its first argument.
    fifo
        Whether messages from one node to another arrive in the order in which they were sent.
    capacity
        How many messages from one node to another are on their way at most: what is sent beyond that is lost.
        None: any number. A message that is lost on its way counts until the tick at which it would arrive.
    gst, bound
        From tick `gst` on a message takes at most `bound` ticks, and those sent before arrive by ``gst +
        bound``: partial synchrony (Dwork, Lynch and Stockmeyer, Consensus in the presence of partial
        synchrony, JACM 1988). None: there is no such tick.
    drift
        How much faster or slower clocks run at most, from 0 to below 1: a timer of t ticks ends after t times
        a factor from ``1 - drift`` to ``1 + drift``, which is the same for a node in all of a run.
    seed
        Key of delays and clocks; None for that of the kernel.

    Examples
    --------
    >>> from dgsuite.kernels.events.channel import Channel
    >>> Channel("uniform", high=6, fifo=True).high
    6
    """

    delay: delays.Kind = 1
    low: int = 1
    high: int = 10
    p: float = 0.5
    fifo: bool = False
    capacity: int | None = None
    gst: int | None = None
    bound: int = 1
    drift: float = 0.0
    seed: int | None = None

    def wrong(self, c: bsp.Cluster) -> str | None:
        """What is wrong with it on the graph of a cluster, if anything."""
        if self.drift == 1:
            return "drift must be below 1"
        wrong = delays.wrong_delay(self.delay, self.low, self.high, self.p)
        return wrong or (delays.wrong_weights(c) if self.delay == "weight" else None)

    @cached_property
    def _law(self) -> tuple[Law, NDArray[np.int16]]:
        """The law of delays that are drawn, and `Law.sure` of it."""
        assert not callable(self.delay)
        law = Law.of(self.delay, self.low, self.high, self.p)
        return law, law.sure()

    def due(
        self, c: bsp.Cluster, seed: int, tick: int, sent: bsp.Unicast, single: bool
    ) -> NDArray[np.int64]:
        """The ticks at which messages of a tick arrive.

        Parameters
        ----------
        c
            The cluster of the senders.
        seed
            That of the kernel.
        single
            Whether no node sends another more than one of them.
        """
        assert sent.src is not None
        src, dst = c.ids[sent.src], sent.dst
        if self.delay == "weight":
            entry = c.entries(sent.src, dst)
            found = np.where(entry < 0, 1, delays.ways(c)[0][entry])
        else:
            seed = seed if self.seed is None else self.seed
            found = self.waits(seed, tick, src, dst, sent.fields, None if single else c.n)
        np.maximum(found, 1, out=found)
        found += tick
        if self.gst is not None:
            found = np.minimum(found, max(tick, self.gst) + self.bound)
        return found

    def waits(
        self, seed: int, tick: int, src: NDArray, dst: NDArray, fields: Any = None, n: Any = None
    ) -> NDArray[np.int64]:
        """How long messages of a tick take, by a function or a law: see `dgsuite.kernels.lab.delays.drawn`.

        Parameters
        ----------
        fields
            What a function gets that ``sees`` them.
        n
            The nodes of the graph, if a node may send another several of the messages.
        """
        law: Any = self.delay
        if not callable(law):
            return delays.drawn(*self._law, seed, tick, src, dst, n)
        own = partial(law, fields) if getattr(law, "sees", False) else law
        return delays.own(own, src, dst.astype(np.int64), np.full(len(src), tick))

    def timer(self, c: bsp.Cluster, seed: int, nodes: NDArray, ticks: Any) -> NDArray[np.int64]:
        """How many ticks timers take by the clocks of some nodes: at least 1."""
        if not self.drift:
            return np.maximum(np.broadcast_to(ticks, nodes.shape), 1)
        words = keyed(key(seed if self.seed is None else self.seed, 0, Domain.CLOCKS), c.ids[nodes])
        return np.maximum(np.rint(ticks * (1 + self.drift * (2 * unit(words) - 1))), 1).astype(
            np.int64
        )


class Ahead:
    """Messages from nodes of a cluster that are on their way: the state of channels that are FIFO, or have a
    capacity.

    Attributes
    ----------
    sent
        Pairs of sender and receiver, as `pair_key`, in order, and when each message arrives.
    """

    def __init__(self) -> None:
        self.sent = np.empty(0, np.int64), np.empty(0, np.int64)

    def enter(
        self, channel: Channel, tick: int, pairs: NDArray[np.int64], due: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """When messages of a tick arrive: 0 for those that find a channel full; where channels are FIFO none
        before an earlier one of the same pair.

        Parameters
        ----------
        pairs, due
            Sender and receiver of each, as `pair_key`, and when it would arrive.
        """
        ahead = self.sent[1] > tick
        before = np.count_nonzero(ahead)
        pairs, due = np.append(self.sent[0][ahead], pairs), np.append(self.sent[1][ahead], due)
        order = np.argsort(pairs, kind="stable")
        by_pair = pairs[order]
        heads = np.flatnonzero(np.diff(by_pair, prepend=-1))
        group = np.repeat(np.arange(len(heads)), np.diff(heads, append=len(pairs)))
        if channel.capacity is not None:
            kept = np.arange(len(pairs)) - heads[group] < channel.capacity
            order, by_pair, group = order[kept], by_pair[kept], group[kept]
        arrives = due[order]
        if channel.fifo:
            # a run of each pair is a step above all before it, so that one running maximum serves all
            arrives = np.maximum.accumulate(arrives + (group << 32)) - (group << 32)
        self.sent = by_pair, arrives
        found = np.zeros_like(due)
        found[order] = arrives
        return found[before:]


class Mail:
    """What is on its way to the nodes of a cluster, by the tick at which it arrives.

    What was sent together stays together: there is no object for a message.

    Attributes
    ----------
    batches
        By tick, in the order of sending: columns of local indices of receivers, node ids of senders, and
        fields.
    ahead
        Messages from nodes of the cluster that are on their way.
    gone
        Which nodes have crashed since the last tick, if any: what was sent to them in that tick is lost.
    added
        What nodes that lie send at the tick beside the messages of their program.
    """

    def __init__(self) -> None:
        self.batches: dict[int, list[list[NDArray]]] = {}
        self.ahead = Ahead()
        self.gone: NDArray[np.bool_] | None = None
        self.added: list[bsp.Unicast] = []

    def put(self, inbox: bsp.Inbox, fields: Any) -> None:
        """Take in messages that were sent in the tick before."""
        columns = [inbox["due"], inbox.node, inbox.src, *(inbox[name] for name in fields)]
        if self.gone is not None:
            here = ~self.gone[inbox.node]
            self.gone, columns = None, [column[here] for column in columns]
        if not len(columns[0]):
            return
        order, parts = delays.by_tick(columns[0])
        columns = [column[order] for column in columns[1:]]
        for tick, part in parts:
            self.batches.setdefault(tick, []).append([column[part] for column in columns])

    def take(self, tick: int, size: int | None) -> list[NDArray] | None:
        """Messages that arrive at a tick, in the order of sending; or by receiver, and then in that order, if
        the number of these is given.
        """
        if tick not in self.batches:
            return None
        columns = [*map(np.concatenate, zip(*self.batches.pop(tick), strict=True))]
        if size is None:
            return columns
        _, _, order = group(columns[0], size)
        return [column[order] for column in columns]

    def drop(self, gone: NDArray[np.bool_]) -> None:
        """Lose what is on its way to some nodes."""
        batches, self.batches, self.gone = self.batches, {}, gone
        for due, parts in batches.items():
            for columns in parts:
                if (stay := ~gone[columns[0]]).any():
                    self.batches.setdefault(due, []).append([column[stay] for column in columns])
