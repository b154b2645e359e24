"""Many mixed runs on one cluster: what its processes keep must not grow with their number.

    python -m tests.soak --runs 550

prints what is counted, and the memory of each process, every 50 runs, and fails if a count grows, or memory
by more than 5 percent, between run 50 and the last.

The logs that Dask keeps for its diagnostics are limited to 10 entries here, so that they are full before
run 50. With Dask's own limits the processes do grow by more than 5 percent until the logs are full: the
scheduler by about 10 MB for each worker, for its last 1000 messages to it; workers by about 0.1 MB a second
at first, for profiles of their last 1000 seconds. One cache of Dask's has no setting: that of the names of
tasks (``dask.utils.key_split``), of 100,000 entries of 0.2 kB. It is emptied before memory is read. All
processes return freed memory at once, as those of Dask's nannies do.
"""

import argparse
import gc
import sys
import time
from collections.abc import Callable

import dask.array as da
import networkx as nx
import numpy as np
import psutil
from dask.utils import key_split
from distributed import Client

import dgsuite
from dgsuite.partition.graph.graph import Graph
from tests.support.clusters import commands

Counts = dict[str, dict[str, int]]

WARM = 50
"""Runs after which counts and memory are those of a cluster in use."""

BOUND = 1.05
"""How much more memory than then a process may have at the end."""

LOGS = ("log-length", "low-level-log-length", "system-monitor.log-length")
LIMITS = {f"distributed.admin.{log}": 10 for log in LOGS}
LIMITS["distributed.worker.profile.cycle"] = "100ms"
"""Entries of Dask's logs, and how often it adds a profile, so that they are full before counting begins."""


def of_scheduler(dask_scheduler) -> dict[str, int]:
    spans = dask_scheduler.extensions["spans"].spans.values()
    return {
        "prefixes": len(dask_scheduler.task_prefixes),
        "groups": len(dask_scheduler.task_groups),
        "tasks": len(dask_scheduler.tasks),
        "spans": len(spans),
        "metrics of spans": sum(len(span._cumulative_worker_metrics) for span in spans),
        "metrics of workers": len(dask_scheduler.cumulative_worker_metrics),
        "topics": len(dask_scheduler._broker._topics),
    }


def of_span(dask_scheduler) -> tuple[int, int]:
    """Groups and collections that the span of dgsuite knows: some, which it forgets now and then."""
    span = dask_scheduler.extensions["spans"].spans["dgsuite"]
    return len(span.groups), len((span._metadata or {}).get("collections", []))


def of_worker(dask_worker) -> dict[str, int]:
    plugin = dask_worker.plugins["dgsuite"]
    return {
        "digests": len(dask_worker.digests_total),
        "largest digests": len(dask_worker.digests_max),
        "tasks": len(dask_worker.state.tasks),
        "data": len(dask_worker.data),
        "runs": len(plugin.runs),
        "ends": len(plugin._ends) + len(plugin._addresses),
        "descriptors": psutil.Process().num_fds(),
    }


def prefixes(dask_scheduler) -> set[str]:
    return set(dask_scheduler.task_prefixes)


def memory() -> int:
    """Bytes of this process, without the cache that Dask does not let one limit."""
    key_split.cache_clear()
    gc.collect()
    return psutil.Process().memory_info().rss


def counted(client: Client) -> Counts:
    """What each process keeps, once the cluster is idle."""
    time.sleep(1.2)  # two heartbeats, which bring workers' metrics to the scheduler
    return {"scheduler": client.run_on_scheduler(of_scheduler), **client.run(of_worker)}


def grown(before: Counts, after: Counts) -> list[str]:
    """Which counts are larger."""
    return [
        f"{who}: {name} grew from {count} to {after[who][name]}"
        for who, counts in before.items()
        for name, count in counts.items()
        if after[who][name] > count
    ]


def runs(client: Client) -> list[Callable[[], object]]:
    """Runs of all kinds: styles, forms, graphs here and on the workers, validation."""
    some = Graph.from_networkx(nx.gnm_random_graph(200, 600, seed=1), client=client, clusters=4)
    ring = Graph.from_networkx(nx.cycle_graph(12), client=client, clusters=2)
    ends = np.random.default_rng(1).integers(0, 5000, (2, 20_000))

    def built() -> None:
        src, dst = (da.from_array(side, chunks=10_000) for side in ends)
        graph = Graph.from_edges(src, dst, n=5000, clusters=3, client=client)
        ds = dgsuite.run("bfs", graph, style="finish_async", client=client)
        assert dgsuite.run("bfs", graph, style="clocked", client=client).parent.equals(ds.parent)

    def run(kernel: str, graph: Graph, style: str, **options) -> Callable[[], object]:
        return lambda: dgsuite.run(kernel, graph, style=style, client=client, **options)

    return [
        run("mis", some, "clocked"),
        run("bf", ring, "finish_async"),
        run("bfs", some, "clocked"),
        built,
        run("bf", ring, "finish_async", form="recursive"),
        run("mis", ring, "finish_async"),
        run("sssp", some, "clocked"),
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.soak")
    parser.add_argument("--runs", type=int, default=550, help="at least 100; default 550")
    total = parser.parse_args(arguments).runs
    if total < 2 * WARM:
        parser.error(f"--runs must be at least {2 * WARM}")
    with commands(2, LIMITS, MALLOC_TRIM_THRESHOLD_="65536") as (client, _):
        mixed = runs(client)
        for number in range(1, total + 1):
            mixed[number % len(mixed)]()
            if number % WARM and number != total:
                continue
            counts, known = counted(client), client.run_on_scheduler(prefixes)
            used = {"client": memory(), "scheduler": client.run_on_scheduler(memory)}
            used |= client.run(memory)
            if number == WARM:
                first = counts, used, known
            print(f"run {number}: span {client.run_on_scheduler(of_span)}", flush=True)
            for who, size in used.items():
                print(f"  {who}: {size / 1e6:.1f} MB ({size / first[1][who] - 1:+.1%})", flush=True)
                print(f"    kept {counts.get(who)}")
    wrong = grown(first[0], counts)
    wrong += [
        f"{who}: memory grew by {size / first[1][who] - 1:.1%}"
        for who, size in used.items()
        if size > BOUND * first[1][who]
    ]
    wrong += [f"tasks of a new name: {name}" for name in sorted(known - first[2])]
    print("\n".join(wrong) or f"nothing grew from run {WARM} to run {total}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
