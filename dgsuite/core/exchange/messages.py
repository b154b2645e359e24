"""The forms in which votes and parcels travel between the tasks of a run."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

from distributed.protocol.serialize import ToPickle

from dgsuite.core.engine.collectives import Contribution
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import SILENT
from dgsuite.kernels.bsp import Vote

SHORT = 1 << 16
"""Bytes from which arrays of a parcel are not copied into one piece with the rest of a message."""

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
    return _message(Content(STEP, number, said, parcel))


def parcel(number: int, batch: MessageBatch) -> Any:
    """A message with a parcel."""
    return _message(Content(PARCEL, number, None, batch))


def note(number: int, what: Any) -> Any:
    """A message with anything else."""
    return ToPickle(Content(NOTE, number, what))


def _message(content: Content) -> Any:
    """In one piece if its parcel is short."""
    if content.parcel is None or smaller(content.parcel, SHORT):
        return pickle.dumps(tuple(content), 5)
    return ToPickle(content)


def content(message: Any) -> Content:
    """What `step`, `parcel` or `note` made a message of."""
    message = getattr(message, "data", message)  # within a process Dask leaves the wrapper on
    return message if type(message) is Content else Content(*pickle.loads(message))


def said(vote: Vote) -> bytes:
    """A vote as bytes; most have none."""
    return b"" if vote == SILENT else pickle.dumps(tuple(vote), 5)


def of_said(what: bytes) -> Vote:
    """What `said` made bytes of."""
    return Vote(*pickle.loads(what)) if what else SILENT


def smaller(parcel: Any, size: int) -> bool:
    """Whether a parcel has fewer bytes."""
    return getattr(parcel, "nbytes", size) < size
