"""What depends on the clusters: what kernels declare and datasets say, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.kernels import KERNELS
from dgsuite.partition.clusters.grid import arrange
from tests.support.networks import PARAMETERS, graph

ROOT = Path(__file__).parents[2]

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
    """Variables that are not the same in all datasets, but for times, what is counted by cluster or by
    worker, and messages between these.
    """
    by_hand = ("remote_messages", "wire_bytes")

    def compared(ds):
        return {
            str(name)
            for name, values in ds.variables.items()
            if not {"cluster", "worker"} & {*values.dims}
            and not str(name).endswith("_seconds")
            and name not in by_hand
        }

    first = datasets[0]
    for ds in datasets:
        assert compared(ds) == compared(first)
    return {
        name
        for ds in datasets
        for name in compared(first)
        if not np.array_equal(
            first[name], ds[name], equal_nan=np.issubdtype(ds[name].dtype, np.floating)
        )
    }


def declared(ds):
    """What a dataset says depends on the clusters, but for messages between these."""
    return {*ds.attrs.get("cut_dependent", "").split()} - {"remote_messages"}


def on_cuts(kernel, n, **how):
    """Runs on a graph in several cuts."""
    cuts = [{"clusters": k} for k in (1, 3, 4)]
    if kernel != "bfs2d":  # which lays out its own
        cuts.append({"clusters": 4, "partition": "hash"})
    how = {**PARAMETERS.get(kernel, {}), **how}
    return [one(kernel, graph(kernel, n, **cut), **how) for cut in cuts]


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_what_depends_on_the_clusters_is_declared(kernel):
    """Of all kernels and all variables; what is declared depends on them on one of the graphs at least."""
    sizes = (12, 60) if KERNELS[kernel]().cut_dependent else (12,)
    found = [on_cuts(kernel, n) for n in sizes]
    for runs in found:
        assert differing(runs) <= declared(runs[0])
    differ = {name for runs in found for name in differing(runs)}
    # whether a phase sends anything at all is the same in most cuts
    assert declared(found[-1][0]) - {"exchanges"} <= differ


@pytest.mark.parametrize("kernel", ["bc", "edge_betweenness"])
@pytest.mark.parametrize("how", FORMS)
def test_the_dataset_names_what_depends_on_the_clusters_in_any_form(kernel, how):
    graphs = [genval.graph("er", 60, m=200, clusters=k, client=None) for k in (1, 2, 6)]
    found = [one(kernel, graph, **how) for graph in graphs]
    assert declared(found[0]) - {"exchanges"} <= differing(found) <= declared(found[0])


def test_the_page_lists_what_depends_on_the_clusters():
    page = (ROOT / "docs" / "howto" / "counts.md").read_text()
    section = page.partition("## What depends on the clusters")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*`) \| (`.*`) \|$", section, re.MULTILINE)
    found = {
        name: tuple(re.findall("`(.*?)`", counts))
        for names, counts in rows
        for name in re.findall("`(.*?)`", names)
    }
    right = {name: kernel().cut_dependent for name, kernel in KERNELS.items()}
    assert found == {name: counts for name, counts in right.items() if counts}


@pytest.mark.parametrize(
    "page",
    ["README.md", "docs/howto/choose.md", "docs/analytics.md", "docs/design.md", "docs/dataset.md"],
)
def test_other_pages_lead_to_that_list(page):
    assert "counts.md#what-depends-on-the-clusters" in (ROOT / page).read_text()
