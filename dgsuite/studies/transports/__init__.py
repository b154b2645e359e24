"""Transports of the studies, and all transports measured beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports

if TYPE_CHECKING:
    from dgsuite.studies.transports.throttle import limit

__all__ = ["limit"]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "limit": "dgsuite.studies.transports.throttle:limit",
    },
)
