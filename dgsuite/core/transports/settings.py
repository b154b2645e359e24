"""Settings of the message-passing buffers, from Dask's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import dask

from dgsuite.base.errors import InputError
from dgsuite.partition.client.settings import setting


@dataclass(frozen=True)
class Settings:
    """How large buffers are, from Dask's configuration: ``dgsuite.mpb``.

    Attributes
    ----------
    buffer
        Bytes of each direction of each comm.
    inbox
        Bytes that may wait to be read beyond what is in a buffer.
    """

    buffer: int
    inbox: int

    @classmethod
    def configured(cls, scheme: str) -> Self:
        """What Dask's configuration says.

        Raises
        ------
        InputError
            A value that cannot be, or an unknown name.
        """
        return cls.made(scheme, setting(f"dgsuite.{scheme}"))

    @classmethod
    def made(cls, scheme: str, values: Mapping[str, Any]) -> Self:
        """What some values say; ``buffer`` must be among them.

        Raises
        ------
        InputError
            A value that cannot be, or an unknown name.
        """
        where, names = f"dgsuite.{scheme}", [field.name for field in fields(cls)]
        if unknown := values.keys() - set(names):
            raise InputError(f"{where}.{min(unknown)} is unknown; there are {', '.join(names)}")
        given = {"inbox": "64 MiB", **values}
        try:
            for name in ("buffer", "inbox"):
                given[name] = dask.utils.parse_bytes(given[name])
        except (TypeError, ValueError) as error:
            raise InputError(f"{where}: {error}") from None
        if given["buffer"] < 1:
            raise InputError(f"{where}.buffer must be at least 1 byte, got {given['buffer']}")
        if given["inbox"] < 0:
            raise InputError(f"{where}.inbox must be at least 0, got {given['inbox']}")
        return cls(**given)
