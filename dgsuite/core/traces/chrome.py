"""Traces in Chrome's trace event format, which chrome://tracing and Perfetto show.

Each cluster is a thread. A phase is a slice on each of them, of the time that was measured there, and
what follows until the next phase is a slice "exchange". A phase begins on all clusters when the one before
has ended on all: clusters that share a worker are shown side by side. The slice of a phase has the
messages that the cluster sends in ``args``: under ``to``, by receiving cluster, their number and bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

import numpy as np
import xarray as xr

from dgsuite.core.traces.form import made

PHASE, EXCHANGE = "phase", "exchange"
"""Categories of slices."""


def plain(value: Any) -> Any:
    """An attribute as JSON has it."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def write(trace: xr.Dataset, file: TextIO) -> None:
    """Write a trace as one JSON object, with an event a line."""
    attrs = {key: plain(value) for key, value in trace.attrs.items()}
    head = json.dumps({"displayTimeUnit": "ms", "otherData": attrs})
    file.write(head[:-1] + ', "traceEvents": [')
    for k, event in enumerate(_events(trace)):
        file.write(("," if k else "") + "\n" + json.dumps(event))
    file.write("\n]}\n")


def _events(trace: xr.Dataset) -> Iterator[dict[str, Any]]:
    clusters, phases = trace.sizes["cluster"], trace.sizes["phase"]
    yield {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": trace.attrs["title"]}}
    for cluster in range(clusters):
        called = {"name": f"cluster {cluster}"}
        yield {"ph": "M", "pid": 0, "tid": cluster, "name": "thread_name", "args": called}
    compute = 1e6 * trace.compute_seconds.values
    exchange = 1e6 * trace.exchange_seconds.values
    ends = np.cumsum((compute + exchange).max(axis=1)) if phases else np.empty(0)
    begins = np.concatenate([[0.0], ends])
    columns = ("source", "destination", "messages", "bytes")
    bounds = np.searchsorted(trace["at"].values, np.arange(phases + 1)).tolist()
    sent = [trace[name].values for name in columns]
    for k in range(phases):
        to: list[dict[str, list[int]]] = [{} for _ in range(clusters)]
        rows = zip(*(c[bounds[k] : bounds[k + 1]].tolist() for c in sent), strict=True)
        for source, destination, messages, nbytes in rows:
            to[source][str(destination)] = [messages, nbytes]
        number, name = int(trace["round"].values[k]), str(trace["name"].values[k])
        for cluster in range(clusters):
            took, waited = float(compute[k, cluster]), float(exchange[k, cluster])
            slice_ = {"ph": "X", "pid": 0, "tid": cluster, "ts": float(begins[k]), "dur": took}
            args = {"phase": k, "round": number, "to": to[cluster]}
            yield {**slice_, "name": name, "cat": PHASE, "args": args}
            after = {"ts": float(begins[k]) + took, "dur": waited, "args": {"phase": k}}
            yield {**slice_, **after, "name": EXCHANGE, "cat": EXCHANGE}


def read(file: TextIO) -> xr.Dataset:
    """Read a trace that `write` wrote; other programs' traces lack what it needs.

    Raises
    ------
    LookupError, ValueError, TypeError, AttributeError, OverflowError
        It is not one.
    """
    data = json.load(file)
    attrs, clusters = data["otherData"], int(data["otherData"]["clusters"])
    slices = [event for event in data["traceEvents"] if event.get("cat") == PHASE]
    waits = [event for event in data["traceEvents"] if event.get("cat") == EXCHANGE]
    first = slices[::clusters]
    records = [
        (event["args"]["phase"], event["tid"], int(to), messages, nbytes)
        for event in slices
        for to, (messages, nbytes) in event["args"]["to"].items()
    ]
    columns = np.array(records, np.int64).reshape(-1, 5).T
    seconds = tuple(
        1e-6 * np.array([event["dur"] for event in some], float).reshape(-1, clusters)
        for some in (slices, waits)
    )
    rounds = np.array([event["args"]["round"] for event in first], np.int64)
    names = np.array([event["name"] for event in first], object)
    return made(rounds, names, (seconds[0], seconds[1]), [*columns], attrs)
