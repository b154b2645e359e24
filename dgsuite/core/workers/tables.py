"""Columns of a table that a run has left on the workers, as Dask arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.highlevelgraph import HighLevelGraph
from distributed import Future
from numpy.typing import NDArray

from dgsuite.core.workers.results import Outputs
from dgsuite.partition.client.tasks import submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.partitioners import in_order
from dgsuite.partition.graph.graph import Graph

if TYPE_CHECKING:
    import dask.array as da


def table_there(
    futures: Sequence[Future],
    graph: Graph,
    turn: int,
    shapes: Mapping[str, Sequence[tuple[np.dtype, tuple[int, ...]]]],
) -> dict[str, da.Array]:
    """The columns of a kernel's table, number `turn` of the run.

    Parameters
    ----------
    futures
        Of the outputs of each site.
    shapes
        Of each column, its dtype and shape at each site.

    Returns
    -------
    Arrays with a chunk for the rows of each site. If clusters are no blocks of nodes, the rows are those of a
    block of nodes, ascending by the first column.
    """
    if not shapes:
        return {}
    key, ends = next(iter(shapes)), None
    sizes = [shape[0] for _, shape in shapes[key]]
    if graph.partition.order is not None:
        ends = np.asarray(in_order(graph.partition).offsets)
        watch = Watch(futures[0].client, "sorting a table", inputs=futures)
        found = [submitted(watch.client, _counts, f, turn, key, ends) for f in futures]
        sizes = np.sum(watch.gather(found), axis=0).tolist()
    return {
        name: _column(futures, name, each[0][0], sizes, turn, key, ends)
        for name, each in shapes.items()
    }


def _column(
    futures: Sequence[Future],
    name: str,
    dtype: Any,
    sizes: Sequence[int],
    turn: int,
    key: str,
    ends: NDArray | None,
) -> da.Array:
    """A column by sites; or with rows that ascend by the column `key`, in blocks of its nodes."""
    import dask.array as da

    held, column = f"results-{futures[0].key}", f"{name}-{turn}-{futures[0].key}"
    there = {(held, s): future for s, future in enumerate(futures)}
    tasks: dict[Any, Any] = {}
    if ends is None:
        tasks = {(column, s): (getitem, (getitem, (held, s), turn), name) for _, s in there}
    else:
        for _, s in there:
            tasks["cut", column, s] = (_cut, (held, s), turn, name, key, ends)
        for block in range(len(sizes)):
            pieces = [(getitem, ("cut", column, s), block) for _, s in there]
            tasks[column, block] = (_merged, pieces)
    layers = HighLevelGraph({held: there, column: tasks}, {held: set(), column: {held}})
    return da.Array(layers, column, (tuple(sizes),), dtype=dtype)


def _counts(found: Outputs, turn: int, key: str, ends: NDArray) -> NDArray[np.int64]:
    """Rows of a site by the block of their first node."""
    return np.diff(np.searchsorted(np.sort(found[turn][key]), ends))


def _cut(
    found: Outputs, turn: int, name: str, key: str, ends: NDArray
) -> list[tuple[NDArray, NDArray]]:
    """For each block of nodes, the first nodes of a site's rows, and their values of a column."""
    nodes, values = found[turn][key], found[turn][name]
    order = np.argsort(nodes, kind="stable")
    nodes, values = nodes[order], values[order]
    cuts = np.searchsorted(nodes, ends)
    return [(nodes[a:b], values[a:b]) for a, b in pairwise(cuts)]


def _merged(pieces: Sequence[tuple[NDArray, NDArray]]) -> NDArray:
    """Values of a block by ascending first node; all rows of a node are of one site, in its order."""
    nodes, values = (np.concatenate(each) for each in zip(*pieces, strict=True))
    return values[np.argsort(nodes, kind="stable")]
