"""Results: one xarray Dataset per run, indexed by round, and its file."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
from dgsuite.core.accounting import count
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.network import Network
from dgsuite.core.engine.program import reduce_votes, steps
from dgsuite.core.engine.run_spec import PLAIN, RunSpec
from dgsuite.core.parameters import LISTED, labelled, stated
from dgsuite.core.results import accessor as accessor  # has xarray know `ds.dgsuite`
from dgsuite.core.results.checking import check
from dgsuite.core.results.provenance import machine
from dgsuite.kernels.bsp import Kernel, Output, Vote
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

MATRICES = 1 << 30
"""Bytes of the matrices of a traced run, at most."""

TO_FILE = "write the trace to a file: trace='trace.parquet'"
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
        Kernel outputs, one entry a node, in the order of node ids: arrays or Dask arrays.
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
    recursive, delayed = kernel.form == "recursive", spec.delays is not None
    congest, workload = spec.congest, spec.workload
    counted = counted_by(kernel, delayed)
    blocks = kernel.form == "block"  # the paper has none
    counted_by_imsuite = None if blocks else count(kernel, log, graph.n, count_as or style)
    counts = {} if counted_by_imsuite is None else counted_by_imsuite._asdict()
    messages, remote = log.by_round(log["messages"]), log.by_round(log["remote"])
    to_self = log.by_round(log["to_self"])
    active = np.zeros(log.rounds, np.int64)
    np.maximum.at(active, log["round"], log["active"])

    def per_round(values: NDArray, long_name: str, units: str = "1") -> xr.Variable:
        return variable(counted, values, long_name, units)

    def per_cluster(name: str, long_name: str) -> xr.Variable:
        return variable((counted, "cluster"), log.by_round(log[name]), long_name, "s")

    variables = {
        "messages": per_round(messages, "messages sent between nodes"),
        "remote_messages": variable(
            (counted, "model"),
            np.stack([np.zeros_like(messages), remote, messages - to_self], axis=1),
            "messages whose receiver is in another place",
        ),
        "bytes": per_round(log.by_round(log["nbytes"]), "payload of all messages", "byte"),
        "wire_bytes": per_round(log.by_round(log["wire"]), "data sent between workers", "byte"),
        "active": per_round(active, f"nodes that sent, in the {counted}'s busiest phase"),
        **{name: per_round(values, IMSUITE[name]) for name, values in counts.items()},
        "compute_seconds": per_cluster("compute", "time computing"),
        "cpu_seconds": per_cluster("cpu", "processor time computing"),
        "exchange_seconds": per_cluster(
            "exchange", "time between phases: packing, transfer, waiting, delivery"
        ),
    }
    noted = {name: log.by_round(log.noted(name)) for name in kernel.notes}
    for name, long_name in kernel.notes.items():
        variables[name] = per_round(noted[name], long_name)
    for name, long_name in kernel.peaks.items():
        variables[name] = per_round(log.peaks, long_name)
    found = {name: _output(kernel.outputs[name], values, graph) for name, values in outputs.items()}
    variables = {**found, **variables}  # what users look for comes first
    if traffic and not (traffic := fits(log.rounds, len(graph.parts))):
        warn(
            f"trace=True: {too_large(log.rounds, len(graph.parts))}, so the result has none; {TO_FILE}",
            UserWarning,
        )
    if traffic:
        matrices, clusters = _matrices(log, len(graph.parts)), ("cluster", "cluster_to")
        texts = ("messages from a cluster to another, or itself", "1"), ("payload of these", "byte")
        for name, values, said in zip(("traffic", "traffic_bytes"), matrices, texts, strict=True):
            variables[name] = variable((counted, *clusters), values, *said)
    carried = np.empty(0, np.int64)
    if congest is not None:
        most, carried, edges = _edge_bits(log)
        variables["edge_bits"] = per_round(
            most, "most bits along an edge in a direction, in the round's busiest phase", "bit"
        )
        variables["edges_by_bits"] = variable(
            (counted, "bits"), edges, "edges that carry so many bits in a direction in a phase"
        )
    if network is not None:
        for name, (dim, each, text) in network.found(spec.faults, kernel, graph.n, log).items():
            variables[name] = variable(dim or counted, each, text)
    if delayed:
        ticks = np.array(log.ticks, np.int64)
        variables["virtual_time"] = per_round(ticks, "tick in which tasks of the round ran")
    coords = [
        _numbered(counted, log.rounds, counted),
        _numbered("cluster", len(graph.parts), "cluster"),
        *([_numbered("cluster_to", len(graph.parts), "cluster that receives")] * traffic),
        *([coordinate("bits", carried, "bits along an edge")] * (congest is not None)),
        _models(),
        _nodes(graph, "node", "node"),
    ]
    for dim in {dim for name in outputs for dim in kernel.outputs[name].dims} - {"node"}:
        if dim in kernel.numbered:
            coords.append(
                _numbered(dim, next(v.sizes[dim] for v in variables.values() if dim in v.dims), dim)
            )
        elif (entries := kernel.values(dim)) is not None:
            coords.append(coordinate(dim, entries, dim))
        else:
            coords.append(_nodes(graph, dim, f"{dim} node", kernel.axis(dim, graph.n)))
    parameters = {f.name: stated(kernel, f.name, graph.labels) for f in dataclasses.fields(kernel)}
    attrs: dict[str, Any] = {
        "title": f"{kernel.name} on {graph.n} nodes, {style}",
        "source": f"dgsuite {__version__}",
        "Conventions": "CF-1.11",
        "kernel": kernel.name,
        "form": kernel.form,
        "style": style,
        "counted_as": count_as or style,
        "seed": kernel.seed,
        "parameters": json.dumps(parameters, default=_shortened),
        "graph": Lineage.of(graph).identity,
        "n": graph.n,
        "m": graph.m,
        "clusters": len(graph.parts),
        # the places of a serial program whose data is distributed are the processes that hold it
        "runtime_model": runtime_model(
            workers if style == "in_turn" else len(graph.parts), graph.n
        ),
        "cluster_sizes": json.dumps(np.diff(graph.partition.offsets).tolist()),
        "workers": workers,
        "seconds": log.seconds,
        "versions": versions(),
        "code": fingerprint(),
        **(machine() if measured_on is None else measured_on),
        **kernel.attributes(graph.n, noted),
    }
    if recursive and style == "finish_async" and kernel.varies and not delayed:
        attrs["schedule_dependent"] = " ".join(kernel.varies)
    if varying := kernel.cut_dependent:
        attrs["cut_dependent"] = " ".join((counted, *varying) if blocks else varying)
    attrs |= reasons
    if congest is not None:
        # no phase reads what the last one sends
        attrs |= {"congest": congest, "radius": int(np.count_nonzero(log["messages"][:-1]))}
    if network is not None:
        attrs["network"] = network.described()
    if spec.faults is not None:
        ended = next(steps(kernel, graph.n, _unanswered, past=log.votes), None) is None
        attrs["terminated"] = int(ended)
    if workload is not None:
        toil = log.by_round(log["toil"])
        variables["workload_seconds"] = per_round(toil, "processor time in the workload", "s")
        attrs["workload"] = str(workload)
        loads = int(log["loads"].sum())
        if workload.operations and not workload.cache_bytes and loads:
            attrs["seconds_per_operation"] = float(toil.sum()) / (workload.operations * loads)
    weighs = kernel.weighs or parameters.get("thresholds") is not None
    # NetCDF has no truth values
    attrs["weighted"] = int(graph.weighted and bool(parameters.get("weighted", weighs)))
    if "root" in parameters:
        attrs["root"] = labelled(kernel, "root", graph.labels)
    return assemble(variables, coords, attrs)


def _unanswered(over: Sequence[Vote]) -> Callable[[], Vote]:
    """What a program that is only asked whether it goes on is sent last."""
    return lambda: reduce_votes(over)


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


def check_fits(clusters: int) -> None:
    """Check that the matrices of a traced run of one round fit, before it runs.

    Raises
    ------
    InputError
        They do not.
    """
    if not fits(1, clusters):
        raise InputError(f"trace=True: {too_large(1, clusters)}; {TO_FILE}")


def fits(rounds: int, clusters: int) -> bool:
    """Whether the matrices of a traced run fit into `MATRICES` bytes."""
    return 16 * rounds * clusters**2 <= MATRICES


def too_large(rounds: int, clusters: int) -> str:
    """Says that they do not fit."""
    size, each = (
        16e-9 * rounds * clusters**2,
        f"each of {rounds:,} rounds" if rounds > 1 else "a round",
    )
    return (
        f"matrices of {clusters} by {clusters} clusters for {each} take {size:,.1f} GB, more than "
        f"{1e-9 * MATRICES:,.1f} GB"
    )


def _matrices(log: Log, clusters: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Messages and bytes of a traced run, by round, source and destination."""
    sent = log.table("traffic")
    found = np.zeros((2, log.rounds, clusters, clusters), np.int64)
    at = log["round"][sent["phase"]], sent["source"], sent["destination"]
    for matrix, name in zip(found, ("messages", "bytes"), strict=True):
        np.add.at(matrix, at, sent[name])
    return found[0], found[1]


def _edge_bits(log: Log) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """By round the most bits along an edge in a phase; which numbers of bits there are; and by round and
    number, how many edges carry it in a phase.
    """
    rows = log.table("bits")
    at = log["round"][rows["phase"]]
    most = np.zeros(log.rounds, np.int64)
    np.maximum.at(most, at, rows["bits"])
    sizes, which = np.unique(rows["bits"], return_inverse=True)
    edges = np.zeros((log.rounds, len(sizes)), np.int64)
    np.add.at(edges, (at, which), rows["edges"])
    return most, sizes, edges


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
