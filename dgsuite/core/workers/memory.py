"""What a run needs of its workers' memory, before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels.bsp import ClusterState, Kernel
from dgsuite.partition.client.workers import cluster_ranges
from dgsuite.partition.graph.display import nbytes

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph

ENTRY = 8
"""Bytes that a field of a kernel's state takes for a node: most are of 64 bits."""


def needs(kernel: Kernel, graph: Graph) -> dict[str, NDArray[np.int64]]:
    """Bytes that each cluster needs in a run, at least: of the graph, the state, and the messages.

    What grows with the cut is left out: `dgsuite.core.workers.room` counts it once it is there.
    """
    nodes = np.diff(graph.partition.offsets)
    state = getattr(kernel, "state", None)
    count = len(fields(state)) if isinstance(state, type) and issubclass(state, ClusterState) else 0
    widths = kernel.widths(graph.n)
    message = sum(
        np.dtype(dtype).itemsize * widths.get(name, 1) for name, dtype in kernel.fields.items()
    )
    return {
        "graph": nbytes(graph, disk=not kernel.streams),
        "state": nodes * count * ENTRY,
        "messages": nodes * message,
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
        The message names the worker, its limit, and what is needed.
    """
    from dask.utils import format_bytes

    needed = needs(kernel, graph)
    bounds = cluster_ranges(len(graph.entries), len(limits))
    for (worker, limit), first, last in zip(limits.items(), bounds[:-1], bounds[1:], strict=False):
        each = {name: int(of[first:last].sum()) for name, of in needed.items()}
        if limit and sum(each.values()) > limit:
            parts = ", ".join(f"{name} {format_bytes(size)}" for name, size in each.items())
            whole = graph.edges == "disk" and not kernel.streams
            why = "; it holds all edges in memory, also where the graph has them on disk" * whole
            raise InputError(
                f"kernel {kernel.name!r}: worker {worker} may use {format_bytes(limit)}, and its part of the "
                f"run needs at least {format_bytes(sum(each.values()))} ({parts}){why}; start more workers, "
                f"or workers with more memory"
            )
