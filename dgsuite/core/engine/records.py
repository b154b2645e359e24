"""What a phase sends, as it is recorded."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from dgsuite.core.engine.announcements import AnnouncementBatch
from dgsuite.core.engine.lists import NodeLists
from dgsuite.core.engine.shipments import Shipments
from dgsuite.core.engine.unicasts import UnicastBatch


class BroadcastRecord(NamedTuple):
    """A broadcast, for a recorder: rows of the senders, bytes of a message, and whether it travels."""

    rows: NDArray
    itemsize: int
    travels: bool


Record = BroadcastRecord | UnicastBatch | NodeLists | AnnouncementBatch | Shipments
"""What a recorder gets of a phase."""
