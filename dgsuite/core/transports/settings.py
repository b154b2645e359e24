"""Settings of the message-passing buffers, from Dask's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import dask

from dgsuite.base.errors import InputError
from dgsuite.partition.client.settings import setting

FLAG = 32
"""Bytes of a cache line of the SCC, which is what a flag takes in its buffers."""

CHIP = {"buffer": "8 KiB", "places": 48}
"""Settings of ``dgsuite.mpb`` and ``dgsuite.mpimpb`` as on the SCC."""

LARGEST, SMALLEST = 4, 32
"""Parts of a buffer that its largest and smallest chunks are; chunks are written while others are read. They
begin small, for the reader to wake up meanwhile, and end small, for it to have little left to read."""


@dataclass(frozen=True)
class Settings:
    """How large buffers are, from Dask's configuration: ``dgsuite.mpb`` and ``dgsuite.mpimpb``.

    Attributes
    ----------
    buffer
        Bytes. ``mpb``: of each direction of each comm, or, with ``places``, of a whole event loop, as
        of a core. ``mpimpb``: of all sections.
    places
        Cores that share the chip. ``mpb``: 2 flags of 32 bytes for each are taken off the buffer, and each
        chunk waits for the one before. ``mpimpb``: sections that the buffer has.
    inbox
        Bytes that may wait to be read beyond what is in a buffer.
    spin
        Seconds that a reader looks out for a message before it sleeps.
    """

    buffer: int
    places: int | None
    inbox: int
    spin: float

    @classmethod
    def configured(cls, scheme: str) -> Settings:
        """What Dask's configuration says.

        Raises
        ------
        InputError
            A value that cannot be, or an unknown name.
        """
        return cls.made(scheme, setting(f"dgsuite.{scheme}"))

    @classmethod
    def made(cls, scheme: str, values: Mapping[str, Any]) -> Settings:
        """What some values say; ``buffer`` must be among them.

        Raises
        ------
        InputError
            A value that cannot be, or an unknown name.
        """
        given = dict(values)
        where = f"dgsuite.{scheme}"
        spin = given.pop("spin", 0)
        try:
            made = cls(
                dask.utils.parse_bytes(given.pop("buffer")),
                given.pop("places", None),
                dask.utils.parse_bytes(given.pop("inbox", "64 MiB")),
                dask.utils.parse_timedelta(spin) if isinstance(spin, str) else float(spin),
            )
        except (TypeError, ValueError) as error:
            raise InputError(f"{where}: {error}") from None
        if given:
            raise InputError(
                f"{where}.{next(iter(given))} is unknown; there are buffer, places, inbox and spin"
            )
        if made.places is not None and made.places < 1:
            raise InputError(f"{where}.places must be at least 1, got {made.places}")
        if made.inbox < 0 or made.spin < 0:
            raise InputError(f"{where}: inbox and spin must be at least 0")
        return made

    def payload(self) -> int:
        """Bytes of a buffer that flags leave to messages: 5120 of 8 KiB at 48 places."""
        size = self.buffer - 2 * FLAG * (self.places or 0)
        if size < LARGEST:
            raise InputError(
                f"dgsuite.mpb.buffer of {self.buffer} bytes holds but the flags of {self.places} places"
            )
        return size

    def section(self) -> int:
        """Bytes of a sender's section, whole lines: 160 of 8 KiB at 48 places."""
        size = self.buffer // (self.places or 1) // FLAG * FLAG
        if not size:
            raise InputError(
                f"dgsuite.mpimpb.buffer of {self.buffer} bytes has no line for each of {self.places} places"
            )
        return size
