"""Kernels find the same where nodes have ids so large that products of them need 64 bits."""

from __future__ import annotations

import numpy as np
import pytest

import dgsuite
from dgsuite import kernels
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import in_turn

SIZES = (50_000, 65_537, 70_000, 1 << 20)
FEW = 24

NODES = ("parent", "component", "leader", "source", "target", "member")
"""Outputs that name nodes."""

KERNELS = {
    "bellman_ford": {},
    "bf": {},
    "bfs": {},
    "biconnected": {},
    "bridges": {},
    "core_number": {},
    "floodmax": {"iterations": 8},
    "ktruss": {},
    "lcc": {},
    "neighbourhood": {"hops": 2},
    "scc": {},
    "square_clustering": {},
    "sssp": {},
    "triangles": {},
    "wcc": {},
}
"""Those whose results depend on the order of ids at most, and not on how many nodes there are."""


def small(seed=5):
    """A graph with weights, of which a path leads through all nodes."""
    luck = np.random.default_rng(seed)
    ends = np.concatenate(
        [[np.arange(FEW - 1), np.arange(1, FEW)], luck.integers(0, FEW, (2, 40))], 1
    )
    ends = np.unique(np.sort(ends, axis=0), axis=1)
    ends = ends[:, ends[0] < ends[1]]
    return ends, luck.permutation(ends.shape[1]) + 1.0


def scattered(n):
    """Ids of the nodes among n, in their order: the first, the last, and some between."""
    luck = np.random.default_rng(n)
    some = luck.choice(np.arange(n // 3, n - 1), FEW - 2, replace=False)
    return np.sort(np.concatenate([[0], some, [n - 1]]))


def result(name, ids, n, clusters):
    """What a kernel finds for some nodes, with their numbers in place of ids."""
    ends, weights = small()
    graph = Graph.from_edges(*ids[ends], n=n, weights=weights, clusters=clusters)
    how = dict(KERNELS[name])
    if name == "neighbourhood":
        how["sources"] = ids[[1, 20, 23]].tolist()
    ds = dgsuite.run(name, graph, style="serial", **how)
    number = dict(zip(ids.tolist(), range(FEW), strict=True))
    found = {}
    for output in kernels.KERNELS[name].outputs:
        values = ds[output].values
        if ds[output].dims[:1] == ("node",):
            values = values[ids]
        if output in NODES:
            values = np.array([number.get(v, v) for v in values.ravel().tolist()])
        found[output] = values
    return found


@pytest.mark.parametrize(("name", "n"), in_turn(KERNELS, SIZES))
def test_scattered_ids_change_nothing(name, n):
    expected = result(name, np.arange(FEW), FEW, 1)
    for clusters in (1, 2, 5):
        found = result(name, scattered(n), n, clusters)
        for output, values in expected.items():
            np.testing.assert_array_equal(found[output], values, err_msg=output)
