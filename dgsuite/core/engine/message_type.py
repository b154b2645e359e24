"""What a type of message consists of. `dgsuite.core.engine.registry` lists all types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, unknown
from dgsuite.core.engine.program import Step, Tally
from dgsuite.partition.clusters.cluster import Cluster

if TYPE_CHECKING:
    from dgsuite.core.engine.mailbox import Mailbox


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

    def warm(self, box: Mailbox) -> None:  # noqa: B027  most types need nothing
        """Do before the clock starts what would otherwise fall into the first rounds."""

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


class Reader:
    """The part of a cluster's inbox that reads one type of message."""

    __slots__ = ("_cluster", "_dtypes", "_hi", "_lo", "_messages", "_part", "round", "traced")

    def __init__(
        self,
        round: int,
        cluster: Cluster,
        slot: int,
        messages: Any,
        dtypes: Mapping[str, np.dtype],
    ) -> None:
        self.round = round
        self.traced = False
        self._cluster = cluster
        self._lo, self._hi = slot, slot + cluster.size
        self._messages = messages
        self._dtypes = dtypes
        self._part: tuple[slice, slice] | None = None

    def _dtype(self, name: str) -> np.dtype:
        """Dtype of a field that the kernel declares, or the engine."""
        if name not in self._dtypes:
            raise InputError(unknown("field", name, self._dtypes))
        return self._dtypes[name]

    def _empty(self, name: str, length: int = 0) -> NDArray:
        return np.zeros(length, self._dtype(name))
