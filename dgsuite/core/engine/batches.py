"""What a phase sends, as it is recorded, travels, and arrives."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from dgsuite.core.engine.broadcasts import BroadcastBatch, Broadcasts
from dgsuite.core.engine.lists import ListBatch, NodeLists, SiteLists
from dgsuite.core.engine.messages import MessageList
from dgsuite.core.engine.shipments import AnnouncementBatch, ShipmentBatch, Shipments
from dgsuite.core.engine.unicasts import UnicastBatch


class BroadcastRecord(NamedTuple):
    """A broadcast, for a recorder: rows of the senders, bytes of a message, and whether it travels."""

    rows: NDArray
    itemsize: int
    travels: bool


Record = BroadcastRecord | UnicastBatch | NodeLists | AnnouncementBatch | Shipments
"""What a recorder gets of a phase."""

MessageBatch = UnicastBatch | BroadcastBatch | ListBatch | AnnouncementBatch | ShipmentBatch
"""What travels from site to site."""

Received = MessageList | Broadcasts | SiteLists | AnnouncementBatch | Shipments
"""What the inboxes of a site show."""
