"""What transports cost, when idle and when workers are killed, beside their bounds.

python benchmarks/transports.py [speed] [chip] [idle] [kills] [--protocols tcp,mpb]

speed: round trips and clocked rounds beside TCP's, transports taking turns. chip: the same with the SCC's
buffers of 8 KiB, 48 places. idle: processor time of a cluster of four workers that does nothing. kills: a
worker is killed in the middle of a message, twenty times.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask
import numpy as np
import psutil
from common import Options, cluster, record


def ratio_of(ds: Any, protocol: str, size: int, pattern: str = "pingpong") -> float:
    """A transport's time over TCP's, the median of turns beside each other."""
    part = ds.seconds.sel(pattern=pattern, size=size)
    return float((part.sel(protocol=protocol) / part.sel(protocol="tcp")).median())


def speed(protocols: list[str], tiny: bool) -> None:
    """Round trips and clocked rounds beside TCP's."""
    from dgsuite.studies.transports import bench

    sizes = (64, 4096, 1 << 20) if tiny else (64, 4096, 1 << 20, 1 << 26)
    ds = bench.measure(["tcp", *protocols], sizes, ["pingpong"], repeats=1 if tiny else 31)
    processes = 2 if tiny else 4
    for protocol in protocols:
        bound = protocol == "mpb"
        for size in sizes:
            r = ratio_of(ds, protocol, size)
            part = ds.sel(protocol=protocol, size=size, pattern="pingpong")
            on = {"transport": protocol, "bytes": size}
            if size <= 4096:
                record("round trip", 1e6 * float(part.median_seconds), "us", **on)
                most = 0.7 if bound else None
            else:
                record("bandwidth", float(part.bytes_per_second) / 1e6, "MB/s", **on)
                most = 0.5 if bound else None
            record("time", r, "x", most=most, peer="tcp", **on)
    ds = bench.measure(["tcp", *protocols], [0], ["clocked"], processes, repeats=1 if tiny else 15)
    for protocol in ["tcp", *protocols]:
        part = ds.median_seconds.sel(protocol=protocol, size=0, pattern="clocked")
        record("empty clocked round", 1e6 * float(part), "us", transport=protocol)
    for protocol in protocols:
        most = 0.7 if protocol == "mpb" else None
        ratio = ratio_of(ds, protocol, 0, "clocked")
        record("empty clocked round", ratio, "x", most=most, peer="tcp", transport=protocol)


def on_chip(protocols: list[str], tiny: bool) -> None:
    """Round trips and clocked rounds with the SCC's buffers."""
    from dgsuite.studies.transports import bench, chip

    with dask.config.set(chip.BUFFERS):
        for pattern, sizes, names in (
            ("pingpong", (64, 512, 4096, 32768, 262144), ["tcp", *protocols]),
            ("clocked", (0, 512, 4096, 32768, 262144), ["tcp", *protocols, "mpi"]),
        ):
            sizes, names = (sizes[:2], protocols) if tiny else (sizes, names)
            ds = bench.measure(names, sizes, [pattern], 2 if tiny else 4, 1 if tiny else 7)
            for size in sizes:
                part = 1e6 * ds.median_seconds.sel(size=size, pattern=pattern)
                on = {"buffers": "the SCC's", "pattern": pattern, "bytes": size}
                for name in names:
                    record(name, float(part.sel(protocol=name)), "us", **on)


def idle(protocols: list[str], tiny: bool) -> None:
    """Processor time of a cluster, and of comms, that do nothing."""
    # TCP first: the others slow Dask's clocks in this process when they are first used
    for protocol in ["tcp", *protocols]:
        with cluster(1 if tiny else 4, protocol) as client:
            client.gather(client.map(abs, range(100)))
            time.sleep(0.1 if tiny else 5)
            here = psutil.Process()
            processes = [here, *here.children(recursive=True)]
            before, begin = sum(map(_cpu, processes)), time.monotonic()
            time.sleep(0.5 if tiny else 15)
            used = (sum(map(_cpu, processes)) - before) / (time.monotonic() - begin)
            record("four idle workers", 100 * used, "% of a core", transport=protocol)
    for protocol in ["tcp", *protocols]:
        share = 100 * asyncio.run(_rest(protocol, 0.5 if tiny else 5))
        on = {"transport": protocol}
        record("ten idle comms, both ends", share, "% of a core", most=2, **on)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


async def _rest(protocol: str, seconds: float) -> float:
    """Share of a core that comms take on which nothing is said."""
    from distributed.comm import connect, listen

    async def handle(comm: Any) -> None:
        with suppress(OSError):
            await comm.read()

    listener = await listen(f"{protocol}://127.0.0.1", handle)
    comms = [await connect(listener.contact_address) for _ in range(10)]
    reads = [asyncio.ensure_future(comm.read()) for comm in comms]
    before, begin = time.process_time(), time.monotonic()
    await asyncio.sleep(seconds)
    used = (time.process_time() - before) / (time.monotonic() - begin)
    for comm in comms:
        comm.abort()
    await asyncio.gather(*reads, return_exceptions=True)
    listener.stop()
    return used


def kills(protocols: list[str], tiny: bool) -> None:
    """Workers killed in transfers, and what is left of them."""
    from distributed import wait
    from distributed.comm.core import Comm

    from dgsuite.core.transports.mpb import MPB

    times = 1 if tiny else 20
    for protocol in protocols:
        dice = random.Random(1)
        slowest = 0.0
        with cluster(2, protocol) as client:
            for k in range(times):
                begin = time.monotonic()
                chunks = client.map(_chunk, range(8), [k] * 8)
                sums = client.map(_ends, chunks, chunks[1:] + chunks[:1])
                time.sleep(dice.uniform(0.02, 0.3))
                os.kill(dice.choice(list(client.run(os.getpid).values())), signal.SIGKILL)
                wait(sums, timeout=60)
                assert client.gather(sums) == [2 * k + i + (i + 1) % 8 for i in range(8)]
                client.wait_for_workers(2, timeout=60)
                time.sleep(0.5)
                slowest = max(slowest, time.monotonic() - begin - 0.5)
                del chunks, sums
            time.sleep(1)
            gc.collect()
            on = {"transport": protocol, "kills": times}
            record("slowest recovery", slowest, "s", most=60, **on)
            live = sum(isinstance(c, MPB) and not c.closed() for c in list(Comm._instances))
            record("buffers beyond two a live comm", _mapped() - 2 * live, "", most=0, **on)
        left = sum("dgsuite" in name for name in os.listdir("/dev/shm"))
        record("files left in /dev/shm", left, "", most=0, **on)


def _chunk(i: int, k: int) -> np.ndarray:
    return np.full(4_000_000, i + k)


def _ends(a: np.ndarray, b: np.ndarray) -> int:
    return int(a[0] + b[-1])


def _mapped() -> int:
    return Path("/proc/self/maps").read_text().count("memfd:dgsuite-")


PARTS = {"speed": speed, "chip": on_chip, "idle": idle, "kills": kills}


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.add_argument("parts", nargs="*", help="speed, chip, idle, kills; default all")
    options.size("--protocols", "uds,mpb,mpimpb", "mpb")
    with options.recorded(arguments) as given:
        for part in given.parts or PARTS:
            PARTS[part](given.protocols.split(","), given.tiny)


if __name__ == "__main__":
    main()
