"""Outputs of a run: gathered, or if they are large left on the workers as Dask arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from dask.highlevelgraph import HighLevelGraph
from distributed import Future, Scheduler
from numpy.typing import NDArray

from dgsuite.core.engine.log import Log
from dgsuite.core.workers import placement as tasks
from dgsuite.core.workers import plugin as worker
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.client.settings import limit
from dgsuite.partition.client.tasks import submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import in_order
from dgsuite.partition.graph.dask_views import client_of
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.labels.held_labels import HeldLabels
from dgsuite.partition.labels.labels import Labels

if TYPE_CHECKING:
    import dask.array as da

CARRIED = 1 << 17
"""Bytes of outputs that a site sends with its log, at most; more are sooner fetched from its worker."""

LABELS = "labels for the workers"
"""Key in `Graph.derived` of a future of the labels."""


class Outputs(NamedTuple):
    """What the task of a site returns.

    Attributes
    ----------
    nodes
        Ids of the site's nodes, by cluster.
    values
        Outputs of each kernel of the run, by name.
    """

    nodes: list[NDArray]
    values: list[dict[str, NDArray]]


class Ended(NamedTuple):
    """What the client is told when the task has ended.

    Attributes
    ----------
    logs
        One of each kernel.
    shapes
        Of each kernel, dtype and shape of each output.
    nbytes
        Of all outputs.
    values
        The outputs; None if they take so many bytes that they stay on the worker until they are gathered.
    """

    logs: list[Log]
    shapes: list[dict[str, tuple[np.dtype, tuple[int, ...]]]]
    nbytes: int
    values: list[dict[str, NDArray]] | None


def ended(
    clusters: Sequence[Cluster], found: Sequence[tuple[dict[str, NDArray], Log]], most: float
) -> Outputs:
    """Called by the task of a site: tell the client what it found, and return the outputs.

    Parameters
    ----------
    most
        Bytes of outputs that the client is told at once, at most.
    """
    values = [each for each, _ in found]
    shapes = [{name: (a.dtype, a.shape) for name, a in each.items()} for each in values]
    nbytes = sum(array.nbytes for each in values for array in each.values())
    told = Ended([log for _, log in found], shapes, nbytes, values if nbytes <= most else None)
    worker.plugin().tell(worker.task_key(), nbytes, told)
    return Outputs([cluster.ids for cluster in clusters], values)


def collect(
    kernels: Sequence[Kernel],
    graph: Graph,
    bounds: Sequence[int] | NDArray,
    futures: Sequence[Future],
    watch: Watch,
    merge: Callable[[Sequence[Any]], Log],
) -> list[tuple[dict[str, Any], Log]]:
    """Outputs and log of each kernel of a run, once its tasks are done.

    Parameters
    ----------
    bounds
        Shape (sites + 1,): site s has clusters ``bounds[s]`` to ``bounds[s + 1]``.
    futures
        The tasks of the sites: see `ended`.
    merge
        Makes one log of those of all sites.

    Returns
    -------
    Each output as an array, in the order of the clusters; or if it has stayed on the workers as a Dask
    array, in the order of node ids, with a chunk for each block of
    `dgsuite.partition.clusters.partitioners.in_order`. Columns of a table have a chunk for the rows of each
    site; if clusters are no blocks of nodes, for those of a block of nodes, ascending by the first column.

    Raises
    ------
    DgsuiteError
        See `dgsuite.core.workers.placement.ended`.
    """
    stays = _stays(graph)
    found: list[Ended] = tasks.ended(futures, watch, stays)
    if sum(each.nbytes for each in found) > stays:
        outputs = _left(kernels, graph, bounds, found, futures)
    else:
        sites = [each.values for each in found if each.values is not None]
        if len(sites) < len(found):
            # workers of a scheduler in this process can be reached from here
            here = isinstance(getattr(watch.client.cluster, "scheduler", None), Scheduler)
            sites = [held.values for held in watch.gather(futures, here or None)]
        outputs = [
            {name: np.concatenate([site[turn][name] for site in sites]) for name in kernel.outputs}
            for turn, kernel in enumerate(kernels)
        ]
    logs = [merge([each.logs[turn] for each in found]) for turn in range(len(kernels))]
    return list(zip(outputs, logs, strict=True))


def carried(graph: Graph, sites: int) -> float:
    """Bytes of outputs that each of some sites sends with its log, at most."""
    return min(_stays(graph) / sites, CARRIED)


def _stays(graph: Graph) -> float:
    """Bytes of outputs of a run on a graph from which they stay on the workers."""
    # results of a graph are where its labels are
    return -1 if isinstance(graph.labels, HeldLabels) else limit()


def _left(
    kernels: Sequence[Kernel],
    graph: Graph,
    bounds: Sequence[int] | NDArray,
    found: Sequence[Ended],
    futures: Sequence[Future],
) -> list[dict[str, Any]]:
    """Outputs of each kernel as Dask arrays, of what the tasks of the sites return."""
    import dask.array as da

    held = f"results-{futures[0].key}"
    sites = {(held, s): future for s, future in enumerate(futures)}
    offsets = graph.partition.offsets.tolist()
    ends = None if graph.partition.order is None else in_order(graph.partition).offsets
    outputs = []
    for turn, kernel in enumerate(kernels):
        table = [name for name, output in kernel.outputs.items() if output.tabular]
        rows = [] if ends is None or not table else _rows(futures, turn, table[0], ends)
        arrays: dict[str, Any] = {}
        for name, (dtype, (_, *rest)) in found[0].shapes[turn].items():
            label = f"{name}-{turn}-{futures[0].key}"
            cuts: dict[Any, Any] = {}
            if ends is None:
                slices = [(s, 0, each.shapes[turn][name][1][0]) for s, each in enumerate(found)]
                if name not in table:
                    slices = [
                        (s, offsets[k] - offsets[first], offsets[k + 1] - offsets[first])
                        for s, (first, last) in enumerate(pairwise(bounds))
                        for k in range(first, last)
                    ]
                chunks: list[Any] = [(_part, (held, s), turn, name, *some) for s, *some in slices]
                sizes = [last - first for _, first, last in slices]
            else:
                how = turn, name, table[0] if name in table else None, ends
                cuts = {("cut", label, s): (_cut, (held, s), *how) for s in range(len(futures))}
                blocks = range(len(ends) - 1)
                chunks = [(_merged, [(getitem, cut, block) for cut in cuts]) for block in blocks]
                sizes = rows if name in table else np.diff(ends).tolist()
            tasks = {(label, k, *(0 for _ in rest)): chunk for k, chunk in enumerate(chunks)}
            layers = {held: sites, label: cuts | tasks}
            whole = HighLevelGraph(layers, {held: set(), label: {held}})
            arrays[name] = da.Array(
                whole, label, (tuple(sizes), *((size,) for size in rest)), dtype=dtype
            )
        outputs.append(arrays)
    return outputs


def _rows(futures: Sequence[Future], turn: int, key: str, ends: NDArray) -> list[int]:
    """Rows of a table by the block of their first node."""
    watch = Watch(futures[0].client, "sorting a table", inputs=futures)
    counts = [submitted(watch.client, _counts, future, turn, key, ends) for future in futures]
    found: list[int] = np.sum(watch.gather(counts), axis=0).tolist()
    return found


def _part(found: Outputs, turn: int, name: str, first: int, last: int) -> NDArray:
    """Some rows of a site's output."""
    return found.values[turn][name][first:last]


def _counts(found: Outputs, turn: int, key: str, ends: NDArray) -> NDArray[np.int64]:
    """Rows of a site's table by the block of their first node."""
    return np.diff(np.searchsorted(np.sort(found.values[turn][key]), ends))


def _cut(
    found: Outputs, turn: int, name: str, key: str | None, ends: NDArray
) -> list[tuple[NDArray, NDArray]]:
    """For each block of nodes, the nodes of a site's rows, and their values of an output."""
    nodes = np.concatenate(found.nodes) if key is None else found.values[turn][key]
    order = np.argsort(nodes, kind="stable")
    nodes, values = nodes[order], found.values[turn][name][order]
    return [(nodes[a:b], values[a:b]) for a, b in pairwise(np.searchsorted(nodes, ends))]


def _merged(pieces: Sequence[tuple[NDArray, NDArray]]) -> NDArray:
    """Values of a block by ascending node; all rows of a node are of one site, in its order."""
    nodes, values = (np.concatenate(each) for each in zip(*pieces, strict=True))
    return values[np.argsort(nodes, kind="stable")]


def labelled(nodes: da.Array, graph: Graph) -> da.Array:
    """Labels of nodes, made where the nodes are; every worker gets all labels once a graph."""
    import dask.array as da

    labels, client = graph.labels, client_of(nodes)
    assert labels is not None
    assert client is not None

    def valid(kept: tuple[Labels, Future]) -> bool:
        sent, there = kept
        return sent is labels and there.status == "finished" and there.client is client

    send = Watch(client, f"sending {LABELS}").scatter
    _, there = graph.derived.get(LABELS, lambda: (labels, send(labels)), valid)
    name, table = f"labelled-{nodes.name}", f"labels-{nodes.name}"
    rest = (0,) * (nodes.ndim - 1)
    chunks = {
        (name, k, *rest): (Labels.of, table, (nodes.name, k, *rest))
        for k in range(nodes.numblocks[0])
    }
    layers = {**nodes.dask.layers, table: {table: there}, name: chunks}
    needs = {**nodes.dask.dependencies, table: set(), name: {table, nodes.name}}
    return da.Array(HighLevelGraph(layers, needs), name, nodes.chunks, dtype=labels.dtype)
