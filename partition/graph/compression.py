"""Graphs whose edges are packed in fewer bytes: see `dgsuite.partition.arrays.packed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psutil

from dgsuite.base.errors import InputError
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.packed_cluster import PackedCluster
from dgsuite.partition.graph.checks import each_cluster
from dgsuite.partition.graph.size import nbytes

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph

CHOICES = (True, False, "auto")
"""What an argument `compress` may be."""

SMALL = 1 << 26
"""Bytes of edges that are not packed unless that is asked for."""

RUN = 2.5
"""A run takes so many times the bytes of the edges, about."""

MOST_NODES = 1 << 31
"""Identifiers of more nodes are not packed."""


def checked(compress: Any) -> bool | str:
    """An argument `compress`.

    Raises
    ------
    InputError
        It is none of `CHOICES`.
    """
    if not any(compress is choice or (compress == choice == "auto") for choice in CHOICES):
        raise InputError(f"compress must be True, False or 'auto', got {compress!r}")
    return compress  # type: ignore[no-any-return]


def compressed(graph: Any, compress: bool | str) -> Any:
    """The same graph, with its edges packed if that is asked for, or if memory is short.

    Raises
    ------
    InputError
        It is asked for, and edges have weights, or there are too many nodes.
    """
    problem = ""
    if graph.weighted:
        problem = "edges have weights, which take more bytes than would be saved"
    elif graph.n > MOST_NODES:
        problem = f"the graph has more than {MOST_NODES} nodes"
    if compress is True and problem:
        raise InputError(f"compress=True: {problem}; leave compress out")
    if problem or compress is False or (compress == "auto" and not _short(graph)):
        return graph
    parts = each_cluster(graph, PackedCluster.of)
    if graph.client is not None:
        Watch(graph.client, "packing the edges", inputs=graph.parts).wait(parts)
    return graph.like(parts, graph.entries, compress=True)


def _short(graph: Graph) -> bool:
    """Whether a run on the graph would take more memory than there is."""
    size = int(nbytes(graph).sum())
    return size > SMALL and RUN * size > _memory(graph)


def _memory(graph: Graph) -> int:
    """Bytes that the workers may use, or that are free on this machine."""
    if graph.client is None:
        return int(psutil.virtual_memory().available)
    limits = [state["memory_limit"] for state in Session.of(graph.client).workers().values()]
    return sum(limits) if all(limits) else int(psutil.virtual_memory().total)
