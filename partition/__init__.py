"""Graphs in clusters: how they are cut, built and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.late import late

if TYPE_CHECKING:
    from partition.quality import describe

__all__ = ["describe"]

__getattr__, __dir__ = late(__name__, {"describe": "partition.quality.describe"})
