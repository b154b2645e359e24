"""Delays of messages, in ticks: functions of the seed, the pulse, what is sent, and the ends of the edge."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.mixing import Domain, key, keyed
from dgsuite.base.pairs import pair_key
from dgsuite.base.thresholds import compiles
from dgsuite.base.ticks import Law
from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import paired
from dgsuite.partition.arrays.segments import group

Own = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], ArrayLike]
"""How many ticks messages take, from 0: a function of senders, receivers, and when they are sent."""

Kind = int | Literal["uniform", "geometric", "weight"] | Own
"""How long a message takes: a number of ticks; from `low` to `high`, all alike; until a trial of probability
`p` succeeds, of which there is one a tick; the weight of the edge; or as one's own function says."""

LONGEST = 1 << 31
"""Ticks that a message takes at most."""

RAREST = 1e-7
"""Least probability of geometric delays."""


def wrong_delay(delay: Kind, low: int, high: int, p: float) -> str | None:
    """What is wrong with parameters of delays, if anything."""
    if delay == "uniform" and not 0 <= low <= high <= LONGEST:
        return f"low and high must be 0 <= low <= high <= {LONGEST}, got low={low}, high={high}"
    if delay == "geometric" and not RAREST <= p <= 1:
        return f"p must be a probability from {RAREST} to 1, got {p}"
    if not isinstance(delay, str) and not callable(delay) and not 0 <= delay <= LONGEST:
        return f"delay must be from 0 to {LONGEST} ticks, got {delay}"
    return None


def own(delay: Own, src: NDArray, dst: NDArray, tick: NDArray) -> NDArray[np.int64]:
    """How long messages take by one's own function.

    Raises
    ------
    InputError
        It fails, or returns something else than whole numbers from 0 to `LONGEST`, one for each message or
        one for all.
    """
    called = f"{getattr(delay, '__name__', 'delay')}(src, dst, tick)"
    try:
        found = np.asarray(delay(src, dst, tick))
    except Exception as error:
        raise InputError(f"{called}: {type(error).__name__}: {error}") from error
    if found.dtype.kind not in "iu" or found.shape not in ((), src.shape):
        raise InputError(
            f"{called} must return a whole number of ticks for each of {len(src)} messages, "
            f"got {found.dtype} of shape {found.shape}"
        )
    wrong = np.flatnonzero((found < 0) | (found > LONGEST))
    if len(wrong):
        raise InputError(
            f"{called} must be from 0 to {LONGEST} ticks, got {found.ravel()[wrong[0]]}"
        )
    return np.broadcast_to(found, src.shape).astype(np.int64)


def drawn(
    law: Law,
    sure: NDArray[np.int16],
    seed: int,
    tick: int,
    src: NDArray,
    dst: NDArray,
    several: int | None = None,
) -> NDArray[np.int64]:
    """How long messages of a tick take by a law: functions of the seed, the tick, and the two nodes.

    Parameters
    ----------
    sure
        See `dgsuite.base.ticks.Law.sure`.
    src, dst
        Node ids of senders and receivers.
    several
        The number of nodes of the graph, if a node may send another several of these messages.
    """
    if law.span == 1 and not len(law.powers):
        return np.full(len(src), law.low)
    number = None if several is None else numbers(src, dst, several)
    words = paired(key(seed, tick, Domain.LATE_TASKS), src, dst, number)
    if not len(law.powers):
        return law.ticks(words)
    above = sure[words >> np.uint64(54)].astype(np.int64)
    rest = np.flatnonzero(above < 0)
    above[rest] = law.ticks(words[rest]) - law.low
    return law.low + above


def numbers(src: NDArray, dst: NDArray, n: int) -> NDArray[np.int64] | None:
    """Of each message, how many of the same sender to the same receiver come before it; None if there are
    none.
    """
    same = src[1:] == src[:-1]
    if ((src[1:] > src[:-1]) | (same & (dst[1:] > dst[:-1]))).all():  # as rows of an adjacency are
        return None
    pair = pair_key(src, dst, n)
    order = np.argsort(pair, kind="stable")
    new = np.diff(pair[order], prepend=-1) != 0
    if new.all():
        return None
    starts = np.flatnonzero(new)
    found = np.empty(len(pair), np.int64)
    found[order] = np.arange(len(pair)) - np.repeat(starts, np.diff(starts, append=len(pair)))
    return found


def by_tick(ticks: NDArray[np.int64]) -> tuple[Any, list[tuple[int, slice]]]:
    """An order in which ticks ascend; and the different ticks, each with its part of that order."""
    first, last = int(ticks.min()), int(ticks.max())
    if first == last:
        return slice(None), [(first, slice(None))]
    after, starts, order = group(ticks - first, last - first + 1)
    parts = [slice(*ends) for ends in pairwise(starts.tolist())]
    return order, [*zip((first + after).tolist(), parts, strict=True)]


def as_rows(late: ArrayLike) -> NDArray:
    """What takes longer as an array: pulse, sender, receiver or -1, and ticks; shape (rows, 4)."""
    found = np.asarray(late)
    return found if found.size else np.zeros((0, 4), np.int64)


def wrong_late(late: ArrayLike, rounds: int, n: int) -> str | None:
    """What is wrong with what is to take longer, if anything."""
    wanted = "late must have rows of pulse, sender, receiver or -1, and ticks"
    try:
        rows = as_rows(late)
    except ValueError:
        return f"{wanted}, got rows of several lengths"
    if rows.dtype.kind not in "iu" or rows.ndim != 2 or rows.shape[1] != 4:
        return f"{wanted}, all whole numbers, got {rows.dtype} of shape {rows.shape}"
    least, most = np.array([0, 0, -1, 0]), np.array([rounds - 1, n - 1, n - 1, LONGEST])
    wrong = np.flatnonzero(((rows < least) | (rows > most)).any(axis=1))
    if len(wrong):
        return f"{wanted}, from {least.tolist()} to {most.tolist()}, got {rows[wrong[0]].tolist()}"
    return None


def longer(rows: NDArray, n: int, src: NDArray, dst: NDArray) -> NDArray[np.int64]:
    """How much longer messages take; where several rows are about one, the most.

    Parameters
    ----------
    rows
        See `as_rows`; those of a pulse.
    src, dst
        Node ids of senders and receivers.
    """
    _, node, other, ticks = rows.T
    every = other < 0
    by_node = np.zeros(n, np.int64)
    np.maximum.at(by_node, node[every], ticks[every])
    found = by_node[src]
    edges, ticks = pair_key(node, other, n)[~every], ticks[~every]
    order = np.lexsort((ticks, edges))
    if len(order):
        edges, ticks = edges[order], ticks[order]
        along = pair_key(src, dst, n)
        at = np.searchsorted(edges, along, side="right") - 1
        np.maximum(found, ticks[at], out=found, where=edges[at] == along)
    return found


def wrong_weights(c: bsp.Cluster) -> str | None:
    """What is wrong with the weights of a cluster's edges as delays, if anything."""
    if c.weights is None:
        return 'delay="weight" needs a graph with weights'
    for weights in (c.weights, c.weights_in):
        if weights is None:
            continue
        fits = (weights >= 0) & (weights <= LONGEST) & (weights == np.floor(weights))
        wrong = np.flatnonzero(~fits)
        if len(wrong):
            row = np.searchsorted(c.indptr, wrong[0], side="right") - 1
            return (
                f"weights must be whole numbers from 0 to {LONGEST} ticks, got {weights[wrong[0]]} between "
                f"nodes {c.ids[row]} and {c.indices[wrong[0]]}"
            )
    return None


def ways(c: bsp.Cluster) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Weights of edges as delays: along the entries of the adjacency, and back."""
    assert c.weights is not None
    back = c.weights if c.weights_in is None else c.weights_in
    return c.weights.astype(np.int64), back.astype(np.int64)


def ends(c: bsp.Cluster) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The node and the neighbour of each entry of the adjacency."""
    return np.repeat(c.ids, c.degree).astype(np.int64), c.indices.astype(np.int64)


def longest(c: bsp.Cluster, law: Law, key: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How long each node waits for answers to messages along all its edges; 0 without edges.

    Parameters
    ----------
    law
        How long messages, and answers, take.
    key
        Key of the delays, shape (1,): a delay is a function of it, the node, and its neighbour.
    """
    found = np.zeros(c.size, np.int64)
    if compiles(len(c.indices)):
        from dgsuite.kernels.lab import _delays

        _delays.longest(c.indptr, c.indices, c.ids, key[0], *law, law.sure(), found)
    else:
        greatest(c, law.both(words(c, key)), found)
    return found


def latest(c: bsp.Cluster, law: Law, key: NDArray, inbox: bsp.Inbox, out: NDArray) -> None:
    """When the last message to each node arrives, put into `out` where that is later.

    Parameters
    ----------
    law, key
        As for `longest`.
    inbox, name
        What neighbours have broadcast, and the field that says when they did.
    """
    if compiles(len(c.indices)) and inbox.all_sent:
        from dgsuite.kernels.lab import _delays

        rows, slots, values = inbox.latest("time")
        along = rows, slots, *narrowed(values)
        _delays.latest(c.indptr, c.indices, c.ids, key[0], *law, law.sure(), *along, out)
    else:
        heard, since = inbox.along("time")
        greatest(c, np.where(heard, since + law.ticks(words(c, key)), 0), out)


def narrowed(ticks: NDArray[np.int64]) -> tuple[NDArray, np.int64]:
    """Ticks less a number, where they are not 0, of the narrowest type that holds them; and the number.

    A table that fits the processor's caches is read at random in a fifth of the time.
    """
    least = ticks.min(where=ticks > 0, initial=np.iinfo(np.int64).max)
    first = min(least, ticks.max(initial=0)) - 1 if len(ticks) else 0
    span = int(ticks.max(initial=0)) - first
    kind = np.uint8 if span < 1 << 8 else np.uint16 if span < 1 << 16 else np.int64
    return np.where(ticks > 0, ticks - first, 0).astype(kind), np.int64(first)


def words(c: bsp.Cluster, key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A random word for each entry of the adjacency."""
    return keyed(np.repeat(keyed(key, c.ids), c.degree), c.indices)


def greatest(c: bsp.Cluster, values: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """The greatest value of each node's edges, put into `out` where it is greater."""
    nodes = np.flatnonzero(c.degree)
    if len(nodes):
        out[nodes] = np.maximum(out[nodes], np.maximum.reduceat(values, c.indptr[nodes]))
