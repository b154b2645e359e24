"""What all functions share: how they run a kernel, what they cannot run, and what is not worth it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, NamedTuple

import networkx as nx
import xarray as xr

import dgsuite
from dgsuite import nx_backend
from dgsuite.nx_backend.graph import ConvertedGraph, Held
from dgsuite.nx_backend.info import Settings
from partition.client.queries import current_client

CALLABLE = "weight is a function, but workers need numbers"
PARALLEL = "parallel edges are merged, but here each counts"
LOOPS = "the graph has edges from a node to itself, which are dropped, but here they count"


class Offered:
    """A function of networkx that a kernel answers.

    Keyword arguments beyond networkx's own are those of `Way`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.signature = inspect.signature(function)
        self._function = function
        self._reason: Callable[..., str | None] = lambda **_: None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def unless(self, reason: Callable[..., str | None]) -> Callable[..., str | None]:
        """Declare the function that says which arguments cannot be, and why."""
        self._reason = reason
        return reason

    def reason(self, *args: Any, **kwargs: Any) -> str | None:
        """Why a call cannot be, if so."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self._reason(**bound.arguments)


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a function can be answered for these arguments; if not, the reason."""
    return getattr(nx_backend, name).reason(*args, **kwargs) or True


FROM = 10_000
"""Nodes and edges from which a graph is converted without being asked for."""


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a graph should be converted for a function; if not, the reason."""
    threshold = settings().threshold
    least = FROM if threshold is None else threshold
    graph = args[0] if args else kwargs["G"]
    size = len(graph) + graph.number_of_edges()
    if size >= least:
        return True
    return f"networkx itself is faster on graphs of fewer than {least} nodes and edges; this one has {size}"


def settings() -> Settings:
    """The configuration."""
    found: Settings = nx.config.backends.dgsuite
    return found


class Way(NamedTuple):
    """How a kernel runs: the configuration, and what a call says otherwise."""

    style: str | None
    client: Any
    clusters: int | None

    @classmethod
    def of(cls, name: str, how: Mapping[str, Any]) -> Way:
        """The way of a call.

        Raises
        ------
        TypeError
            An argument is unknown.
        """
        known = settings()
        for key in how:
            if key not in cls._fields:
                raise TypeError(
                    f"{name}() got an unexpected keyword argument {key!r}; those of the backend dgsuite "
                    f"are {', '.join(cls._fields)}"
                )
        way = cls(**{key: how.get(key, known[key]) for key in cls._fields})
        if way.style == "serial":
            return way._replace(client=None)
        return way._replace(client=current_client(way.client))


def run(
    kernel: str,
    G: ConvertedGraph,
    how: Mapping[str, Any],
    *,
    weight: str | None = None,
    any_weight: bool = False,
    reverse: bool = False,
    **parameters: Any,
) -> xr.Dataset:
    """The dataset of a run on a converted graph.

    Parameters
    ----------
    how
        Of a `Way`.
    weight
        Edge attribute with the weights; by default all edges weigh 1.
    any_weight
        Whether the kernel looks at no weights.
    reverse
        Whether to turn the edges of a directed graph round.
    parameters
        Of the kernel.
    """
    way = Way.of(kernel, how)
    graph = G.graph(Held(weight, reverse, way.clusters, way.client), any_weight=any_weight)
    return dgsuite.run(kernel, graph, style=way.style, client=way.client, **parameters)
