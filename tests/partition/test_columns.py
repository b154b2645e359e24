"""Columns of every kind by every way in: labels are the values that went in, or there is one clear error."""

from __future__ import annotations

import datetime
import decimal
import re
import uuid

import dask
import dask.array as da
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dgsuite import Graph, InputError
from dgsuite.partition.labels.columns import column, numbers

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NULLABLE = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]
NAMES = ["cid", "Ann", "bob"]
DAYS = [datetime.date(2020, 1, 3), datetime.date(2019, 5, 1), datetime.date(2021, 1, 1)]
TIMES = [pd.Timestamp(day) for day in DAYS]
THERE = [each.tz_localize("UTC") for each in TIMES]
PRICES = [decimal.Decimal(each) for each in ("3.10", "2.20", "10.00")]
UUIDS = [uuid.UUID(int=each) for each in (7, 3, 2**90)]
PAIRS = [(1, 2), (0, 5), (1, 10)]


def in_decimal(value):
    """A value as a decimal, if there is one."""
    return None if value is None else decimal.Decimal(value)


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


NUMBERS = [20, 3, 100]
KINDS = {
    **{each: (NUMBERS, typed(each)) for each in INTEGERS},
    **{each: (NUMBERS, typed(each)) for each in NULLABLE},
    "beyond 2^63": ([2**63 + 1, 3, 2**64 - 1], typed("uint64")),
    "UInt64 beyond 2^63": ([2**63 + 1, 3, 2**64 - 1], typed("UInt64")),
    "uint64[pyarrow] beyond 2^63": ([2**63 + 1, 3, 2**64 - 1], of_arrow(pa.uint64())),
    **{f"{each}[pyarrow]": (NUMBERS, of_arrow(getattr(pa, each)())) for each in INTEGERS},
    "dictionary of integers": (NUMBERS, dictionary(pa.int64())),
    "categorical integers": (NUMBERS, category()),
    "categorical Int64": (NUMBERS, category(typed("Int64"))),
    "categorical int64[pyarrow]": (NUMBERS, category(of_arrow(pa.int64()))),
    "sparse integers": (NUMBERS, typed("Sparse[int64]")),
    "objects": (NUMBERS, objects),
    "whole doubles": (NUMBERS, typed("float64")),
    "whole floats": (NUMBERS, typed("float32")),
    "whole Float64": (NUMBERS, typed("Float64")),
    "whole double[pyarrow]": (NUMBERS, of_arrow(pa.float64())),
    "whole decimals": (NUMBERS, lambda values: objects([*map(in_decimal, values)])),
    "whole decimal128[pyarrow]": (NUMBERS, of_arrow(pa.decimal128(9))),
    "whole decimal256[pyarrow]": (NUMBERS, of_arrow(pa.decimal256(50, 2))),
    "text": (NAMES, typed("str")),
    "text in objects": (NAMES, objects),
    "string": (NAMES, typed("string")),
    "string[python]": (NAMES, typed("string[python]")),
    "string[pyarrow]": (NAMES, of_arrow(pa.string())),
    "large_string[pyarrow]": (NAMES, of_arrow(pa.large_string())),
    "string_view[pyarrow]": (NAMES, of_arrow(pa.string_view())),
    "dictionary of text": (NAMES, dictionary(pa.string())),
    "categorical text": (NAMES, category()),
    "bytes": ([b"c", b"\0a", b"bb"], objects),
    "binary[pyarrow]": ([b"c", b"\0a", b"bb"], of_arrow(pa.binary())),
    "dates": (DAYS, objects),
    "date32[pyarrow]": (DAYS, of_arrow(pa.date32())),
    "with a zone": (THERE, typed("datetime64[ns, UTC]")),
    "timestamp[pyarrow] with a zone": (THERE, of_arrow(pa.timestamp("ns", "UTC"))),
    "Decimal": (PRICES, objects),
    "decimal128[pyarrow]": (PRICES, of_arrow(pa.decimal128(9, 2))),
    "dictionary of decimals": (PRICES, dictionary(pa.decimal128(9, 2))),
    "UUID": (UUIDS, objects),
    "tuples": (PAIRS, objects),
}
"""Of identifiers: three values, and what makes a column of them."""

REFUSED = {
    "float64": ([1.5, 2.0, 3.0], typed("float64")),
    "Float64": ([1.5, 2.0, 3.0], typed("Float64")),
    "double[pyarrow]": ([1.5, 2.0, 3.0], of_arrow(pa.float64())),
    "dictionary of doubles": ([1.5, 2.0, 3.0], dictionary(pa.float64())),
    "bool": ([True, False, True], typed("bool")),
    "boolean": ([True, False, True], typed("boolean")),
    "bool[pyarrow]": ([True, False, True], of_arrow(pa.bool_())),
    "datetime64": (TIMES, typed("datetime64[ns]")),
    "timestamp[pyarrow]": (TIMES, of_arrow(pa.timestamp("ns"))),
    "lists": ([[1], [2], [3]], objects),
    "list[pyarrow]": ([[1], [2], [3]], of_arrow(pa.list_(pa.int64()))),
}
"""Of what is no identifier."""

ODD = {"tuples", "UUID", "lists", "sparse integers", "sparse doubles", "float16"}
"""What no column of Arrow, and so no file, can hold."""

PLAIN = {"int64", "text", "text in objects", "objects"}
"""What text holds as it is."""


def cases(kinds):
    """Kinds of columns; integers of other widths repeat what those of 64 bits show."""
    narrow = re.compile(r"u?int(8|16|32)", re.IGNORECASE)
    return [
        pytest.param(kind, marks=pytest.mark.long) if narrow.match(kind) else kind for kind in kinds
    ]


def framed(make, values):
    """Edges from the first value to the second, from there to the third, and from the first to it."""
    a, b, c = values
    frame = pd.DataFrame({"source": make([a, b, a]), "target": make([b, c, c])})
    return frame.assign(weight=[1.5, 2.5, 3.5])


def ways(kind, frame, tmp_path, **more):
    """The ways in for a table: how errors name the column of sources, and a call that makes a graph."""
    how = {"directed": True, "client": None, "relabel": True, **more}
    table = {**how, "weight": "weight"}
    by_column = "column 'source'"
    with dask.config.set({"dataframe.convert-string": False}):
        lazy = dd.from_pandas(frame, npartitions=1)
    source, target, weight = (frame[name] for name in frame.columns)
    yield "pandas", by_column, lambda: Graph.from_dataframe(frame, **table)
    yield "dask", f"partition 0: {by_column}", lambda: Graph.from_dataframe(lazy, **table)
    yield "frame", by_column, lambda: Graph.from_edges(frame, **table)
    yield "series", "src", lambda: Graph.from_edges(source, target, weights=weight, **how)
    yield "index", "src", lambda: Graph.from_edges(pd.Index(source), target, weights=weight, **how)
    items = list(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True))
    yield "bag", "src", lambda: Graph.from_bag(items, **how)
    lists = [source.tolist(), target.tolist()]
    yield "lists", "src", lambda: Graph.from_edges(*lists, weights=weight.tolist(), **how)
    if kind not in ODD:
        arrow = pa.Table.from_pandas(frame)
        path = str(tmp_path / "edges.parquet")
        frame.to_parquet(path)
        yield "arrow", by_column, lambda: Graph.from_dataframe(arrow, **table)
        of_arrow = [arrow[name] for name in arrow.column_names[:3]]
        yield (
            "arrays of arrow",
            "src",
            lambda: Graph.from_edges(*of_arrow[:2], weights=of_arrow[2], **how),
        )
        yield "parquet", f"partition 0: {by_column}", lambda: Graph.from_parquet(path, **table)
    if kind in PLAIN:
        text = str(tmp_path / "edges.csv")
        frame.to_csv(text, index=False)
        yield "csv", f"partition 0: {by_column}", lambda: Graph.from_csv(text, **table)


def edges_of(graph):
    """The edges by label, and their weights."""
    matrix, labels = graph.to_scipy().tocoo(), list(graph.labels)
    ends = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    return {(labels[a], labels[b]): weight for a, b, weight in ends}


def error_of(call):
    """The error of a call, which is one of dgsuite's."""
    with pytest.raises(InputError) as found:
        call()
    return str(found.value)


@pytest.mark.parametrize("kind", cases(KINDS))
def test_labels_are_the_values_of_the_column(kind, tmp_path):
    (a, b, c), make = KINDS[kind]
    right = {(a, b): 1.5, (b, c): 2.5, (a, c): 3.5}
    for way, _, call in ways(kind, framed(make, (a, b, c)), tmp_path):
        graph = call()
        assert list(graph.labels) == sorted([a, b, c]), way
        assert {type(label) for label in graph.labels} == {type(a)}, way
        assert edges_of(graph) == right, way


@pytest.mark.parametrize("kind", cases(kind for kind in KINDS if kind not in INTEGERS))
def test_a_row_without_a_value_is_refused_by_the_name_of_its_column(kind, tmp_path):
    (a, b, c), make = KINDS[kind]
    if kind in ("beyond 2^63", "sparse integers", "categorical integers"):
        pytest.skip("a column of it has a value in each row")
    frame = framed(make, (a, b, c)).assign(source=make([a, None, b]))
    for way, name, call in ways(kind, frame, tmp_path):
        message = error_of(call)
        assert message.startswith(f"{name}: 1 of 3 rows have no value, the first"), (way, message)
        assert "is row 1;" in message, (way, message)


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_identifier_never_becomes_text(kind, tmp_path):
    values, make = REFUSED[kind]
    for way, _, call in ways(kind, framed(make, values), tmp_path):
        if way in ("bag", "lists") and values in (TIMES, [True, False, True]):
            continue  # Python's own objects, which have an order
        assert re.search("must be|hashable|float", error_of(call)), way


@pytest.mark.parametrize("kind", cases(KINDS))
def test_nodes_are_the_values_of_the_column(kind):
    values, make = KINDS[kind]
    given = [make(values), values, tuple(values), pd.Index(make(values))]
    if kind not in ODD:
        given += [pa.array(make(values)), pa.chunked_array([pa.array(make(values))])]
    with dask.config.set({"dataframe.convert-string": False}):
        given.append(dd.from_pandas(make(values), npartitions=1))
    for nodes in given:
        graph = Graph.from_edges([], [], nodes=nodes, relabel=True, client=None)
        assert list(graph.labels) == sorted(values), type(nodes)
        assert {type(label) for label in graph.labels} == {type(values[0])}, type(nodes)


@pytest.mark.parametrize("kind", cases(kind for kind in KINDS if kind not in INTEGERS))
def test_rows_without_a_value_are_dropped_and_counted(kind, tmp_path):
    (a, b, c), make = KINDS[kind]
    if kind in ("beyond 2^63", "sparse integers", "categorical integers"):
        pytest.skip("a column of it has a value in each row")
    frame = framed(make, (a, b, c)).assign(target=make([b, c, None]), weight=[1.5, None, 3.5])
    for way, _, call in ways(kind, frame, tmp_path, missing="drop"):
        graph = call()
        assert edges_of(graph) == {(a, b): 1.5}, way
        assert {type(label) for label in graph.labels} == {type(a)}, way
        assert (graph.built.rows, graph.built.missing, graph.built.merged) == (3, 2, 0), way
        assert str(graph.built).endswith(", 2 without a value dropped")
        assert graph.built.kinds[1] == "float64"


@pytest.mark.parametrize("relabel", [True, False])
@pytest.mark.parametrize("rows", [4, 9])
def test_dropped_rows_are_counted_wherever_they_are(rows, relabel, client, tmp_path, monkeypatch):
    monkeypatch.setattr("dgsuite.partition.construction.distribute.SMALL", 0)
    monkeypatch.setattr("dgsuite.partition.sources.edges.PIECE", 3)
    ends = np.arange(rows, dtype=float)
    frame = pd.DataFrame({"source": ends, "target": ends[::-1]})
    frame.iloc[:4, 0] = np.nan  # a whole partition
    how = {"missing": "drop", "relabel": relabel, "duplicates": "min"}
    if rows == 4:
        how |= {"nodes": pd.Series([1, None])}
    for given, where in (
        (frame, None),
        (frame, client),
        (dd.from_pandas(frame, npartitions=3), client),
    ):
        graph = Graph.from_dataframe(given, client=where, **how)
        assert (graph.built.rows, graph.built.missing) == (rows, 4)
        assert graph.built.loops + graph.built.merged + graph.m == rows - 4
        assert graph.built.kinds == (["ids", "integers"][relabel], "")
        graph.save(tmp_path / f"{where is None}")
    saved = Graph.load(tmp_path / "True", client=None)
    assert saved.built == graph.built
    if rows > 4:
        grown = saved.with_edges([4, 4], [4, 4])
        assert (grown.built.missing, grown.built.loops) == (4, graph.built.loops + 2)


@pytest.mark.parametrize("held", [False, True])
def test_one_long_name_does_not_widen_the_others(held, client, monkeypatch):
    monkeypatch.setattr("dgsuite.partition.client.gather.limit", lambda: 0 if held else 1 << 40)
    names = [*(f"{i:05d}" for i in range(2000)), "x" * 200]
    frame = pd.DataFrame({"source": names[:-1], "target": names[1:]})
    lazy = dd.from_pandas(frame, npartitions=3)
    for graph in (
        Graph.from_dataframe(frame, client=None),
        Graph.from_dataframe(lazy, client=client),
        Graph.from_edges(range(2000), range(1, 2001), labels=names),
    ):
        assert list(graph.labels) == names
        assert graph.labels.array.nbytes < 100 * len(names)
        assert graph.labels.node("x" * 200) == 2000
    short = Graph.from_edges([0], [1], labels=["a", "b" * 60])
    assert short.labels.array.dtype == "U60"


def test_what_becomes_of_rows_without_a_value_is_one_of_two():
    frame = pd.DataFrame({"source": [0], "target": [1]})
    for make in (
        Graph.from_dataframe,
        Graph.from_edges,
        lambda f, **how: Graph.from_bag([], **how),
    ):
        with pytest.raises(InputError, match="unknown missing 'dorp'; did you mean 'drop'"):
            make(frame, missing="dorp")


@pytest.mark.parametrize("kind", [float, np.float32, np.int32, np.uint8, bool, np.bool_])
def test_weights_of_networkx_are_numbers(kind):
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", kind(3)), ("b", "c", kind(0))])
    graph.add_edge("c", "d")
    found = Graph.from_networkx(graph)
    assert (found.to_scipy().toarray() == nx.to_scipy_sparse_array(graph).toarray()).all()
    assert found.m == 3


def test_a_dictionary_without_a_value_shifts_no_row():
    coded = pa.array([10, None, 30]).dictionary_encode()
    weights = pa.array([1.0, 2.0, None]).dictionary_encode()
    table = pa.table({"source": coded, "target": [20, 20, 20], "weight": [1.0, 2.0, 3.0]})
    message = error_of(lambda: Graph.from_dataframe(table, weight="weight"))
    assert message.startswith(
        "column 'source': 1 of 3 rows have no value, the first of them is row"
    )
    whole = table.set_column(0, "source", pa.array([10, 20, 30]).dictionary_encode())
    lacking = whole.set_column(2, "weight", weights)
    message = error_of(lambda: Graph.from_dataframe(lacking, weight="weight"))
    assert message.startswith(
        "column 'weight': 1 of 3 rows have no value, the first of them is row 2"
    )
    message = error_of(lambda: Graph.from_edges([1], [2], nodes=coded, relabel=True))
    assert message.startswith("nodes: 1 of 3 rows have no value, the first of them is row 1")


WEIGHTS = {
    **{each: ([1, 2, 3], typed(each)) for each in (*INTEGERS, *NULLABLE)},
    **{f"{each}[pyarrow]": ([1, 2, 3], of_arrow(getattr(pa, each)())) for each in INTEGERS},
    **{each: ([1.5, 2.0, 3.0], typed(each)) for each in ("float16", "float32", "float64")},
    **{each: ([1.5, 2.0, 3.0], typed(each)) for each in ("Float32", "Float64")},
    "float32[pyarrow]": ([1.5, 2.0, 3.0], of_arrow(pa.float32())),
    "double[pyarrow]": ([1.5, 2.0, 3.0], of_arrow(pa.float64())),
    "dictionary of integers": ([1, 2, 3], dictionary(pa.int64())),
    "dictionary of doubles": ([1.5, 2.0, 3.0], dictionary(pa.float64())),
    "categorical doubles": ([1.5, 2.0, 3.0], category()),
    "sparse doubles": ([1.5, 2.0, 0.0], typed("Sparse[float64]")),
    "large": ([2**62 + 1, 3, 2**61 + 1], of_arrow(pa.int64())),
}
"""Of numbers."""


@pytest.mark.parametrize("kind", cases(WEIGHTS))
def test_weights_are_the_values_of_the_column(kind, tmp_path):
    values, make = WEIGHTS[kind]
    frame = framed(typed("int64"), (5, 6, 7)).assign(weight=make(values))
    for _, _, call in ways(kind if kind in ODD else "int64", frame, tmp_path):
        graph = call()
        found = {(a, b): w for (a, b), w in edges_of(graph).items()}
        expected = dict(zip([(5, 6), (6, 7), (5, 7)], values, strict=True))
        assert {edge: w for edge, w in found.items() if w} == {
            edge: w for edge, w in expected.items() if w
        }
        assert graph.weight_dtype.kind == np.asarray(values).dtype.kind or kind[:1] in "uU"


@pytest.mark.parametrize("kind", cases(kind for kind in WEIGHTS if kind not in INTEGERS))
def test_an_edge_without_a_weight_is_refused_by_the_name_of_its_column(kind, tmp_path):
    values, make = WEIGHTS[kind]
    lacking = [values[0], None, None]
    frame = framed(typed("int64"), (5, 6, 7)).assign(weight=make(lacking))
    for way, name, call in ways(kind if kind in ODD else "int64", frame, tmp_path):
        message = error_of(call)
        name = name.replace("source", "weight").replace("src", "weights")
        if way == "bag" and "got dtype" in message:
            continue
        assert message.startswith(f"{name}: 2 of 3 rows have no value, the first of them is row 1")


@pytest.mark.parametrize("values", [["a", "b"], [True, False], [1, [2]], [1j, 2]])
def test_what_is_no_number_is_no_weight(values):
    for given in (values, objects(values), np.array(objects(values))):
        message = error_of(lambda given=given: numbers(given, "column 'cost'"))
        assert message.startswith("column 'cost' must be numbers, got ")


@pytest.mark.parametrize("given", [3, "ann", b"ann", None, {1: 2}, np.array(4), 2.5])
def test_what_is_no_column_is_refused(given):
    with pytest.raises(InputError, match=r"^nodes must be a list, an array or a column, got "):
        column(given, "nodes")


def test_columns_that_are_no_labels_of_edges_are_read_the_same_way():
    ends = [0, 1], [1, 2]
    for make in (typed("Int64"), of_arrow(pa.int64()), category(), typed("Sparse[int64]")):
        assert Graph.from_edges(*ends, clusters=1, uid=make([7, 9, 8])).gather()[
            0
        ].uid.tolist() == [
            7,
            9,
            8,
        ]
        assert Graph.from_edges(*ends, partition=make([0, 1, 0])).partition.clusters == 2
        assert list(Graph.from_edges(*ends, clusters=1, labels=make([7, 9, 8])).labels) == [
            7,
            9,
            8,
        ]
        lazy = da.from_array(np.array([7, 9, 8]), chunks=2)
        assert list(Graph.from_edges(*ends, clusters=1, labels=lazy).labels) == [7, 9, 8]
    for name in ("uid", "labels"):
        with pytest.raises(InputError, match=f"{name}: 1 of 3 rows have no value"):
            Graph.from_edges(*ends, **{name: of_arrow(pa.int64())([7, None, 8])})


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NaT, pd.NA, np.datetime64("NaT", "s")])
def test_what_has_no_value_is_no_label(nothing):
    with pytest.raises(InputError, match=r"labels: 1 of 3 rows have no value, .* is row 1"):
        Graph.from_edges([0, 1], [1, 2], labels=["a", nothing, "b"])


def test_surrogates_are_labels():
    names = ["a\ud800", "b", "c"]
    graph = Graph.from_edges(names[:2], names[1:], relabel=True)
    assert list(graph.labels) == names
