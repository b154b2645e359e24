"""A site as a value: what it holds between two phases, without what its clusters hold.

A value is not changed by what is done with the site that is made of it, so it serves as often as is wanted.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

import cloudpickle
import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.halos import Halos
from dgsuite.core.engine.site import Site
from dgsuite.partition.clusters.cluster import Cluster

Frozen = list[NDArray[np.uint8]]
"""A pickle, and the memory of the arrays that belong to it."""


def freeze(site: Site) -> Frozen:
    """The value of a site at the end of a phase. It takes over the site's memory: the site is to be given up.

    Clusters, their halos, and the arrays of both are only named in it.
    """
    site.room = None  # which is a worker's own
    file = io.BytesIO()
    buffers: list[pickle.PickleBuffer] = []
    _Pickler(file, site, buffers).dump(site)
    memory: list[bytes | memoryview] = [file.getvalue(), *(each.raw() for each in buffers)]
    return [np.frombuffer(each, np.uint8) for each in memory]


def thaw(frozen: Frozen, clusters: Sequence[Cluster], bounds: NDArray, me: int) -> Site:
    """The site of a value, in its own memory, on its clusters."""
    head, *buffers = frozen
    site: Site = _Unpickler(head, [b.copy() for b in buffers], clusters, bounds, me).load()
    return site


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Names what is wherever the clusters are: they, their halo, and by attribute the arrays of both."""

    def __init__(self, file: io.BytesIO, site: Site, buffers: list[pickle.PickleBuffer]) -> None:
        super().__init__(file, protocol=5, buffer_callback=buffers.append)
        self.names: dict[int, tuple[str | int, str]] = {}
        self._name("halos", Halos.of(site.clusters))
        self._name("partition", site.clusters[0].partition)
        for k, cluster in enumerate(site.clusters):
            self._name(k, cluster)
        halo = vars(site.mailbox).get("halo")
        if halo is not None:
            self._name("halo", halo)
            if "turned" in vars(halo):
                self._name("turned", halo.turned)

    def _name(self, whose: str | int, thing: Any) -> None:
        self.names[id(thing)] = whose, ""
        for name, value in vars(thing).items():
            if isinstance(value, np.ndarray):
                self.names.setdefault(id(value), (whose, name))

    def persistent_id(self, thing: Any) -> tuple[str | int, str] | None:
        return self.names.get(id(thing))


class _Unpickler(pickle.Unpickler):
    """Finds what the other one has named; what clusters have derived is made again where it is not there."""

    def __init__(
        self,
        head: NDArray[np.uint8],
        buffers: Sequence[NDArray[np.uint8]],
        clusters: Sequence[Cluster],
        bounds: NDArray,
        me: int,
    ) -> None:
        super().__init__(io.BytesIO(head.data), buffers=buffers)
        self.clusters = clusters
        self.cut = clusters, bounds, me

    def persistent_load(self, name: tuple[str | int, str]) -> Any:
        whose, attribute = name
        thing = self._thing(whose)
        return getattr(thing, attribute) if attribute else thing

    def _thing(self, whose: str | int) -> Any:
        match whose:
            case "halos":
                return Halos.of(self.clusters)
            case "partition":
                return self.clusters[0].partition
            case "halo":
                return Halos.of(self.clusters).get(*self.cut)
            case "turned":
                return Halos.of(self.clusters).get(*self.cut).turned
            case int():
                return self.clusters[whose]
        raise AssertionError(whose)
