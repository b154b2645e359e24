"""How a graph is shown: a line of text, or in notebooks a table of its sizes with a bar for each cluster."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from dgsuite.base import markup
from dgsuite.base.errors import DgsuiteError
from dgsuite.partition.graph.size import nbytes

if TYPE_CHECKING:
    from dgsuite.partition.graph.data import GraphData

BARS = 96
"""Most bars that are drawn; with more clusters each stands for the largest of a few neighbours."""

HEIGHT = 24
"""Of the highest bar, in pixels."""


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

    memory = nbytes(graph)
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


def _balance(graph: GraphData) -> Markup:
    """A bar for the load of each cluster, and the largest load over the mean.

    The load of a cluster is the number of its nodes and edge ends.
    """
    nodes, entries = np.diff(graph.partition.offsets), np.array(graph.entries)
    load = nodes + entries
    groups = np.array_split(np.arange(len(load)), min(len(load), BARS))
    shown = [int(group[load[group].argmax()]) for group in groups]
    width = max(2, 192 // len(shown))
    bars = []
    for at, k in enumerate(shown):
        height = max(1, round(HEIGHT * load[k] / load.max()))
        text = f"cluster {k}: {nodes[k]:,} nodes, {entries[k]:,} edge ends"
        bars.append(
            f"<rect x='{at * width}' y='{HEIGHT - height}' width='{width - 1}' height='{height}' "
            f"fill='currentColor' fill-opacity='0.5'><title>{text}</title></rect>"
        )
    size = f"width='{width * len(shown)}' height='{HEIGHT}'"
    drawn = f"<svg {size}>{''.join(bars)}</svg>"
    return Markup(f"{drawn} largest / mean {load.max() / load.mean():.2f}")


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
