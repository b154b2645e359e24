"""The forms in which votes and parcels travel between the tasks of a run.

Numbers and short parcels go as plain values, which takes Dask less time than to pickle them.
"""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from distributed.protocol.serialize import ToPickle

from dgsuite.core.engine.broadcasts import BroadcastBatch
from dgsuite.core.engine.collectives import Contribution
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import SILENT
from dgsuite.kernels.bsp import Vote

WORD = 2**63 - 1
"""The largest number that goes unpickled."""

SHORT = 1 << 16
"""Bytes of a parcel that goes in a piece with the vote, as plain values: copied, not pickled."""

STEP, PARCEL, NOTE = "s", "p", "n"
"""How messages begin: a contribution to a collective, perhaps with a parcel; a parcel; any other content."""


class Content(NamedTuple):
    """What is in a message."""

    kind: str
    number: int
    what: Any = None
    """A contribution, or a note."""
    parcel: MessageBatch | None = None


def step(number: int, said: Contribution, parcel: MessageBatch | None = None) -> Any:
    """A message of a collective."""
    if not is_plain(said.vote) or (parcel is not None and not smaller(parcel, SHORT)):
        return ToPickle(Content(STEP, number, said, parcel))
    due = b"" if said.due is None else said.due.tobytes()
    along = () if parcel is None else _plain_parcel(parcel)
    return (STEP, number, due, *_plain(said.vote), *along)


def parcel(number: int, batch: MessageBatch) -> Any:
    """A message with a parcel."""
    if smaller(batch, SHORT):
        return (PARCEL, number, *_plain_parcel(batch))
    return ToPickle(Content(PARCEL, number, None, batch))


def note(number: int, what: Any) -> Any:
    """A message with anything else."""
    return ToPickle(Content(NOTE, number, what))


def content(message: Any) -> Content:
    """What `step`, `parcel` or `note` made a message of."""
    message = getattr(message, "data", message)  # within a process Dask leaves the wrapper on
    if type(message) is Content:
        return message
    kind, number, *rest = message
    if kind == PARCEL:
        return Content(kind, number, None, _parcel(*rest))
    counts, any_, sum_, least, most, given, *along = rest
    due = np.frombuffer(counts, np.uint32) if counts else None
    said = Contribution(_vote(any_, sum_, least, most, given), due)
    return Content(kind, number, said, _parcel(*along) if along else None)


def said(vote: Vote) -> bytes:
    """A vote as bytes; most have none."""
    return b"" if vote == SILENT else pickle.dumps(tuple(vote), 5)


def of_said(what: bytes) -> Vote:
    """What `said` made bytes of."""
    return Vote(*pickle.loads(what)) if what else SILENT


def smaller(parcel: Any, size: int) -> bool:
    """Whether a parcel has fewer bytes."""
    return getattr(parcel, "nbytes", size) < size


def is_plain(vote: Any) -> bool:
    """Whether a vote goes unpickled: its numbers are small; most votes have none."""
    if type(vote) is not Vote or vote.targets:  # a recursion's ticks say more
        return False
    if not vote.sum and vote.min is None and vote.max is None:
        return True
    whole = vote._replace(sum=0) if type(vote.sum) is Fraction else vote
    return all(abs(value or 0) <= WORD for value in whole[:-1])  # type: ignore[operator]


def _plain(vote: Vote) -> tuple[Any, ...]:
    """A vote without targets as plain values: a fraction, whose denominator is a power of two, as bytes and
    the power.
    """
    if type(vote.sum) is not Fraction:
        return vote[:-1]
    top, bottom = vote.sum.numerator, vote.sum.denominator
    data = top.to_bytes(top.bit_length() // 8 + 1, "little", signed=True)
    return (vote.any, (data, bottom.bit_length() - 1), *vote[2:-1])


def _vote(any_: bool, sum_: Any, *rest: Any) -> Vote:
    """The vote that `_plain` took apart."""
    if type(sum_) is not int:
        sum_ = Fraction(int.from_bytes(sum_[0], "little", signed=True), 1 << sum_[1])
    return Vote(any_, sum_, *rest)


def _plain_parcel(parcel: Any) -> tuple[Any, ...]:
    return parcel.plain() if type(parcel) is BroadcastBatch else (pickle.dumps(parcel, 5),)


def _parcel(*values: Any) -> MessageBatch:
    """The parcel that `_plain_parcel` took apart."""
    found: MessageBatch = (
        pickle.loads(values[0]) if len(values) == 1 else BroadcastBatch.of(*values)
    )
    return found
