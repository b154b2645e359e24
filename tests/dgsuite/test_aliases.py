"""Aliases of kernels, what a result shows first, and whether weights counted."""

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.base.aliases import ALIASES
from dgsuite.kernels import KERNELS

GRAPH = dgsuite.Graph.from_edges([0, 1, 3], [1, 2, 4])


def test_the_table_names_what_there_is():
    known = {*dir(nx), *dir(nx.community), *dir(nx.bipartite)}
    assert {*ALIASES} <= known
    assert set(ALIASES.values()) <= set(KERNELS)
    assert not {*ALIASES} & {*KERNELS}


@pytest.mark.parametrize("name", sorted(ALIASES))
def test_an_alias_is_the_kernel(name):
    assert getattr(dgsuite.list_kernels(), name) is dgsuite.list_kernels()[ALIASES[name]]


def test_a_run_by_an_alias():
    ds = dgsuite.run("connected_components", GRAPH)
    assert ds.attrs["kernel"] == "wcc"
    assert ds.component.values.tolist() == [0, 0, 0, 3, 3]
    assert genval.validate("connected_components", GRAPH, ds).ok
    grown = GRAPH.with_edges([2], [3])
    assert not dgsuite.run("Connected_Components", grown, since=ds).component.values.any()
    assert dgsuite.lab.repeat("maximal_independent_set", GRAPH, 3).sizes["run"] == 3


def test_outputs_come_before_counters(tmp_path):
    ds = dgsuite.run("bfs", GRAPH)
    assert [*ds.data_vars][:3] == ["level", "parent", "messages"]
    assert str(ds).index("level") < str(ds).index("messages")
    dgsuite.save(ds, tmp_path / "bfs.nc")
    assert [*dgsuite.open(tmp_path / "bfs.nc").data_vars] == [*ds.data_vars]


SRC, DST = np.array([0, 1, 2, 3, 0, 1]), np.array([1, 2, 3, 4, 4, 3])
WEIGHTS = np.array([5, 1, 7, 2, 9, 4])
LEAVE = ["bfs", "closeness", "harmonic", "wcc", "triangles", "core_number", "mis"]


def weighed(name, weights, **how):
    graph = dgsuite.Graph.from_edges(SRC, DST, weights=weights, client=None)
    return dgsuite.run(name, graph, style="serial", client=None, **how)


@pytest.mark.parametrize("name", LEAVE)
def test_a_kernel_that_leaves_weights_alone_says_so(name):
    one, other = weighed(name, WEIGHTS), weighed(name, None)
    assert one.attrs["weighted"] == other.attrs["weighted"] == 0
    for output in KERNELS[name].outputs:
        assert np.array_equal(one[output], other[output])


def test_it_depends_on_parameters():
    assert weighed("pagerank", WEIGHTS, weighted=False).attrs["weighted"] == 0
    assert weighed("wcc", WEIGHTS, thresholds=[3, 6]).attrs["weighted"] == 1
