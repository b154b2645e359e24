"""Traces: what clusters send each other, counted in any style, written and read."""

import os
import shutil

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, genval
from dgsuite.core import traces
from dgsuite.core.results import dataset
from dgsuite.kernels import KERNELS, RECURSIVE, BellmanFord
from dgsuite.kernels.bsp import Kernel, Links, Output, Round, State, broadcast, vote
from tests.support.cases import NAMES, inputs
from tests.support.examples import examples


def traced(kernel, graph, **how) -> xr.Dataset:
    return dgsuite.run(kernel, graph, **{"style": "serial", "trace": True, **how})


def test_matrices_of_all_rounds_are_limited(monkeypatch):
    """One round is below the limit, and so are five; six are not, and a warning says how many there were."""
    graph = Graph.from_edges(*np.array([(v, (v + 1) % 6) for v in range(6)]).T, clusters=2)
    a_round = 16 * 2 * 2
    monkeypatch.setattr(dataset, "MATRICES", 6 * a_round)
    assert traced("lcr", graph, faithful=True).sizes["round"] == 6
    monkeypatch.setattr(dataset, "MATRICES", 5 * a_round)
    with pytest.warns(UserWarning, match="2 by 2 clusters for each of 6 rounds .* a file: trace="):
        ds = traced("lcr", graph, faithful=True)
    assert "traffic" not in ds.variables
    assert "cluster_to" not in ds.variables
    untraced = dgsuite.run("lcr", graph, style="serial", faithful=True)
    assert all(ds[v].equals(untraced[v]) for v in ("messages", "remote_messages", "leader"))


def assert_counted(ds: xr.Dataset) -> None:
    """The matrices add up to what is counted anyway."""
    clusters = ("cluster", "cluster_to")
    np.testing.assert_array_equal(ds.traffic.sum(clusters), ds.messages)
    np.testing.assert_array_equal(ds.traffic_bytes.sum(clusters), ds.bytes)
    own = np.einsum("rcc->r", ds.traffic.values)
    remote = ds.remote_messages.sel(model="MP")
    np.testing.assert_array_equal(ds.messages - own, remote)


def added_up(ds: xr.Dataset, owner: np.ndarray, clusters: int) -> np.ndarray:
    """Messages of a run in which each node is a cluster, by the clusters of another cut."""
    member = np.eye(clusters, dtype=np.int64)[owner]
    return np.einsum("rij,ik,jl->rkl", ds.traffic.values, member, member)


@examples(40)
@given(st.one_of(*(inputs(n) for n in NAMES if not KERNELS[n].obeys.ships)), st.integers(1, 3))
def test_a_cut_adds_up_what_nodes_send(case, clusters):
    kernel, make = case
    graph = make(clusters=clusters)
    clusters = len(graph.parts)
    cut, nodes = traced(kernel, graph), traced(kernel, make(clusters=graph.n))
    assert_counted(cut)
    assert_counted(nodes)
    owner = graph.partition.owner(np.arange(graph.n))
    np.testing.assert_array_equal(cut.traffic, added_up(nodes, owner, clusters))
    if kernel.suited(graph).obeys.sends == "edges":
        pairs = nodes.traffic.values.sum(0) > 0
        edges, there = graph.to_scipy().tocoo(), np.zeros_like(pairs)
        there[edges.row, edges.col] = True  # weights may be 0
        np.fill_diagonal(there, True)  # of a ring of one node
        there |= there.T  # broadcasts may go backwards
        assert not (pairs & ~there).any()


@pytest.mark.parametrize("name", sorted(RECURSIVE))
def test_recursive_forms_are_traced_by_depth(name, client):
    graph = genval.graph("cplt" if name == "by" else "er", 24, kernel=name)
    alone = traced(name, graph, form="recursive", clusters=4)
    assert alone.traffic.dims == ("depth", "cluster", "cluster_to")
    assert_counted(alone)
    ticked = traced(name, graph, form="recursive", clusters=4, style="clocked", client=client)
    np.testing.assert_array_equal(alone.traffic, ticked.traffic)
    np.testing.assert_array_equal(alone.traffic_bytes, ticked.traffic_bytes)
    freely = traced(name, graph, form="recursive", clusters=4, style="finish_async", client=client)
    assert_counted(freely)
    if "messages" not in freely.attrs.get("schedule_dependent", ""):
        np.testing.assert_array_equal(alone.traffic, freely.traffic)


@pytest.mark.parametrize("style", ["finish_async", "clocked"])
def test_directed_graphs_and_shipments_are_the_same_in_any_style(client, style):
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 60, (2, 200))
    graph = Graph.from_edges(src, dst, n=60, directed=True, clusters=5)
    for kernel in ("bf", "sssp", "bc"):
        alone = traced(kernel, graph)
        found = traced(kernel, graph, style=style, client=client)
        assert_counted(alone)
        np.testing.assert_array_equal(alone.traffic, found.traffic)
        np.testing.assert_array_equal(alone.traffic_bytes, found.traffic_bytes)


def test_a_trace_is_written_and_read(tmp_path):
    graph = genval.graph("er", 40, seed=5).repartition(4)
    path = tmp_path / "trace.nc"
    found = dgsuite.run("dst", graph, root=0, style="serial", trace=path)
    assert "traffic" not in found
    assert os.listdir(tmp_path) == [path.name]
    trace = traces.read(path)
    assert trace.attrs["kernel"] == "dst"
    assert trace.attrs["clusters"] == 4
    matrix, ds = traces.matrix(trace), traced("dst", graph, root=0)
    np.testing.assert_array_equal(matrix.traffic, ds.traffic)
    np.testing.assert_array_equal(matrix.traffic_bytes, ds.traffic_bytes)
    for name in ("compute_seconds", "exchange_seconds"):
        by_round = np.zeros(found[name].shape)
        np.add.at(by_round, trace["round"].values, trace[name].values)
        np.testing.assert_allclose(by_round, found[name], rtol=1e-9)
    assert list(trace["name"].values[:2]) == ["join", "accept"]
    dgsuite.run("mis", Graph.from_edges([], [], n=3, clusters=2), style="serial", trace=path)
    assert {"record": 0, "cluster": 2}.items() <= traces.read(path).sizes.items()


class Careless(Kernel):
    """Drops neighbours, and does not say which edges lead to them."""

    name = "careless"
    outputs = {"left": Output("neighbours that are left")}
    fields = {}

    def program(self, net):
        yield Round(self.tell, self.hear, self.end)

    def start(self, c):
        return State(links=Links(c), left=c.zeros(np.int32))

    def tell(self, c, s, inbox):
        return broadcast()

    def hear(self, c, s, inbox):
        s.links.drop(*inbox.count())
        return broadcast(links=s.links)

    def end(self, c, s, inbox):
        s.left = s.links.degree
        return vote()


def test_a_kernel_that_hides_its_edges_is_an_error_when_traced():
    graph = Graph.from_edges([0, 1], [1, 2], n=3, clusters=2)
    assert dgsuite.run(Careless, graph, style="serial").left.values.tolist() == [0, 0, 0]
    with pytest.raises(dgsuite.RunError, match=r"phase 'hear'.*pass inbox.edges\(nodes\)"):
        traced(Careless, graph)


RING = genval.graph("ring", 10)


def run_each(trace):
    return dgsuite.run_each("bf", genval.graph("er", 10), [{"root": 0}, {"root": 1}], trace=trace)


WRONG = [
    (lambda: traced("bf", RING, trace="trace.csv"), r"a file in \.nc, got .trace\.csv"),
    (lambda: traced("bf", RING, trace="no/such/trace.nc"), "folder .*no/such does not exist"),
    (lambda: traced("bf", RING, trace=3), "trace must be True, False or the name of a file"),
    (lambda: traced("bf", RING, clusters=10), "10 by 10 clusters.*write the trace to a file"),
    (lambda: run_each("t.nc"), "one file for 2 runs"),
    (lambda: traces.read("none.nc"), "no such file"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_bad_traces(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dataset, "MATRICES", 1000)
    with pytest.raises(dgsuite.InputError, match=message):
        call()
    assert not os.listdir(tmp_path)


def test_a_trace_that_cannot_be_written_loses_no_result(tmp_path):
    """Such as to a disk that became full."""
    folder = tmp_path / "gone"
    folder.mkdir()

    class Removes(BellmanFord):
        def program(self, net):
            shutil.rmtree(folder)
            yield from super().program(net)

    graph = genval.graph("ring", 10)
    with pytest.warns(UserWarning, match=r"trace: .*gone.*; the result is there"):
        ds = dgsuite.run(Removes, graph, style="serial", trace=folder / "t.nc")
    assert ds.distance.equals(dgsuite.run("bf", graph, style="serial").distance)
