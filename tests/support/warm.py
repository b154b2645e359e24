"""Workers that are forked from a process that has imported everything: in a tenth of the time.

Those of commands and pages that tests start are spawned, as users' are.
"""

from __future__ import annotations

import multiprocessing

import dask
from distributed.utils import get_mp_context

from dgsuite.core.transports import slow_clocks

USED = (
    *("distributed", "networkx", "numba", "pandas", "scipy.sparse", "xarray"),
    *("dask.array", "distributed.protocol.numpy", "fsspec.implementations.local", "scipy.fft"),
    *("dgsuite.core.executors.clocked", "dgsuite.core.executors.finish_async"),
    *("dgsuite.core.transports.mpb", "dgsuite.core.transports"),
    *("dgsuite.core.workers.plugin", "dgsuite.partition.arrays._compiled"),
)
"""What workers import, at the latest in a run."""


def warm() -> None:
    """Fork the workers of this process's clusters, where that can be done; at rest they take little."""
    slow_clocks()
    if "forkserver" in multiprocessing.get_all_start_methods():
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
        get_mp_context().set_forkserver_preload([*USED])
