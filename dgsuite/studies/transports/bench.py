"""How fast transports are: at the level of comms, between processes on this host, taking turns.

Task round trips would not show it: Dask's client collects what it sends for 10 ms. Messages carry one
frame of bytes, which is not serialised, so what is timed is the transport and its header.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from typing import Any

import dask
import numpy as np
import psutil
import xarray as xr
from distributed.comm import connect, listen
from distributed.protocol.serialize import Serialized
from distributed.security import Security

from dgsuite.base.memory import keep_memory
from dgsuite.studies.transports.carriers import MPI, scheme

PATTERNS = ("pingpong", "one-to-all", "all-pairs", "clocked")

BATCH = 20e-3
"""Seconds of round trips that are timed together: a single small one is no longer than a clock's noise."""

Trip = Callable[[str, int, int], float]
"""Seconds of trips over a protocol, with messages of a size, so many of them."""

BUDGET = 1 << 28
"""Bytes that a transport sends at most for one turn of one size, beyond the first trip."""


def message(size: int) -> Any:
    """A message around one frame of that many bytes."""
    return {"data": Serialized({"serializer": "dask"}, [np.ones(size, np.uint8).data])}


async def trips(comms: Sequence[Any], size: int, count: int) -> float:
    """Seconds for a number of trips to all partners and back, one after another."""
    sent = message(size)
    begin = time.perf_counter()
    for _ in range(count):
        if len(comms) == 1:
            await comms[0].write(sent)
            await comms[0].read()
        else:
            await _meet(comms, sent)
    return time.perf_counter() - begin


async def _meet(comms: Sequence[Any], sent: Any) -> None:
    """Send to all, and receive from all."""
    reads = [asyncio.ensure_future(comm.read()) for comm in comms]
    await asyncio.gather(*(comm.write(sent) for comm in comms))
    await asyncio.gather(*reads)


class Partner:
    """A process of the benchmark: it echoes, and when told to, exchanges with all others."""

    def __init__(self, protocols: Sequence[str], pipe: Connection) -> None:
        self._pipe = pipe
        self._protocols = protocols
        self._comms: dict[str, list[Any]] = {protocol: [] for protocol in protocols}

    async def _serve(self, comm: Any) -> None:
        try:
            while True:
                received = await comm.read()
                if "peer" in received:
                    # the partner that called uses the comm from now on, for rounds
                    self._comms[received["peer"]].append(comm)
                    await comm.write({})
                    return
                await comm.write(received)
        except OSError:
            comm.abort()

    async def main(self) -> None:
        loop = asyncio.get_running_loop()
        security = Security()
        here, there = security.get_listen_args("worker"), security.get_connection_args("worker")
        listeners = [
            await listen(f"{scheme(protocol)}://127.0.0.1", self._serve, deserialize=False, **here)
            for protocol in self._protocols
        ]
        self._pipe.send([listener.contact_address for listener in listeners])
        while (order := await loop.run_in_executor(None, self._pipe.recv)) is not None:
            what, protocol, *given = order
            if what == "connect":
                for address in given:
                    comm = await connect(address, deserialize=False, **there)
                    await comm.write({"peer": protocol})
                    await comm.read()  # the other one has the comm, too
                    self._comms[protocol].append(comm)
                self._pipe.send(None)
            else:
                self._pipe.send(await rounds(self._comms[protocol], *given))


async def rounds(comms: Sequence[Any], size: int, count: int) -> float:
    """Seconds for a number of rounds in which all processes send to all."""
    sent = message(size)
    await _meet(comms, message(1))
    begin = time.perf_counter()
    for _ in range(count):
        await _meet(comms, sent)
    return time.perf_counter() - begin


def _partner(protocols: Sequence[str], config: dict[str, Any], pipe: Connection) -> None:
    dask.config.update(dask.config.config, config)
    keep_memory()
    asyncio.run(Partner(protocols, pipe).main())


class Partners:
    """Processes to measure with."""

    def __init__(self, protocols: Sequence[str], count: int) -> None:
        from dgsuite.studies.experiment.clusters import terminal_blocked

        context = multiprocessing.get_context("spawn")
        self.protocols = protocols
        self._pipes, self._processes = [], []
        for _ in range(count):
            here, there = context.Pipe()
            process = context.Process(
                target=_partner, args=(protocols, dask.config.config, there), daemon=True
            )
            with terminal_blocked():
                process.start()
            there.close()
            self._pipes.append(here)
            self._processes.append(process)
        self.addresses: list[list[str]] = [pipe.recv() for pipe in self._pipes]

    def join(self, protocol: str) -> None:
        """Connect each with each over a protocol."""
        q = self.protocols.index(protocol)
        for k, pipe in enumerate(self._pipes):
            pipe.send(("connect", protocol, *(there[q] for there in self.addresses[:k])))
            pipe.recv()

    def held(self) -> float:
        """Bytes of a process, on average: what several have mapped counts by its share for each."""
        infos = [psutil.Process(process.pid).memory_full_info() for process in self._processes]
        return float(np.mean([getattr(info, "pss", info.uss) for info in infos]))

    def rounds(self, protocol: str, size: int, count: int) -> float:
        """Seconds for a number of rounds, of the slowest."""
        for pipe in self._pipes:
            pipe.send(("rounds", protocol, size, count))
        return max(pipe.recv() for pipe in self._pipes)

    def close(self) -> None:
        """End them."""
        for pipe in self._pipes:
            pipe.send(None)
        for process in self._processes:
            process.join(10)
            process.kill()


def measure(
    protocols: Sequence[str],
    sizes: Sequence[int],
    patterns: Iterable[str] = PATTERNS,
    processes: int = 4,
    repeats: int = 15,
) -> xr.Dataset:
    """Time every transport with every size of message; the transports take turns.

    Parameters
    ----------
    protocols
        Schemes, such as "tcp" and "mpb".
    sizes
        Bytes of a message.
    patterns
        "pingpong": to another process and back. "one-to-all": to ``processes - 1`` others at once and
        back. "all-pairs": a round in which all ``processes`` send to each other. "clocked": a round of a
        clocked run on two workers; only this one can be had over MPI.
    repeats
        Turns of each.

    Returns
    -------
    xarray.Dataset
        ``seconds(pattern, protocol, size, repeat)``, and its medians as ``median_seconds`` and, in bytes
        sent and received by all, as ``bytes_per_second``. ``held_bytes(protocol)``: the bytes by which a
        process grows that is connected with all others, if "all-pairs" is among the patterns, else NaN.
    """
    from dgsuite.core.results.dataset import variable  # partners need no datasets

    patterns = tuple(patterns)
    held = _held(protocols, min(sizes), processes) if "all-pairs" in patterns else {}
    seconds = np.full((len(patterns), len(protocols), len(sizes), repeats), np.nan)
    comms = [protocol for protocol in protocols if protocol not in MPI]
    for p, pattern in enumerate(patterns):
        among = protocols if pattern == "clocked" else comms
        for name, s, r, value in _turns(pattern, among, sizes, processes, repeats):
            seconds[p, protocols.index(name), s, r] = value
    others = processes - 1
    sent = {"pingpong": 2, "one-to-all": 2 * others, "all-pairs": processes * others, "clocked": 2}
    messages = np.array([sent[pattern] for pattern in patterns])
    median = np.median(seconds, axis=-1)
    rate = messages[:, None, None] * np.asarray(sizes, float) / median
    grown = np.array([held.get(protocol, np.nan) for protocol in protocols])
    dims, trip = ("pattern", "protocol", "size"), "time of a round trip or round"
    growth = "growth of a process that is connected with all others"
    return xr.Dataset(
        {
            "seconds": variable((*dims, "repeat"), seconds, trip, "s"),
            "median_seconds": variable(dims, median, f"median {trip}", "s"),
            "bytes_per_second": variable(dims, rate, "bytes moved a second", "B/s"),
            "held_bytes": variable("protocol", grown, growth, "B"),
        },
        {
            "pattern": list(patterns),
            "protocol": list(protocols),
            "size": variable("size", np.asarray(sizes, np.int64), "size of a message", "B"),
        },
        {"processes": processes},
    )


def _held(protocols: Sequence[str], size: int, processes: int) -> dict[str, float]:
    """By protocol, the bytes by which a process grows once it has exchanged messages with all others."""
    found = {}
    for protocol in (p for p in protocols if p not in MPI):
        with closing(Partners([protocol], processes)) as partners:
            before = partners.held()
            partners.join(protocol)
            partners.rounds(protocol, size, 1)
            found[protocol] = partners.held() - before
    return found


def _turns(
    pattern: str, protocols: Sequence[str], sizes: Sequence[int], processes: int, repeats: int
) -> Iterator[tuple[str, int, int, float]]:
    """Measurements of a pattern: protocol, size, repeat, seconds."""
    if not protocols:
        return
    if pattern == "clocked":
        from dgsuite.studies.transports import kernels

        with kernels.workers(protocols) as clients:
            yield from kernels.rounds(clients, sizes, repeats)
        return
    keep_memory()
    count = {"pingpong": 1, "one-to-all": processes - 1, "all-pairs": processes}[pattern]
    with closing(Partners(protocols, count)) as partners:
        if pattern == "all-pairs":
            for protocol in protocols:
                partners.join(protocol)
            yield from _timed(partners.rounds, protocols, sizes, repeats, count**2)
        else:
            with _from_here(partners) as trip:
                yield from _timed(trip, protocols, sizes, repeats, count)


def _timed(
    trip: Trip, protocols: Sequence[str], sizes: Sequence[int], repeats: int, messages: int
) -> Iterator[tuple[str, int, int, float]]:
    """Measurements of trips that have so many messages, as `_turns` has them."""
    for s, size in enumerate(sizes):
        once = {p: min(trip(p, size, 1) for _ in range(2)) for p in protocols}
        for r in range(repeats):
            for protocol in protocols:
                most = BUDGET // max(size * messages, 1)
                count = max(1, min(int(BATCH / once[protocol]), most))
                yield protocol, s, r, trip(protocol, size, count) / count


@contextmanager
def _from_here(partners: Partners) -> Iterator[Trip]:
    """Trips from this process to all partners and back."""
    secure = Security().get_connection_args("worker")

    async def called(addresses: Sequence[str]) -> list[Any]:
        return [await connect(address, deserialize=False, **secure) for address in addresses]

    async def close() -> None:
        for there in comms.values():
            for comm in there:
                await comm.close()

    with asyncio.Runner() as runner:
        by_protocol = zip(partners.protocols, zip(*partners.addresses, strict=True), strict=True)
        comms = {protocol: runner.run(called(addresses)) for protocol, addresses in by_protocol}
        yield lambda protocol, size, count: runner.run(trips(comms[protocol], size, count))
        runner.run(close())


def summary(ds: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Medians by protocol and size: of the first pattern, and of others under their names."""
    names = ("median_seconds", "bytes_per_second")
    first = str(ds.pattern.values[0])
    found: dict[str, dict[str, Any]] = {}
    for protocol in map(str, ds.protocol.values):
        found[protocol] = {}
        for size in ds["size"].values:
            part = ds.sel(protocol=protocol, size=size)
            by_pattern = {
                str(p): {name: float(part[name].sel(pattern=p)) for name in names}
                for p in ds.pattern.values
            }
            found[protocol][str(size)] = by_pattern.pop(first) | by_pattern
        if "kernel" in ds.dims:
            times = ds.kernel_median_seconds.sel(protocol=protocol).to_series()
            found[protocol]["kernels"] = {str(k): float(v) for k, v in times.items()}
    return found
