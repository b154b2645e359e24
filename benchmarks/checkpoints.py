"""What checkpoints cost, and what a killed worker costs, on two worker processes."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import common  # before tests, which it makes importable
import dask
from common import Options, record, repeated

import dgsuite
from dgsuite import genval
from dgsuite.partition.client.workers import worker_addresses
from tests.faults.inject import Signal, arm


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--nodes", 1_000_000, 200)
    options.size("--edges", 10_000_000, 800)
    options.size("--iterations", 200, 5, help="of PageRank")
    options.size("--every", 10.0, 0.0, help="seconds between two checkpoints")
    options.size("--times", 5, 1)
    with (
        options.recorded(arguments) as given,
        common.cluster(2) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        measure(given, client, f"{folder}/checkpoint")


def measure(given: argparse.Namespace, client: Any, folder: str) -> None:
    """All figures."""
    graph = genval.graph("er", given.nodes, m=given.edges, clusters=2)
    on = {"input": f"random, n = {given.nodes:,}, m = {given.edges:,}"}
    pagerank = {"iterations": given.iterations, "tolerance": None}

    def seconds(
        kernel: str,
        parameters: dict[str, Any],
        checkpoint: str | None = None,
        every: Any = given.every,
    ) -> float:
        begin = time.perf_counter()
        with dask.config.set({"dgsuite.checkpoint.every": every}):
            dgsuite.run(
                kernel, graph, style="clocked", client=client, checkpoint=checkpoint, **parameters
            )
        return time.perf_counter() - begin

    for kernel, parameters in (("mis", {}), ("pagerank", pagerank)):
        ds = dgsuite.run(kernel, graph, style="clocked", client=client, **parameters)
        rounds = ds.sizes["round"]
        run = partial(seconds, kernel, parameters)
        base = record(f"{kernel}, without checkpoints", repeated(run, given.times), "s", **on)
        kept = repeated(partial(run, folder), given.times)
        how = {**on, "every": f"{given.every:g} s"}
        more = [100 * (t / base - 1) for t in kept]
        most = 5 if base > 1 else None  # to begin and end with them takes a part of a second
        record(f"{kernel}, checkpoints", more, "% more time", most=most, **how)
        each = repeated(partial(run, folder, "1 round"), given.times)
        record(f"{kernel}, a checkpoint", [(t - base) / rounds for t in each], "s", **on)
        lost = []
        for _ in range(given.times):
            client.wait_for_workers(2, timeout=60)
            place = worker_addresses(client)[1]
            # a round has a phase or more, and the worker one cluster
            client.run(arm, rounds // 2, False, Signal(), workers=[place])
            lost.append(run(folder) - base)
        record(f"{kernel}, time lost to a killed worker", lost, "s", most=given.every + 3, **how)
    client.wait_for_workers(2, timeout=60)


if __name__ == "__main__":
    main()
