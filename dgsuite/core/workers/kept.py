"""Meshes that a worker keeps between runs, so that the next run on the same workers need not open one.

The loop of a kept mesh does not run. A task takes the mesh out and makes sure that all other tasks of its
run have kept theirs (`Mesh.resume`); if not, they all open one anew. A run that fails keeps none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from threading import Lock
from time import monotonic
from typing import Any

from dgsuite.base import threads

MAX_MESHES = 4
"""Meshes that a worker keeps."""


class KeptMeshes:
    """Meshes that a worker keeps, by their members.

    Parameters
    ----------
    loop
        The worker's event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._kept: dict[Hashable, tuple[Any, float]] = {}  # each with the time at which it ends
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: Hashable) -> Any:
        """The mesh that is kept under a key, or None; from now on it is the caller's. Thread-safe."""
        with self._lock:
            return self._kept.pop(key, (None, 0.0))[0]

    def keep(self, key: Hashable, mesh: Any, seconds: float) -> None:
        """Keep a mesh for some time, in place of the one that was used least lately. Thread-safe."""
        with self._lock:
            before = self._kept.pop(key, None)
            self._kept[key] = mesh, monotonic() + seconds
            oldest = next(iter(self._kept)) if len(self._kept) > MAX_MESHES else key
            surplus = [before, self._kept.pop(oldest) if oldest != key else None]
        for found in surplus:
            if found is not None:
                found[0].dispose()
        self._loop.call_soon_threadsafe(self._loop.call_later, seconds, self._expire, key)

    def _expire(self, key: Hashable) -> None:
        """Close a mesh if its time is over."""
        with self._lock:
            mesh, end = self._kept.get(key, (None, 0.0))
            if mesh is None or end > monotonic():
                return
            del self._kept[key]
        threads.start(mesh.dispose)  # it has a loop of its own

    def clear(self) -> None:
        """Close all meshes, without waiting for the end: Dask may cancel a worker's close that takes long."""
        with self._lock:
            meshes = [mesh for mesh, _ in self._kept.values()]
            self._kept.clear()
        for mesh in meshes:
            threads.start(mesh.dispose)
