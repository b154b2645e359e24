"""Outputs of a run as a dataframe, of Dask or of pandas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, one_of
from dgsuite.base.extras import needed_by
from dgsuite.partition.client.session import current_client
from dgsuite.partition.client.tasks import delayed
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses, worker_of
from dgsuite.partition.graph.dask_views import client_of

if TYPE_CHECKING:
    import dask.dataframe as dd
    from distributed import Client


EMBED = 1 << 20
"""Bytes of outputs that travel with the tasks; more are sent to workers beforehand."""


def to_dataframe(
    dataset: xr.Dataset, outputs: Sequence[str] | None = None, client: Client | None = None
) -> dd.DataFrame:
    """The outputs of a run as a Dask dataframe with a row for each node, or for each row of a table.

    Parameters
    ----------
    dataset
        Result of a run.
    outputs
        Names of the outputs: columns of the table, or those that have values for each node. By default all
        columns where the kernel makes a table, else all that have values for each node.
    client
        Client whose workers get what is in this process; by default the one whose workers hold outputs, else
        the current client. Without one it stays in this process.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``node``, the graph's labels or else node ids, and the outputs, of several values for a node a
        column for each, such as ``component_0.9`` for a threshold of 0.9. Each partition has the nodes
        of a cluster, in the order of the dataset, and the index counts nodes from 0. A table has the outputs
        alone, and partitions as it is on the workers. What is there stays there.

    Raises
    ------
    InputError
        An output is unknown, or has no values for each node or row; or Dask's dataframes are not installed.

    Notes
    -----
    Nothing is computed here. Dask makes text of labels that are objects, such as tuples, UUIDs or numbers
    among texts, unless its setting ``dataframe.convert-string`` is False. ``to_parquet`` writes these
    texts, which do not tell the label 1 from ``"1"``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1], [1, 2], labels=["ann", "bob", "cid"], clusters=2)
    >>> frame = dgsuite.to_dataframe(dgsuite.run("bfs", graph))
    >>> frame.npartitions
    2
    >>> print(frame.compute(scheduler="threads"))
      node  level parent
    0  ann      0    ann
    1  bob      1    ann
    2  cid      2    bob
    """
    with needed_by("a Dask dataframe"):
        import dask.dataframe as dd

    variables = columns_of(dataset, outputs)
    names = [*variables]
    columns = [v.data if v.chunks else v.values for v in variables.values()]
    offsets = _offsets(dataset, "node" if "node" in names else "pair")
    held = [hasattr(column, "dask") for column in columns]
    here: list[Any] = [[] if lazy else column for lazy, column in zip(held, columns, strict=True)]
    blocks = [_blocks(column, offsets) for lazy, column in zip(held, columns, strict=True) if lazy]
    if any(held):
        client = client or client_of(dataset)
    pieces = [[c[first:last] for c in here] for first, last in pairwise(offsets)]
    sent = _sent(pieces, current_client(client))
    none = [np.empty(0, column.dtype) for column in columns]
    rows = delayed(_rows, part="outputs")
    frames = [
        rows(names, first, part, *(column[k] for column in blocks))
        for k, (first, part) in enumerate(zip(offsets, sent, strict=False))
    ]
    return dd.from_delayed(frames, meta=_rows(names, 0, none), verify_meta=False)


def columns_of(dataset: xr.Dataset, outputs: Sequence[str] | None = None) -> dict[str, xr.Variable]:
    """The columns of a dataframe, by name: see `to_dataframe`.

    Raises
    ------
    InputError
        As `to_dataframe` says.
    """
    if "node" not in dataset.coords:
        raise InputError("the dataset has no coordinate 'node', so it is not the result of a run")
    dim = "pair" if "pair" in dataset.dims else "node"
    if outputs and "node" in dataset.get(outputs[0], dataset["node"]).dims:
        dim = "node"
    there = [
        str(name)
        for name, values in dataset.data_vars.items()
        if values.dims[:1] == (dim,) and values.ndim < 3
    ]
    found = {"node": dataset.variables["node"]} if dim == "node" else {}
    for name in there if outputs is None else outputs:
        one_of(f"output by {dim}", name, there)
        values = dataset.variables[name]
        if values.ndim == 1:
            found[name] = values
        else:
            numbers = dataset[values.dims[1]].values.tolist()
            found |= {f"{name}_{number}": values[:, k] for k, number in enumerate(numbers)}
    return found


def _offsets(dataset: xr.Dataset, dim: str) -> list[int]:
    """The first node, or row, of each partition, and their number."""
    n = dataset.sizes[dim]
    held = json.loads(dataset.attrs.get("cluster_sizes", "[]")) if dim == "node" else []
    sizes = dataset.chunksizes.get(dim) or held
    if sum(sizes) != n or not sizes:  # a table in this process, or a selection
        sizes = [n]
    return [0, *accumulate(map(int, sizes))]


def _blocks(column: Any, offsets: Sequence[int]) -> list[Any]:
    """A Dask array in pieces, as Delayed objects."""
    sizes = tuple(last - first for first, last in pairwise(offsets))
    # an optimised graph names the results on workers, and does not hold them
    return list(column.rechunk((sizes,)).to_delayed(optimize_graph=False))


def _sent(pieces: list[Any], client: Client | None) -> list[Any]:
    """What is in this process, a piece for each partition, or futures of it if it is large."""
    total = sum(array.nbytes for piece in pieces for array in piece if len(array))
    if client is None or total <= EMBED:
        return pieces
    workers = worker_addresses(client)
    watch = Watch(client, "sending outputs", workers)
    return [
        watch.scatter(piece, worker_of(k, len(pieces), workers)) for k, piece in enumerate(pieces)
    ]


def _rows(names: list[str], first: int, here: list[Any], *there: NDArray) -> pd.DataFrame:
    """The rows of a partition; where `here` has no values of a column, the next of `there` are these."""
    others = iter(there)
    arrays = [values if isinstance(values, np.ndarray) else next(others) for values in here]
    index = pd.RangeIndex(first, first + len(arrays[0]))
    return pd.DataFrame(dict(zip(names, arrays, strict=True)), index=index)
