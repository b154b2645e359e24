"""Graphs divided into clusters: partitioning, construction, checks and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.lazy import lazy_imports

if TYPE_CHECKING:
    from partition.quality import describe

__all__ = ["describe"]

__getattr__, __dir__ = lazy_imports(__name__, {"describe": "partition.quality.describe"})
