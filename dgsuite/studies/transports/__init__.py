"""Transports of the studies, and all transports measured beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports

if TYPE_CHECKING:
    from dgsuite.core.transports import fastest
    from dgsuite.studies.transports.throttle import limit

__all__ = ["fastest", "limit"]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "fastest": "dgsuite.core.transports:fastest",
        "limit": "dgsuite.studies.transports.throttle:limit",
    },
)
