"""Graphs of more than 2^31 nodes, by a limit that small graphs exceed, and arrays that take no memory."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.base import thresholds
from dgsuite.kernels import FORMS, KERNELS
from dgsuite.partition.clusters import cluster
from dgsuite.partition.clusters.subset import Subset
from dgsuite.partition.construction import build
from dgsuite.partition.sources.piece import MOST_NODES
from tests.support import cases

UNCHECKED = [HealthCheck.function_scoped_fixture]
FIXED = settings(max_examples=2, phases=(Phase.generate,), suppress_health_check=UNCHECKED)

SHORT = {
    *("bfs2d", "biconnected", "bridges", "cliques", "dr", "ds", "eccentricity", "kc", "ktruss"),
    *("lcc", "leiden", "louvain", "motifs", "mst", "sample", "similarity", "square_clustering"),
    *("triangles", "vc"),
}
"""Kernels that refuse such graphs."""


LONG = ("bfs", "cdlp", "pagerank", "sssp", "wcc")


@pytest.fixture
def wide(monkeypatch):
    """Ids of graphs of two nodes or more take 64 bits."""

    def begin():
        monkeypatch.setattr(build, "MOST_SHORT", 1)

    return begin


def test_which_kernels_refuse():
    assert {name for name, kernel in KERNELS.items() if kernel.short_ids} == SHORT


@pytest.mark.parametrize("name", sorted({*cases.NAMES} - SHORT))
@given(data=st.data())
@FIXED
def test_results_are_the_same_in_64_bits(name, data, monkeypatch):
    kernel, make = data.draw(cases.inputs(name))
    try:
        short = dgsuite.run(kernel, make(), style="serial")
    except dgsuite.RunError:
        return  # values that do not converge
    with monkeypatch.context() as patched:
        patched.setattr(build, "MOST_SHORT", 0)
        graph = make()
        long = dgsuite.run(kernel, graph, style="serial")
    assert all(part.indices.dtype == np.int64 for part in graph.parts)
    for output, what in kernel.outputs.items():
        assert short[output].equals(long[output])
        if what.nodes:
            assert long[output].dtype == np.int64, output
    assert short.messages.values.tolist() == long.messages.values.tolist()


@pytest.mark.parametrize(
    ("name", "form"),
    [
        *((name, "block") for name in ("bfs", "sssp", "wcc")),
        *(pytest.param(name, "iterative", marks=pytest.mark.long) for name in LONG),
    ],
)
def test_compiled_loops(name, form, wide, monkeypatch):
    edges = np.random.default_rng(3).integers(0, 60, (2, 200))
    how = {"form": form, "style": "serial"}
    short = dgsuite.run(name, Graph.from_edges(*edges, n=60, clusters=3), **how)
    wide()
    monkeypatch.setattr(thresholds, "compile_from", -1)
    long = dgsuite.run(name, Graph.from_edges(*edges, n=60, clusters=3), **how)
    for output, what in FORMS[form][name].outputs.items():
        assert np.array_equal(short[output], long[output])
        assert not what.nodes or long[output].dtype == np.int64


def test_what_keeps_ids_in_32_bits_is_refused(wide):
    """By name, before anything runs, and in an estimate."""
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    wide()
    with pytest.raises(InputError, match=r"'triangles' keeps node ids in 32 bits: .*nodes, not 3;"):
        dgsuite.run("triangles", graph)
    with pytest.raises(InputError, match=r"'bfs_many' keeps .* graph.subgraph"):
        dgsuite.run("bfs_many", graph, form="block")
    assert dgsuite.run("bfs_many", graph).attrs["kernel"] == "bfs_many"


def test_of_sizes_alone():
    with pytest.raises(InputError, match=r"at most 2,147,483,647 nodes, not 2,147,483,648"):
        dgsuite.estimate("similarity", 1 << 31, 1 << 31)
    assert dgsuite.estimate("bfs", 1 << 31, 1 << 31).parts["state"] == [13 << 31]


def test_a_node_with_too_many_neighbours(monkeypatch):
    graph = Graph.from_edges([5, 5, 5, 5], [0, 1, 2, 3])
    monkeypatch.setattr(cluster, "MOST_NEIGHBOURS", 3)
    with pytest.raises(InputError, match="node 5 has 4 neighbours; a node can have at most 3"):
        dgsuite.run("wcc", graph)


def test_unsigned_32_bits_hold_all_ids():
    """Of arrays with so many places hardly a page is touched."""
    from dgsuite.partition.arrays import _compiled as loops

    assert MOST_NODES < 1 << 32
    last = MOST_NODES - 1
    values = np.zeros(MOST_NODES, np.uint8)
    values[[7, last]] = 3, 200
    indptr, indices = np.array([0, 2]), np.array([7, last])
    rows, everyone = np.array([0]), np.empty(0, np.uint8)
    along = indptr, indices, 0, rows, everyone, values
    greatest, hits = loops.pull_max.py_func(*along, np.uint8(0))
    assert (greatest.tolist(), hits.tolist()) == ([200], [2])
    assert loops.pull_sum.py_func(*along, np.int64(0))[0].tolist() == [203]


def test_lists_of_a_long_range():
    mask = np.zeros(MOST_NODES, bool)
    far = Subset(None, np.array([5, MOST_NODES - 1]), size=MOST_NODES, count=2)
    code = far.encode()
    assert code.dtype == np.int64
    assert Subset.decode(code, mask).members.tolist() == [5, MOST_NODES - 1]
    assert mask[MOST_NODES - 1]
    assert Subset(None, np.array([5]), size=10_000, count=1).encode().dtype == np.int32
