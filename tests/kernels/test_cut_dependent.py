"""What depends on the clusters where clusters send to clusters: what the dataset says, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import COUNTS
from dgsuite.partition.clusters.grid import arrange
from dgsuite.partition.graph.graph import Graph
from tests.support.examples import examples

FORMS = [
    {"graph_form": "replicated"},
    {"graph_form": "partitioned"},
    {"graph_form": "partitioned", "batch": 3},
]


def one(kernel, graph, **how):
    """A run on a graph in its clusters."""
    on = arrange(graph) if kernel == "bfs2d" else graph
    return dgsuite.run(kernel, on, style="serial", count_as="finish_async", **how)


def differing(datasets):
    """Counts, outputs and rounds that are not the same in all datasets."""
    first = datasets[0]
    names = {*COUNTS, *KERNELS[first.kernel].outputs, "round"} & {*first.variables}
    return {n for ds in datasets for n in names if not np.array_equal(first[n], ds[n])}


@pytest.mark.few(2)
@examples(5)
@given(st.data())
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", ["bc", "edge_betweenness"])
def test_rounds_and_outputs_of_betweenness_are_those_of_any_cut(kernel, weighted, data):
    n, m = data.draw(st.integers(2, 20)), data.draw(st.integers(0, 40))
    luck = np.random.default_rng(data.draw(st.integers(0, 999)))
    ends = luck.integers(0, n, (2, m))
    weights = luck.integers(1, 20, m) if weighted else None
    directed = data.draw(st.booleans())
    owner = luck.integers(0, 3, n)
    cuts = [{"clusters": k} for k in (1, 2, 5)] + [{"partition": owner}]
    graphs = [
        Graph.from_edges(*ends, n=n, weights=weights, directed=directed, **cut) for cut in cuts
    ]
    for how in FORMS:
        found = [one(kernel, graph, **how) for graph in graphs]
        assert differing(found) <= {*found[0].attrs["cut_dependent"].split()}
        assert len({int(ds.scanned.sum()) for ds in found}) == 1


@pytest.mark.parametrize(
    ("kernel", "how"),
    [
        (name, {})
        for name, kernel in KERNELS.items()
        if kernel.ships and name not in ("bc", "edge_betweenness")
    ]
    + [(kernel, how) for kernel in ("bc", "edge_betweenness") for how in FORMS],
)
def test_the_dataset_names_what_depends_on_the_clusters(kernel, how):
    graphs = [genval.graph("er", 60, m=200, clusters=k, client=None) for k in (1, 2, 6)]
    found = [one(kernel, graph, **how) for graph in graphs]
    assert differing(found) == {*found[0].attrs["cut_dependent"].split()}


def test_others_name_none():
    ds = dgsuite.run("bfs", genval.graph("er", 60, m=200, client=None))
    assert "cut_dependent" not in ds.attrs


@pytest.mark.long
def test_for_one_cut_style_and_workers_and_threads_change_nothing(threaded):
    graph = genval.graph("er", 60, m=200, clusters=3, client=None)
    for how, style in zip(FORMS, ("clocked", "finish_async", "clocked"), strict=True):
        alone = one("bc", graph, **how)
        ds = dgsuite.run("bc", graph, style=style, client=threaded, count_as="finish_async", **how)
        assert not differing([alone, ds])
