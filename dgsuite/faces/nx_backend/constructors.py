"""networkx's constructors from tables, matrices and files, and its ways back.

The former make the graphs of `deferred`; the latter are networkx's own, on a graph of networkx.
"""

from __future__ import annotations

import io
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


def is_directed(create_using: Any) -> bool:
    """Whether a graph of the type is directed."""
    return create_using is nx.DiGraph


def _integers(values: NDArray) -> NDArray[np.int64] | None:
    """Integers as int64, if they fit."""
    if values.dtype.kind not in "iu" or (len(values) and int(values.max()) >= 1 << 63):
        return None
    return values.astype(np.int64, copy=False)


def _values(column: pd.Series) -> NDArray:
    """A column as int64, float64 or objects: the values that networkx gets from it."""
    if column.dtype.kind in "iuf" and isinstance(column.dtype, np.dtype):
        values = column.to_numpy()
        whole = _integers(values)
        if whole is not None:
            return whole
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
    df: Any,
    source: Hashable = "source",
    target: Hashable = "target",
    edge_attr: Any = None,
    create_using: Any = None,
    edge_key: Any = None,
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
    return made_of(nodes, first, second, is_directed(create_using), columns)


@from_pandas_edgelist.unless
def _(df: Any, edge_key: Any, create_using: Any, **_: Any) -> str | None:
    import pandas as pd

    if not isinstance(df, pd.DataFrame) or not df.columns.is_unique:
        return "df: no dataframe of pandas with a name for each column"
    return plain(create_using) if edge_key is None else "edge_key: no multigraphs are made"


@Offered
def from_scipy_sparse_array(
    A: Any, parallel_edges: bool = False, create_using: Any = None, edge_attribute: str = "weight"
) -> nx.Graph:
    """The graph of a sparse adjacency matrix."""
    if A.format == "csc":  # networkx goes from column to column
        source = A.indices
        target = np.repeat(np.arange(A.shape[1]), np.diff(A.indptr))
        values = A.data
    else:
        coo = A.tocoo()
        (source, target), values = coo.coords, coo.data
    return _of_matrix(A.shape[0], source, target, values, create_using, edge_attribute)


@from_scipy_sparse_array.unless
def _(A: Any, create_using: Any, **_: Any) -> str | None:
    if getattr(A, "format", None) not in ("csr", "csc", "coo"):
        return "A: matrices in the formats CSR, CSC and COO alone are read"
    return _square(A) or plain(create_using)


@Offered
def from_numpy_array(
    A: NDArray,
    parallel_edges: bool = False,
    create_using: Any = None,
    edge_attr: str | None = "weight",
    *,
    nodelist: Sequence[Hashable] | None = None,
    nonedge: float = 0,
) -> nx.Graph:
    """The graph of a dense adjacency matrix, with a value, perhaps NaN, that is no edge."""
    edges = ~np.isnan(A) if nonedge != nonedge else np.not_equal(A, nonedge)
    source, target = edges.nonzero()
    return _of_matrix(len(A), source, target, A[source, target], create_using, edge_attr, nodelist)


@from_numpy_array.unless
def _(A: Any, create_using: Any, nodelist: Any, nonedge: Any, **_: Any) -> str | None:
    if not isinstance(A, np.ndarray):
        return "A: no array"
    if not isinstance(nonedge, int | float):
        return "nonedge: no number"
    if nodelist is not None and (len(nodelist) != len(A) or len({*nodelist}) < len(A)):
        return "nodelist: not as many nodes as rows"
    return _square(A) or plain(create_using)


def _square(A: Any) -> str | None:
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        return "A: not square"
    fits = A.dtype in (np.float64, np.float32, np.float16) or A.dtype.kind in "iu"
    return None if fits and A.dtype != np.uint64 else f"A: values of the type {A.dtype}"


def _of_matrix(
    n: int,
    source: NDArray,
    target: NDArray,
    values: NDArray,
    create_using: Any,
    name: Any,
    nodes: Sequence[Hashable] | None = None,
) -> nx.Graph:
    exact = np.float64 if values.dtype.kind == "f" else np.int64
    columns = {} if name is None or name is False else {name: values.astype(exact)}
    ends = source.astype(np.int64), target.astype(np.int64)
    return made_of(
        [*(range(n) if nodes is None else nodes)], *ends, is_directed(create_using), columns
    )


@Offered
def read_edgelist(
    path: Any,
    comments: str | None = "#",
    delimiter: str | None = None,
    create_using: Any = None,
    nodetype: Any = None,
    data: Any = True,
    edgetype: Any = None,
    encoding: str = "utf-8",
) -> nx.Graph:
    """The graph of a text file with an edge in each line.

    Lines with other fields than most are left to networkx, which knows what is wrong with them.
    """
    start = path.tell()
    try:
        return _read(path, comments, delimiter, create_using, nodetype, data, encoding)
    except NotImplementedError:
        path.seek(start)
        raise


def _read(
    path: Any,
    comments: Any,
    delimiter: Any,
    create_using: Any,
    nodetype: Any,
    data: Any,
    encoding: str,
) -> nx.Graph:
    import pandas as pd

    named = [] if isinstance(data, bool) else list(data)
    # floats are read as texts, since pandas may round their last digit
    whole = {0: nodetype is int, 1: nodetype is int}
    whole |= {2 + k: kind is int for k, (_, kind) in enumerate(named)}
    types: dict[Any, Any] = {field: np.int64 if number else str for field, number in whole.items()}
    try:
        frame = pd.read_csv(
            io.BytesIO(path.read()),
            sep=r"\s+" if delimiter is None else delimiter,
            lineterminator=None if delimiter is None else "\n",
            comment=comments,
            header=None,
            dtype=types,
            usecols=[0, 1] if data is False else None,
            keep_default_na=False,
            na_filter=False,
            quoting=3,
            encoding=encoding,
        )
    except (ValueError, pd.errors.ParserError, OverflowError) as error:  # also no lines at all
        raise NotImplementedError(f"networkx reads the file line by line: {error}") from error
    if frame.shape[1] != len(types):
        raise NotImplementedError(f"lines have {frame.shape[1]} fields, {len(types)} are named")
    nodes, first, second = _numbered(frame[0], frame[1])
    try:
        columns = {
            name: _values(frame[2 + k]) if kind is int else np.array([*map(float, frame[2 + k])])
            for k, (name, kind) in enumerate(named)
        }
    except ValueError as error:
        raise NotImplementedError(f"an attribute is no number, or missing: {error}") from error
    # networkx passes over lines with one field, and splits at white space of any kind
    if nodetype is not int and not all(
        node and len(str(node).split(delimiter)) == 1 for node in nodes
    ):
        raise NotImplementedError("a line has one field, or blanks of another kind")
    return made_of(nodes, first, second, is_directed(create_using), columns)


@read_edgelist.unless
def _(
    path: Any, comments: Any, delimiter: Any, create_using: Any, nodetype: Any, data: Any, **_: Any
) -> str | None:
    if not isinstance(path, io.BufferedIOBase) or not path.seekable():  # networkx has opened it
        return "path: no file, or one that cannot be read again"
    for name, text in (("comments", comments), ("delimiter", delimiter)):
        if text is not None and (not isinstance(text, str) or len(text) != 1):
            return f"{name}: no single character"
    if nodetype not in (None, int, str):
        return "nodetype: nodes are integers or texts"
    if not isinstance(data, bool) and any(kind not in (int, float) for _, kind in data):
        return "data: attributes are integers or floats"
    return plain(create_using)


@Offered
def read_weighted_edgelist(
    path: Any,
    comments: str | None = "#",
    delimiter: str | None = None,
    create_using: Any = None,
    nodetype: Any = None,
    encoding: str = "utf-8",
) -> nx.Graph:
    """The graph of a text file with an edge and its weight in each line."""
    how = {"comments": comments, "delimiter": delimiter, "nodetype": nodetype, "encoding": encoding}
    weights = (("weight", float),)
    return nx.read_edgelist(path, create_using=create_using, data=weights, **how, backend="dgsuite")


def _export(name: str) -> Offered:
    def function(G: ConvertedGraph, **arguments: Any) -> Any:
        return of_networkx(name, convert_to_nx(G), **arguments)

    function.__name__ = name
    function.__signature__ = signature(_registered_algorithms[name].orig_func)  # type: ignore[attr-defined]
    return Offered(function)


to_numpy_array, to_pandas_edgelist, to_scipy_sparse_array = map(_export, EXPORTS)
