"""networkx graphs as arrays, from which `dgsuite.Graph` objects are made when a function needs one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import dgsuite
from dgsuite.base.errors import RunError

if TYPE_CHECKING:
    from distributed import Client

    from dgsuite.partition.graph.graph import Graph

REAL = (float, np.float32)
"""Types of weights that float64 holds. (A float64 of NumPy is a float.)"""

NUMBERS = (int, np.integer, np.bool_, *REAL)
"""Types of weights that are read exactly."""

EXACT = 1 << 53
"""Integers below it, and their sums below it, are exact in float64."""

SPREAD = 8
"""Nodes that are integers below so many times their count are looked up in an array: five times as fast."""


class Held(NamedTuple):
    """Which form of a graph is wanted: with which weights, if any, turned round or not, where, and whether
    with self-loops.
    """

    weight: str | None
    reverse: bool
    clusters: int | None
    client: Client | None
    loops: bool = False


@dataclass(eq=False)
class ConvertedGraph:
    """A networkx graph as arrays.

    Attributes
    ----------
    nodes
        networkx's nodes; a node's number is its place here.
    source, target
        int64, shape (m,): ends of the edges, in the order of networkx's ``G.edges``.
    kind
        networkx's class, or one derived from it.
    weights
        Edge attributes: an array, shape (m,), of int64, float64, or objects where others occur.
    keys
        Keys of the edges of a multigraph, else None.
    edge_data, node_data
        Attributes of each edge and node, if all were asked for.
    graph_data
        Attributes of the graph.
    """

    nodes: list[Hashable]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    kind: type[nx.Graph]
    weights: dict[str, NDArray] = field(default_factory=dict)
    keys: list[Hashable] | None = None
    edge_data: list[dict[str, Any]] | None = None
    node_data: list[dict[str, Any]] | None = None
    graph_data: dict[str, Any] = field(default_factory=dict)

    __networkx_backend__ = "dgsuite"

    def __post_init__(self) -> None:
        self.directed: bool = issubclass(self.kind, nx.DiGraph)
        self.multigraph: bool = issubclass(self.kind, nx.MultiGraph)
        self.__networkx_cache__: dict[str, Any] = {}
        self._held: dict[Held, Graph] = {}

    def __repr__(self) -> str:  # networkx's log has the arguments of each call
        return (
            f"ConvertedGraph(nodes={len(self)}, edges={self.number_of_edges()}, "
            f"directed={self.directed}, multigraph={self.multigraph})"
        )

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Whether there may be several edges between two nodes."""
        return self.multigraph

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self.number
        except TypeError:  # not hashable
            return False

    def number_of_edges(self) -> int:
        """Number of edges."""
        return len(self.source)

    @cached_property
    def number(self) -> dict[Hashable, int]:
        """The number of each node."""
        return {node: i for i, node in enumerate(self.nodes)}

    @property
    def _adj(self) -> dict[Hashable, int]:
        """Where networkx looks for nodes."""
        return self.number

    @cached_property
    def loops(self) -> bool:
        """Whether an edge begins and ends at one node."""
        return bool((self.source == self.target).any())

    def chosen(self, nodes: Any) -> list[Hashable]:
        """Those of some nodes that are in the graph, all if None; as networkx's ``nbunch_iter``."""
        return list(nx.Graph.nbunch_iter(self, nodes))

    def by_node(self, values: NDArray) -> dict[Hashable, Any]:
        """A value for each node, in the order of the nodes."""
        return dict(zip(self.nodes, values.tolist(), strict=True))

    def of(self, numbers: NDArray) -> list[Hashable]:
        """The nodes with some numbers, or of a mask."""
        if numbers.dtype == bool:
            numbers = np.flatnonzero(numbers)
        return [self.nodes[i] for i in numbers.tolist()]

    def data(self) -> list[dict[str, Any]]:
        """The attributes of each edge; an empty list where none has any."""
        if self.edge_data is not None:
            return self.edge_data
        columns = [values.tolist() for values in self.weights.values()]
        return [dict(zip(self.weights, row, strict=True)) for row in zip(*columns, strict=True)]

    def weight(self, name: str | None) -> NDArray | None:
        """The weights of an edge attribute; None where all edges weigh 1.

        Raises
        ------
        NotImplementedError
            They are not finite numbers.
        """
        if name is None:
            return None
        if name not in self.weights:
            if self.edge_data is None:
                return None
            self.weights[name] = _column([data.get(name, 1) for data in self.edge_data])
        values = self.weights[name]
        if values.dtype == object:
            values = _column(values.tolist())
        if values.dtype == object or not np.isfinite(values).all():
            raise NotImplementedError(f"an edge has a {name} that is not a finite number")
        return None if values.dtype.kind == "i" and (values == 1).all() else values

    def lengths(self, name: str | None) -> NDArray | None:
        """As `weight`, of weights of which none is negative.

        Raises
        ------
        NotImplementedError
            One is.
        """
        values = self.weight(name)
        if values is not None and (values < 0).any():
            raise NotImplementedError(f"an edge has a negative {name}")
        return values

    def graph(self, wanted: Held, *, any_weight: bool = False) -> Graph:
        """The graph for a run, which is kept for the next one.

        A graph whose client has been closed, or whose workers are gone, is built again.

        Parameters
        ----------
        any_weight
            Whether a graph with other weights will do as well.
        """
        self._held = {form: graph for form, graph in self._held.items() if _there(graph)}
        if self.weight(wanted.weight) is None:
            wanted = wanted._replace(weight=None)
        wanted = wanted._replace(loops=wanted.loops and self.loops)
        for form, graph in self._held.items():
            if any_weight and form._replace(weight=wanted.weight) == wanted:
                return graph
        known = self._held.get(wanted)
        if known is None:
            if wanted.reverse and self.directed:
                known = self.graph(wanted._replace(reverse=False)).reversed()
            else:
                known = dgsuite.Graph.from_edges(
                    self.source,
                    self.target,
                    n=len(self),
                    weights=self.weight(wanted.weight),
                    directed=self.directed,
                    duplicates="min",  # only shortest paths take weights of multigraphs
                    loops="keep" if wanted.loops else "drop",
                    clusters=wanted.clusters,
                    client=wanted.client,
                )
                if wanted.client is None and not known.local:  # a current client, not to be used
                    known = known.like(known.gather(), known.entries)
            self._held[wanted] = known
        return known


def _there(graph: Graph) -> bool:
    """Whether the clusters of a graph can still be had."""
    try:
        graph.parts  # noqa: B018, raises where they cannot
    except RunError:
        return False
    return graph.client is None or graph.client.status == "running"


def convert_from_nx(
    graph: nx.Graph,
    *,
    edge_attrs: Mapping[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    **_: Any,
) -> ConvertedGraph:
    """The arrays of a networkx graph.

    Parameters
    ----------
    edge_attrs
        Edge attributes that are kept, and what stands for each where an edge has none.
    preserve_edge_attrs, preserve_node_attrs, preserve_graph_attrs
        Whether all attributes are kept.
    _
        Names, and attributes of nodes alone, which no function that is offered needs.
    """
    if hasattr(graph, "_graph"):
        # a view, of whose changes networkx does not know: no conversion of it is kept
        graph.__networkx_cache__ = None
    nodes = list(graph)
    rows = [graph._adj[node] for node in nodes]
    if not all(isinstance(row, dict) for row in rows):  # a view, whose len is not always right
        rows = [dict(row.items()) for row in rows]
    degree = np.fromiter(map(len, rows), np.int64, len(rows))
    target = _numbers(nodes, chain.from_iterable(rows), int(degree.sum()))
    source = np.repeat(np.arange(len(nodes)), degree)
    # an undirected edge is in two rows; networkx gives it in that of the node that comes first
    once = np.ones(len(source), bool) if graph.is_directed() else source <= target
    source, target = source[once], target[once]
    several = graph.is_multigraph()
    keep = edge_attrs or preserve_edge_attrs or several
    entries: list[Any] = []
    if keep:
        entries = list(compress(chain.from_iterable(row.values() for row in rows), once.tolist()))
    keys = None
    if several:
        edges = np.fromiter(map(len, entries), np.int64, len(entries))
        source, target = np.repeat(source, edges), np.repeat(target, edges)
        keys = list(chain.from_iterable(entries))
        entries = list(chain.from_iterable(each.values() for each in entries))
    columns = {
        attribute: _column([data.get(attribute, default) for data in entries])
        for attribute, default in (edge_attrs or {}).items()
    }
    return ConvertedGraph(
        nodes=nodes,
        source=source,
        target=target,
        kind=type(graph),
        weights=columns,
        keys=keys,
        # as they are now: a name that is asked for later is read of the same state
        edge_data=[dict(data) for data in entries] if preserve_edge_attrs else None,
        node_data=[dict(graph._node[node]) for node in nodes] if preserve_node_attrs else None,
        graph_data=dict(graph.graph) if preserve_graph_attrs else {},
    )


def _numbers(nodes: list[Any], ends: Iterable[Any], count: int) -> NDArray[np.int64]:
    """The number of the node at each end of an edge."""
    if set(map(type, nodes)) == {int}:
        least, most = min(nodes), max(nodes)
        if least >= 0 and most < SPREAD * len(nodes):
            table = np.empty(most + 1, np.int64)
            table[nodes] = np.arange(len(nodes))
            return table[np.fromiter(ends, np.int64, count)]
    number = {node: i for i, node in enumerate(nodes)}
    return np.fromiter(map(number.__getitem__, ends), np.int64, count)


def _column(values: Sequence[Any]) -> NDArray:
    """Values as int64 or float64, else as objects: where others occur, or integers among floats whose
    sums float64 would round.
    """
    kinds = set(map(type, values))
    if all(issubclass(kind, NUMBERS) for kind in kinds):
        real = {kind for kind in kinds if issubclass(kind, REAL)}
        whole = () if real in (set(), kinds) else [v for v in values if type(v) not in real]
        exact = max(map(abs, map(int, whole)), default=0) * len(values) < EXACT
        try:
            if exact:
                return np.array(values, np.float64 if real else np.int64)
        except OverflowError:
            pass  # an integer of more than 64 bits: kept as an object
    column = np.empty(len(values), object)
    column[:] = values
    return column


def convert_to_nx(
    result: Any, *, name: str | None = None, order: NDArray[np.int64] | None = None
) -> Any:
    """A networkx graph from its arrays; anything else is returned as it is.

    Parameters
    ----------
    order
        For each edge when it is added; by default in their order.
    """
    if not isinstance(result, ConvertedGraph):
        return result
    graph = result.kind()
    graph.graph.update(result.graph_data)
    graph.add_nodes_from(result.nodes)
    for node, data in zip(result.nodes, result.node_data or (), strict=False):
        graph._node[node].update(data)
    columns: list[Any] = [result.of(result.source), result.of(result.target)]
    if result.keys is not None:
        columns.append(result.keys)
    if data_of := result.data():
        columns.append(data_of)
    if order is not None:
        places = np.argsort(order).tolist()
        columns = [[column[i] for i in places] for column in columns]
    graph.add_edges_from(zip(*columns, strict=True))
    return graph
