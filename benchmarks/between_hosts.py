"""Empty rounds between hosts: network namespaces of this machine, with a delay between them.

    python benchmarks/between_hosts.py [--hosts 4] [--workers 2] [--delays 0 0.0002 0.001]

Bounds: 3 times the one-way latency at 0.2 ms, 6 times at 1 ms, and the round's time without a delay.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from common import Options, record

MULTIPLE = {0.0002: 3, 0.001: 6}


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--hosts", 4, 2)
    options.size("--workers", 2, 1, help="worker processes of each host")
    options.size("--delays", (0, 0.0002, 0.001), (0.0002,), type=float, nargs="+", help="seconds")
    options.size("--rounds", 500, 20)
    options.add_argument("--measure", metavar="ADDRESS", help=argparse.SUPPRESS)
    asked = options.parse_args(arguments)
    if asked.measure:  # in a process of its own, on one of the hosts
        print(measure(asked.measure, asked.hosts * asked.workers, asked.rounds))
        return
    with options.recorded(arguments) as given:
        between_hosts(given)


def between_hosts(given: argparse.Namespace) -> None:
    """Empty rounds for each delay."""
    from tests.support import hosts

    if why := hosts.missing():
        sys.exit(f"there cannot be several hosts here: {why}")
    command = [
        sys.executable,
        __file__,
        "--hosts",
        str(given.hosts),
        "--workers",
        str(given.workers),
        "--rounds",
        str(given.rounds),
    ]
    first = None
    for delay in given.delays:
        with (
            hosts.Hosts(given.hosts, delay) as network,
            network.cluster(given.workers) as address,
        ):
            seconds = float(network.run(0, [*command, "--measure", address], bound=300).split()[-1])
        times = MULTIPLE.get(delay)
        bound = None if first is None or times is None else round(1e3 * (times * delay + first), 2)
        first = seconds if first is None else first
        workers = f"{given.hosts} x {given.workers}"
        on = {"hosts x workers": workers, "ms one way": 1e3 * delay}
        record("empty clocked round", 1e3 * seconds, "ms", most=bound, **on)


def measure(address: str, workers: int, rounds: int) -> float:
    """Median seconds of an empty round."""
    from distributed import Client
    from kernels_for_benchmarks import Empty

    import dgsuite

    nodes = np.arange(64)
    with Client(address, timeout=60) as client:
        client.wait_for_workers(workers, timeout=60)
        graph = dgsuite.Graph.from_edges(nodes, (nodes + 1) % 64, n=64, clusters=workers)
        dgsuite.run(Empty, graph, style="clocked", rounds=20)
        ds = dgsuite.run(Empty, graph, style="clocked", rounds=rounds)
        each = (ds.compute_seconds + ds.exchange_seconds).isel(cluster=0).values
        return float(np.median(each))


if __name__ == "__main__":
    main()
