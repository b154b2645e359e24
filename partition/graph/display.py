"""How a graph is shown: a line of text, or in notebooks a table of its sizes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from dgsuite.base import markup
from dgsuite.base.errors import DgsuiteError
from dgsuite.partition.graph.data import cluster_bytes

if TYPE_CHECKING:
    from dgsuite.partition.graph.data import GraphData


def _kind(graph: GraphData) -> str:
    kind = "directed" if graph.directed else "undirected"
    return f"{kind}, weights {graph.weight_dtype}" if graph.weighted else kind


def _place(graph: Any) -> str:
    where = "in this process" if graph.local else "on the workers"
    disk = ", edges on disk" if graph.edges == "disk" else ""
    lost = ""
    with suppress(DgsuiteError):  # without a scheduler it is not known
        lost = "" if graph.recoverable else ", not recoverable"
    return f"{where}{disk}{lost}"


def line(graph: GraphData) -> str:
    """The line of text."""
    count = len(graph.entries)
    return (
        f"<dgsuite.Graph: {graph.n} nodes, {graph.m} edges, {_kind(graph)}; "
        f"{count} clusters {_place(graph)}{_lost(graph)}>"
    )


def _lost(graph: GraphData) -> str:
    """What of a table is not in the graph, if something is not."""
    return f"; {graph.built}" if graph.built is not None and graph.built.changed else ""


def table(graph: GraphData) -> str:
    """The table, as HTML."""
    from dask.utils import format_bytes

    memory = cluster_bytes(graph)
    total, most = format_bytes(int(memory.sum())), format_bytes(int(memory.max()))
    rows = {
        "nodes": f"{graph.n:,}",
        "edges": f"{graph.m:,}",
        "kind": _kind(graph),
        "clusters": f"{len(graph.entries)} {_place(graph)}",
        "memory": f"{total}, of a cluster at most {most}",
        **({"table": str(graph.built)} if _lost(graph) else {}),
        **{str(name): _short(value) for name, value in graph.attrs.items()},
    }
    return markup.table("dgsuite.Graph", [*rows.items(), ("balance", _balance(graph))])


def _balance(graph: GraphData) -> str:
    """The largest load of a cluster over the mean: the number of its nodes and edge ends."""
    load = np.diff(graph.partition.offsets) + np.array(graph.entries)
    return f"largest / mean {load.max() / load.mean():.2f}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
