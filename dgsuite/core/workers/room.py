"""What memory a worker has left for a run, when it begins and in each phase."""

from __future__ import annotations

import gc
from collections.abc import Sequence

from dask.sizeof import sizeof
from dask.utils import format_bytes
from distributed import Worker, get_worker

from dgsuite.base.errors import RunError
from dgsuite.base.memory import give_back
from dgsuite.core.engine.site import Site
from dgsuite.partition.arrays.mapped import let_go
from dgsuite.partition.clusters.cluster import Cluster

SOME = 1 << 24
"""Bytes of messages from which a phase looks at the memory of its worker, which takes some 30 us."""


def prepare(site: Site) -> None:
    """Make what a site needs before the clock starts, if its worker has the memory: see `hold_to_limit`."""
    had_halo = site.mailbox.has_halo
    site.warm()
    if site.mailbox.has_halo and not had_halo:
        give_back()
    hold_to_limit(site)


def hold_to_limit(site: Site) -> None:
    """Refuse a run at its beginning if its worker has no memory left for it, and later in any phase.

    At the beginning the graph and its halo are there, so the memory that they take can be measured. A phase
    that sends much is refused if the worker has no room to receive as much: Dask would kill the worker.

    Raises
    ------
    RunError
        The message names the worker, its limit, and what is needed.
    """
    worker, box, clusters = get_worker(), site.mailbox, site.clusters
    if not worker.memory_manager.memory_limit:
        return
    name = f"kernel {site.kernel.name!r}"
    slots = box.slots if box.has_halo else sum(c.size for c in clusters)
    what = f"{name}: the values of nodes and of their neighbours"
    _check_left(worker, clusters, slots * box.payload(box.dtypes), what)

    # without the site, whose memory a cycle would keep
    def room(phase: str, nbytes: int) -> None:
        if nbytes >= SOME:
            what = f"{name}, phase {phase!r}: the messages that arrive"
            _check_left(worker, clusters, nbytes, what)

    site.room = room


def _check_left(worker: Worker, clusters: Sequence[Cluster], more: int, what: str) -> None:
    """Raise unless a worker can take some bytes more, if Dask writes to disk all that it can."""
    limit = worker.memory_manager.memory_limit
    assert limit is not None
    if worker.monitor.get_process_memory() + more <= limit:
        return
    let_go()
    gc.collect()  # a run that failed may have left its state in cycles
    give_back()
    used = worker.monitor.get_process_memory()
    # relies on `Worker.data.spilled_total`, which is there if Dask may write results to disk, and on
    # `WorkerState.nbytes`, the bytes of all results; seen in distributed 2026.1 to 2026.8
    spilled = getattr(worker.data, "spilled_total", None)
    spillable = 0 if spilled is None else worker.state.nbytes - spilled.memory - sizeof(clusters)
    if used - max(spillable, 0) + more > limit:
        raise RunError(
            f"{what} may take {format_bytes(more)} more on worker {worker.address}, which uses "
            f"{format_bytes(used)} of {format_bytes(limit)}; start more workers, or workers with more memory"
        )
