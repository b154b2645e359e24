"""Whether weights counted is said by the dataset of every kernel, and is so."""

import numpy as np
import pytest

import dgsuite
from dgsuite import Graph
from dgsuite.kernels import KERNELS

SRC, DST = np.array([0, 1, 2, 3, 0, 1]), np.array([1, 2, 3, 4, 4, 3])
WEIGHTS = np.array([5, 1, 7, 2, 9, 4])
LEAVE = ["bfs", "closeness", "harmonic", "wcc", "triangles", "core_number", "mis"]


def run(name, weights, **how):
    graph = Graph.from_edges(SRC, DST, weights=weights, client=None)
    return dgsuite.run(name, graph, style="serial", client=None, **how)


@pytest.mark.parametrize("name", LEAVE)
def test_a_kernel_that_leaves_weights_alone_says_so(name):
    one, other = run(name, WEIGHTS), run(name, None)
    assert one.attrs["weighted"] == other.attrs["weighted"] == 0
    for output in KERNELS[name].outputs:
        assert np.array_equal(one[output], other[output])


def test_it_depends_on_parameters():
    assert run("pagerank", WEIGHTS, weighted=False).attrs["weighted"] == 0
    assert run("wcc", WEIGHTS, thresholds=[3, 6]).attrs["weighted"] == 1
