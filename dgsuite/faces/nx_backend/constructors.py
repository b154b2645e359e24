"""networkx's constructors from tables, matrices and files, and its ways back.

The former make the graphs of `deferred`; the latter are networkx's own, on a graph of networkx.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from networkx.utils.backends import _registered_algorithms
from numpy.typing import NDArray

from dgsuite.faces.nx_backend.calls import Offered, of_networkx
from dgsuite.faces.nx_backend.deferred import made_of
from dgsuite.faces.nx_backend.graph import ConvertedGraph, convert_to_nx
from dgsuite.faces.nx_backend.offers import EXPORTS

if TYPE_CHECKING:
    import pandas as pd

PLAIN = "graphs of the types nx.Graph and nx.DiGraph alone are made"


def plain(create_using: Any) -> str | None:
    """Why a graph of a type cannot be made, if so."""
    return None if create_using in (None, nx.Graph, nx.DiGraph) else f"create_using: {PLAIN}"


def _values(column: pd.Series) -> NDArray:
    """A column as int64, float64 or objects: the values that networkx gets from it."""
    if column.dtype.kind in "iuf" and isinstance(column.dtype, np.dtype):
        values = column.to_numpy()
        if values.dtype.kind in "iu" and int(values.max(initial=0)) < 1 << 63:
            return values.astype(np.int64, copy=False)
        if values.dtype.kind == "f" and values.dtype.itemsize <= 8:
            return values.astype(np.float64)
    found = np.empty(len(column), object)
    found[:] = list(column)
    return found


def _numbered(source: pd.Series, target: pd.Series) -> tuple[list[Hashable], NDArray, NDArray]:
    """The nodes in the order in which the rows name them, and both columns as places among them."""
    import pandas as pd

    ends = [_values(source), _values(target)]
    if not len(source):
        return [], *np.empty((2, 0), np.int64)
    if any(values.dtype.kind == "f" for values in ends):
        raise NotImplementedError("nodes are integers or objects; floats are left to networkx")
    if ends[0].dtype != ends[1].dtype:
        ends = [values.astype(object) for values in ends]
    both = np.stack(ends, axis=1).ravel()
    if both.dtype == object and pd.isna(both).any():
        raise NotImplementedError("a node is missing")
    try:
        codes, nodes = pd.factorize(both)
    except TypeError as error:
        raise NotImplementedError(str(error)) from error
    codes = codes.astype(np.int64).reshape(-1, 2)
    return nodes.tolist(), codes[:, 0], codes[:, 1]


@Offered
def from_pandas_edgelist(
    df: Any, source: Hashable, target: Hashable, edge_attr: Any, create_using: Any
) -> nx.Graph:
    """The graph of a table with an edge in each row."""
    if edge_attr is None:
        names: Sequence[Hashable] = []
    elif edge_attr is True:
        names = [column for column in df.columns if column not in (source, target)]
    else:
        names = edge_attr if isinstance(edge_attr, list | tuple) else [edge_attr]
    known = set(df.columns)
    if not {source, target, *names} <= known or (edge_attr is not None and not names):
        raise NotImplementedError("columns are missing, of which networkx says more")
    nodes, first, second = _numbered(df[source], df[target])
    columns: Any = {name: _values(df[name]) for name in names}
    return made_of(nodes, first, second, create_using is nx.DiGraph, columns)


@from_pandas_edgelist.unless
def _(df: Any, create_using: Any, **_: Any) -> str | None:
    import pandas as pd

    if not isinstance(df, pd.DataFrame) or not df.columns.is_unique:
        return "df: no dataframe of pandas with a name for each column"
    return plain(create_using)


@Offered
def from_scipy_sparse_array(
    A: Any, parallel_edges: bool, create_using: Any, edge_attribute: Any
) -> nx.Graph:
    """The graph of a sparse adjacency matrix."""
    if A.format == "csc":  # networkx goes from column to column
        source = A.indices
        target = np.repeat(np.arange(A.shape[1]), np.diff(A.indptr))
        values = A.data
    else:
        coo = A.tocoo()
        (source, target), values = coo.coords, coo.data
    exact = np.float64 if values.dtype.kind == "f" else np.int64
    columns = {} if edge_attribute in (None, False) else {edge_attribute: values.astype(exact)}
    ends = source.astype(np.int64), target.astype(np.int64)
    return made_of([*range(A.shape[0])], *ends, create_using is nx.DiGraph, columns)


@from_scipy_sparse_array.unless
def _(A: Any, create_using: Any, **_: Any) -> str | None:
    if getattr(A, "format", None) not in ("csr", "csc", "coo"):
        return "A: matrices in the formats CSR, CSC and COO alone are read"
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        return "A: not square"
    if A.dtype.kind not in "iuf" or A.dtype.itemsize > 8 or A.dtype == np.uint64:
        return f"A: values of the type {A.dtype}"
    return plain(create_using)


def _export(name: str) -> Offered:
    def function(G: ConvertedGraph, **arguments: Any) -> Any:
        return of_networkx(name, convert_to_nx(G), **arguments)

    function.__signature__ = signature(_registered_algorithms[name].orig_func)  # type: ignore[attr-defined]
    return Offered(function, name)


to_numpy_array, to_pandas_edgelist, to_scipy_sparse_array = map(_export, EXPORTS)
