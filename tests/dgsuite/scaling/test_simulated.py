"""The paper's cluster, simulated: bytes on its links, and times that follow from them."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from dgsuite import genval
from dgsuite.__main__ import main
from dgsuite.base.errors import InputError
from dgsuite.core.parameters import make_kernel
from dgsuite.studies.report.claims.scalability_plans import paper_settings
from dgsuite.studies.scaling.simulated import PaperCluster, analyses, designs, simulate
from dgsuite.studies.scaling.traffic import _on_grid, record, trace

SMALL = PaperCluster(nodes=(2, 3, 4), throttled=(2, 3), processes_per_node=6)
SCALE, ROOT = 9, 0


@pytest.fixture(scope="module")
def graph():
    return genval.graph("rmat", 2**SCALE)


def counted(graph, p, **given):
    return trace("bfs2d", graph, clusters=[p], root=ROOT, **given).isel(clusters=0)


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize(("p", "each"), [(12, 1), (12, 4), (12, 6), (12, 12), (18, 6)])
def test_bytes_of_a_link_are_those_between_processes_of_different_nodes(graph, p, each, in_turn):
    found = counted(graph, p, processes_per_node=each, in_turn=in_turn)
    nodes = p // each
    node_of = [k % nodes if in_turn else k // each for k in range(p)]
    kernel = make_kernel("bfs", graph, None, {"root": ROOT, "direction": "top-down"})
    exchanges = list(_on_grid(record(kernel, graph), p))
    assert found.sizes["step"] == len(exchanges) > 4
    for step, exchange in enumerate(exchanges):
        out, into = [0] * nodes, [0] * nodes
        for source in range(p):
            for to in range(p):
                if node_of[source] != node_of[to]:
                    out[node_of[source]] += int(exchange.nbytes[source, to])
                    into[node_of[to]] += int(exchange.nbytes[source, to])
        assert int(found.out_bytes[step]) == max(out)
        assert int(found.in_bytes[step]) == max(into)
        assert int(found.total_bytes[step]) == sum(out)
    assert (found.total_bytes.sum() == 0) == (nodes == 1)


def test_a_node_has_one_process_unless_more_are_asked_for(graph):
    default, one = counted(graph, 12), counted(graph, 12, processes_per_node=1)
    several = counted(graph, 12, processes_per_node=4)
    assert default.drop_vars("compute_seconds").equals(one.drop_vars("compute_seconds"))
    assert default.partners.equals(several.partners)
    assert default.share.equals(several.share)


def test_processes_that_do_not_fill_a_node_have_one(graph):
    assert counted(graph, 7, processes_per_node=6).total_bytes.sum() > 0


@pytest.mark.parametrize(
    "given", [{"processes_per_node": 0}, {"processes_per_node": 5, "in_turn": True}]
)
def test_wrong_numbers_of_processes(graph, given):
    with pytest.raises(InputError, match="processes_per_node must be"):
        counted(graph, 12, **given)


def test_without_a_network_time_is_that_of_computing(graph):
    traffic = trace("bfs2d", graph, clusters=[12, 24], processes_per_node=6, root=ROOT)
    free = replace(SMALL, link=1e30, latency=0).times(traffic)
    assert np.allclose(
        free.seconds.isel(bandwidth=0), (traffic.compute_seconds * traffic.share).sum("step")
    )


def test_half_the_bandwidth_takes_twice_as_long_to_transfer():
    found = simulate(SCALE, SMALL)
    half, full = (found.transfer.sel(bandwidth=b) for b in (40, 80))
    assert (full > 0).all()
    assert np.allclose(half, 2 * full)
    parts = found["compute"] + found.transfer + found.barrier
    assert np.allclose(found.seconds.isel(repeat=0), parts)


def test_all_but_times_of_computing_is_counted(client):
    """Whether a client is the default or not."""
    one = simulate(SCALE, SMALL)
    with client.as_current():
        other = simulate(SCALE, SMALL)
    for name in ("transfer", "barrier", "messages"):
        assert one[name].equals(other[name])
    assert one.attrs == other.attrs


def test_counts_stand_for_the_papers_graphs():
    """A graph of half the size stands for the same one with twice its bytes."""
    cluster = replace(SMALL, latency=0)
    found = simulate(SCALE, cluster)
    assert found.n.values.tolist() == [2**27, 2**28]
    assert found.p.values.tolist() == [12, 18, 24]
    smaller = simulate(SCALE - 1, cluster).transfer.isel(n=1)
    assert np.allclose(smaller, 2 * found.transfer.isel(n=0))


def test_the_command_writes_and_tells_what_is_simulated(tmp_path, capsys):
    path = tmp_path / "s.nc"
    assert main(["scaling", "simulate", "--scale", "10", "-o", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == str(path)
    assert "n = 268435456, simulated, Figures 4 to 6" in out
    assert "576 processes: simulated" in out
    assert "demand constant DC" in out
    with xr.open_dataset(path) as found:
        assert "SIMULATED" in found.title
        parts = designs(found.load())
    assert [part.sizes["p"] for part in parts.values()] == [9, 4]
    assert [part.sizes["bandwidth"] for part in parts.values()] == [1, 14]
    titles = [one.title for part in parts.values() for one in analyses(part, paper_settings())]
    assert all(title.endswith("simulated") for title in titles)
