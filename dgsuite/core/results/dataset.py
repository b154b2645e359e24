"""Results: one xarray Dataset per run, indexed by round, and its file."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from xarray.indexes import PandasIndex

from dgsuite.base import formats, netcdf
from dgsuite.base.errors import InputError
from dgsuite.base.version import __version__
from dgsuite.base.warning import warn
from dgsuite.core.accounting.rules import count
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.network import Network
from dgsuite.core.engine.program import reduce_votes, steps
from dgsuite.core.engine.run_spec import PLAIN, RunSpec
from dgsuite.core.parameters import LISTED, labelled, stated
from dgsuite.core.results import accessor as accessor  # has xarray know `ds.dgsuite`
from dgsuite.core.results.checking import check
from dgsuite.core.results.provenance import machine
from dgsuite.kernels.bsp import Kernel, Output
from dgsuite.partition.client.installed import fingerprint
from dgsuite.partition.clusters.partitioners import in_order
from dgsuite.partition.graph.dask_views import here
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.growing import Lineage
from dgsuite.partition.labels.held_labels import HeldLabels
from dgsuite.partition.labels.label_tables import decoded, encoded
from dgsuite.partition.store.checking import FOREIGN

MODELS = ("SP", "MP", "UP")
"""X10's runtime models: a single place, one place per cluster, one place per node."""

IMSUITE = {
    "finishes": "joins, as IMSuite counts",
    "asyncs": "tasks, as IMSuite counts",
    "barriers": "barriers, as IMSuite counts",
    "mutexes": "mutex operations, as IMSuite counts",
    "comm": "communication, as IMSuite counts (UP model)",
}
"""What datasets of IMSuite's kernels have besides, and what each variable is."""

SECONDS = (
    ("compute_seconds", "compute", "time computing"),
    ("cpu_seconds", "cpu", "processor time computing"),
    ("exchange_seconds", "exchange", "time between phases: packing, transfer, waiting, delivery"),
)
"""Times of the clusters: variable, column of the log, and what it is."""

MATRICES = 1 << 30
"""Bytes of the matrices of a traced run, at most."""

TO_FILE = "write the trace to a file: trace='trace.nc'"
"""What to do where they take more."""

TAKEN = (
    *("messages", "remote_messages", "bytes", "wire_bytes", "active", "lost", "crashed", "spent"),
    *("compute_seconds", "cpu_seconds", "exchange_seconds", "workload_seconds"),
    *("cluster", "cluster_to", "model", "node", "traffic", "traffic_bytes"),
    *("bits", "edge_bits", "edges_by_bits", "virtual_time", "synchroniser_messages"),
)
"""Names that are no kernel's, besides those of `IMSUITE` and of `counted_by`."""

Coordinate = tuple[xr.Index, xr.Variable]
"""The index of a dimension, and its coordinate."""


@cache
def versions(*more: str) -> str:
    """Versions of Python, dgsuite, its main dependencies and more packages, as JSON for the attributes."""
    packages = ("dask", "distributed", "numpy", "scipy", "xarray", "numba", *more)
    found = {name: version(name) for name in packages}
    return json.dumps({"dgsuite": __version__, "python": platform.python_version(), **found})


def made_by(measured_on: Mapping[str, Any] | None = None, *packages: str) -> dict[str, Any]:
    """Attributes that say what made a dataset: the code, its versions and the machine.

    Parameters
    ----------
    measured_on
        The machine, from `provenance.machine_of`; by default this one.
    packages
        More packages whose versions count.
    """
    return {
        "source": f"dgsuite {__version__}",
        "Conventions": "CF-1.11",
        "versions": versions(*packages),
        "code": fingerprint(),
        **(machine() if measured_on is None else measured_on),
    }


def build(
    kernel: Kernel,
    graph: Graph,
    style: str,
    outputs: Mapping[str, Any],
    log: Log,
    *,
    count_as: str | None = None,
    workers: int = 0,
    reasons: Mapping[str, str] = MappingProxyType({}),
    measured_on: Mapping[str, Any] | None = None,
    traffic: bool = False,
    network: Network | None = None,
    spec: RunSpec = PLAIN,
) -> xr.Dataset:
    """The dataset of a run.

    Parameters
    ----------
    outputs
        Kernel outputs, one entry a node: arrays in the order of the clusters, or Dask arrays by node.
    log
        The log of all sites.
    count_as
        Style whose accounting ``comm`` and the other counts follow; by default `style`.
    workers
        Number of worker processes that took part.
    reasons
        Attributes that say why this style or form was chosen, where it needs an explanation.
    measured_on
        Machine that ran it, from `provenance.machine_of`; by default this one.
    traffic
        Whether the log is that of a traced run, whose traffic the dataset gets.
    network, spec
        The network of the run, if it was given one, and what its sites got.

    Warns
    -----
    UserWarning
        The matrices of traffic would take more than `MATRICES` bytes, and are left out.
    """
    recursive, delayed = kernel.form == "recursive", spec.channel is not None
    congest, workload = spec.congest, spec.workload
    counted, rows, clusters = counted_by(kernel, delayed), log.rows, len(graph.parts)
    blocks = kernel.form == "block"  # the paper has none
    outputs = by_node(kernel, graph, outputs)
    # what users look for comes first
    variables = {name: _output(kernel.outputs[name], v, graph) for name, v in outputs.items()}

    def add(
        name: str, values: NDArray, long_name: str, units: str = "1", dims: tuple[str, ...] = ()
    ) -> None:
        variables[name] = variable((counted, *dims), values, long_name, units)

    def by_round(name: str) -> NDArray:
        return log.by_round(rows[name])

    def most_by_round(at: NDArray, values: NDArray) -> NDArray[np.int64]:
        most = np.zeros(log.rounds, np.int64)
        np.maximum.at(most, at, values)
        return most

    messages = by_round("messages")
    add("messages", messages, "messages sent between nodes")
    places = np.zeros_like(messages), by_round("remote"), messages - by_round("to_self")
    text = "messages whose receiver is in another place"
    add("remote_messages", np.stack(places, axis=1), text, dims=("model",))
    add("bytes", by_round("nbytes"), "payload of all messages", "byte")
    add("wire_bytes", by_round("wire"), "data sent between workers", "byte")
    exchanges = log.by_round((rows["messages"] > 0).astype(np.int64))
    if not recursive:
        add("exchanges", exchanges, "exchanges of messages: synchronous rounds")
        reductions = log.reductions(kernel.obeys)
        add("reductions", reductions, "global reductions whose result the program may read")
        for what, of, size in (("messages", "edges", graph.n - 1), ("exchanges", "levels", 1)):
            text = f"{what} that they would cost on a spanning tree: 2 for each of its {of}"
            add(f"reduction_{what}", 2 * size * reductions, text)
    active = most_by_round(rows["round"], rows["active"])
    add("active", active, f"nodes that sent, in the {counted}'s busiest phase")
    counts = None if blocks else count(kernel, log, graph.n, count_as or style)
    for name, values in {} if counts is None else counts._asdict().items():
        add(name, values, IMSUITE[name])
    for name, column, text in SECONDS:
        add(name, by_round(column), text, "s", ("cluster",))
    noted = {name: log.by_round(log.noted(name)) for name in kernel.notes}
    for name, text in kernel.notes.items():
        add(name, noted[name], text)
    for name, text in kernel.peaks.items():
        add(name, log.peaks, text)
    if traffic and (why := too_large(log.rounds, clusters)):
        warn(f"trace=True: {why}, so the result has none; {TO_FILE}", UserWarning)
        traffic = False
    if traffic:
        sent, to = log.table("traffic"), ("cluster", "cluster_to")
        at = rows["round"][sent["phase"]], sent["source"], sent["destination"]
        for name, column, text, units in (
            ("traffic", "messages", "messages from a cluster to another, or itself", "1"),
            ("traffic_bytes", "bytes", "payload of these", "byte"),
        ):
            matrices = np.zeros((log.rounds, clusters, clusters), np.int64)
            np.add.at(matrices, at, sent[column])
            add(name, matrices, text, units, to)
    carried = np.empty(0, np.int64)
    if congest is not None:
        bits = log.table("bits")
        at = rows["round"][bits["phase"]]
        text = "most bits along an edge in a direction, in the round's busiest phase"
        add("edge_bits", most_by_round(at, bits["bits"]), text, "bit")
        carried, which = np.unique(bits["bits"], return_inverse=True)
        edges = np.zeros((log.rounds, len(carried)), np.int64)
        np.add.at(edges, (at, which), bits["edges"])
        text = "edges that carry so many bits in a direction in a phase"
        add("edges_by_bits", edges, text, dims=("bits",))
    more: list[Coordinate] = []
    if network is not None:
        said = network.found(spec.faults, kernel, graph.n, log)
        for name, (over, each, text) in said.items():
            if (name,) == over:
                more.append(coordinate(name, each, text))
            else:
                variables[name] = variable(tuple(dim or counted for dim in over), each, text)
    if delayed:
        ticks = np.array(log.ticks, np.int64)
        add("virtual_time", ticks, "tick in which tasks of the round ran")
    coords = [
        _numbered(counted, log.rounds, counted),
        _numbered("cluster", clusters, "cluster"),
        *([_numbered("cluster_to", clusters, "cluster that receives")] * traffic),
        *([coordinate("bits", carried, "bits along an edge")] * (congest is not None)),
        _models(),
        _nodes(graph, "node", "node"),
        *more,
    ]
    for dim in {dim for name in outputs for dim in kernel.outputs[name].dims} - {"node"}:
        if dim in kernel.numbered:
            size = next(v.sizes[dim] for v in variables.values() if dim in v.dims)
            coords.append(_numbered(dim, size, dim))
        elif (entries := kernel.values(dim)) is not None:
            coords.append(coordinate(dim, entries, dim))
        else:
            coords.append(_nodes(graph, dim, f"{dim} node", kernel.axis(dim, graph.n)))
    parameters = {f.name: stated(kernel, f.name, graph.labels) for f in dataclasses.fields(kernel)}
    weighs = kernel.weighs or parameters.get("thresholds") is not None
    attrs: dict[str, Any] = {
        "title": f"{kernel.name} on {graph.n} nodes, {style}",
        **made_by(measured_on),
        "kernel": kernel.name,
        "form": kernel.form,
        "style": style,
        "counted_as": count_as or style,
        "seed": kernel.seed,
        "parameters": json.dumps(parameters, default=_shortened),
        "graph": Lineage.of(graph).identity,
        "n": graph.n,
        "m": graph.m,
        "clusters": clusters,
        # the places of a serial program whose data is distributed are the processes that hold it
        "runtime_model": runtime_model(workers if style == "in_turn" else clusters, graph.n),
        "cluster_sizes": json.dumps(np.diff(graph.partition.offsets).tolist()),
        "workers": workers,
        "seconds": log.seconds,
        **kernel.attributes(graph.n, noted),
    }
    if recursive and style == "finish_async" and kernel.varies and not delayed:
        attrs["schedule_dependent"] = " ".join(kernel.varies)
    if varying := kernel.cut_dependent:
        attrs["cut_dependent"] = " ".join((counted, *varying) if blocks else varying)
    attrs |= reasons
    if not recursive:
        attrs["exchanges"] = int(exchanges.sum())
    if congest is not None:
        attrs["congest"] = congest
    if congest is not None and kernel.field_model:
        # no phase reads what the last one sends
        attrs["radius"] = int(np.count_nonzero(rows["messages"][:-1]))
    if network is not None:
        attrs["network"] = network.described()
    if network is not None and spec.faulty:
        # the program is only asked whether it goes on
        past = [vote for _, vote in log.replies("turn", "position")]  # a finish has several rows
        left = steps(kernel, graph.n, lambda over: lambda: reduce_votes(over), past=past)
        attrs["terminated"] = int(next(left, None) is None)
    if workload is not None:
        toil = by_round("toil")
        add("workload_seconds", toil, "processor time in the workload", "s")
        attrs["workload"] = str(workload)
        loads = int(rows["loads"].sum())
        if workload.operations and not workload.cache_bytes and loads:
            attrs["seconds_per_operation"] = float(toil.sum()) / (workload.operations * loads)
    # NetCDF has no truth values
    attrs["weighted"] = int(graph.weighted and bool(parameters.get("weighted", weighs)))
    if "root" in parameters:
        attrs["root"] = labelled(kernel, "root", graph.labels)
    return assemble(variables, coords, attrs)


def by_node(kernel: Kernel, graph: Graph, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs that come in the order of the clusters, by ascending node; on the workers they are.

    The rows of a table ascend by its first column, whose nodes ascend in each cluster.
    """
    order = graph.partition.order
    found, rows = dict(outputs), None
    for name, values in outputs.items() if order is not None else ():
        if not isinstance(values, np.ndarray):
            continue
        if kernel.outputs[name].tabular:
            rows = np.argsort(values, kind="stable") if rows is None else rows
            found[name] = values[rows]
        else:
            found[name] = np.empty_like(values)
            found[name][order] = values
    return found


def reached(distances: xr.DataArray) -> int:
    """The number of nodes that a search has reached: see `dgsuite.kernels.bsp.Output.from_root`."""
    return int(((distances >= 0) & (distances < np.inf)).sum())


def tell_alone(kernel: Kernel, ds: xr.Dataset) -> None:
    """Warn if a search has sent nothing, and so reached its root alone."""
    searches = (reached(ds[name]) for name, output in kernel.outputs.items() if output.from_root)
    sent = ds.variables["messages"].values  # sums of xarray import much
    if len(sent) and not sent.any() and 1 in searches and ds.sizes["node"] > 1:
        root = json.loads(ds.attrs["parameters"])["root"]
        what = f"only the root, {root!r}, is reached, since no edge leaves it; root= names another"
        warn(f"kernel {kernel.name!r}: {what}", UserWarning)


def variable(
    dims: str | tuple[str, ...], values: NDArray, long_name: str, units: str = "1"
) -> xr.Variable:
    """A variable with the attributes ``long_name`` and ``units``.

    Without ``fastpath`` xarray would check whether the array is a Dask array, and import `dask.array` for
    that, which takes half a second.
    """
    attrs = {"long_name": long_name, "units": units}
    return xr.Variable(dims, values, attrs, fastpath=True)


def coordinate(dim: str, values: NDArray | pd.Index, long_name: str) -> Coordinate:
    """The coordinate of a dimension, with its index; ``fastpath`` as in `variable`."""
    attrs = {"long_name": long_name}
    described = xr.IndexVariable(dim, values, attrs, fastpath=True)  # type: ignore[no-untyped-call]
    index = PandasIndex.from_variables({dim: described}, options={})
    return index, index.create_variables({dim: described})[dim]


def counted_by(kernel: Kernel, delayed: bool) -> str:
    """The dimension of a run's counts, given whether its messages take time."""
    return "depth" if kernel.form == "recursive" and not delayed else "round"


def check_names(kernel: Kernel, delayed: bool) -> None:
    """Check the names of a kernel's outputs, notes and peaks, before it runs.

    Raises
    ------
    InputError
        One is the name of a count or a dimension, or two are the same.
    """
    own = [*kernel.outputs, *kernel.notes, *kernel.peaks]
    if clashes := sorted({*own} & {*TAKEN, *IMSUITE, counted_by(kernel, delayed)}):
        raise InputError(
            f"kernel {kernel.name!r}: {clashes[0]!r} is the name of a count or dimension of every dataset; "
            "give the output or note another name"
        )
    if twice := sorted(name for name, times in Counter(own).items() if times > 1):
        raise InputError(
            f"kernel {kernel.name!r}: {twice[0]!r} names two of its outputs, notes and peaks; give one "
            f"another name"
        )


def too_large(rounds: int, clusters: int) -> str:
    """Why the matrices of a traced run do not fit into `MATRICES` bytes; "" where they do."""
    size = 16 * rounds * clusters**2
    if size <= MATRICES:
        return ""
    each = f"each of {rounds:,} rounds" if rounds > 1 else "a round"
    return (
        f"matrices of {clusters} by {clusters} clusters for {each} take {1e-9 * size:,.1f} GB, more than "
        f"{1e-9 * MATRICES:,.1f} GB"
    )


@lru_cache
def _numbered(dim: str, size: int, long_name: str) -> Coordinate:
    return coordinate(dim, pd.RangeIndex(size), long_name)  # takes no memory


@cache
def _models() -> Coordinate:
    return coordinate("model", np.array(MODELS), "runtime model")


def _nodes(
    graph: Graph, dim: str, long_name: str, nodes: NDArray[np.int64] | None = None
) -> Coordinate:
    """A dimension along all nodes, or some."""
    if nodes is not None:
        names = nodes if graph.labels is None else graph.labels.of(nodes)
        return coordinate(dim, names, long_name)
    if graph.labels is None:
        return _numbered(dim, graph.n, long_name)
    if isinstance(graph.labels, HeldLabels):
        from dgsuite.core.results.label_index import LabelIndex

        held = graph.labels.lazy(in_order(graph.partition).offsets)
        described = xr.Variable(dim, held, {"long_name": long_name}, fastpath=True)
        return LabelIndex(graph.labels, dim), described
    return coordinate(dim, graph.labels.array, long_name)


def assemble(
    variables: Mapping[str, xr.Variable], coords: Sequence[Coordinate], attrs: dict[str, Any]
) -> xr.Dataset:
    """A dataset made from parts with matching dimensions.

    Xarray's public constructor merges and aligns its arguments and builds the indexes again, which takes
    longer than all rounds on a small graph.
    """
    # copies, since users may change the attributes of a coordinate
    own = {index.dim: variable.copy(deep=False) for index, variable in coords}  # type: ignore[attr-defined]
    return xr.Dataset._construct_direct(
        {**variables, **own},
        coord_names=set(own),
        attrs=attrs,
        indexes={index.dim: index for index, _ in coords},  # type: ignore[attr-defined]
    )


def runtime_model(places: int, n: int) -> str:
    """The runtime model of a number of places."""
    return "SP" if places == 1 else "UP" if places == n else "MP"


def index(dataset: xr.Dataset) -> str:
    """The dimension of a run's counts: "round" or "depth"."""
    return "depth" if "depth" in dataset.dims else "round"


def seconds_by_round(dataset: xr.Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Seconds of each round of a run that a worker computes, and that pass between phases: the means of the
    workers, each of which computes its clusters one after the other.
    """
    computing, exchange = (
        dataset.variables[f"{name}_seconds"].values for name in ("compute", "exchange")
    )
    return computing.sum(axis=1) / max(dataset.attrs["workers"], 1), exchange.mean(axis=1)


def _shortened(value: Any) -> Any:
    """A parameter for the attributes: the name of a function; an array as a list, or shape and dtype if it is
    large.
    """
    if callable(value):
        return getattr(value, "__name__", repr(value))
    if dataclasses.is_dataclass(value):
        return vars(value)
    values = np.asarray(value)
    return values.tolist() if values.size <= LISTED else f"<{values.shape} {values.dtype}>"


def _output(output: Output, values: Any, graph: Graph) -> xr.Variable:
    """An output, an array or a Dask array, as a variable; if the graph has labels, they replace node ids."""
    none: Any = -1
    ids = output.nodes or (output.identifiers and not graph.identified)
    if ids and graph.labels is not None:
        none = graph.labels.none
        if isinstance(values, np.ndarray):
            values = graph.labels.of(values)
        elif isinstance(graph.labels, HeldLabels):
            values = graph.labels.labelled(values)
        else:
            from dgsuite.core.workers.outputs import labelled

            values = labelled(values, graph)
    long_name = output.long_name.format(none=repr(none)) if output.nodes else output.long_name
    return variable(output.dims, values, long_name, output.units)


def save(dataset: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a dataset as NetCDF with a checksum, atomically.

    Parameters
    ----------
    dataset
        A result.
    path
        The file. It has the name once it is whole.

    Raises
    ------
    InputError
        It is no dataset, the folder does not exist or is not writable, or a file cannot hold the type of a
        label.

    Notes
    -----
    Labels that are neither integers nor plain strings are written as JSON: see
    `dgsuite.partition.labels.label_tables`. Outputs that are on workers are gathered.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("bfs", graph)
    >>> dgsuite.save(ds, "bfs.nc")
    >>> dgsuite.open("bfs.nc").identical(ds)
    True
    """
    if not isinstance(dataset, xr.Dataset):
        raise InputError(
            f"dataset must be an xarray.Dataset, such as dgsuite.run returns, got {type(dataset).__name__}"
        )
    stored = encoded(here(dataset)).assign_attrs({formats.KEY: formats.current("result")})
    netcdf.write(stored, path)


def open_dataset(path: str | os.PathLike[str], *, checksum: bool = False) -> xr.Dataset:
    """Read a dataset that `save` wrote, into memory.

    Parameters
    ----------
    checksum
        Require a checksum, which a file that another program has changed does not have.

    Raises
    ------
    InputError
        The file does not exist, does not match its checksum, was not written by dgsuite, or has the form of a
        later version.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> dgsuite.save(dgsuite.run("bfs", graph), "bfs.nc")
    >>> dgsuite.open("bfs.nc").level.values
    array([0, 1, 2, 3], dtype=int32)
    """
    dataset = netcdf.read(path, checksum)
    if not str(dataset.attrs.get("source", "")).startswith("dgsuite"):
        raise InputError(f"{os.fspath(path)}: not a dataset of dgsuite")
    dataset.attrs = formats.without("result", dataset.attrs, os.fspath(path))
    try:
        found = decoded(dataset)
    except FOREIGN as error:
        raise InputError(f"{os.fspath(path)}: its labels cannot be read: {error}") from None
    check(found, os.fspath(path))
    return found
