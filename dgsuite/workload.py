"""Work that is put into every task besides the algorithm's own, and changes nothing but time.

A task (IMSuite's *async*) is what one node does in one phase; a cluster that computes many nodes at
once does the work of all of them. Arithmetic is the workload of Gupta and Nandivada (IMSuite, J.
Parallel Distrib. Comput. 2015); cache pollution and extra packets are the two that they left open.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partition.cluster import Cluster
from partition.errors import InputError, unknown

LANES = 256
"""Numbers that arithmetic works on: enough to fill the processor's vectors."""

LARGEST = 1 << 32
"""Bytes of a working set or a packet, and packets, at most: more than any cache has."""

MOST = (1 << 63) - 1
"""Operations, at most: what compiled loops count to."""


@dataclass(frozen=True)
class Workload:
    """What is added; by default nothing.

    Attributes
    ----------
    operations
        Integer operations a task: each a multiplication or an addition of 32 bits.
    cache_bytes
        Size of a working set that each task reads once.
    packets, bytes
        How many packets each node sends to its neighbours in each round, in turn, and the size of
        one. They travel with the round's first messages, and are thrown away.

    Raises
    ------
    InputError
        A value that is not a whole number from 0, or too large; packets without bytes.
    """

    operations: int = 0
    cache_bytes: int = 0
    packets: int = 0
    bytes: int = 0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise InputError(f"workload: {name} must be a whole number from 0, got {value!r}")
            most = MOST if name == "operations" else LARGEST
            if value > most:
                raise InputError(f"workload: {name} must be at most {most}, got {value}")
            object.__setattr__(self, name, int(value))
        if bool(self.packets) != bool(self.bytes):
            raise InputError("workload: packets and bytes (of a packet) go together")

    @classmethod
    def make(cls, given: Mapping[str, Any] | Workload | None) -> Workload | None:
        """A workload from its fields, or None if it comes to nothing.

        Raises
        ------
        InputError
            An unknown field, or a value that a field cannot have.
        """
        if given is None or isinstance(given, Workload):
            return given or None
        if not isinstance(given, Mapping):
            raise InputError(
                f"workload must be a mapping such as {{'operations': 1000}}: {given!r}"
            )
        names = [f.name for f in fields(cls)]
        for name in given:
            if name not in names:
                raise InputError(f"workload: {unknown('field', name, names)}")
        return cls(**given) or None

    def __bool__(self) -> bool:
        return bool(self.operations or self.cache_bytes or self.packets)

    def __str__(self) -> str:
        return json.dumps({name: value for name, value in asdict(self).items() if value})


class Laden(NamedTuple):
    """A parcel with packets beside it."""

    parcel: Any
    packets: NDArray[np.uint8]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.packets.nbytes + (0 if self.parcel is None else self.parcel.nbytes)


class Porter:
    """Does a workload on one site.

    Parameters
    ----------
    bounds, me
        As of `dgsuite.engine.site.Site`.
    """

    def __init__(
        self, load: Workload, clusters: Sequence[Cluster], bounds: NDArray, me: int
    ) -> None:
        self.load = load
        self.round = -1
        self.packets: dict[int, NDArray[np.uint8]] = {}
        if load.packets:
            counts = _packets(load.packets, clusters, bounds)
            counts[me] = 0
            self.packets = {
                int(site): _noise(int(counts[site]) * load.bytes).reshape(-1, load.bytes)
                for site in np.flatnonzero(counts)
            }
        self.toil(0)

    @property
    def heavy(self) -> bool:
        """Whether threads that share it gain more than handing over costs."""
        return self.load.operations > 0 or self.load.cache_bytes > 0

    def toil(self, tasks: int) -> float:
        """Do the work of so many tasks; returns its seconds of processor time."""
        from dgsuite.engine._compiled import spin, walk

        begin = thread_time()
        if self.load.operations:
            operations = min(self.load.operations * tasks, MOST)
            spin(np.arange(LANES, dtype=np.uint32), operations)
        if self.load.cache_bytes:
            walk(_working_set(self.load.cache_bytes), tasks)
        return thread_time() - begin

    def lade(self, number: int, parcels: Mapping[int, Any]) -> dict[int, Any]:
        """Put the packets of a round, or depth, to what first leaves in it."""
        if number <= self.round:
            return dict(parcels)
        self.round = number
        laden = {site: Laden(parcels.get(site), p) for site, p in self.packets.items()}
        return {**parcels, **laden}


def unlade(parcels: Mapping[int, Any]) -> dict[int, Any]:
    """The parcels alone."""
    bare = {s: p.parcel if isinstance(p, Laden) else p for s, p in parcels.items()}
    return {site: parcel for site, parcel in bare.items() if parcel is not None}


def _packets(each: int, clusters: Sequence[Cluster], bounds: NDArray) -> NDArray[np.int64]:
    """How many packets go to each site, if each node deals as many to its neighbours in turn."""
    counts = np.zeros(len(bounds) - 1, np.int64)
    for c in clusters:
        degree = np.repeat(c.degree, c.degree)
        turn = np.arange(len(c.indices)) - np.repeat(c.indptr[:-1], c.degree)
        dealt = each // degree + (turn < each % degree)
        site = np.searchsorted(bounds, c.partition.owner(c.indices), side="right") - 1
        np.add.at(counts, site, dealt)
    return counts


def _noise(nbytes: int) -> NDArray[np.uint8]:
    """Bytes that no transport can compress."""
    return np.random.default_rng(0).integers(0, 256, nbytes, np.uint8)


@lru_cache(maxsize=1)
def _working_set(nbytes: int) -> NDArray[np.uint64]:
    """Memory that is there: pages of zeros would all be one. Read only, so shared by all threads."""
    return np.arange(max(1, nbytes // 8), dtype=np.uint64)
