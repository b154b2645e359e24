"""Functions that make something else of a graph, such as a table: networkx's own, on a graph of networkx."""

from __future__ import annotations

from inspect import signature
from typing import Any

from networkx.utils.backends import _registered_algorithms

from dgsuite.faces.nx_backend.calls import Offered, of_networkx
from dgsuite.faces.nx_backend.graph import ConvertedGraph, convert_to_nx
from dgsuite.faces.nx_backend.offers import EXPORTS


def _export(name: str) -> Offered:
    def function(G: ConvertedGraph, **arguments: Any) -> Any:
        return of_networkx(name, convert_to_nx(G), **arguments)

    function.__name__ = name
    function.__signature__ = signature(_registered_algorithms[name].orig_func)  # type: ignore[attr-defined]
    return Offered(function)


to_numpy_array, to_pandas_edgelist, to_scipy_sparse_array = map(_export, EXPORTS)
