"""Names of networkx's functions that stand for kernels, and what a result shows first."""

import networkx as nx
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
