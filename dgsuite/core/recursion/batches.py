"""Tasks that are handled, and travel, together: of one name and depth, for one cluster."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop
from typing import Any, NamedTuple

from dgsuite.core.engine.messages import concatenated
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.engine.workload import ParcelWithPackets


class Batch(NamedTuple):
    """Tasks on their way, or waiting."""

    depth: int
    task: str
    cluster: int
    letters: UnicastBatch


Key = tuple[int, str, int, bool]
"""Depth, task, cluster, and whether the tasks are under the finish of another task."""

Bundle = list[Batch]
"""What travels to one other site."""


def tasks_of(bundle: Any) -> Bundle:
    """What a bundle holds of tasks."""
    return bundle.parcel or [] if isinstance(bundle, ParcelWithPackets) else bundle


def together(parts: Sequence[UnicastBatch]) -> UnicastBatch:
    return concatenated(parts) if len(parts) > 1 else parts[0]


def wave(queue: list[Key]) -> list[Key]:
    """Take from a heap the first batches that can run side by side: of one depth and name, each of
    another cluster.
    """
    keys = [heappop(queue)]
    while queue and queue[0][:2] == keys[0][:2] and queue[0][2] != keys[-1][2]:
        keys.append(heappop(queue))
    return keys
