"""Graphs that grow: a graph with more edges or nodes, which shares what stays the same."""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import getitem
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.client.tasks import calls
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.construction import grow
from dgsuite.partition.construction.relabel import relabel
from dgsuite.partition.graph.checks import once
from dgsuite.partition.graph.data import GraphData
from dgsuite.partition.labels.labels import Labels, alike
from dgsuite.partition.sources import duplicates, edges
from dgsuite.partition.sources.piece import check_edges

LINEAGE = "lineage"
"""Key in `Graph.cache`, which the same graph elsewhere or in other clusters shares."""


class Step(NamedTuple):
    """What a graph got when it grew.

    Attributes
    ----------
    identity, n, dtype
        Of the graph before: which it was, its nodes, and the dtype of its weights, or None.
    nodes, ends
        Node ids of both ends of the entries of the adjacency that are new, or have another weight.
    weights, before
        Of these entries, now and before; new ones have had the same. 1 where there are none.
    """

    identity: str
    n: int
    dtype: np.dtype | None
    nodes: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray
    before: NDArray


@dataclass(frozen=True)
class Lineage:
    """Which graph this is, and from which graphs it has grown.

    Attributes
    ----------
    identity
        Of this graph; the same graph elsewhere or in other clusters has the same.
    steps
        By which it has grown, the first one first.
    """

    identity: str
    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, graph: GraphData) -> Lineage:
        """That of a graph."""
        found: Lineage = once(graph, LINEAGE, lambda _: cls(uuid.uuid4().hex))
        return found

    def since(self, identity: str | None) -> tuple[Step, ...] | None:
        """The steps from an earlier graph on; None if this graph has not grown from it."""
        if identity == self.identity:
            return ()
        for k, step in enumerate(self.steps):
            if step.identity == identity:
                return self.steps[k:]
        return None


class Growing(GraphData):
    """The methods of `dgsuite.partition.graph.graph.Graph` that make a graph with more edges or nodes."""

    def with_edges(
        self,
        src: Any,
        dst: Any = None,
        target: Hashable = "target",
        weight: Hashable | None = "weight",
        *,
        weights: Any = None,
        source: Hashable = "source",
    ) -> Self:
        """A graph with more edges, which shares with this one all that stays the same.

        This graph does not change. Nodes keep their numbers and labels; nodes that only the new edges name
        get the next numbers, in ascending order of their labels. ``dgsuite.run(kernel, graph, since=ds)``
        goes on from a result on this graph.

        Parameters
        ----------
        src, dst, weights
            The new edges, as for `from_edges`: arrays, lists, Dask collections, or one dataframe as `src`.
            Where the graph has labels, ends are labels; else they are node ids. There are weights if the
            graph has some.
        source, target, weight
            Column names of a dataframe, also by position: ``with_edges(frame, "from", "to", "score")``.

        Returns
        -------
        Graph
            In as many clusters, in the same places. New nodes are in the last one; where the graph was built
            with a map from nodes to clusters, in all of them. An edge that is there already is merged by the
            rule by which the graph was built (`built`, or else the smallest weight stays), and `built`
            counts all rows.

        Raises
        ------
        InputError
            As `from_edges` says; there are weights and the graph has none, or none where it has some; labels
            are of another kind than the graph's; new nodes would have no identifier; `weights` are given by
            position.
        RunError
            A worker was lost.

        Notes
        -----
        The new edges pass through this process. The rows of a cluster that gets nodes or edges are copied;
        the other clusters share their arrays with this graph. Weights keep their dtype where it holds the
        new ones.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 2], [1, 3])
        >>> before = dgsuite.run("wcc", graph)
        >>> grown = graph.with_edges([3, 4], [1, 5])
        >>> grown
        <dgsuite.Graph: 6 nodes, 4 edges, undirected; 1 clusters in this process>
        >>> dgsuite.run("wcc", grown, since=before).component.values
        array([0, 0, 0, 0, 4, 4])
        """
        if dst is not None and (hasattr(src, "columns") or hasattr(src, "schema")):
            source, dst = dst, None
        if not isinstance(target, Hashable) or not isinstance(weight, Hashable):
            raise InputError("a third argument names a column of a dataframe; write weights=...")
        return _grown(self, edges.pieces(src, dst, weights, (source, target, weight)), self.n)

    def with_nodes(self, nodes: Any) -> Self:
        """A graph with more nodes, which have no edges yet; see `with_edges`.

        Parameters
        ----------
        nodes
            Labels, where the graph has labels, else node ids: a list, an array or a column of pandas or Dask.
            Those that are nodes already change nothing. Without labels a number is how many nodes there are
            then.

        Raises
        ------
        InputError
            As `with_edges`; or a number was given, and the graph has labels or more nodes.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges(["ann"], ["bob"], relabel=True).with_nodes(["dan", "ann", "cid"])
        >>> list(graph.labels)
        ['ann', 'bob', 'cid', 'dan']
        """
        if not edges.is_number(nodes):
            return _grown(self, [], self.n, edges.naming(nodes))
        if self.labels is not None:
            raise InputError(f"nodes must be labels, since the graph has labels, got {nodes!r}")
        if nodes < self.n:
            raise InputError(f"the graph has {self.n} nodes already, more than {nodes}")
        return _grown(self, [], int(nodes))


def _grown[G: GraphData](graph: G, pieces: Sequence[Any], n: int, naming: Sequence[Any] = ()) -> G:
    """A graph with more edges, of which some pieces only name nodes, and n nodes or more."""
    found, count = edges.here([*pieces, *naming], graph.client), len(pieces)
    labels = graph.labels
    if labels is not None:
        found, labels = _numbered(found, labels)
        n = len(labels)
    else:
        n = _count(found, found[count:], graph.n, n)
    piece = edges.together(found[:count])
    check_edges(piece, n)
    if graph.keeps_loops and (loop := piece[0] == piece[1]).any():
        node = int(piece[0][loop][0])
        raise InputError(
            f"with_edges takes no self-loops on a graph that keeps them, got one at node {node}; make the "
            f"graph anew with all of its edges"
        )
    dtype, piece = _weighted(graph, piece)
    rule = duplicates.DEFAULT if graph.built is None else graph.built.duplicates
    partition = grow.extended(graph.partition, n)
    fresh, tally = grow.divided(piece, partition, graph.directed, rule)
    parts, about = _each(graph, partition, fresh, rule, dtype)
    entries = [each.entries for each in about]
    kinds: Any = {"weight_dtype": dtype, "labels": labels, "built": None}
    made = graph.like(parts, entries, partition=partition, **kinds)
    wrong = [each.wrong for each in about if each.wrong is not None]
    tally = tally._replace(wrong=tally.wrong or min(wrong, default=None))
    new = duplicates.built(tally, made, rule)  # which raises the error about an edge that is wrong
    if graph.built is not None:
        rows, loops = graph.built.rows + new.rows, graph.built.loops + new.loops
        merged = rows - graph.built.missing - loops - made.m
        made.built = graph.built._replace(rows=rows, merged=merged, loops=loops, kinds=new.kinds)
    changes = (
        np.concatenate([getattr(each, name) for each in about])
        for name in ("nodes", "ends", "weights", "before")
    )
    before = Lineage.of(graph)
    step = Step(before.identity, graph.n, graph.weight_dtype, *changes)
    once(made, LINEAGE, lambda _: Lineage(uuid.uuid4().hex, (*before.steps, step)))
    return made


def _numbered(pieces: edges.Pieces, labels: Labels) -> tuple[edges.Pieces, Labels]:
    """Pieces whose ends are node ids, given those whose ends are labels; and the labels with new ones."""
    if not sum(len(piece[0]) for piece in pieces):
        return pieces, labels
    numbered, named = relabel(pieces, None)
    ids = labels.nodes(named.array, missing=True)
    new = np.flatnonzero(ids < 0)
    ids[new] = len(labels) + np.arange(len(new))
    if len(new):
        labels = labels.extended(alike(labels, named.array[new]))
    return edges.Pieces((ids[src], ids[dst], weights) for src, dst, weights in numbered), labels


def _count(pieces: Sequence[Any], naming: Sequence[Any], before: int, n: int) -> int:
    """How many nodes there are with those that pieces name by their ids.

    Raises
    ------
    InputError
        They are no node ids, or nearly all new nodes would have no edge.
    """
    if naming:
        edges.check_named(naming, None)
    if not pieces:
        return edges.count_nodes(pieces, n, None)
    largest, count = edges.extent(pieces, None)
    if largest >= max(n, before + edges.SPARSE * count + edges.SMALL_RANGE):
        raise InputError(
            f"{count} edges with ids to {largest} would make {largest + 1 - before} new nodes, most of them "
            f"without edges; graph.with_nodes({largest + 1}) makes them first, if that is meant"
        )
    return edges.count_nodes(pieces, max(n, largest + 1), None)


def _weighted(graph: GraphData, piece: tuple[Any, Any, Any]) -> tuple[Any, tuple[Any, Any, Any]]:
    """Dtype of all weights, and the new edges with weights of it.

    Raises
    ------
    InputError
        The graph has weights and the edges have none, or the other way round; or no dtype holds all.
    """
    src, dst, weights = piece
    dtype = graph.weight_dtype
    if not len(src):
        return dtype, (src, dst, None if dtype is None else np.empty(0, dtype))
    if dtype is None and weights is not None:
        raise InputError(
            "the new edges have weights, but the graph has none; weight=None leaves out a column 'weight'"
        )
    if dtype is None:
        return None, piece
    if weights is None:
        raise InputError("the new edges have no weights, but the graph has; give weights")
    for wide in (dtype, np.result_type(dtype, weights.dtype)):
        if wide.kind == "f" and "f" not in (dtype.kind, weights.dtype.kind):
            continue  # which does not hold all integers of 64 bits
        held = weights.astype(wide)
        if (held == weights).all() and ((held < 0) == (weights < 0)).all():
            return wide, (src, dst, held)
    raise InputError(
        f"no dtype holds both the graph's weights of dtype {dtype} and new ones of {weights.dtype}"
    )


def _each(
    graph: GraphData, partition: Any, fresh: list[Any], rule: str, dtype: Any
) -> tuple[list[Any], list[grow.Grown]]:
    """Each cluster, or its future, as it has grown, and what became of it."""
    from dgsuite.partition.construction.distribute import cluster, shared

    call, client = calls(graph.client), graph.client
    watch = None if client is None else Watch(client, edges.BUILDING, inputs=graph.parts)
    everywhere = partition if watch is None else shared(partition, watch)
    made = [
        call(grow.grown, part, everywhere, some, rule, dtype)
        for part, some in zip(graph.parts, fresh, strict=True)
    ]
    about = [call(getitem, each, 1) for each in made]
    parts = [call(cluster, each, 0) for each in made]
    return parts, about if watch is None else watch.gather(about)
