"""What docstrings say of rounds and messages, and what depends on the clusters, holds on random graphs."""

import dataclasses
import re
from math import ceil, log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import dgsuite
from dgsuite import genval
from dgsuite.core.running.catalogue import claims, costs
from dgsuite.kernels import KERNELS
from dgsuite.partition.clusters.grid import arrange
from tests.support import cases
from tests.support.examples import examples
from tests.support.networks import PARAMETERS, graph

UNBOUNDED = {
    "rounds": {"bc", "by", "ds", "leiden", "louvain", "random_walks", "scc", "sssp", "wcc"}
    | {"benor", "edge_betweenness", "gossip", "token_ring", "trial_colouring", *cases.STABLE}
    | {"abd", "chandra_toueg", "itai_rodeh", "lamport_mutex", "paxos", "ricart_agrawala"},
    "exchanges": {"bc", "bellman_ford", "bfs2d", "edge_betweenness", "leiden", "louvain"}
    | {"scc", "wcc"},
    "messages": {"bc", "bfs2d", "by", "edge_betweenness", "leiden", "louvain", "random_walks"}
    | {"chandra_toueg", "itai_rodeh", "paxos", "raft"},
}
"""Kernels whose docstring names no number that holds for every graph."""


def log_star(x):
    """How often the binary logarithm is taken until 1 or less is left."""
    return 0 if x <= 1 else 1 + log_star(log2(x))


def started(kernel, n):
    """Where a kernel with sources starts."""
    if hasattr(kernel, "chosen"):
        return kernel.chosen(n)
    return [kernel.root] if kernel.sources is None else kernel.sources


def letters(kernel, graph, ds):
    """The values of the letters."""
    n, m = graph.n, graph.m
    edges = graph.to_scipy()
    edges.data[:] = 1  # where weights may be 0
    hops = shortest_path(edges, unweighted=True)
    farthest = np.where(np.isfinite(hops), hops, 0).max(axis=1).astype(int).tolist()
    diameter = max(farthest)
    known = {"n": n, "m": m, "arcs": m if graph.directed else 2 * m}
    known |= {"ceil": ceil, "max": max, "min": min, "log2": log2, "log_star": log_star}
    known |= {"diameter": diameter, "hops": farthest[ds.attrs.get("root", 0)]}
    known["rounds"] = ds.sizes["round"]
    own = {field.name: getattr(kernel, field.name) for field in dataclasses.fields(kernel)}
    if {"sources", "samples"} & own.keys():
        own["sources"] = own["samples"] = len(started(kernel, n))
    if own.get("f", 0) is None:
        own["f"] = kernel.failing(n)
    if "pairs" in own:
        own["p"] = 0 if kernel.pairs is None else len(kernel.pairs)
    if own.get("iterations", 0) is None:
        own["iterations"] = diameter + 1 if kernel.name == "floodmax" else 1000
    return known | own  # a parameter may have the name of one of these


def fits(count, claim, known):
    """Whether a count is what a claim says."""
    bound = eval(claim.bound, {}, known)
    return count == bound or (claim.status == "at most" and count < bound)


def assert_claims(kernel, graph, ds):
    """A run takes what the docstring says."""
    counts = {"rounds": ds.sizes["round"], "exchanges": ds.attrs["exchanges"]}
    counts["messages"] = int(ds.messages.sum())
    known = letters(kernel, graph, ds)
    for what, claim in claims(KERNELS[kernel.name]).items():
        assert not claim.bound or fits(counts[what], claim, known), (what, claim, counts)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_docstrings_say_what_runs_take(name):
    assert all(sentence.endswith(".") for sentence in costs(KERNELS[name]).values())
    for what, claim in claims(KERNELS[name]).items():
        assert bool(claim.bound) == (name not in UNBOUNDED[what])


@pytest.mark.parametrize("name", cases.NAMES)
@given(data=st.data())
@examples(3)
def test_runs_take_what_docstrings_say(name, data):
    kernel, make = data.draw(cases.inputs(name))
    if kernel._forms is not None:
        kernel = dataclasses.replace(kernel, faithful=False)
    graph = make()
    try:
        ds = dgsuite.run(kernel, graph, style="serial")
    except dgsuite.RunError:
        return  # values that do not converge
    assert_claims(kernel, graph, ds)


ROOT = Path(__file__).parents[2]

FORMS = [{"graph_form": form} for form in ("replicated", "partitioned")]
FORMS.append({"graph_form": "partitioned", "batch": 3})


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

    found, (first, *others) = set(), datasets
    for ds in others:
        assert compared(ds) == compared(first)
        pairs = ((name, ds[name].variable, first[name].variable) for name in compared(first))
        found |= {name for name, here, there in pairs if not here.equals(there)}
    return found


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
    found = {}
    for names, counts in rows:
        found |= dict.fromkeys(re.findall("`(.*?)`", names), tuple(re.findall("`(.*?)`", counts)))
    right = {name: kernel().cut_dependent for name, kernel in KERNELS.items()}
    assert found == {name: counts for name, counts in right.items() if counts}


@pytest.mark.parametrize(
    "page",
    ["README.md", "docs/howto/choose.md", "docs/analytics.md", "docs/design.md", "docs/dataset.md"],
)
def test_other_pages_lead_to_that_list(page):
    assert "counts.md#what-depends-on-the-clusters" in (ROOT / page).read_text()
