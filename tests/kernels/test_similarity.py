"""Similarity of the best of each node and of weights; tables on workers, and any cut."""

from __future__ import annotations

import itertools
import uuid

import dask
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.kernels.analytics.similarity import MEASURES
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import in_turn
from tests.support.definitions import cut, networks

STYLES = ("clocked", "finish_async")

COLUMNS = ("source", "target", "similarity")


def run(graph, measure, **how):
    """The rows of a serial run, which the rule accepts."""
    ds = dgsuite.run("similarity", graph, measure=measure, style="serial", **how)
    report = genval.validate("similarity", graph, ds)
    assert report.ok, str(report)
    return list(zip(*(ds[name].values.tolist() for name in COLUMNS), strict=True))


def close(found, wanted):
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    np.testing.assert_allclose([r[2] for r in found], [r[2] for r in wanted], rtol=1e-12)


@given(networks(), st.sampled_from([*MEASURES]), st.integers(1, 5), st.data())
def test_the_best_two_hops_away(net, measure, k, data):
    graph = cut(net, data.draw)
    found = run(graph, measure, k=k)
    hops = dict(nx.all_pairs_shortest_path_length(net, cutoff=2))
    away = [(u, v) for u in net for v, far in hops[u].items() if far == 2]
    every = run(graph, measure, pairs=away) if away else []
    wanted = []
    for _, rows in itertools.groupby(every, lambda row: row[0]):
        wanted += sorted(rows, key=lambda row: (-row[2], row[1]))[:k]
    assert found == wanted  # to the last bit


WEIGHTS = np.array([3, 0, 1, 2, 5, 4, 7, 1, 2, 6, 3, 2]) / 4
NET = nx.convert_node_labels_to_integers(nx.octahedral_graph())


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("measure", ["jaccard", "overlap", "cosine"])
def test_weights(measure, dtype):
    src, dst = np.array([*NET.edges]).T
    weights = (WEIGHTS * 4).astype(dtype)
    matrix = np.zeros((6, 6))
    matrix[src, dst] = matrix[dst, src] = weights
    for clusters in (1, 3):
        graph = Graph.from_edges(src, dst, weights=weights, clusters=clusters)
        found = run(graph, measure)
        for u, v, value in found:
            a, b = matrix[u], matrix[v]
            least = np.minimum(a, b).sum()
            assert value == pytest.approx(
                {
                    "jaccard": least / np.maximum(a, b).sum(),
                    "overlap": least / min(a.sum(), b.sum()),
                    "cosine": a @ b / np.sqrt((a @ a) * (b @ b)),
                }[measure],
                rel=1e-12,
            )
        pairs = [row[:2] for row in found]
        assert run(graph, measure, pairs=pairs) == found  # to the last bit
        plain = Graph.from_edges(src, dst)
        assert run(graph, measure, weighted=False) == run(plain, measure)


NAMES = [
    [f"node {i}" for i in range(9)],
    [*range(100, 109)],
    [uuid.UUID(int=i) for i in range(9)],
]


@pytest.mark.parametrize("names", NAMES, ids=["text", "numbers", "objects"])
def test_pairs_are_named_as_the_graph_names_nodes(names):
    net = nx.wheel_graph(9)
    graph = Graph.from_networkx(nx.relabel_nodes(net, dict(enumerate(names))), clusters=2)
    ends = [(names[8], names[1]), (names[2], names[4]), (names[2], names[4])]
    frame = pd.DataFrame(ends, columns=["source", "target"])
    wanted = [(2, 4), (8, 1)]
    with dask.config.set({"dataframe.convert-string": False}):
        tables = [ends, frame, dd.from_pandas(frame, npartitions=2)]
    for pairs in tables:
        ds = dgsuite.run("similarity", graph, pairs=pairs, style="serial")
        assert ds.source.values.tolist() == [names[u] for u, _ in wanted]
        assert ds.target.values.tolist() == [names[v] for _, v in wanted]
        close([(*pair, s) for pair, s in zip(wanted, ds.similarity.values, strict=True)],
              [*nx.jaccard_coefficient(net, wanted)])  # fmt: skip
        assert genval.validate("similarity", graph, ds).ok


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("labels", "way"),
    in_turn([False, True], [*zip(2 * STYLES, ("nodes", "hash", "hash", "nodes"), strict=True)]),
)
def test_tables_stay_on_the_workers(client, labels, way):
    """In the same order as here."""
    style, partition = way
    net = nx.powerlaw_cluster_graph(300, 4, 0.4, seed=3)
    src, dst = np.array([*net.edges]).T
    how = {"labels": [f"node {i}" for i in range(300)]} if labels else {}
    graph = Graph.from_edges(src, dst, n=300, clusters=5, partition=partition, **how)
    for more in ({}, {"k": 2}):
        here = dgsuite.run("similarity", graph, style="serial", **more)
        with dask.config.set({"dgsuite.gather-limit": 0}):
            there = dgsuite.run("similarity", graph, style=style, client=client, **more)
        assert there.similarity.chunks is not None
        frame = dgsuite.to_dataframe(there).compute()
        assert list(frame.columns) == [*COLUMNS]
        for name in COLUMNS:
            np.testing.assert_array_equal(here[name], there[name].compute())
            np.testing.assert_array_equal(here[name], frame[name])
        assert genval.validate("similarity", graph, there).ok


def test_rows_of_a_table_are_checked():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    ds = dgsuite.run("similarity", graph, style="serial")
    short = {name: ds[name].values for name in COLUMNS} | {"target": ds.target.values[:-1]}
    with pytest.raises(
        dgsuite.InputError, match="same number of rows: 'source' has 3, 'target' has 2"
    ):
        genval.validate("similarity", graph, short)
