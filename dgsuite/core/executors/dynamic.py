"""Units of work that workers fetch as they become free: replicated kernels with ``deal="dynamic"``.

Dask's scheduler is the dealer. Tasks are tied to no worker: what a lost one had done or held is done anew by
those that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, get_worker
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.program import Step, Tally
from dgsuite.core.workers.placement import EMBED, finish, give_up, new_run, of
from dgsuite.kernels.bsp import Replicated
from dgsuite.partition.client.tasks import new_key
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.graph import Graph

FINE, ENOUGH, COARSE = 16, 128, 4
"""Chunks a worker: fine ones, until there are enough; then coarse ones, as each costs the scheduler time."""

FAN = 8
"""Results that are added up by one task."""


class Share(NamedTuple):
    """Several chunks added up: result, notes, and the seconds and processor time of each worker."""

    result: Any
    notes: dict[str, int]
    spent: dict[str, tuple[float, float]]


def run(
    kernel: Replicated,
    graph: Graph,
    client: Client,
    places: Sequence[str],
) -> tuple[dict[str, NDArray], Log]:
    """Run a replicated kernel on the workers of a client, as they become free."""
    begin = perf_counter()
    run_id = new_run()
    watch = Watch(client, of(kernel), key_part=run_id)
    parts = graph.parts
    if graph.local and sum(c.nbytes for c in parts) > EMBED:
        parts = watch.scatter(parts)
    held = client.submit(_hold, kernel, parts, key=f"{kernel.name}-graph-{run_id}", pure=False)
    count = chunks(len(places))
    shares = [
        client.submit(
            _chunk, kernel, held, i, count, key=f"{kernel.name}-chunk-{run_id}-{i}", priority=-i
        )
        for i in range(count)
    ]
    every = list(shares)
    while len(shares) > 1:
        groups = [shares[i : i + FAN] for i in range(0, len(shares), FAN)]
        shares = [
            client.submit(_add, kernel, group, key=new_key(_add, kernel.name), priority=1)
            for group in groups
        ]
        every += shares
    try:
        finish(shares[:1], watch)
        total: Share = watch.gather(shares[:1])[0]
    except BaseException:
        give_up(client, [held, *every])
        raise
    seconds = np.zeros((2, len(graph.parts)))
    for place, times in total.spent.items():
        # a worker that was started meanwhile counts with the first
        seconds[:, places.index(place) % len(graph.parts) if place in places else 0] += times
    log = Log(len(graph.parts), perf_counter() - begin)
    tally = Tally(messages=2 * count, notes=total.notes)
    compute, cpu = seconds.tolist()
    log.add(Step(0, "search", True, 0), tally, compute, cpu, log.seconds - max(compute))
    return kernel.results(total.result, graph), log


def chunks(places: int) -> int:
    """Into how many chunks work is cut for some workers."""
    return min(FINE * places, max(ENOUGH, COARSE * places))


def _hold(kernel: Replicated, parts: Sequence[Cluster]) -> Any:
    for part in parts:
        if (problem := kernel.check(part)) is not None:
            raise InputError(f"kernel {kernel.name!r}: {problem}")
    return kernel.hold(parts)


def _chunk(kernel: Replicated, held: Any, number: int, count: int) -> Share:
    begin, cpu = perf_counter(), thread_time()
    result, notes = kernel.chunk(held, number, count)
    spent = perf_counter() - begin, thread_time() - cpu
    return Share(result, notes, {get_worker().address: spent})


def _add(kernel: Replicated, shares: Sequence[Share]) -> Share:
    notes: dict[str, int] = {}
    spent: dict[str, tuple[float, float]] = {}
    for share in shares:
        for name, value in share.notes.items():
            notes[name] = notes.get(name, 0) + value
        for place, (seconds, cpu) in share.spent.items():
            before = spent.get(place, (0.0, 0.0))
            spent[place] = before[0] + seconds, before[1] + cpu
    return Share(kernel.add([share.result for share in shares]), notes, spent)
