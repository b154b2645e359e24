"""A page that shows an execution: the graph, with a slider by round and phase, and one by message."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.files import atomic_write, check_writable
from dgsuite.base.templates import template
from dgsuite.core.results.plots import places
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.comparing import changed, differing
from dgsuite.studies.lab.executions import Execution
from dgsuite.studies.lab.messages import Messages
from dgsuite.studies.lab.pictures import names, stops_of

HUGE = 1 << 31
"""Whole numbers from here on stand for none, as -1 does."""

CLEAR = 40
"""Nodes up to which edges are drawn as lines, however many edges there are."""

SHOWN = 8
"""Items of a node's list that are shown."""


def write(execution: Execution, path: str | os.PathLike[str]) -> None:
    """Write the page; see `Execution.to_html`."""
    check_writable(path)
    found = template("dgsuite.studies.lab", "page.html")
    graph, kernel, network = execution.graph, execution.kernel, execution.network
    text = found.render(
        title=f"{kernel.name}, n = {graph.n}, m = {graph.m}",
        facts=f"seed {kernel.seed}" + (f"; {network}" if network else ""),
        data=_content(execution),
    )
    with atomic_write(path) as part:
        Path(part).write_text(text, encoding="utf-8")


def _content(execution: Execution) -> dict[str, Any]:
    """What the page's script reads."""
    graph, outputs = execution.graph, execution.kernel.outputs
    stops = stops_of(execution)
    there = dict.fromkeys(name for stop in stops for name in stop.states)
    first = [name for name in outputs if name in there]
    about = {name: output.long_name for name, output in outputs.items()}
    new = [np.zeros(graph.n, bool)]
    new += [changed(one.states, other.states, graph.n) for one, other in pairwise(stops)]
    return {
        "names": names(graph),
        **_layout(graph),
        "liars": np.flatnonzero(execution.liars()).tolist(),
        "fields": [
            _field(name, about.get(name, ""), [stop.states.get(name) for stop in stops])
            for name in dict.fromkeys([*first, *there])
        ],
        "stops": [
            {
                "round": stop.step.round,
                "phase": stop.step.phase,
                "crashed": np.flatnonzero(stop.crashed).tolist(),
                "away": np.flatnonzero(stop.away).tolist(),
                "changed": np.flatnonzero(nodes).tolist(),
                **_sent(stop.messages),
            }
            for stop, nodes in zip(stops, new, strict=True)
        ],
    }


def _layout(graph: Graph) -> dict[str, Any]:
    """Nodes and edges in places; where edges would hide each other, nodes on the diagonal of a matrix."""
    edges = _edges(graph)
    matrix = graph.n > CLEAR and len(edges) > 2 * graph.n
    where = np.repeat(np.arange(graph.n), 2).reshape(-1, 2) * (1, -1) if matrix else places(graph)
    return {"matrix": matrix, "places": np.round(where, 4).tolist(), "edges": edges}


def _edges(graph: Graph) -> list[list[Any]]:
    """The two ends of each edge, and its weight as text if edges have weights."""
    (cluster,) = graph.repartition(1).gather()
    ends = np.stack([np.repeat(np.arange(graph.n), cluster.degree), cluster.indices], axis=1)
    pairs, first = np.unique(np.sort(ends, axis=1), axis=0, return_index=True)
    if cluster.weights is None:
        return pairs.tolist()
    weights = map(_text, cluster.weights[first])
    return [[u, v, weight] for (u, v), weight in zip(pairs.tolist(), weights, strict=True)]


def _sent(sent: Messages) -> dict[str, Any]:
    """The messages of a phase: fates are 0 arrives, 1 lost, 2 unheard; 3 arrives and is false."""
    fate = np.select([sent.lost, sent.unheard, sent.false], [1, 2, 3], 0)
    says: list[str] = [""] * len(sent)
    for name, values in sent.fields.items():
        told = f"{name.replace('_', ' ')} "
        says = [
            f"{text}{', ' * bool(text)}{told}{value}"
            for text, value in zip(says, map(_text, values), strict=True)
        ]
    ends = {"from": sent.sender.tolist(), "to": sent.receiver.tolist()}
    return {**ends, "says": says, "fate": fate.tolist()}


def _field(name: str, about: str, kept: list[NDArray | None]) -> dict[str, Any]:
    """The values of a field at each stop, as text and as numbers to colour by; None if they are as before."""
    texts: list[list[str] | None] = []
    marks: list[list[float | None] | None] = []
    before, found = None, np.empty(0)
    for values in kept:
        if values is None or (
            before is not None and not differing(values, before, len(values)).any()
        ):
            texts.append(None)
            marks.append(None)
            continue
        before, mark = values, _marks(values)
        found = np.union1d(found, mark[~np.isnan(mark)])
        texts.append([*map(_text, values)])
        marks.append([None if np.isnan(one) else float(one) for one in mark])
    return {
        "name": name,
        "about": about,
        "truth": before is not None and before.dtype == bool and before.ndim == 1,
        "values": found.tolist() if len(found) <= SHOWN else None,
        "range": [float(found[0]), float(found[-1])] if len(found) else [0.0, 0.0],
        "texts": texts,
        "marks": marks,
    }


def _marks(values: NDArray) -> NDArray[np.float64]:
    """A number for each node, NaN for none: its value, or which of its values is the first that is not 0."""
    if values.ndim > 1:
        flat = values.reshape(len(values), -1)
        some = flat != 0
        values = np.where(some.any(axis=1), some.argmax(axis=1), -1)
    found = values.astype(np.float64)
    if values.dtype.kind in "iu":
        found[(found < 0) | (found >= HUGE)] = np.nan
    found[~np.isfinite(found)] = np.nan
    return found


def _text(value: Any) -> str:
    """A value as the page shows it."""
    if np.ndim(value):
        flat = np.ravel(value)
        return ", ".join(map(_text, flat[:SHOWN])) + ", …" * (len(flat) > SHOWN)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return "none" if np.isnan(value) else f"{value:.5g}"
    return str(value)
