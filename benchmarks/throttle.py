"""What a throttled transport delivers, beside what was asked for, plain TCP, and the kernel's own throttle.

python benchmarks/throttle.py [--over tcp,mpb] [--sizes 1,4,16] [--rates 20,100,400]

A stream of messages (MiB) to another process at some rates (MB/s), until it says that it has them all. The
kernel's throttle is a token bucket filter (tc tbf) on the loopback device of a network namespace of
its own; that needs root and iproute2, and is left out where they are not there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import shutil
import statistics
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from common import line

STREAM = 4
"""Messages of a measurement."""


def sink(protocol: str, pipe: Connection) -> None:
    """Read messages, and say so where that is asked for."""
    from distributed.comm import listen

    async def handle(comm: Any) -> None:
        while True:
            try:
                message = await comm.read()
            except OSError:
                return
            if message["answer"]:
                await comm.write("all there")

    async def main() -> None:
        listener = await listen(f"{protocol}://127.0.0.1", handle, deserialize=False)
        pipe.send(listener.contact_address)
        await asyncio.Event().wait()

    asyncio.run(main())


async def bandwidth(address: str, size: int, rate: float | None, times: int = 7) -> float:
    """Bytes a second, median."""
    from distributed.comm import connect
    from distributed.protocol.serialize import to_serialize

    from dgsuite.transports import throttle

    throttle.HERE.limit = throttle.Limit(rate)
    comm = await connect(address)
    data = to_serialize(np.ones(size, np.uint8))
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        for k in range(STREAM):
            await comm.write({"data": data, "answer": k == STREAM - 1})
        await comm.read()
        found.append(STREAM * size / (time.perf_counter() - begin))
    comm.abort()
    return statistics.median(found[1:])


class Listening:
    """A process that reads what is sent to it."""

    def __init__(self, protocol: str) -> None:
        here, there = multiprocessing.get_context("spawn").Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=sink, args=(protocol, there), daemon=True)
        self.process.start()
        self.address = here.recv()


def kernel(rates: list[float], sizes: list[int]) -> dict[str, float]:
    """What plain TCP delivers under tc tbf, by "rate size", measured in a namespace of its own."""
    if not (shutil.which("tc") and shutil.which("unshare")):
        print("tc tbf: left out: iproute2 or unshare is not installed")
        return {}
    found: dict[str, float] = {}
    for rate in rates:
        own = [sys.executable, __file__, "--plain", ",".join(str(s >> 20) for s in sizes)]
        # a packet of the loopback device is up to 64 KiB, and a bucket must hold one
        script = (
            "ip link set lo up && tc qdisc add dev lo root tbf rate "
            f"{int(8 * rate)}bit burst {max(int(rate * 4e-3), 1 << 17)} latency 200ms && exec "
        )
        made = subprocess.run(
            ["unshare", "-n", "sh", "-c", script + " ".join(own)], capture_output=True, text=True
        )
        if made.returncode:
            print(f"tc tbf: left out: {made.stderr.strip().splitlines()[-1]}")
            return {}
        for size, value in json.loads(made.stdout).items():
            found[f"{rate:g} {size}"] = value
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--over", default="tcp,uds,mpb,mpimpb", help="what is throttled")
    parser.add_argument("--sizes", default="1,4,16", help="MiB")
    parser.add_argument("--rates", default="20,100,400,800", help="MB/s")
    parser.add_argument("--plain", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.plain:
        listening = Listening("tcp")
        sizes = [int(s) << 20 for s in given.plain.split(",")]
        print(json.dumps({s: asyncio.run(bandwidth(listening.address, s, None, 4)) for s in sizes}))
        return
    sizes = [int(s) << 20 for s in given.sizes.split(",")]
    rates = [float(r) * 1e6 for r in given.rates.split(",")]
    for protocol in given.over.split(","):
        under(protocol, sizes, rates)


def under(protocol: str, sizes: list[int], rates: list[float]) -> None:
    """A transport without and with a limit."""
    plain, throttled = Listening(protocol), Listening(f"throttle+{protocol}")
    for size in sizes:
        turns = [
            [asyncio.run(bandwidth(there.address, size, None)) for there in (plain, throttled)]
            for _ in range(9)
        ]
        free = statistics.median(a for a, _ in turns)
        line(f"{protocol}, {size >> 20} MiB: unlimited", free / 1e6, "MB/s")
        slower = statistics.median(a / b for a, b in turns)
        line(
            f"{protocol}, {size >> 20} MiB: throttle+ without a limit, over plain",
            slower,
            "x",
            1.03,
        )
    beside = kernel(rates, sizes) if protocol == "tcp" else {}
    for rate in rates:
        for size in sizes:
            got = asyncio.run(bandwidth(throttled.address, size, rate))
            off = abs(got / rate - 1)
            tc = beside.get(f"{rate:g} {size}")
            note = "" if tc is None else f" (tc tbf delivers {tc / rate:.3f})"
            at = f"{protocol}, {size >> 20} MiB at {rate / 1e6:g} MB/s"
            line(f"{at}: off by{note}", off, "", 0.03)


if __name__ == "__main__":
    main()
