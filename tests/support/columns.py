"""Kinds of columns, the ways in, and what is right: the facts of the matrix that the page "Columns" shows.

A way is tried with a kind if what the way takes can hold it: a column of pandas holds all, Arrow and what is
made of it (Parquet, Delta, Polars, DuckDB) what its types can express, a list Python's values, an array of
NumPy numbers, and text what is written as it is.
"""

from __future__ import annotations

import datetime
import decimal
import importlib.util
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp

from dgsuite import Graph

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NULLABLE = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]
NUMBERS = [20, 3, 100]
HALVES = [1.5, 2.0, 0.25]
BEYOND = [2**63 + 1, 3, 2**64 - 1]
NAMES = ["cid", "Ann", "bob"]
TRUTHS = [True, False, True]
DAYS = [datetime.date(2020, 1, 3), datetime.date(2019, 5, 1), datetime.date(2021, 1, 1)]
TIMES = [pd.Timestamp(day) for day in DAYS]
THERE = [each.tz_localize("UTC") for each in TIMES]
SPANS = [pd.Timedelta(days=each) for each in (3, 1, 2)]
PRICES = [decimal.Decimal(each) for each in ("3.10", "2.20", "10.00")]
UUIDS = [uuid.UUID(int=each) for each in (7, 3, 2**90)]
PAIRS = [(1, 2), (0, 5), (1, 10)]


def objects(values):
    """A column of Python's objects."""
    found = np.empty(len(values), object)
    for i, value in enumerate(values):
        found[i] = value
    return pd.Series(found)


def typed(dtype):
    """Makes columns of a dtype of pandas."""
    return lambda values: pd.Series(values, dtype=dtype)


def of_arrow(kind):
    """Makes columns of pandas that Arrow holds."""
    return lambda values: pd.Series(pa.array(values, kind), dtype=pd.ArrowDtype(kind))


def dictionary(kind):
    """The same, of codes and a dictionary."""

    def make(values):
        coded = pa.array(values, kind).dictionary_encode()
        return pd.Series(coded, dtype=pd.ArrowDtype(coded.type))

    return make


def category(make=pd.Series):
    """Makes categorical columns."""
    return lambda values: pd.Series(
        pd.Categorical(make(values), categories=make([v for v in values if v is not None]).unique())
    )


def in_decimals(values):
    """A column of decimals."""
    return objects([None if value is None else decimal.Decimal(value) for value in values])


@dataclass(frozen=True)
class Kind:
    """A kind of columns.

    Attributes
    ----------
    family
        The row of the page.
    values
        Three values, of Python.
    make
        Makes a column of pandas.
    ids, numbers
        Whether the values are right as identifiers, and as weights. Else they are refused.
    held
        What else can hold them: "arrow", "lists" (lists have Python's values), "numpy", "text".
    nulls
        Whether a column of this kind may lack a value.
    """

    family: str
    values: list[Any]
    make: Callable[[list[Any]], pd.Series]
    ids: bool = True
    numbers: bool = False
    held: frozenset[str] = frozenset({"arrow", "lists"})
    nulls: bool = True

    def holds(self, holder: str) -> bool:
        """Whether what a way takes can hold the kind."""
        return holder == "pandas" or holder in self.held


ALL = frozenset({"arrow", "lists", "numpy", "text"})
OWN = frozenset({"lists"})
PLAIN = frozenset({"arrow", "lists", "text"})
ARRAY = frozenset({"arrow", "lists", "numpy"})


def _of(family: str, values: list[Any], makes: dict[str, Any], **options: Any) -> Iterator[Any]:
    """Kinds of a family, by the name of each."""
    for name, make in makes.items():
        yield name, Kind(family, values, make, **options)


def _kinds() -> Iterator[tuple[str, Kind]]:
    plain: dict[str, Any] = {"numbers": True, "nulls": False}
    integers = {each: typed(each) for each in INTEGERS}
    yield from _of("integers", NUMBERS, {"int64": integers.pop("int64")}, held=ALL, **plain)
    yield from _of("integers", NUMBERS, integers, held=ARRAY, **plain)
    sparse = {"sparse integers": typed("Sparse[int64]")}
    yield from _of("integers", NUMBERS, sparse, held=OWN, **plain)
    makes = {each: typed(each) for each in NULLABLE}
    yield from _of("nullable integers", NUMBERS, makes, numbers=True)
    makes = {f"{each}[pyarrow]": of_arrow(getattr(pa, each)()) for each in INTEGERS}
    yield from _of("integers of Arrow", NUMBERS, makes, numbers=True)
    family = "integers from 2^63 to 2^64"
    yield from _of(family, BEYOND, {"beyond 2^63": typed("uint64")}, **plain)
    makes = {"UInt64 beyond 2^63": typed("UInt64")}
    makes["uint64[pyarrow] beyond 2^63"] = of_arrow(pa.uint64())
    yield from _of(family, BEYOND, makes, numbers=True)
    short = {each: typed(each) for each in ("float32", "float64")}
    family = "floats, all of them whole numbers"
    makes = {f"whole {name}": make for name, make in short.items()}
    yield from _of(family, NUMBERS, makes, held=ARRAY, numbers=True)
    makes = {"whole Float64": typed("Float64"), "whole double[pyarrow]": of_arrow(pa.float64())}
    yield from _of(family, NUMBERS, makes, numbers=True)
    floats: dict[str, Any] = {"ids": False, "numbers": True}
    yield from _of("other floats", HALVES, short, held=ARRAY, **floats)
    makes = {each: typed(each) for each in ("Float32", "Float64")}
    makes |= {f"{each}[pyarrow]": of_arrow(each) for each in (pa.float32(), pa.float64())}
    makes |= {"dictionary of doubles": dictionary(pa.float64()), "categorical doubles": category()}
    yield from _of("other floats", HALVES, makes, **floats)
    makes = {"float16": typed("float16"), "sparse doubles": typed("Sparse[float64]")}
    yield from _of("other floats", HALVES, makes, held=OWN, **floats)
    family = "categories and dictionaries of integers"
    yield from _of(family, NUMBERS, {"categorical integers": category()}, **plain)
    makes = {"categorical Int64": category(typed("Int64"))}
    makes |= {"categorical int64[pyarrow]": category(of_arrow(pa.int64()))}
    makes |= {"dictionary of integers": dictionary(pa.int64())}
    yield from _of(family, NUMBERS, makes, numbers=True)
    makes = {"objects": objects}
    yield from _of("integers as objects", NUMBERS, makes, held=PLAIN, numbers=True)
    makes = {"whole decimals": in_decimals, "whole decimal128[pyarrow]": of_arrow(pa.decimal128(9))}
    yield from _of("decimals, all of them whole numbers", NUMBERS, makes, numbers=True)
    kind = pa.decimal128(9, 2)
    makes = {"Decimal": objects, "decimal128[pyarrow]": of_arrow(kind)}
    makes |= {"dictionary of decimals": dictionary(kind)}
    yield from _of("other decimals", PRICES, makes, numbers=True)
    makes = {each: typed(each) for each in ("str", "string", "string[python]")}
    for each in ("string", "large_string", "string_view"):
        makes[f"{each}[pyarrow]"] = of_arrow(getattr(pa, each)())
    makes |= {"text in objects": objects, "dictionary of text": dictionary(pa.string())}
    yield from _of("text", NAMES, makes | {"categorical text": category()}, held=PLAIN)
    makes = {"bytes": objects, "binary[pyarrow]": of_arrow(pa.binary())}
    yield from _of("bytes", [b"c", b"\0a", b"bb"], makes)
    yield from _of("dates", DAYS, {"dates": objects, "date32[pyarrow]": of_arrow(pa.date32())})
    for name, values, zone in (("times", TIMES, None), ("times with a zone", THERE, "UTC")):
        makes = {name: typed("datetime64[ns, UTC]" if zone else "datetime64[ns]")}
        yield from _of(name, values, makes)
        yield from _of(name, values, {f"{name}, of Arrow": of_arrow(pa.timestamp("ns", zone))})
    yield from _of("UUIDs", UUIDS, {"UUID": objects}, held=OWN)
    yield from _of("tuples", PAIRS, {"tuples": objects}, held=OWN)
    yield from _of("truth values", TRUTHS, {"bool": typed("bool")}, ids=False, nulls=False)
    makes = {"boolean": typed("boolean"), "bool[pyarrow]": of_arrow(pa.bool_())}
    yield from _of("truth values", TRUTHS, makes, ids=False)
    makes = {"timedelta64": typed("timedelta64[ns]")}  # DuckDB makes intervals of them
    yield from _of("spans of time", SPANS, makes, held=frozenset(), ids=False)
    lists = [[1], [2], [3]]
    yield from _of("lists", lists, {"lists": objects}, held=OWN, ids=False)
    yield from _of("lists", lists, {"list[pyarrow]": of_arrow(pa.list_(pa.int64()))}, ids=False)
    mixed = [1, "a", (2, 3)]
    yield from _of("values of several types", mixed, {"mixed": objects}, held=OWN, ids=False)


KINDS: dict[str, Kind] = dict(_kinds())


def framed(make: Callable[[list[Any]], pd.Series], ends: list[Any], weights: Any) -> pd.DataFrame:
    """Edges from the first value to the second, from there to the third, and from the first to it."""
    a, b, c = ends
    return pd.DataFrame({"source": make([a, b, a]), "target": make([b, c, c]), "weight": weights})


@dataclass(frozen=True)
class Way:
    """A way in.

    Attributes
    ----------
    name
        Of the constructor, and what it takes.
    holder
        What has to hold the columns: see `Kind.held`; "pandas" holds all.
    make
        From a frame of edges, a folder, and options, what is called to make a graph of it. It fails where the
        library in between does not take the columns.
    roles
        What the columns may be: "ends", "weights", "nodes".
    names
        How errors name the columns of ends and of weights.
    nulls
        Whether a row may lack a value.
    """

    name: str
    holder: str
    make: Callable[[pd.DataFrame, Path, dict[str, Any]], Callable[[], Graph]]
    roles: tuple[str, ...] = ("ends", "weights")
    names: tuple[str, str] = ("src", "weights")
    nulls: bool = True


def _table(of):
    """A table of some library, made of a frame."""

    def make(frame, folder, how):
        table = of(frame)
        return lambda: Graph.from_dataframe(table, **how)

    return make


def _dask(frame):
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(frame, npartitions=1)


def _polars(frame):
    import polars as pl

    return pl.from_arrow(pa.Table.from_pandas(frame))


def _duckdb(frame):
    import duckdb

    return duckdb.from_arrow(pa.Table.from_pandas(frame)).fetch_arrow_table()


def _frame(frame, folder, how):
    return partial(Graph.from_edges, frame, **how)


def _arrow(column):
    return pa.Table.from_pandas(column.to_frame())[0]


def _columns(of):
    """Columns, made of those of a frame."""

    def make(frame, folder, how):
        source, target, weight = (of(frame[name]) for name in frame)
        return lambda: Graph.from_edges(source, target, weights=weight, **how)

    return make


def _bag(frame, folder, how):
    items = list(zip(*(frame[name].tolist() for name in frame), strict=True))
    return lambda: Graph.from_bag(items, **how)


def _file(name, write, read):
    """A file that is written and read."""

    def make(frame, folder, how):
        write(frame, folder / name)
        some = {key: how[key] for key in how if key != "missing" or name != "edges.txt"}
        return lambda: read(folder / name, **some)

    return make


def _delta(frame, path):
    import deltalake

    deltalake.write_deltalake(path, frame, mode="overwrite")


def _networkx(frame, folder, how):
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(zip(*(frame[name].tolist() for name in frame), strict=True))
    how = {name: value for name, value in how.items() if name not in ("relabel", "directed")}
    return lambda: Graph.from_networkx(graph, **how)


def _igraph(frame, folder, how):
    import igraph

    names = list(dict.fromkeys([*frame.source.tolist(), *frame.target.tolist()]))
    ends = [[names.index(each) for each in frame[end].tolist()] for end in ("source", "target")]
    graph = igraph.Graph(len(names), [*zip(*ends, strict=True)], directed=True)
    graph.vs["name"], graph.es["weight"] = names, frame.weight.tolist()
    how = {name: value for name, value in how.items() if name not in ("relabel", "directed")}
    return lambda: Graph.from_igraph(graph, **how)


def _matrix(of, read):
    """A matrix of the weights of frames whose ends are 0, 1 and 2."""

    def make(frame, folder, how):
        weights = frame.weight.to_numpy()
        ends = (frame.source.to_numpy(), frame.target.to_numpy())
        given = of(sp.coo_array((weights, ends), shape=(3, 3)), folder)
        return lambda: read(given, directed=True, client=None)

    return make


def _graphblas(matrix, folder):
    import graphblas as gb

    return gb.io.from_scipy_sparse(matrix)


def _market(matrix, folder):
    import scipy.io

    wide = matrix.astype({"i": np.int64, "u": np.uint64, "f": np.float64}[matrix.dtype.kind])
    scipy.io.mmwrite(folder / "edges.mtx", wide)
    return folder / "edges.mtx"


def _edge_index(frame, folder, how):
    ends, weights = (frame.source.to_numpy(), frame.target.to_numpy()), frame.weight.to_numpy()
    return lambda: Graph.from_edge_index(ends, weights=weights, directed=True, client=None)


def _nodes(column):
    """Nodes that a column names, of which the first has a loop."""

    def make(frame, folder, how):
        nodes = column(frame.source)
        return lambda: Graph.from_edges([], [], nodes=nodes, **how)

    return make


COLUMN, PARTITION = ("column 'source'", "column 'weight'"), "partition 0: column"
LAZY = (f"{PARTITION} 'source'", f"{PARTITION} 'weight'")
NODES: dict[str, Any] = {"roles": ("nodes",), "names": ("nodes", "")}
LABELLED: dict[str, Any] = {"roles": ("weights",)}
WEIGHTS: dict[str, Any] = {"roles": ("weights",), "nulls": False}
TO_PARQUET, TO_CSV = pd.DataFrame.to_parquet, partial(pd.DataFrame.to_csv, index=False)
TO_TEXT = partial(TO_CSV, header=False, sep=" ")
PARQUET = _file("edges.parquet", TO_PARQUET, Graph.from_parquet)
PARQUET_LIST = _file("edges.parquet", TO_PARQUET, Graph.read_edge_list)
WAYS = [
    Way("from_dataframe, of pandas", "pandas", _table(lambda frame: frame), names=COLUMN),
    Way("from_dataframe, of Dask", "pandas", _table(_dask), names=LAZY),
    Way("from_edges, a frame", "pandas", _frame, names=COLUMN),
    Way("from_edges, columns", "pandas", _columns(lambda column: column)),
    Way("from_edges, arrays", "numpy", _columns(pd.Series.to_numpy), nulls=False),
    Way("from_edges, an index", "pandas", _columns(pd.Index)),
    Way("nodes=, a column", "pandas", _nodes(lambda column: column), **NODES),
    Way("from_dataframe, of Arrow", "arrow", _table(pa.Table.from_pandas), names=COLUMN),
    Way("from_dataframe, of Polars", "arrow", _table(_polars), names=COLUMN),
    Way("from_dataframe, of DuckDB", "arrow", _table(_duckdb), names=COLUMN),
    Way("from_edges, columns of Arrow", "arrow", _columns(_arrow)),
    Way("from_parquet", "arrow", PARQUET, names=LAZY),
    Way("read_edge_list, of Parquet", "arrow", PARQUET_LIST, names=LAZY),
    Way("from_delta", "arrow", _file("edges", _delta, Graph.from_delta), names=LAZY),
    Way("nodes=, a column of Arrow", "arrow", _nodes(pa.array), **NODES),
    Way("from_edges, lists", "lists", _columns(pd.Series.tolist)),
    Way("from_bag", "lists", _bag),
    Way("from_networkx", "lists", _networkx, **LABELLED),
    Way("from_igraph", "lists", _igraph, **LABELLED),
    Way("nodes=, a list", "lists", _nodes(pd.Series.tolist), **NODES),
    Way("from_scipy", "numpy", _matrix(lambda matrix, _: matrix, Graph.from_scipy), **WEIGHTS),
    Way("from_graphblas", "numpy", _matrix(_graphblas, Graph.from_graphblas), **WEIGHTS),
    Way("from_edge_index", "numpy", _edge_index, **WEIGHTS),
    Way("read_matrix_market", "numpy", _matrix(_market, Graph.read_matrix_market), **WEIGHTS),
    Way("from_csv", "text", _file("edges.csv", TO_CSV, Graph.from_csv), names=LAZY),
    Way("read_edge_list", "text", _file("edges.txt", TO_TEXT, Graph.read_edge_list), nulls=False),
]
PACKAGES = {"from_dataframe, of Polars": "polars", "from_dataframe, of DuckDB": "duckdb"}
PACKAGES["from_graphblas"] = "graphblas"
"""Ways that need packages which the tests may lack."""


def ways(kind: Kind, role: str) -> Iterator[Way]:
    """The ways in for a kind of columns in some role, as far as packages are installed."""
    for way in WAYS:
        package = PACKAGES.get(way.name)
        there = package is None or importlib.util.find_spec(package) is not None
        if role in way.roles and kind.holds(way.holder) and there:
            yield way


PAGE = Path(__file__).parents[2] / "docs" / "howto" / "columns.md"
BEGIN, END = "<!-- the table begins -->\n", "<!-- the table ends -->\n"
HOLDERS = {
    "pandas": "pandas, Dask",
    "arrow": "Arrow, Polars, DuckDB, Parquet, Delta",
    "lists": "lists, bags",
    "numpy": "matrices, edge indices",
    "text": "CSV, text",
}


def page() -> str:
    """The table of the page: for each family of kinds, what it can be in what holds it."""
    rows = ["| column of | " + " | ".join(HOLDERS.values()) + " | without a value |"]
    rows.append("|---" * (len(HOLDERS) + 2) + "|")
    for family in dict.fromkeys(kind.family for kind in KINDS.values()):
        kinds = [kind for kind in KINDS.values() if kind.family == family]
        (right,) = {(kind.ids, kind.numbers) for kind in kinds}
        what = {(True, True): "name, weight", (True, False): "name", (False, True): "weight"}
        cells = []
        for holder in HOLDERS:
            holds = any(kind.holds(holder) for kind in kinds)
            role = what.get(right, "refused")
            role = role.removeprefix("name, ") if holder == "numpy" else role
            cells.append(role if holds else "-")
        nulls = any(kind.nulls for kind in kinds) and right != (False, False)
        cells.append("refused, or dropped" if nulls else "-")
        rows.append(f"| {family} | {' | '.join(cells)} |")
    return BEGIN + "\n".join(rows) + "\n" + END


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + page() + rest.partition(END)[2])
