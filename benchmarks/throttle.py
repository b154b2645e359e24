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
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from common import Options, record, skip

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

    from dgsuite.studies.transports import throttle

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
        skip("tc tbf", "iproute2 or unshare is not installed")
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
            skip("tc tbf", made.stderr.strip().splitlines()[-1])
            return {}
        for size, value in json.loads(made.stdout).items():
            found[f"{rate:g} {size}"] = value
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--over", "tcp,uds,mpb,mpimpb", "tcp", help="what is throttled")
    options.size("--sizes", "1,4,16", "1", help="MiB")
    options.size("--rates", "20,100,400,800", "400", help="MB/s")
    options.size("--turns", 9, 1)
    options.add_argument("--plain", help=argparse.SUPPRESS)
    asked = options.parse_args(arguments)
    if asked.plain:  # in a network namespace of its own
        listening = Listening("tcp")
        sizes = [int(s) << 20 for s in asked.plain.split(",")]
        print(json.dumps({s: asyncio.run(bandwidth(listening.address, s, None, 4)) for s in sizes}))
        return
    with options.recorded(arguments) as given:
        sizes = [int(s) << 20 for s in given.sizes.split(",")]
        rates = [float(r) * 1e6 for r in given.rates.split(",")]
        for protocol in given.over.split(","):
            under(protocol, sizes, rates, given.turns)


def under(protocol: str, sizes: list[int], rates: list[float], times: int) -> None:
    """A transport without and with a limit."""
    plain, throttled = Listening(protocol), Listening(f"throttle+{protocol}")
    for size in sizes:
        turns = [
            [asyncio.run(bandwidth(there.address, size, None)) for there in (plain, throttled)]
            for _ in range(times)
        ]
        on = {"transport": protocol, "MiB": size >> 20}
        record("unlimited", [free / 1e6 for free, _ in turns], "MB/s", **on)
        slower = [free / held for free, held in turns]
        record("throttle+ without a limit", slower, "x", most=1.03, peer="plain", **on)
    beside = kernel(rates, sizes) if protocol == "tcp" else {}
    for rate in rates:
        for size in sizes:
            on = {"transport": protocol, "MiB": size >> 20, "MB/s": rate / 1e6}
            got = asyncio.run(bandwidth(throttled.address, size, rate))
            record("off by", 100 * abs(got / rate - 1), "%", most=3, **on)
            if (tc := beside.get(f"{rate:g} {size}")) is not None:
                record("tc tbf delivers", 100 * tc / rate, "%", **on)


if __name__ == "__main__":
    main()
