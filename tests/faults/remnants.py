"""What processes hold when nothing runs."""

from pathlib import Path
from typing import Any

import psutil
from distributed import Client

SEMAPHORE = "/dev/shm/sem."
"""Beginning of the names of semaphores, which nannies share with their workers."""


def of_worker(dask_worker: Any) -> dict[str, int]:
    """On a worker: what of runs it still holds, its listening sockets, its shared memory, its children.

    Connections that it keeps for the next run share memory, which does not count.
    """
    plugin, process = dask_worker.plugins["dgsuite"], psutil.Process()
    listening = [c for c in process.net_connections() if c.status == psutil.CONN_LISTEN]
    kinds = ("/dev/shm",) if len(plugin.meshes) else ("/dev/shm", "/memfd")
    maps = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines()]
    paths = {each[5] for each in maps if len(each) > 5}
    shared = [p for p in paths if p.startswith(kinds) and not p.startswith(SEMAPHORE)]
    return {
        "runs": len(plugin.runs),
        "ends": len(plugin._ends),
        "addresses": len(plugin._addresses),
        "results": len(dask_worker.data),
        "listening": len(listening),
        "shared memory": len(shared),
        "children": len(process.children(recursive=True)),
    }


def of_scheduler(dask_scheduler: Any) -> dict[str, Any]:
    """On the scheduler: the tasks that it knows, and how many runs have a turn or wait for one."""
    return {
        "tasks": sorted(map(str, dask_scheduler.tasks)),
        "turns": len(dask_scheduler.plugins["dgsuite"].queue),
    }


def left(client: Client) -> dict[str, Any]:
    """What there is, by process; workers in no order."""
    from dgsuite.core.workers import plugin

    plugin.install(client)
    return {
        "workers": sorted(client.run(of_worker).values(), key=str),
        "scheduler": client.run_on_scheduler(of_scheduler),
        "client": sorted(map(str, client.futures)),
    }
