"""All types of messages."""

from dgsuite.core.engine.announcements import AnnouncementType
from dgsuite.core.engine.broadcast_type import BroadcastType, KnownType
from dgsuite.core.engine.lists import ListType
from dgsuite.core.engine.message_type import MessageType
from dgsuite.core.engine.shipments import ShipmentType
from dgsuite.core.engine.unicasts import UnicastType

TYPES: tuple[MessageType, ...] = (
    AnnouncementType(),
    BroadcastType(),
    KnownType(),
    ListType(),
    ShipmentType(),
    UnicastType(),
)

BY_SENT = {each.sent: each for each in TYPES}
"""By the class of what a phase returns."""

BY_BATCH = {each.batch: each for each in TYPES if each.batch is not None}
"""By the class of what travels."""

BY_PART = {each.part: each for each in TYPES if each.part is not None}
"""By the class of what stays at the site."""
