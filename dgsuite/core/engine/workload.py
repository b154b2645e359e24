"""Synthetic work that is added to every task. It takes time and changes no result.

A task (IMSuite's *async*) is what one node does in one phase; a cluster does the work of all its nodes.
Arithmetic is the workload of Gupta and Nandivada (IMSuite, J. Parallel Distrib. Comput. 2015). They name
cache pollution and extra packets as future work.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, unknown
from dgsuite.partition.clusters.cluster import Cluster

CONSTANTS = np.uint32(1664525), np.uint32(1013904223)
"""Factor and addend of the arithmetic: those of a generator of random numbers: values do not settle."""

LARGEST = 1 << 32
"""Maximum bytes of a working set or packet, and maximum number of packets: more than any cache holds."""

MAX_OPERATIONS = (1 << 63) - 1
"""Maximum number of operations, which compiled loops count in int64."""


@dataclass(frozen=True)
class Workload:
    """The work that is added; by default none.

    Attributes
    ----------
    operations
        Instructions per task, as of a program of one thread: 32-bit multiplications and additions in turn,
        each on the result of the one before. On common processors the two of them take four cycles.
    cache_bytes
        Size of a working set that each task reads once.
    packets
        Number of packets that each node sends per round, to its neighbours in turn. They travel with the
        first messages of the round, and the receiver drops them.
    bytes
        Size of a packet.

    Raises
    ------
    InputError
        A value is not an integer from 0, or is too large; packets are given without bytes.

    Examples
    --------
    >>> from dgsuite.core.engine.workload import Workload
    >>> Workload(operations=1_000_000)
    Workload(operations=1000000, cache_bytes=0, packets=0, bytes=0)
    """

    operations: int = 0
    cache_bytes: int = 0
    packets: int = 0
    bytes: int = 0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise InputError(f"workload: {name} must be an integer from 0, got {value!r}")
            most = MAX_OPERATIONS if name == "operations" else LARGEST
            if value > most:
                raise InputError(f"workload: {name} must be at most {most}, got {value}")
            object.__setattr__(self, name, int(value))
        if bool(self.packets) != bool(self.bytes):
            raise InputError("workload: packets and bytes (per packet) must be given together")

    @classmethod
    def make(cls, given: Mapping[str, Any] | Workload | None) -> Workload | None:
        """A workload from its fields, or None if no work is added.

        Raises
        ------
        InputError
            An unknown field, or a value that a field cannot have.
        """
        if not isinstance(given, Workload | Mapping | None):
            raise InputError(
                f"workload must be a mapping such as {{'operations': 1000}}, got {given!r}"
            )
        if isinstance(given, Mapping):
            names = [f.name for f in fields(cls)]
            for name in given.keys() - set(names):
                raise InputError(f"workload: {unknown('field', name, names)}")
            given = cls(**given)
        return given or None

    def __bool__(self) -> bool:
        return bool(self.operations or self.cache_bytes or self.packets)

    def __str__(self) -> str:
        return json.dumps({name: value for name, value in asdict(self).items() if value})


class ParcelWithPackets(NamedTuple):
    """A parcel and the packets that travel with it."""

    parcel: Any
    packets: NDArray[np.uint8]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.packets.nbytes + (0 if self.parcel is None else self.parcel.nbytes)


class WorkloadRunner:
    """Does the work of a workload on one site.

    Parameters
    ----------
    bounds, me, threads
        As for `dgsuite.core.engine.site.Site`.
    """

    def __init__(
        self,
        load: Workload,
        clusters: Sequence[Cluster],
        bounds: NDArray,
        me: int,
        threads: int = 1,
    ) -> None:
        self.load = load
        self.round = -1
        # packets take too little of a processor to share it
        self.threads = threads if load.operations or load.cache_bytes else 1
        self.helpers = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        self.packets: dict[int, NDArray[np.uint8]] = {}
        if load.packets:
            counts = _packets(load.packets, clusters, bounds)
            counts[me] = 0
            noise = np.random.default_rng(0)  # no transport can compress it
            self.packets = {
                int(site): noise.integers(0, 256, (int(counts[site]), load.bytes), np.uint8)
                for site in np.flatnonzero(counts)
            }
        self.work(0)  # compiles the loops

    def work(self, tasks: int) -> list[float]:
        """Do the work of a number of tasks; returns the processor time of each thread, our own first."""
        if self.helpers is None or tasks < 2:
            return [self._work(tasks)]
        shares = [tasks // self.threads + (i < tasks % self.threads) for i in range(self.threads)]
        others = [self.helpers.submit(self._work, share) for share in shares[1:] if share]
        return [self._work(shares[0]), *(other.result() for other in others)]

    def _work(self, tasks: int) -> float:
        """Do the work of tasks on the calling thread; returns its processor time in seconds."""
        from dgsuite.core.engine._compiled import spin, walk

        begin = thread_time()
        if self.load.operations:
            operations = min(self.load.operations * tasks, MAX_OPERATIONS)
            spin(np.uint32(tasks), *CONSTANTS, operations)
        if self.load.cache_bytes:
            walk(_working_set(self.load.cache_bytes), tasks)
        return thread_time() - begin

    def add_packets(self, number: int, parcels: Mapping[int, Any]) -> dict[int, Any]:
        """Add the packets of a round, or depth, to the first parcels of that round."""
        if number <= self.round:
            return dict(parcels)
        self.round = number
        added = {site: ParcelWithPackets(parcels.get(site), p) for site, p in self.packets.items()}
        return {**parcels, **added}


def without_packets(parcels: Mapping[int, Any]) -> dict[int, Any]:
    """The parcels without their packets."""
    bare = {s: p.parcel if isinstance(p, ParcelWithPackets) else p for s, p in parcels.items()}
    return {site: parcel for site, parcel in bare.items() if parcel is not None}


def _packets(each: int, clusters: Sequence[Cluster], bounds: NDArray) -> NDArray[np.int64]:
    """Number of packets for each site, if each node sends `each` packets to its neighbours in turn."""
    counts = np.zeros(len(bounds) - 1, np.int64)
    for c in clusters:
        degree = np.repeat(c.degree, c.degree)
        turn = np.arange(len(c.indices)) - np.repeat(c.indptr[:-1], c.degree)
        dealt = each // degree + (turn < each % degree)
        site = np.searchsorted(bounds, c.partition.owner(c.indices), side="right") - 1
        np.add.at(counts, site, dealt)
    return counts


@lru_cache(maxsize=1)
def _working_set(nbytes: int) -> NDArray[np.uint64]:
    """A working set of distinct pages; pages of zeros would share one physical page.

    It is only read, so all threads share it.
    """
    return np.arange(max(1, nbytes // 8), dtype=np.uint64)
