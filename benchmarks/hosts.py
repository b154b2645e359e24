"""Empty rounds between hosts: network namespaces of this machine, with a delay between them.

    python benchmarks/hosts.py [--hosts 4] [--workers 2] [--delays 0 0.0002 0.001]

Bounds: 3 times the one-way latency at 0.2 ms, 6 times at 1 ms, and the round's time without a delay.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from common import line

MULTIPLE = {0.0002: 3, 0.001: 6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2, help="worker processes of each host")
    parser.add_argument(
        "--delays", type=float, nargs="+", default=[0, 0.0002, 0.001], help="seconds"
    )
    parser.add_argument("--measure", metavar="ADDRESS", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(measure(given.measure, given.hosts * given.workers))
        return
    import hosts

    if why := hosts.missing():
        sys.exit(f"there cannot be several hosts here: {why}")
    command = [
        sys.executable,
        __file__,
        "--hosts",
        str(given.hosts),
        "--workers",
        str(given.workers),
    ]
    first = None
    for delay in given.delays:
        with (
            hosts.Hosts(given.hosts, delay) as network,
            network.cluster(given.workers) as address,
        ):
            seconds = float(network.run(0, [*command, "--measure", address], bound=300).split()[-1])
        times = MULTIPLE.get(delay)
        bound = None if first is None or times is None else 1e3 * (times * delay + first)
        first = seconds if first is None else first
        what = f"clocked, empty round, {given.hosts} x {given.workers} workers, {1e3 * delay:g} ms away"
        line(what, 1e3 * seconds, "ms", bound)


def measure(address: str, workers: int) -> float:
    """Median seconds of an empty round."""
    from distributed import Client
    from kernels_for_benchmarks import Empty

    import dgsuite

    nodes = np.arange(64)
    with Client(address, timeout=60) as client:
        client.wait_for_workers(workers, timeout=60)
        graph = dgsuite.Graph.from_edges(nodes, (nodes + 1) % 64, n=64, clusters=workers)
        dgsuite.run(Empty, graph, style="clocked", rounds=20)
        ds = dgsuite.run(Empty, graph, style="clocked", rounds=500)
        each = (ds.compute_seconds + ds.exchange_seconds).isel(cluster=0).values
        return float(np.median(each))


if __name__ == "__main__":
    main()
