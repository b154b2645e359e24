"""Files of a graph with the outputs of a run: what other programs read in them."""

import gzip

import igraph
import networkx as nx
import pandas as pd
import pytest

import dgsuite
from dgsuite.base.errors import InputError

NAMES = ['a&<"\n', "bob\x01", "cïd", "dan"]
SHOWN = ['a&<"\n', "bob\ufffd", "cïd", "dan"]


def ran(directed=False, kernel="bfs", **how):
    graph = dgsuite.Graph.from_edges(
        [0, 1, 3, 0], [1, 2, 3, 2], weights=[2.5, 3, 1, 4], directed=directed, loops="keep", **how
    )
    return graph, dgsuite.run(kernel, graph)


@pytest.mark.parametrize("directed", [False, True])
def test_gexf(directed, tmp_path):
    graph, ds = ran(directed, "bfs", labels=NAMES)
    ds.dgsuite.to_gexf(tmp_path / "run.gexf", graph)
    ds.dgsuite.to_gexf(str(tmp_path / "run.gexf.gz"), graph)
    with gzip.open(tmp_path / "run.gexf.gz") as file:
        assert file.read() == (tmp_path / "run.gexf").read_bytes()
    read = nx.read_gexf(tmp_path / "run.gexf")
    assert read.is_directed() is directed
    assert [data["label"] for _, data in read.nodes(data=True)] == SHOWN
    assert [data["level"] for _, data in read.nodes(data=True)] == ds.level.values.tolist()
    assert {(int(u), int(v), d["weight"]) for u, v, d in read.edges(data=True)} == {
        (0, 1, 2.5),
        (0, 2, 4.0),
        (1, 2, 3.0),
        (3, 3, 1.0),
    }


@pytest.mark.parametrize("directed", [False, True])
def test_graphml(directed, tmp_path):
    graph, ds = ran(directed, "pagerank", labels=NAMES)
    ds.dgsuite.to_graphml(tmp_path / "run.graphml", graph)
    for read in (
        nx.read_graphml(tmp_path / "run.graphml"),
        igraph.Graph.Read_GraphML(str(tmp_path / "run.graphml")).to_networkx(),
    ):
        assert read.is_directed() is directed
        found = [data for _, data in read.nodes(data=True)]
        assert [data["label"] for data in found] == SHOWN
        assert [data["rank"] for data in found] == ds["rank"].values.tolist()
        assert sorted(w for _, _, w in read.edges(data="weight")) == [1, 2.5, 3, 4]


def test_types_of_values(tmp_path):
    graph = dgsuite.Graph.from_edges([0], [1], n=3)
    ds = dgsuite.run("mis", graph).assign(far=("node", [0.5, float("inf"), float("nan")]))
    ds.dgsuite.to_graphml(tmp_path / "run.graphml", graph)
    ds.dgsuite.to_gexf(tmp_path / "run.gexf", graph)
    for read in (nx.read_graphml(tmp_path / "run.graphml"), nx.read_gexf(tmp_path / "run.gexf")):
        found = [data for _, data in read.nodes(data=True)]
        assert [data["in_mis"] for data in found] == ds.in_mis.values.tolist()
        assert [str(data["far"]) for data in found] == ["0.5", "inf", "nan"]


def test_parquet(tmp_path):
    graph, ds = ran(labels=["ann", "bob", "cid", "dan"])
    ds.dgsuite.to_parquet(tmp_path / "run", graph)
    nodes = pd.read_parquet(tmp_path / "run" / "nodes.parquet")
    assert nodes.columns.tolist() == ["node", "level", "parent"]
    assert nodes.node.tolist() == ["ann", "bob", "cid", "dan"]
    edges = pd.read_parquet(tmp_path / "run" / "edges.parquet")
    again = dgsuite.Graph.from_dataframe(edges, weight="weight", loops="keep")
    assert (again.to_scipy() != graph.to_scipy()).nnz == 0


def test_a_graph_of_networkx(tmp_path):
    graph = nx.path_graph(3)
    ds = dgsuite.run("bfs", dgsuite.Graph.from_networkx(graph))
    ds.dgsuite.to_gexf(tmp_path / "run.gexf", graph)
    assert [*nx.read_gexf(tmp_path / "run.gexf").edges] == [("0", "1"), ("1", "2")]
    with pytest.raises(InputError, match="other nodes than the dataset, which has 3"):
        ds.dgsuite.to_gexf(tmp_path / "run.gexf", nx.path_graph(4))


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    graph, ds = ran()
    path = tmp_path / "run.gexf"
    path.write_text("old")
    monkeypatch.setattr("dgsuite.core.results.exports._lines", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        ds.dgsuite.to_gexf(path, graph)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize(
    "labels",
    [
        [2**63, 2**63 + 1, 2**64 - 1, 2**63 + 7],
        [-(2**63), 0, 5, 2**63 - 1],
        [0.5, 1.5, 2.5, 3.5],
        [b"a", b"\0b", b"c", b"d"],
        ["a\0", "b" * 70_000, "c", ""],
        [False, True],
    ],
)
def test_labels_are_the_same_in_parquet(labels, tmp_path):
    n = len(labels)
    graph = dgsuite.Graph.from_edges([*range(n - 1)], [*range(1, n)], labels=labels)
    ds = dgsuite.run("wcc", graph)
    ds.dgsuite.to_parquet(tmp_path / "run", graph)
    nodes = pd.read_parquet(tmp_path / "run" / "nodes.parquet")
    assert nodes.node.tolist() == labels
    assert nodes.component.tolist() == ds.component.values.tolist()
    edges = pd.read_parquet(tmp_path / "run" / "edges.parquet")
    assert (edges.source.tolist(), edges.target.tolist()) == (labels[:-1], labels[1:])


@pytest.mark.parametrize(
    "labels",
    [
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        [1, "a", "b", 2],
        [-1, 2**63, 1, 2],
        [2**70, 1, 2, 3],
        [frozenset([v]) for v in range(4)],
        [1, 1.5, 2, 3],
    ],
)
def test_labels_that_parquet_does_not_hold_are_written_as_text(labels, tmp_path):
    graph, ds = ran(labels=labels)
    ds.dgsuite.to_parquet(tmp_path, graph)
    nodes, edges = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("nodes", "edges"))
    assert nodes.node.tolist() == [*map(str, labels)]
    assert nodes.parent.dropna().tolist() == [str(v) for v in ds.parent.values if v is not None]
    assert {*edges.source, *edges.target} <= {*nodes.node}


@pytest.mark.parametrize("labels", [["a", "\ud800", "b", "c"], [1, "1", 2, 3]])
def test_labels_that_parquet_does_not_hold_are_refused_before_a_file_is_made(labels, tmp_path):
    graph, ds = ran(labels=labels)
    with pytest.raises(InputError, match=r"Parquet cannot hold the labels, of type (int, )?str"):
        ds.dgsuite.to_parquet(tmp_path / "run", graph)
    assert not (tmp_path / "run").exists()
