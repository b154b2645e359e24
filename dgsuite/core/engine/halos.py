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
    """The halos of the last cut into sites. Runs on several threads of a worker may share them.

    Each is made once: that with slots for the nodes that are read, and that with slots for all nodes.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._cut: Cut | None = None
        self._made: dict[bool, Halo] = {}

    @classmethod
    def of(cls, clusters: Sequence[Cluster]) -> Halos:
        """Those of a site, which its first cluster keeps."""
        halos: Halos = clusters[0].cache.setdefault("halos", cls())
        return halos

    def there(self, bounds: NDArray, me: int) -> dict[bool, Halo]:
        """The halos of a cut that are made already, by whether they have slots for all nodes."""
        with self._lock:
            return dict(self._made) if self._cut == (me, bounds.tobytes()) else {}

    def get(self, clusters: Sequence[Cluster], bounds: NDArray, me: int, every: bool) -> Halo:
        """The halo of a cut, perhaps with slots for all nodes; that of another cut is forgotten."""
        cut = me, bounds.tobytes()
        with self._lock:
            if self._cut != cut:
                self._cut, self._made = cut, {}
            if every not in self._made:
                found = self._made.get(False)  # it may be the same as that for all nodes
                if found is None or found.slots < clusters[0].n or not found.sends_all:
                    self._made.clear()  # two would take twice the memory
                    found = make_halo(clusters, bounds, me, every)
                self._made[every] = found
            return self._made[every]
