"""The halos that the clusters of a site keep for later runs."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import NDArray

from dgsuite.base.once import Lock
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.halo import Halo, make_halo

Cut = tuple[int, bytes]
"""Which site it is, and the bounds of all sites."""


class Halos:
    """The halo of the last cut into sites, made once. Runs on several threads of a worker may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._cut: Cut | None = None
        self._made: Halo | None = None

    @classmethod
    def of(cls, clusters: Sequence[Cluster]) -> Halos:
        """Those of a site, which its first cluster keeps."""
        halos: Halos = clusters[0].cache.setdefault("halos", cls())
        return halos

    def has(self, bounds: NDArray, me: int) -> bool:
        """Whether the halo of a cut is made already."""
        with self._lock:
            return self._cut == (me, bounds.tobytes())

    def get(self, clusters: Sequence[Cluster], bounds: NDArray, me: int) -> Halo:
        """The halo of a cut; that of another cut is forgotten."""
        cut = me, bounds.tobytes()
        with self._lock:
            if self._made is None or self._cut != cut:
                self._cut = self._made = None  # two would take twice the memory
                self._made, self._cut = make_halo(clusters, bounds, me), cut
            return self._made
