"""A process of MPI that runs task graphs: `task_graphs.on_mpi` starts it.

The first process reads task graphs, one a line, and writes the seconds that each took.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter

import numpy as np
from mpi4py import MPI
from task_graphs import TaskGraph


def main() -> None:
    world = MPI.COMM_WORLD
    while line := world.bcast(sys.stdin.readline() if world.rank == 0 else None):
        tasks = TaskGraph(*json.loads(line))
        tasks.task(0, world.rank, [])  # loads the compiled loop
        world.Barrier()
        begin = perf_counter()
        run(world, tasks)
        seconds = world.allreduce(perf_counter() - begin, MPI.MAX)
        if world.rank == 0:
            print(seconds, flush=True)


def run(world: MPI.Comm, tasks: TaskGraph) -> None:
    """Do this process's column of a task graph."""
    column, made = world.rank, np.empty(2, np.int64)
    for step in range(tasks.steps):
        senders = tasks.senders(step, column)
        found = np.empty((len(senders), 2), np.int64)
        requests = [world.Irecv(row, s) for row, s in zip(found, senders, strict=True)]
        if step:
            requests += [world.Isend(made, r) for r in tasks.receivers(step - 1, column)]
        MPI.Request.Waitall(requests)
        made = tasks.task(step, column, found)


if __name__ == "__main__":
    main()
