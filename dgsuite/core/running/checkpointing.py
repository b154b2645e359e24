"""Checkpoints of a run, as its caller asks for them: where, how often, and of which run they are."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from dask.utils import parse_timedelta

from dgsuite.base.errors import InputError
from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.client.installed import fingerprint
from dgsuite.partition.client.settings import setting
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.store import archives

if TYPE_CHECKING:
    from distributed import Client

SETTING = "dgsuite.checkpoint.every"

LONG = 200
"""Characters of a parameter of which a checkpoint holds the checksum instead."""


def every() -> float | int:
    """Seconds between two checkpoints; as int, rounds.

    Raises
    ------
    InputError
        The setting is neither a time nor a number of rounds.
    """
    given = setting(SETTING)
    number, _, unit = str(given).partition(" ")
    if unit in ("round", "rounds") and number.isdecimal() and int(number):
        return int(number)
    try:
        seconds = float(parse_timedelta(given, default="s"))
    except (KeyError, ValueError, TypeError, AttributeError):
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise InputError(f"{SETTING} must be a time, such as '10s', or '5 rounds', got {given!r}")
    return seconds


def checkpoints_of(
    folder: str | os.PathLike[str] | None,
    kernels: Sequence[Kernel],
    graph: Graph,
    style: str,
    spec: RunSpec,
) -> Checkpoints | None:
    """The checkpoints of a run, if it has any.

    Parameters
    ----------
    kernels
        What is to be run.

    Raises
    ------
    InputError
        The folder is not the name of one, the setting is wrong, or the run can have no checkpoints.
    """
    kernel = kernels[0]
    if folder is None:
        return None
    if not isinstance(folder, str | os.PathLike) or not os.fspath(folder):
        raise InputError(f"checkpoint must be a folder or a URL, got {folder!r}")
    if len(kernels) > 1:
        raise InputError(
            f"checkpoint names one folder for {len(kernels)} runs; run them one by one"
        )
    if kernel.form == "recursive":
        raise InputError(
            f"kernel {kernel.name!r}: a recursive form has no checkpoints; leave out form= or checkpoint="
        )
    if style == "finish_async":
        raise InputError("style 'finish_async' has no checkpoints; use style='clocked', which has")
    order = graph.partition.order
    facts = {
        "kernel": kernel.name,
        "form": kernel.form,
        **{f"parameter {f.name}": _plain(getattr(kernel, f.name)) for f in fields(kernel)},
        "n": graph.n,
        "number of edge ends": sum(graph.entries),
        "directed": graph.directed,
        "weight_dtype": None if graph.weight_dtype is None else np.dtype(graph.weight_dtype).str,
        "partition": None if order is None else crc32(order.data),
        "workload": str(spec.workload or ""),
        "trace": spec.trace,
        "congest": spec.congest,
        "code of dgsuite": fingerprint(),
    }
    return Checkpoints(archives.absolute(os.fspath(folder)), every(), facts)


def cut_as(graph: Graph, offsets: list[int], clusters: int | None, client: Client | None) -> Graph:
    """A graph in the clusters of a checkpoint.

    Raises
    ------
    InputError
        Another number of clusters was asked for, or the graph has a partition of its own.
    """
    k, order = len(offsets) - 1, graph.partition.order
    if clusters not in (None, k):
        raise InputError(
            f"the checkpoint has {k} clusters, and the run is to have {clusters}; leave out clusters="
        )
    if order is not None and graph.partition.offsets.tolist() != offsets:
        raise InputError("the checkpoint is of a graph with another partition of its own")
    return graph.recut(Partition(np.array(offsets, np.int64), order), client)


def _plain(value: Any) -> Any:
    """A parameter of a kernel as JSON that is the same for equal ones; a checksum where it is long."""
    text = json.dumps(value, default=lambda each: getattr(each, "tolist", each.__repr__)())
    return f"sha256 {sha256(text.encode()).hexdigest()}" if len(text) > LONG else json.loads(text)
