"""All types of messages, and the path of what a phase sends: counted, kept and packed, unpacked, received."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dgsuite.base.errors import RunError
from dgsuite.core.engine.announcements import AnnouncementType
from dgsuite.core.engine.broadcast_type import BroadcastType, KnownType
from dgsuite.core.engine.broadcasts import Broadcasts
from dgsuite.core.engine.lists import ListType
from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.message_type import MessageBatch, MessageType
from dgsuite.core.engine.program import Step, Tally
from dgsuite.core.engine.shipments import ShipmentType
from dgsuite.core.engine.unicast_type import UnicastType
from dgsuite.kernels.bsp import Known

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


def send(
    box: Mailbox, step: Step, sent: Mapping[type, Sequence[tuple[int, Any]]], counts: Tally
) -> dict[int, MessageBatch]:
    """Count what a phase sends, keep what stays at the site, and pack a batch for each other site.

    Parameters
    ----------
    sent
        By type of message, the clusters that sent some, and what.
    counts
        The counts are added to it.
    """
    box.phase, box.kept, box.arriving = step.phase, None, None
    if box.window is not None:
        box.window.turn(alone=Known in sent)
    if len(sent) > 1:
        raise box.fault(step, 0, "sends messages of more than one kind")
    batches: dict[int, MessageBatch] = {}
    for kind, sends in sent.items():
        batches = BY_SENT[kind].send(box, step, sends, counts)
    if box.window is not None:
        box.window.renew()
    box.stored = 0 if box.arriving is None else box.arriving.wire
    return batches


def deliver(box: Mailbox, batches: Mapping[int, MessageBatch]) -> Any:
    """All that arrives at the site: the batches of other sites, and what it kept."""
    if not batches and box.kept is None and box.arriving is None and box.window is None:
        return None
    parts: dict[int, Any] = {} if box.kept is None else {box.me: box.kept}
    if box.window is not None and box.window.is_shared:
        heads = box.window.heard()
        for backwards in {bool(head.backwards) for head in heads.values()}:
            if not box.arrive(backwards).hear(heads):
                box.arriving = None
    for peer, batch in batches.items():
        part = BY_BATCH[type(batch)].unpack(box, peer, batch)
        if part is not None:
            parts[peer] = part
    found = [part for _, part in sorted(parts.items())]
    kinds = {type(part) for part in found} | (set() if box.arriving is None else {Broadcasts})
    if len(kinds) > 1:
        raise RunError(
            f"kernel {box.kernel.name!r}, phase {box.phase!r}: clusters sent different types of "
            f"messages ({', '.join(sorted(kind.__name__ for kind in kinds))}); a phase sends one"
        )
    if found:
        return BY_PART[type(found[0])].receive(box, found)
    if box.disturbed is not None and box.arriving is not None:
        box.disturbed.hear(box.arriving)
    return box.arriving
