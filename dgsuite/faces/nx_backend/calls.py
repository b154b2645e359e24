"""What all functions share: running a kernel, and leaving calls to networkx."""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext
from functools import update_wrapper
from math import inf
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np
from networkx.utils.backends import _registered_algorithms
from numpy.typing import NDArray

import dgsuite
from dgsuite.base.errors import RunError
from dgsuite.faces import nx_backend
from dgsuite.faces.nx_backend.graph import ConvertedGraph, Held
from dgsuite.faces.nx_backend.offers import SEARCHED, WORTH

if TYPE_CHECKING:
    import xarray as xr

NETWORKX = tuple(map(int, re.findall(r"\d+", nx.__version__)[:2]))
"""The version that is installed, for what networkx's own functions do not tell."""

LEIDEN = NETWORKX >= (3, 7)
"""Whether networkx has Leiden's method itself."""

SAMPLES = NETWORKX >= (3, 6)
"""Whether networkx scales betweenness by the number of sources drawn, as `centrality` does."""

SQUARES = NETWORKX >= (3, 5)
"""Whether networkx leaves self-loops out of squares, as the kernel does."""

type How = Mapping[str, Any]
"""Arguments of a call beyond networkx's: see `Way`."""

PARALLEL = "parallel edges are merged, but here each counts"
LOOPS = "the graph has edges from a node to itself, which are dropped, but here they count"


def _names_an_attribute(value: Any) -> bool:
    return isinstance(value, Hashable) and not (isinstance(value, bool) or callable(value))


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < inf


def _counts(value: Any) -> bool:
    return isinstance(value, Integral) and value < MAX_ITERATIONS


def _is_a_distance(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | Integral) and value == value)


MAX_ITERATIONS = 1 << 62
"""Iterations, at most."""

RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "weight": (_names_an_attribute, "name of an edge attribute"),
    **dict.fromkeys(("alpha", "beta", "tol"), (_is_finite, "finite number")),
    "max_iter": (_counts, "whole number"),
    "cutoff": (_is_a_distance, "number"),
}
"""What arguments of these names are. Others are left to networkx, which takes more kinds of them, or knows
its errors.
"""


def of_networkx(name: str, *args: Any, **kwargs: Any) -> Any:
    """What networkx's own function returns or raises."""
    return _registered_algorithms[name].orig_func(*args, **kwargs)


def type_in_networkx(name: str, *args: Any) -> type:
    """The type of what networkx's own function returns, which may be another in another version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return type(of_networkx(name, *args))


class Offered:
    """A function of networkx that a kernel answers.

    Defaults are those of the networkx that is installed: a function has one only for what an earlier networkx
    lacks. Keyword arguments beyond networkx's own are those
    of `Way`.

    Attributes
    ----------
    parameters
        Of the function.
    theirs
        The signature of networkx's function; the function's own where networkx has none.
    further
        Names of networkx's parameters that the function lacks, as no kernel has the like; a later networkx
        may have more. A call that gives one another value than its default is left to networkx.
    """

    def __init__(self, function: Callable[..., Any], name: str = "", what: str = "") -> None:
        update_wrapper(self, function)
        self.__name__ = name or function.__name__
        self.__doc__ = what or function.__doc__
        self.parameters = inspect.signature(function).parameters
        known = _registered_algorithms.get(self.__name__)
        self.theirs = inspect.signature(known.orig_func if known else function)
        self.further = self.theirs.parameters.keys() - self.parameters.keys()
        both = {**self.parameters, **self.theirs.parameters}
        self._defaults = {
            name: parameter.default
            for name, parameter in both.items()
            if parameter.default is not parameter.empty
        }
        self._function = function
        self._reason: Callable[..., str | None] = lambda **_: None

    def _named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments of a call, by name."""
        return {**self._defaults, **self.theirs.bind_partial(*args).arguments, **kwargs}

    def _unknown(self, named: Mapping[str, Any]) -> str | None:
        """Why a call is left to networkx: an argument that only networkx knows is not its default."""
        for name in self.further:
            default = self._defaults.get(name, inspect.Parameter.empty)
            value = named.get(name, default)
            if value is not default and (type(value) is not type(default) or value != default):
                return f"{name}: only networkx knows this argument"
        return None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        named = self._named(args, kwargs)
        if why := self._unknown(named):
            raise NotImplementedError(why)
        for key in kwargs:
            if key not in self.theirs.parameters and key not in Way._fields:
                raise TypeError(
                    f"{self.__name__}() got an unexpected keyword argument {key!r}; those of the backend "
                    f"dgsuite are {', '.join(Way._fields)}"
                )
        try:
            return self._function(**{k: v for k, v in named.items() if k not in self.further})
        except OverflowError as error:
            # networkx may know the answer: Python's integers have no limit
            raise NotImplementedError(str(error)) from error

    def unless(self, reason: Callable[..., str | None]) -> Callable[..., str | None]:
        """Declare the function that says which arguments cannot be, and why."""
        self._reason = reason
        return reason

    def reason(self, *args: Any, **kwargs: Any) -> str | None:
        """The reason why the backend cannot answer a call; None if it can."""
        named = self._named(args, kwargs)
        for name, (fits, what) in RULES.items():
            if name in named and not fits(named[name]):
                return f"{name}: {named[name]!r} is no {what}"
        return self._unknown(named) or self._reason(**named)


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a function can be answered for these arguments; if not, the reason."""
    return getattr(nx_backend, name).reason(*args, **kwargs) or True


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a function is worth it on a graph of networkx; if not, the reason."""
    if name == "leiden_communities" and not LEIDEN:
        return True
    graph = args[0] if args else kwargs["G"]
    converted = bool((graph.__networkx_cache__ or {}).get("backends", {}).get("dgsuite"))
    threshold = settings().threshold
    least = WORTH[name][converted] if threshold is None else threshold
    if least == inf:
        return "networkx itself takes no longer than conversion"
    ends = sum(map(len, graph._adj.values()))  # in a tenth of the time of number_of_edges()
    size = len(graph) + (ends if graph.is_directed() else ends // 2)
    if size < least:
        return f"networkx itself is faster below {least} nodes and edges; this graph has {size}"
    if threshold is None and not _pays(size, _import_from(name, args, kwargs)):
        return "networkx itself takes no longer than what dgsuite has to import yet"
    return True


_asked = 0.0
"""What this process has asked for, as a multiple of what is worth the imports of dgsuite."""


def _pays(size: int, least: float) -> bool:
    """Whether a call needs no more imports, or is worth them together with those before it."""
    global _asked
    if "dgsuite.core.running.runner" in sys.modules:
        return True
    _asked += size / least
    return _asked >= 1


def _import_from(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> float:
    """From how many nodes and edges on a single call is worth the imports."""
    worth = WORTH[name].start
    if not name.endswith("betweenness_centrality"):
        return worth
    searches = kwargs.get("k", args[1] if len(args) > 1 else None)
    return max(worth, SEARCHED / searches) if searches else worth


def settings() -> Any:
    """The configuration."""
    return nx.config.backends.dgsuite


class Way(NamedTuple):
    """How a kernel runs: the configuration, and what a call says otherwise."""

    style: str | None
    client: Any
    clusters: int | None

    @classmethod
    def of(cls, how: How) -> Way:
        """The way of a call."""
        from dgsuite.partition.client.session import current_client

        known = settings()
        way = cls(**{key: how.get(key, known[key]) for key in cls._fields})
        if way.style == "serial":
            return way._replace(client=None)
        return way._replace(client=current_client(way.client))


def run(
    kernel: str,
    G: ConvertedGraph,
    how: How,
    *,
    weight: str | None = None,
    any_weight: bool = False,
    reverse: bool = False,
    loops: bool = False,
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
    loops
        Whether the kernel counts self-loops.
    parameters
        Of the kernel.

    Raises
    ------
    OverflowError
        Numbers grow too large for the kernel.
    """
    from dgsuite.partition.client.settings import gathered

    way = Way.of(how)
    wanted = Held(weight, reverse, way.clusters, way.client, loops)
    graph = G.graph(wanted, any_weight=any_weight)
    try:
        # networkx's results are in this process
        with nullcontext() if way.client is None else gathered():
            return dgsuite.run(kernel, graph, style=way.style, client=way.client, **parameters)
    except RunError as error:
        if isinstance(error.__cause__, OverflowError):
            raise error.__cause__ from error
        raise


def run_either(
    kernel: str, G: ConvertedGraph, how: How, weight: str | None, **parameters: Any
) -> xr.Dataset:
    """The dataset of a run of a kernel that takes weights, or does without where none are named."""
    weighted = weight is not None
    parameters["weighted"] = weighted
    return run(kernel, G, how, weight=weight, any_weight=not weighted, **parameters)


def values(kernel: str, G: ConvertedGraph, how: How, output: str, **parameters: Any) -> NDArray:
    """An output of a kernel that looks at no weights, which needs no run where there are no nodes."""
    if not len(G):
        return np.empty(0, np.int64)
    found: NDArray = run(kernel, G, how, any_weight=True, **parameters)[output].values
    return found
