"""The transports of this host with a limit: ``throttle+uds``, ``throttle+mpb``, ``throttle+mpimpb``."""

from __future__ import annotations

from collections.abc import Sequence

from dgsuite.core.transports import mpb
from dgsuite.core.transports.framed import Framed
from dgsuite.core.transports.local import Local
from dgsuite.studies.transports import chip, uds
from dgsuite.studies.transports.throttle import Paced


class PacedFrames(Paced, Framed):
    """A framed comm with a limit; the limit's class goes before the transport's."""

    async def _put(self, views: Sequence[memoryview]) -> None:
        limit = self._limit()
        if limit is None:
            await super()._put(views)  # type: ignore[safe-super]
        else:
            await self._release(views, limit, super()._put)  # type: ignore[safe-super]


class UDS(PacedFrames, uds.UDS):
    """Unix sockets with a limit."""


class MPB(PacedFrames, mpb.MPB):
    """The sender's buffers with a limit."""


class MPIMPB(PacedFrames, chip.MPIMPB):
    """The receiver's sections with a limit."""


class ThrottledUDS(Local):
    """The scheme ``throttle+uds``."""

    scheme = "throttle+uds"
    comm_class = UDS


class ThrottledMPB(mpb.Buffers):
    """The scheme ``throttle+mpb``."""

    scheme = "throttle+mpb"
    comm_class = MPB


class ThrottledMPIMPB(chip.Sections):
    """The scheme ``throttle+mpimpb``."""

    scheme = "throttle+mpimpb"
    comm_class = MPIMPB
