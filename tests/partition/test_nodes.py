"""Nodes that no edge names, files that name nodes, and columns without values or of odd kinds."""

import dask.array as da
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.partition.labels.columns import column, numbers
from dgsuite.partition.sources.readers import nodes_of
from tests.support.columns import category, objects, of_arrow, typed

NAMES = ["ann", "bob", "cid", "dan", "eve"]


def columns():
    """The same nodes in all forms that are accepted, some of them twice."""
    some = [*NAMES, "ann"]
    yield some
    yield np.array(some)
    yield pd.Series(some)
    yield dd.from_pandas(pd.Series(some), npartitions=3)
    yield (name for name in some)


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [True, False])
@pytest.mark.parametrize("lazy", [True, False])
def test_records_without_a_pair_come_back(lazy, workers, client):
    pairs = pd.DataFrame({"source": ["bob", "dan"], "target": ["eve", "bob"]})
    frame = dd.from_pandas(pairs, npartitions=2) if lazy else pairs
    for nodes in columns():
        graph = Graph.from_dataframe(frame, nodes=nodes, client=client if workers else None)
        assert list(graph.labels) == NAMES
        ds = dgsuite.run("wcc", graph)
        found = dict(zip(ds.node.values.tolist(), ds.component.values.tolist(), strict=True))
        assert found == {"ann": "ann", "bob": "bob", "cid": "cid", "dan": "bob", "eve": "bob"}
        assert (graph.m, graph.built.rows) == (2, 2)


@pytest.mark.parametrize("nodes", [[2, 6], np.array([6, 0]), da.from_array([6, 2], chunks=1)])
def test_node_ids_say_how_many_there_are(nodes):
    graph = Graph.from_edges([0, 1], [1, 2], weights=[5, 6], nodes=nodes)
    assert (graph.n, graph.m, graph.weighted) == (7, 2, True)


def test_a_number_is_the_number_of_nodes():
    assert Graph.from_edges([0], [1], nodes=5).n == 5
    frame = pd.DataFrame({"source": [0], "target": [2]})
    assert Graph.from_dataframe(frame, nodes=np.int64(4)).n == 4
    assert Graph.from_bag([(0, 2)], nodes=4).n == 4
    assert Graph.from_edges([0, 8], [1, 2], nodes=[3]).n == 9


def test_a_bag_names_more():
    graph = Graph.from_bag([("ann", ["bob"]), ("cid", [])], "adjacency", nodes=["eve"])
    assert list(graph.labels) == ["ann", "bob", "cid", "eve"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": 4, "n": 4}, "n and nodes both say which nodes there are"),
        ({"nodes": "ann"}, "nodes must be a list, an array or a column, got 'ann'"),
        ({"nodes": True}, "nodes must be a list"),
        ({"nodes": 2, "relabel": True}, "relabel=True finds the nodes itself"),
        ({"nodes": [1.5]}, "must be integers"),
        ({"nodes": [4, -1]}, "nodes must be integers from 0, or identifiers .* got -1"),
        ({"nodes": np.zeros((2, 2), int)}, "one-dimensional"),
    ],
)
def test_what_is_no_list_of_nodes_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        Graph.from_edges([0], [1], **options)


RECORDS = pd.DataFrame({"id": ["ann", "bob", "cid"], "age": [3, 4, 5]})
TEXTS = {
    "a:b.txt": b"7\n-8\n\n# all\n9 # the last\n",
    "names.txt": b"ann\n 12 \n",
    "large.txt": b"9223372036854775808\n",
    "empty.txt": b"# none\n",
    "bytes.txt": b"\xff\xfe\n",
    "damaged.parquet": b"PAR1",
}


@pytest.fixture
def folder(tmp_path):
    """Files that name nodes, and others."""
    (tmp_path / "folder").mkdir()
    for name in ("records.parquet", "more.parq", "folder/part-0.parquet"):
        RECORDS.to_parquet(tmp_path / name)
    RECORDS.to_csv(tmp_path / "records.csv", index=False)
    RECORDS[["age"]].to_parquet(tmp_path / "ages.parquet")
    RECORDS[["id"]].to_csv(tmp_path / "ids.csv.gz", index=False)
    for name, text in TEXTS.items():
        (tmp_path / name).write_bytes(text)
    return tmp_path


TABLES = ("records.parquet:id", "folder:id", "*.parq:id", "records.csv:id", "ids.csv.gz")


@pytest.mark.parametrize(
    ("given", "nodes"),
    [
        *((table, ["ann", "bob", "cid"]) for table in TABLES),
        *(("ages.parquet", [3, 4, 5]), ("a:b.txt", [7, -8, 9]), ("names.txt", ["ann", "12"])),
        *(("large.txt", [2**63]), ("empty.txt", []), ("12", 12), (12, 12)),
    ],
)
def test_files_name_nodes(given, nodes, folder):
    found = nodes_of(given, folder)
    assert np.asarray(found).tolist() == nodes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("none.txt", "none.txt: no such file"),
        ("records.parquet", "which column names nodes. records.parquet:COLUMN, one of id, age"),
        ("records.parquet:ids", "records.parquet: unknown column 'ids'"),
        ("names.txt:id", "names.txt: text has no columns: a node is a line"),
        ("damaged.parquet:id", "damaged.parquet: cannot be read"),
        ("bytes.txt", "bytes.txt, line 1: .* is not text in UTF-8"),
    ],
)
def test_what_names_no_nodes_is_refused(given, message, folder):
    with pytest.raises(InputError, match=message):
        nodes_of(given, folder)


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
    lazy = dd.from_pandas(frame, npartitions=3)
    for given, where in ((frame, None), (frame, client), (lazy, client)):
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
    monkeypatch.setattr("dgsuite.partition.client.settings.limit", lambda: 0 if held else 1 << 40)
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
    makes = (Graph.from_dataframe, frame), (Graph.from_edges, frame), (Graph.from_bag, [])
    for make, given in makes:
        with pytest.raises(InputError, match="unknown missing 'dorp'; did you mean 'drop'"):
            make(given, missing="dorp")


@pytest.mark.parametrize("kind", [float, np.float32, np.int32, np.uint8, bool, np.bool_])
def test_weights_of_networkx_are_numbers(kind):
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", kind(3)), ("b", "c", kind(0))])
    graph.add_edge("c", "d")
    found = Graph.from_networkx(graph)
    assert (found.to_scipy().toarray() == nx.to_scipy_sparse_array(graph).toarray()).all()
    assert found.m == 3


@pytest.mark.parametrize("values", [["a", "b"], [True, False], [1, [2]], [1j, 2]])
def test_what_is_no_number_is_no_weight(values):
    for given in (values, objects(values), np.array(objects(values))):
        with pytest.raises(InputError, match=r"^column 'cost' must be numbers, got "):
            numbers(given, "column 'cost'")


@pytest.mark.parametrize("given", [3, "ann", b"ann", None, {1: 2}, np.array(4), 2.5])
def test_what_is_no_column_is_refused(given):
    with pytest.raises(InputError, match=r"^nodes must be a list, an array or a column, got "):
        column(given, "nodes")


def test_columns_that_are_no_labels_of_edges_are_read_the_same_way():
    ends = [0, 1], [1, 2]
    for make in (typed("Int64"), of_arrow(pa.int64()), category(), typed("Sparse[int64]")):
        graph = Graph.from_edges(*ends, clusters=1, uid=make([7, 9, 8]), labels=make([7, 9, 8]))
        assert graph.gather()[0].uid.tolist() == list(graph.labels) == [7, 9, 8]
        assert Graph.from_edges(*ends, partition=make([0, 1, 0])).partition.clusters == 2
    lazy = da.from_array(np.array([7, 9, 8]), chunks=2)
    assert list(Graph.from_edges(*ends, clusters=1, labels=lazy).labels) == [7, 9, 8]
    for name in ("uid", "labels"):
        with pytest.raises(InputError, match=f"{name}: 1 of 3 rows have no value"):
            Graph.from_edges(*ends, **{name: of_arrow(pa.int64())([7, None, 8])})


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NaT, pd.NA, np.datetime64("NaT", "s")])
def test_what_has_no_value_is_no_label(nothing):
    with pytest.raises(InputError, match=r"labels: 1 of 3 rows have no value, .* is row 1"):
        Graph.from_edges([0, 1], [1, 2], labels=["a", nothing, "b"])
