"""networkx graphs that are made of arrays, and get their dictionaries when these are first looked at.

`convert_from_nx` need not read such a graph: its arrays are in the cache of conversions from the start.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from threading import RLock
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.faces.nx_backend.graph import ConvertedGraph, convert_to_nx

FILLING = RLock()
"""Held while a graph gets its dictionaries."""

ALL = (True, True)
"""networkx's key of conversions that keep all attributes."""


class Dictionary:
    """An attribute that a graph gets, with the others, when one of them is asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, graph: Any, owner: type | None = None) -> Any:
        return self if graph is None else getattr(fill(graph), self.name)

    def __set__(self, graph: Any, value: Any) -> None:
        setattr(fill(graph), self.name, value)


class Deferred(nx.Graph):
    """A graph without its dictionaries. With them it is an `nx.Graph` or an `nx.DiGraph`."""

    _converted: ConvertedGraph
    _order: NDArray[np.int64]
    _adj, _node = Dictionary(), Dictionary()

    def __new__(cls, *args: Any, **attributes: Any) -> Any:
        return nx.Graph(*args, **attributes)  # `type(graph)()` makes a graph like it

    def __len__(self) -> int:
        return len(self._converted)

    number_of_nodes = order = __len__

    def number_of_edges(self, u: Any = None, v: Any = None) -> int:
        """Number of edges, of all or between two nodes."""
        if u is None:
            return self._converted.number_of_edges()
        return int(fill(self).number_of_edges(u, v))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return fill(self).__reduce_ex__(protocol)


class DeferredDiGraph(Deferred, nx.DiGraph):
    """A directed graph without its dictionaries."""

    _succ, _pred = Dictionary(), Dictionary()

    def __new__(cls, *args: Any, **attributes: Any) -> Any:
        return nx.DiGraph(*args, **attributes)


def fill(graph: Any) -> Any:
    """Give a graph its dictionaries; it has the class of networkx from then on."""
    with FILLING:
        if isinstance(graph, Deferred):
            made = convert_to_nx(graph._converted, order=graph._order)
            attributes = graph.__dict__
            del attributes["_converted"], attributes["_order"]
            names = {"_node", "_adj", "_succ", "_pred"} & vars(made).keys()
            attributes |= {name: vars(made)[name] for name in names}
            graph.__class__ = type(made)
    return graph


def made_of(
    nodes: list[Hashable],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    directed: bool,
    columns: Mapping[str, NDArray] | None = None,
) -> Deferred:
    """The graph that networkx makes of edges, added one after the other.

    Parameters
    ----------
    nodes
        In the order in which they are added.
    source, target
        Ends of the edges as places in `nodes`, in the order in which they are added. An edge that is there
        again gets the attributes that come last.
    columns
        Attributes of the edges.
    """
    low, high = (
        (source, target) if directed else (np.minimum(source, target), np.maximum(source, target))
    )
    _, first, number = np.unique(low * len(nodes) + high, return_index=True, return_inverse=True)
    once = np.sort(first)
    last = np.empty(len(first), np.int64)
    last[number] = np.arange(len(number))  # of equal places the last one stays
    last = last[number[once]]
    order = np.argsort(low[once], kind="stable")  # that of `G.edges`
    weights = {name: values[last][order] for name, values in (columns or {}).items()}
    converted = ConvertedGraph(
        nodes=nodes,
        source=low[once][order],
        target=high[once][order],
        kind=nx.DiGraph if directed else nx.Graph,
        weights=weights,
    )
    graph: Deferred = object.__new__(DeferredDiGraph if directed else Deferred)
    graph.__dict__.update(
        graph=converted.graph_data,
        __networkx_cache__={"backends": {"dgsuite": {ALL: converted}}},
        _converted=converted,
        _order=order,
    )
    return graph
