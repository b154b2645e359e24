"""Edges know the rows of the table that they came from."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import InputError
from dgsuite.partition.graph.graph import Graph

EDGE = pd.DataFrame({"source": [0], "target": [1]})


def payments(m=60, n=20, seed=3):
    luck = np.random.default_rng(seed)
    src, dst = ([f"acc-{v}" for v in ends] for ends in luck.integers(0, n, (2, m)))
    return pd.DataFrame({"source": src, "target": dst, "sum": luck.integers(1, 99, m)})


def expected(frame, edges, directed):
    """The rows of each edge, by comparing all rows with it."""
    found = []
    for u, v in edges:
        for row, ends in enumerate(zip(frame["source"], frame["target"], strict=True)):
            if ends == (u, v) or (not directed and ends == (v, u)):
                found.append((u, v, row))
    return found


def table_of(graph):
    return pd.DataFrame([*graph.to_networkx().edges], columns=["source", "target"])


def check(graph, frame, table):
    found = graph.rows_of(table)
    edges = [*zip(table["source"], table["target"], strict=True)]
    rows = [*zip(found["source"], found["target"], found["row"], strict=True)]
    assert rows == expected(frame, edges, graph.directed)
    assert {*table.columns} < {*found.columns}


@given(st.data())
def test_each_edge_has_its_rows(data):
    frame = payments(data.draw(st.integers(1, 40)), data.draw(st.integers(2, 9)))
    directed, k = data.draw(st.booleans()), data.draw(st.integers(1, 4))
    how = {"directed": directed, "clusters": k}
    graph = Graph.from_dataframe(frame, rows="keep", duplicates="min", **how)
    table = table_of(graph)
    check(graph, frame, table)
    assert len(graph.rows_of(table)) == (frame["source"] != frame["target"]).sum()


@pytest.mark.parametrize("kernel", ["bridges", "edge_betweenness", "similarity", "sample"])
def test_outputs_by_edge(kernel):
    frame = payments(40, 30)
    graph = Graph.from_dataframe(frame, rows="keep", duplicates="min", clusters=3)
    how = {"sources": [*graph.labels], "fanouts": [2]} if kernel == "sample" else {}
    table = dgsuite.run(kernel, graph, **how).dgsuite.to_pandas()
    assert len(table)
    check(graph, frame, table)
    if kernel == "edge_betweenness":
        assert {*frame.index[frame["source"] != frame["target"]]} == {*graph.rows_of(table)["row"]}


@pytest.mark.parametrize("way", ["pandas", "dask", "arrow", "parquet", "csv", "ids"])
@pytest.mark.parametrize("on_workers", [False, True])
def test_ways_in(way, on_workers, client, tmp_path):
    frame = payments()
    how = {"rows": "keep", "duplicates": "min", "client": client if on_workers else None}
    if way == "ids":
        frame = frame.assign(**{c: frame[c].str[4:].astype(int) for c in ("source", "target")})
        graph = Graph.from_edges(dd.from_pandas(frame, npartitions=3), **how)
    elif way in ("parquet", "csv"):
        path = tmp_path / f"part.{way}"
        getattr(frame, f"to_{way}")(path)
        graph = getattr(Graph, f"from_{way}")(path, **how)
    else:
        make = {
            "pandas": lambda: frame,
            "dask": lambda: dd.from_pandas(frame, npartitions=3),
            "arrow": lambda: pytest.importorskip("pyarrow").Table.from_pandas(frame),
        }
        graph = Graph.from_dataframe(make[way](), **how)
    graph = graph.compute()
    ds = dgsuite.run("edge_betweenness", graph, style="serial")
    check(graph, frame, ds.dgsuite.to_pandas())
    lazy = ds.dgsuite.to_dataframe(client=client)
    assert graph.rows_of(lazy).equals(graph.rows_of(lazy.compute()))


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_that_are_made_of_it(directed):
    frame = payments()
    graph = Graph.from_dataframe(frame, rows="keep", duplicates="min", directed=directed)
    nodes = [*graph.labels][::2]
    back = frame.rename(columns={"source": "target", "target": "source"})
    for made, rows in (
        (graph.repartition(3), frame),
        (graph.subgraph(nodes), frame),
        (graph.reordered("degree"), frame),
        (graph.to_undirected(), frame),
        (graph.reversed(), back if directed else frame),
    ):
        check(made, rows, table_of(made))


def test_edges_without_a_row():
    graph = Graph.from_edges([0, 1], [1, 2], rows="keep").with_edges([2], [3])
    found = graph.rows_of(pd.DataFrame({"u": [2, 1], "v": [3, 0]}), "u", "v")
    assert found["row"].isna().tolist() == [True, False]
    assert found["row"].dtype == "Int64"
    assert found["row"][1] == 0


@pytest.mark.parametrize(
    ("how", "given", "message"),
    [
        ({}, [EDGE], "make it with rows='keep'"),
        ({"rows": True}, [EDGE], "unknown rows True; one of: drop, keep"),
        ({"rows": "keep", "missing": "drop"}, [EDGE], "leave out missing='drop'"),
        ({"rows": "keep"}, [EDGE, "u"], "no column 'u'"),
        ({"rows": "keep"}, [EDGE.assign(target=7)], "7"),
    ],
)
def test_what_has_no_rows_is_one_error(how, given, message):
    with pytest.raises(InputError, match=message):
        Graph.from_dataframe(EDGE, **how).rows_of(*given)
