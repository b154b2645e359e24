"""Files of traces: Parquet, NetCDF, and Chrome's trace events."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dgsuite.base import files, formats, netcdf
from dgsuite.base.errors import InputError
from dgsuite.base.extras import needed_by
from dgsuite.core.traces import chrome
from dgsuite.core.traces.form import check, made

if TYPE_CHECKING:
    import pyarrow as pa

ENDINGS = (".parquet", ".nc", ".json")

ATTRS = b"dgsuite"
"""Key under which a Parquet file keeps the attributes, as JSON."""

DAMAGED = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
)
"""Errors of what reads damaged files."""

COLUMNS = (
    "phase",
    "round",
    "name",
    "source",
    "destination",
    "messages",
    "bytes",
    "compute_seconds",
    "exchange_seconds",
)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check that a trace can be written to a file.

    Raises
    ------
    InputError
        Its name has another ending than `ENDINGS`, or it cannot be written.
    """
    _ending(path)
    files.check_writable(path)
    if os.fspath(path).endswith(".parquet"):
        _parquet()


def write(trace: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a trace, in the form that the file's ending names: whole, or not at all.

    Parameters
    ----------
    path
        ``.parquet``: a table with a row for each pair of clusters with messages in a phase. The seconds are
        those of the source. A cluster that sends nothing in a phase has one row, with itself as
        destination and no messages, so that its times are there.
        ``.nc``: NetCDF, with the variables of the trace.
        ``.json``: Chrome's trace event format, for chrome://tracing and Perfetto: see
        `dgsuite.core.traces.chrome`.

    Raises
    ------
    InputError
        Another ending, a file that cannot be written, or a dataset that is no trace.

    Examples
    --------
    From one form to another:

    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> ds = dgsuite.run("bfs", graph, trace="bfs.nc")
    >>> dgsuite.traces.write(dgsuite.traces.read("bfs.nc"), "bfs.json")
    >>> dgsuite.traces.read("bfs.json").sizes["phase"] == dgsuite.traces.read("bfs.nc").sizes["phase"]
    True
    """
    check(trace)
    trace = trace.assign_attrs({formats.KEY: formats.current("trace")})
    ending = _ending(path)
    if ending == ".nc":
        netcdf.write(trace, path)
        return
    if ending == ".json":
        with files.atomic_write(path) as part, open(part, "w", encoding="utf-8") as file:
            chrome.write(trace, file)
        return
    pq = _parquet()
    with files.atomic_write(path) as part:
        pq.write_table(_table(trace), part)


def read(path: str | os.PathLike[str]) -> xr.Dataset:
    """Read a trace that `write` wrote.

    Parameters
    ----------
    path
        A file in ``.parquet``, ``.nc`` or ``.json``.

    Raises
    ------
    InputError
        No such file, another ending, not a trace, or one in the form of a later version.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> ds = dgsuite.run("bfs", graph, trace="bfs.nc")
    >>> int(dgsuite.traces.read("bfs.nc")["messages"].sum()), int(ds.messages.sum())
    (6, 6)
    """
    ending, name = _ending(path), os.fspath(path)
    if not os.path.isfile(name):
        raise InputError(f"{name}: no such file")
    try:
        if ending == ".nc":
            trace = netcdf.read(path)
        elif ending == ".json":
            with open(name, encoding="utf-8") as file:
                trace = chrome.read(file)
        else:
            trace = _read_table(name)
        trace.attrs = formats.without("trace", trace.attrs, name)
        check(trace)
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(name) else f"{name}: {text}") from None
    except DAMAGED as error:
        raise InputError(f"{name}: not a trace of dgsuite, or a damaged one: {error}") from None
    return trace


def _read_table(name: str) -> xr.Dataset:
    pq = _parquet()
    import pyarrow as pa

    try:
        return _trace(pq.read_table(name))
    except pa.ArrowException as error:  # and nothing else, where text is not UTF-8
        raise InputError(f"not a trace of dgsuite, or a damaged one: {error}") from None


def _ending(path: str | os.PathLike[str]) -> str:
    for ending in ENDINGS:
        if os.fspath(path).endswith(ending):
            return ending
    raise InputError(
        f"{os.fspath(path)}: the name of a trace must end in .parquet, .nc or .json (Chrome's format)"
    )


def _parquet() -> Any:
    with needed_by("a trace in .parquet"):
        import pyarrow.parquet as pq
    return pq


def _table(trace: xr.Dataset) -> pa.Table:
    """The table of a Parquet file."""
    import pyarrow as pa

    phases, clusters = trace.sizes["phase"], trace.sizes["cluster"]
    at, source = trace["at"].values.astype(np.int64), trace.source.values.astype(np.int64)
    every = np.arange(phases * clusters)
    silent = np.setdiff1d(every, at * clusters + source)
    columns = {
        "phase": np.concatenate([at, silent // clusters]),
        "source": np.concatenate([source, silent % clusters]),
        "destination": np.concatenate([trace.destination.values, silent % clusters]),
        "messages": np.concatenate([trace.messages.values, np.zeros_like(silent)]),
        "bytes": np.concatenate([trace.bytes.values, np.zeros_like(silent)]),
    }
    order = np.lexsort((columns["destination"], columns["source"], columns["phase"]))
    columns = {name: values[order] for name, values in columns.items()}
    phase = columns["phase"]
    columns["round"] = trace["round"].values[phase]
    names, codes = np.unique(trace["name"].values.astype(str), return_inverse=True)
    for name in ("compute_seconds", "exchange_seconds"):
        columns[name] = trace[name].values[phase, columns["source"]]
    arrays: dict[str, Any] = {name: pa.array(values) for name, values in columns.items()}
    arrays["name"] = pa.DictionaryArray.from_arrays(
        pa.array(codes.reshape(-1)[phase].astype(np.int32)), pa.array(names.tolist(), pa.string())
    )
    attrs = {key: chrome.plain(value) for key, value in trace.attrs.items()}
    table = pa.table({name: arrays[name] for name in COLUMNS})
    return table.replace_schema_metadata({ATTRS: json.dumps(attrs).encode()})


def _trace(table: pa.Table) -> xr.Dataset:
    """The trace of a Parquet file's table."""
    if missing := [name for name in COLUMNS if name not in table.column_names]:
        raise InputError(f"not a trace of dgsuite: there is no column {missing[0]!r}")
    text = (table.schema.metadata or {}).get(ATTRS)
    if text is None:
        raise InputError("not a trace of dgsuite: it has no attributes of a run")
    attrs = json.loads(text)
    columns = {name: table[name].to_numpy() for name in COLUMNS}
    clusters = int(attrs["clusters"])
    at, source = columns["phase"], columns["source"]
    _, first = np.unique(at * clusters + source, return_index=True)
    seconds = tuple(
        columns[name][first].reshape(-1, clusters)
        for name in ("compute_seconds", "exchange_seconds")
    )
    _, begin = np.unique(at, return_index=True)
    sent = columns["messages"] > 0
    records = [
        columns[name][sent] for name in ("phase", "source", "destination", "messages", "bytes")
    ]
    names = columns["name"][begin].astype(object)
    return made(columns["round"][begin], names, (seconds[0], seconds[1]), records, attrs)
