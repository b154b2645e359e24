"""Weights near the ends of their types: right results for any cut, or a clear refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.kernels import KERNELS
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import in_turn
from tests.support.valid import valid

N, M = 24, 60
RANDOM = np.random.default_rng(5)
PATH = np.arange(N - 1)
SRC = np.concatenate([PATH, RANDOM.integers(0, N, M)])
DST = np.concatenate([PATH + 1, RANDOM.integers(0, N, M)])
WEIGHTS = RANDOM.integers(1, 1 << 20, len(SRC)) / 1024.0

SCALED = {
    "hits": {"weighted": True, "iterations": 30},
    "leiden": {},
    "louvain": {},
    "pagerank": {"weighted": True},
}
"""Kernels whose results stay the same where all weights are multiplied."""

LENGTHS = {"bc": {"weighted": True}, "edge_betweenness": {}, "dr": {}, "mst": {}, "sssp": {}}
"""Kernels that add weights up, or compare them."""


def run(kernel, weights, clusters=2, directed=False, **how):
    graph = Graph.from_edges(SRC, DST, n=N, weights=weights, directed=directed, clusters=clusters)
    ds = dgsuite.run(kernel, graph, style="serial", **how)
    return {name: ds[name].values for name in KERNELS[kernel].outputs}


def equal(found, wanted):
    assert found.keys() == wanted.keys()
    for name in wanted:
        np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("power", "kernel"), in_turn([1000, 520, 300, -300, -600, -1000, -1070], SCALED)
)
def test_a_common_factor_changes_nothing(kernel, power):
    """To the last bit, for any cut; -1070 makes the weights subnormal."""
    weights = np.ceil(WEIGHTS) if power == -1070 else WEIGHTS
    wanted = run(kernel, weights, **SCALED[kernel])
    for clusters in (1, 3):
        equal(run(kernel, np.ldexp(weights, power), clusters, **SCALED[kernel]), wanted)


@pytest.mark.parametrize("power", [1000, 520, -600, -1000])
@pytest.mark.parametrize("directed", [False, True])
def test_eigenvectors_are_those_of_moderate_weights(power, directed):
    """The greatest weight then lies between 1/2 and 1, and the node's own value counts as much."""
    how = {"directed": directed, "weighted": True, "tolerance": 1e-12, "iterations": 500}
    moderate = np.ldexp(WEIGHTS, -int(np.frexp(WEIGHTS.max())[1]))
    wanted = run("eigenvector", moderate, **how)
    for clusters in (1, 3):
        equal(run("eigenvector", np.ldexp(WEIGHTS, power), clusters, **how), wanted)


@pytest.mark.parametrize("power", [1000, 520, -410, -450])
def test_katz_takes_the_factor_into_alpha(power):
    wanted = run("katz", WEIGHTS, weighted=True, alpha=2.0**-16)
    for clusters in (1, 3):
        how = {"weighted": True, "alpha": 2.0 ** (-16 - power)}
        equal(run("katz", np.ldexp(WEIGHTS, power), clusters, **how), wanted)


def test_katz_of_huge_weights_needs_a_small_alpha():
    for weights in (np.full(len(SRC), 1e200), np.full(len(SRC), 1e308)):
        with pytest.raises(dgsuite.RunError, match=r"alpha=0\.1 must be less than 1 over"):
            run("katz", weights, weighted=True)
    small = run("katz", np.full(len(SRC), 1e-200), weighted=True)
    np.testing.assert_array_equal(small["centrality"], np.full(N, 1 / np.sqrt(N)))


@pytest.mark.parametrize("kernel", ["eigenvector", "hits", "katz", "leiden", "louvain", "pagerank"])
@pytest.mark.parametrize("least", [5e-324, 1e-310])
def test_weights_that_are_too_far_apart_are_refused(kernel, least):
    weights = np.ones(len(SRC))
    weights[3] = least
    how = {} if kernel in ("leiden", "louvain") else {"weighted": True}
    for clusters in (1, 3):
        with pytest.raises(dgsuite.DgsuiteError, match=f"weights from {least} to 1.0 are too far"):
            run(kernel, weights, clusters, **how)
    weights[3] = 0
    run(kernel, weights, **how)


@pytest.mark.few(4)
@pytest.mark.parametrize("kernel", ["eigenvector", "hits", "katz", "leiden", "louvain", "pagerank"])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers_count_as_floats(kernel, dtype):
    weights = RANDOM.integers(2**60, 2**63 - 1, len(SRC)).astype(dtype)
    how = {} if kernel in ("leiden", "louvain") else {"weighted": True, "iterations": 20}
    how |= {"alpha": 2.0**-70} if kernel == "katz" else {}
    equal(run(kernel, weights, **how), run(kernel, weights.astype(np.float64), 3, **how))


@pytest.mark.parametrize("power", [990, 520, -600, -1000, -1070])
@pytest.mark.parametrize("kernel", LENGTHS)
def test_lengths_of_extreme_weights(kernel, power):
    """Sums of whole numbers times a power of two are exact, so all is as without it, but larger."""
    weights = np.ceil(WEIGHTS)
    found = run(kernel, np.ldexp(weights, power), **LENGTHS[kernel])
    wanted = run(kernel, weights, 3, **LENGTHS[kernel])
    for name in {"cost", "distance"} & wanted.keys():
        wanted[name] = np.ldexp(wanted[name].astype(float), power)
    if kernel == "mst":  # a tree may have another root
        found, wanted = ({"edges": tree(ds["parent"])} for ds in (found, wanted))
    equal(found, wanted)


def tree(parent):
    child = np.flatnonzero(parent >= 0)
    return np.unique(np.sort(np.stack([child, parent[child]]), axis=0), axis=1)


@pytest.mark.few(8)
@pytest.mark.parametrize("power", [1000, 520, -600, -1070])
@pytest.mark.parametrize("kernel", [*SCALED, "eigenvector", "katz"])
def test_results_of_extreme_weights_are_validated(kernel, power):
    graph = Graph.from_edges(SRC, DST, n=N, weights=np.ldexp(np.ceil(WEIGHTS), power), clusters=3)
    how = {**SCALED.get(kernel, {"weighted": True, "iterations": 30})}
    how |= {"alpha": 2.0 ** (-16 - max(power, -400))} if kernel == "katz" else {}
    ds = valid(kernel, graph, **how)
    name = next(iter(KERNELS[kernel].outputs))
    wrong = ds.copy(deep=True)
    if kernel in ("leiden", "louvain"):
        wrong[name][:] = np.arange(N)  # all nodes are alone
    else:
        wrong[name][:2] = wrong[name].values[:2] * [0.9, 1.1]
    assert not genval.validate(kernel, graph, wrong).ok
