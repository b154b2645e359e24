"""Outputs of a run: gathered, or if they are large left on the workers as Dask arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.highlevelgraph import HighLevelGraph
from distributed import Future
from numpy.typing import DTypeLike, NDArray

from dgsuite.core.engine.log import Log
from dgsuite.core.workers import placement as tasks
from dgsuite.core.workers.results import Ended, Outputs
from dgsuite.core.workers.tables import table_there
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.client.gather import limit
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.partitioners import Partition, in_order
from dgsuite.partition.graph.dask_views import client_of
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.labels.held_labels import HeldLabels
from dgsuite.partition.labels.labels import Labels

if TYPE_CHECKING:
    import dask.array as da
    from distributed import Client

CARRIED = 1 << 17
"""Bytes of outputs that a site sends with its log, at most; more are sooner fetched from its worker."""

LABELS = "labels for the workers"
PARTITION = "partition for the workers"
"""Keys in `Graph.derived` of futures of the labels, and of the partition."""


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
        The tasks of the sites: see `dgsuite.core.workers.results.ended`.
    merge
        Makes one log of those of all sites.

    Returns
    -------
    Each output as an array, in the order of the clusters; or if it has stayed on the workers as a Dask
    array, in the order of node ids, with a chunk for each block of
    `dgsuite.partition.clusters.partitioners.in_order`. For tables see `dgsuite.core.workers.tables`.

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
        sites = [each.outputs for each in found if each.outputs is not None]
        if len(sites) < len(found):
            direct = True if tasks.scheduler_is_here(watch.client) else None
            sites = watch.gather(futures, direct)
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
    outputs = []
    for turn, kernel in enumerate(kernels):
        table = [name for name, output in kernel.outputs.items() if output.tabular]
        shapes = {name: [each.shapes[turn][name] for each in found] for name in kernel.outputs}
        columns = table_there(futures, graph, turn, {name: shapes[name] for name in table})
        arrays = {
            name: _array(futures, graph, bounds, turn, name, *shapes[name][0])
            for name in kernel.outputs.keys() - columns.keys()
        }
        outputs.append({name: (columns | arrays)[name] for name in kernel.outputs})
    return outputs


def _array(
    futures: Sequence[Future],
    graph: Graph,
    bounds: Sequence[int] | NDArray,
    turn: int,
    output: str,
    dtype: DTypeLike,
    shape: tuple[int, ...],
) -> da.Array:
    """An output of a kernel, number `turn` of the run, as a Dask array with a chunk for each cluster."""
    import dask.array as da

    offsets = graph.partition.offsets.tolist()
    held = f"results-{futures[0].key}"
    name = f"{output}-{turn}-{futures[0].key}"
    sites = {(held, s): future for s, future in enumerate(futures)}
    rest = (0,) * len(shape[1:])
    chunks = {
        (name, k, *rest): (
            _part,
            (held, s),
            turn,
            output,
            offsets[k] - offsets[first],
            offsets[k + 1] - offsets[first],
        )
        for s, (first, last) in enumerate(pairwise(bounds))
        for k in range(first, last)
    }
    layers = HighLevelGraph({held: sites, name: chunks}, {held: set(), name: {held}})
    sizes = tuple(np.diff(offsets).tolist())
    found = da.Array(layers, name, (sizes, *((size,) for size in shape[1:])), dtype=dtype)
    return found if graph.partition.order is None else _by_node(found, graph, futures[0].client)


def _by_node(found: da.Array, graph: Graph, client: Client) -> da.Array:
    """An output in the order of the clusters, in blocks of nodes in the order of their ids."""
    import dask.array as da

    there = _sent_once(graph, graph.partition, PARTITION, client)
    ends = in_order(graph.partition).offsets
    name, cut, given = (f"{what}-{found.name}" for what in ("by-node", "cut", "partition"))
    rest = (0,) * (found.ndim - 1)
    clusters = range(found.numblocks[0])
    tasks: dict[Any, Any] = {
        (cut, k): (_cut, (found.name, k, *rest), given, k, ends) for k in clusters
    }
    for block in clusters:
        for k in clusters:
            tasks[cut, k, block] = (itemgetter(block), (cut, k))
        pieces = [(cut, k, block) for k in clusters]
        tasks[name, block, *rest] = (_block, pieces)
    layers = {**found.dask.layers, given: {given: there}, name: tasks}
    needs = {**found.dask.dependencies, given: set(), name: {given, found.name}}
    sizes = tuple(np.diff(ends).tolist())
    graph_of_tasks = HighLevelGraph(layers, needs)
    return da.Array(graph_of_tasks, name, (sizes, *found.chunks[1:]), dtype=found.dtype)


def _cut(
    values: NDArray, partition: Partition, cluster: int, ends: NDArray
) -> list[tuple[NDArray, NDArray]]:
    """Values of a cluster for each block of nodes, with their places there."""
    nodes = partition.nodes(cluster)  # ascending
    cuts = np.searchsorted(nodes, ends)
    return [
        (nodes[a:b] - first, values[a:b])
        for (a, b), first in zip(pairwise(cuts), ends, strict=False)
    ]


def _block(pieces: list[tuple[NDArray, NDArray]]) -> NDArray:
    """The values of a block of nodes, from those that each cluster has for it."""
    values = [each for _, each in pieces]
    found = np.empty((sum(map(len, values)), *values[0].shape[1:]), values[0].dtype)
    for places, each in pieces:
        found[places] = each
    return found


def _part(found: Outputs, turn: int, output: str, first: int, last: int) -> NDArray:
    """The part of an output that belongs to a cluster."""
    return found[turn][output][first:last]


def labelled(nodes: da.Array, graph: Graph) -> da.Array:
    """Labels of nodes, made where the nodes are; every worker gets all labels once a graph."""
    import dask.array as da

    labels, client = graph.labels, client_of(nodes)
    assert labels is not None
    assert client is not None
    there = _sent_once(graph, labels, LABELS, client)
    name, table = f"labelled-{nodes.name}", f"labels-{nodes.name}"
    rest = (0,) * (nodes.ndim - 1)
    chunks = {
        (name, k, *rest): (_labels_of, table, (nodes.name, k, *rest))
        for k in range(nodes.numblocks[0])
    }
    layers = {**nodes.dask.layers, table: {table: there}, name: chunks}
    needs = {**nodes.dask.dependencies, table: set(), name: {table, nodes.name}}
    return da.Array(HighLevelGraph(layers, needs), name, nodes.chunks, dtype=labels.dtype)


def _sent_once(graph: Graph, value: Any, key: str, client: Client) -> Future:
    """A future of something of a graph's that all workers have; `Graph.derived` keeps it by a key."""

    def send() -> tuple[Any, Future]:
        return value, Watch(client, f"sending {key}").scatter(value)

    def valid(kept: tuple[Any, Future]) -> bool:
        sent, there = kept
        return sent is value and there.status == "finished" and there.client is client

    return graph.derived.get(key, send, valid)[1]


def _labels_of(labels: Labels, nodes: NDArray) -> NDArray:
    return labels.of(nodes)
