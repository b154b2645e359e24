"""What a phase sends, as it is recorded."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray


class BroadcastRecord(NamedTuple):
    """A broadcast, for a recorder: rows of the senders, bytes of a message, and whether it travels."""

    rows: NDArray
    itemsize: int
    travels: bool


Record = Any
"""What a recorder gets of a phase: a `BroadcastRecord`, or a `MessageType.part` with all that is sent."""
