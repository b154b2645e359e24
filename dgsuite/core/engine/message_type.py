"""What a type of message consists of. `dgsuite.core.engine.registry` lists all types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.program import Step, Tally


class MessageBatch(Protocol):
    """What travels from site to site."""

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        ...


class MessageType(ABC):
    """How messages of a type are counted and packed where they are sent, and taken in where they arrive.

    A phase returns an object of the class `sent`. What goes to another site travels as an object of the class
    `batch`. What is for the own site stays in `Mailbox.kept`, as an object of the class `part`; a batch that
    arrives becomes such an object, too. Broadcasts have no parts: they are stored where inboxes read them.
    """

    sent: ClassVar[type]
    batch: ClassVar[type | None] = None
    part: ClassVar[type | None] = None

    @abstractmethod
    def send(
        self, box: Mailbox, step: Step, sends: Sequence[tuple[int, Any]], counts: Tally
    ) -> dict[int, MessageBatch]:
        """Count what clusters of a site send, keep what stays, and pack a batch for each other site."""

    def unpack(self, box: Mailbox, peer: int, batch: Any) -> Any:
        """The part that came from another site; None if it has been stored."""
        return batch

    def receive(self, box: Mailbox, parts: Sequence[Any]) -> Any:
        """What the inboxes of a site show, made of the parts of all sites, in their order."""
        raise NotImplementedError(f"{type(self).__name__} stores what arrives")
