"""The graph of some nodes of a graph, made where the clusters are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, one_of
from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import blocks
from dgsuite.partition.construction import distribute
from dgsuite.partition.construction.build import Plan, id_dtype
from dgsuite.partition.graph.checks import CHECKING, each_cluster, of_clusters
from dgsuite.partition.graph.rows import kept
from dgsuite.partition.labels.labels import Labels
from dgsuite.partition.labels.nodes import listed, node_ids
from dgsuite.partition.sources.piece import Piece

if TYPE_CHECKING:
    from dgsuite.partition.graph.data import GraphData


def named(graph: GraphData, nodes: Any) -> NDArray[np.int64]:
    """The nodes that are named, ascending.

    Parameters
    ----------
    nodes
        See `dgsuite.partition.labels.nodes.node_ids`.

    Raises
    ------
    InputError
        One of them is not a node, or there are none.
    """
    chosen = np.unique(node_ids(nodes, graph.n, graph.labels, "nodes"))
    if not len(chosen):
        raise InputError("a graph needs at least one node, but none is named")
    return chosen


def reordered[G: GraphData](graph: G, order: Any) -> G:
    """The same graph with its nodes in another order; see `dgsuite.partition.graph.graph.Graph.reordered`."""
    if graph.partition.order is not None:
        raise InputError("order: the graph has a map of nodes to clusters; leave partition out")
    if isinstance(order, str):
        one_of("order", order, ["degree"])
        degree = np.concatenate(of_clusters(graph, getattr, CHECKING, "degree"))
        nodes = np.argsort(-degree, kind="stable")
    else:
        nodes = np.asarray(listed(order, "order"))
        if nodes.dtype.kind not in "iu" or not np.array_equal(np.sort(nodes), np.arange(graph.n)):
            raise InputError(f"order must name each node id from 0 to {graph.n - 1} once")
    made = induced(graph, nodes)
    made.attrs, made.built = graph.attrs, graph.built
    return made


def induced[G: GraphData](graph: G, nodes: NDArray) -> G:
    """The graph of some nodes, numbered anew in the order in which they are given, in as many clusters.

    Parameters
    ----------
    nodes
        Node ids, each once; at least one.
    """
    ascending = bool((nodes[1:] > nodes[:-1]).all())
    given = graph.labels
    if given is None:
        labels = Labels(nodes, len(nodes), ascending=ascending)
    else:
        labels = given.among(nodes) if ascending else Labels(given.array[nodes], len(nodes))
    partition = blocks(len(nodes), len(graph.parts))
    uid = None
    if graph.identified:
        at = graph.partition.position(nodes)
        uid = np.concatenate(of_clusters(graph, getattr, CHECKING, "uid"))[at]
    number: NDArray = np.full(graph.n, -1, id_dtype(graph.n))
    number[nodes] = np.arange(len(nodes))
    client, there = graph.client, number
    if client is not None:
        watch = Watch(client, "taking nodes of the graph", worker_addresses(client))
        there = watch.scatter(number)
    pieces = each_cluster(graph, _among, there)
    plan = Plan(graph.directed, keep=graph.keeps_loops, disk=graph.edges == "disk")
    made = distribute.of_clusters(pieces, partition, uid, plan, client)
    new: Any = {"labels": labels, "rows": kept(graph, number), "attrs": None, "built": None}
    return graph.like(made.parts, made.entries, partition=partition, weight_dtype=made.dtype, **new)


def _among(c: Cluster, number: NDArray) -> Piece:
    """The edges of a cluster between chosen nodes, undirected ones once, and the self-loops that it keeps.

    Parameters
    ----------
    number
        Shape (n,): the new number of each node; -1 where it is not chosen.
    """
    rows = np.flatnonzero(number[c.ids] >= 0)
    at, entry = expand(c.indptr, rows)
    src, dst = number[c.ids[rows]][at], number[c.indices[entry]]
    kept = dst >= 0
    if not c.directed:
        kept &= src < dst
    weights = None if c.weights is None else c.weights[entry[kept]]
    if c.loops is None:
        return src[kept], dst[kept], weights
    nodes = number[c.ids[c.loops]]
    chosen = nodes >= 0
    if weights is not None and c.loop_weights is not None:
        weights = np.append(weights, c.loop_weights[chosen])
    src, dst = (np.append(side[kept], nodes[chosen]) for side in (src, dst))
    return src, dst, weights
