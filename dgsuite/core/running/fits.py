"""Whether a run fits into its workers' memory, before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.running import sizes
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.client.workers import cluster_ranges
from dgsuite.partition.graph.size import nbytes

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph


def needs(kernel: Kernel, graph: Graph) -> dict[str, NDArray[np.int64]]:
    """Bytes that each cluster needs in a run, at least: of the graph, the state, and the messages.

    What grows with the cut is left out: `dgsuite.core.workers.room` counts it once it is there.
    """
    nodes = np.diff(graph.partition.offsets)
    return {
        "graph": nbytes(graph, disk=not kernel.streams),
        "state": nodes * sizes.per_node(kernel, graph.n),
        "messages": nodes * sizes.payload(kernel, graph.n),
    }


def check_fits(kernel: Kernel, graph: Graph, limits: Mapping[str, int | None]) -> None:
    """Refuse a run that needs more memory than workers may use.

    Parameters
    ----------
    limits
        Bytes that each worker may use, by address; None or 0 if it has no limit.

    Raises
    ------
    InputError
        The message names the worker, its limit, what is needed at least, and the estimate.
    """
    from dask.utils import format_bytes

    needed = needs(kernel, graph)
    bounds = cluster_ranges(len(graph.entries), len(limits))
    for at, (worker, limit) in enumerate(list(limits.items())[: len(bounds) - 1]):
        each = {name: int(of[bounds[at] : bounds[at + 1]].sum()) for name, of in needed.items()}
        if limit and sum(each.values()) > limit:
            parts = ", ".join(f"{name} {format_bytes(size)}" for name, size in each.items())
            whole = graph.edges == "disk" and not kernel.streams
            why = "; it holds all edges in memory, also where the graph has them on disk" * whole
            shape = sizes.Shape.of(graph)
            found, _ = sizes.divided(kernel, shape, bounds, graph.edges == "disk")
            total = format_bytes(int(sum(part[at] for part in found.values())))
            raise InputError(
                f"kernel {kernel.name!r}: worker {worker} may use {format_bytes(limit)}, and its part of the "
                f"run needs at least {format_bytes(sum(each.values()))} ({parts}), by graph.estimate about "
                f"{total}{why}; start more workers, or workers with more memory"
            )
