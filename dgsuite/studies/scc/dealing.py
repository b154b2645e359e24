"""Betweenness centrality whose sources idle workers fetch, a few at a time: Dask's scheduler is the dealer.

Tasks are tied to no worker: what a lost one had done or held is done anew by those that are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from time import perf_counter, thread_time
from typing import NamedTuple

import numpy as np
from distributed import Client, get_worker
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.workers.placement import EMBED, new_run, of, results
from dgsuite.kernels.analytics.betweenness import Betweenness
from dgsuite.kernels.analytics.betweenness_rounds import centrality
from dgsuite.kernels.analytics.replicated import Adjacency, Searcher, falling, gathered
from dgsuite.kernels.tools.exact import Sums, added
from dgsuite.partition.client.tasks import new_key
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.graph import Graph

FINE, ENOUGH, COARSE = 16, 128, 4
"""Chunks a worker: fine ones, until there are enough; then coarse ones, as each costs the scheduler time."""

FAN = 8
"""Results that are added up by one task."""


class Share(NamedTuple):
    """Several chunks added up: their sums, edges looked at, and processor time by worker."""

    sums: Sums
    scanned: int
    cpu: Counter[str]


class Dealt(NamedTuple):
    """Betweenness by node, edges looked at, seconds of the run, and processor time by worker."""

    betweenness: NDArray[np.float64]
    scanned: int
    seconds: float
    cpu: Counter[str]


def run(
    graph: Graph, client: Client, sources: Sequence[int] | None = None, weighted: bool = False
) -> Dealt:
    """Betweenness centrality on the workers of a client, as they become idle.

    Parameters
    ----------
    sources, weighted
        As those of kernel ``bc``.

    Raises
    ------
    RunError
        Tasks were lost again and again, or no worker is left.
    """
    begin = perf_counter()
    run_id = new_run()
    kernel = Betweenness(sources=sources, weighted=weighted)
    watch = Watch(client, of(kernel), key_part=run_id)
    parts = graph.parts
    if graph.local and sum(c.nbytes for c in parts) > EMBED:
        parts = watch.scatter(parts)
    held = client.submit(_hold, kernel, parts, key=f"{kernel.name}-graph-{run_id}", pure=False)
    count = chunks(len(worker_addresses(client)))
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
            client.submit(_add, group, key=new_key(_add, kernel.name), priority=1)
            for group in groups
        ]
        every += shares
    total: Share
    (total,) = results(shares, watch, [held, *every])
    seconds = perf_counter() - begin
    return Dealt(centrality(total.sums, graph.directed), total.scanned, seconds, total.cpu)


def chunks(places: int) -> int:
    """Into how many chunks work is cut for some workers."""
    return min(FINE * places, max(ENOUGH, COARSE * places))


def _hold(kernel: Betweenness, parts: Sequence[Cluster]) -> tuple[Adjacency, NDArray[np.int64]]:
    """The whole graph, and the sources by falling degree."""
    for part in parts:
        if (problem := kernel.check(part)) is not None:
            raise InputError(f"kernel {kernel.name!r}: {problem}")
    graph = gathered(parts, bool(kernel.weighted))
    sources = parts[0].partition.position(kernel.chosen(parts[0].n))
    return graph, sources[falling(graph.degree[sources])]


def _chunk(
    kernel: Betweenness, held: tuple[Adjacency, NDArray[np.int64]], number: int, count: int
) -> Share:
    begin = thread_time()
    graph, sources = held
    ends = len(sources) * np.arange(number, number + 2) // count
    search = Searcher(graph, bool(kernel.weighted))
    scanned = search(sources[slice(*ends)])
    return Share(search.sums, scanned, Counter({get_worker().address: thread_time() - begin}))


def _add(shares: Sequence[Share]) -> Share:
    cpu: Counter[str] = Counter()
    for share in shares:
        cpu.update(share.cpu)
    return Share(added([s.sums for s in shares]), sum(s.scanned for s in shares), cpu)
