"""Counted traffic against what the engine sends, and what-if from it."""

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.core.engine.program import reduce_votes, steps
from dgsuite.core.engine.site import Site
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.executors import serial
from dgsuite.core.parameters import make_kernel
from dgsuite.partition.clusters.grid import arrange, near_square
from dgsuite.studies import scaling
from dgsuite.studies.scaling.traffic import record


def sent_by_the_engine(kernel, graph):
    """Bytes of the parcels between sites of one cluster each: by sender, by receiver."""
    parts, p = graph.parts, len(graph.parts)
    sites = [Site(kernel, [part], np.arange(p + 1), k) for k, part in enumerate(parts)]
    votes, exchanges = [], []

    def reply(over):
        reduced = reduce_votes(votes)
        votes.clear()
        return lambda: reduced

    for step in steps(kernel, graph.n, reply):
        parcels = [site.step(step) for site in sites]
        votes += [site.tally.vote for site in sites]
        pairs = np.zeros((p, p), np.int64)
        for k, out in enumerate(parcels):
            for to, parcel in out.items():
                pairs[k, to] = parcel.nbytes
        for k, site in enumerate(sites):
            site.deliver({j: out[k] for j, out in enumerate(parcels) if k in out})
        exchanges.append(pairs)
    return exchanges


@pytest.mark.parametrize(
    ("kernel", "kind", "parameters"),
    [
        ("bfs", "rmat", {"root": 3, "direction": "top-down"}),
        ("mis", "er", {}),
        ("dp", "er", {}),
        ("lcr", "ring", {}),
        ("bf", "grid", {}),
        ("dst", "er", {}),
        ("kc", "er", {}),
        ("push_sum", "er", {}),
        ("snapshot", "ring", {}),
    ],
)
@pytest.mark.parametrize("p", [2, 7])
def test_counted_traffic_is_what_the_engine_sends(kernel, kind, parameters, p):
    graph = genval.graph(kind, 256)
    traced = scaling.trace(kernel, graph, clusters=[1, p], **parameters)
    made = make_kernel(kernel, graph, 101, parameters)
    exchanges = sent_by_the_engine(made, graph.repartition(p))
    here = traced.sel(clusters=p)
    assert here.sizes["step"] == len(exchanges)
    for k, pairs in enumerate(exchanges):
        assert int(here.out_bytes[k]) == pairs.sum(axis=1).max()
        assert int(here.in_bytes[k]) == pairs.sum(axis=0).max()
        assert int(here.total_bytes[k]) == pairs.sum()
    assert (traced.sel(clusters=1).total_bytes == 0).all()
    assert (here.share >= 1 / p - 1e-12).all()


@pytest.mark.parametrize("p", [4, 6, 9])
def test_counted_traffic_of_the_grid(p):
    graph = genval.graph("rmat", 512)
    traced = scaling.trace("bfs2d", graph, clusters=[p], root=3).sel(clusters=p)
    ds = dgsuite.run("bfs2d", arrange(graph.repartition(p), *near_square(p)), root=3)
    by_phase = traced.total_bytes.groupby("phase").sum()
    assert int(by_phase.sel(phase="expand")) == int(ds.expand_bytes.sum())
    assert int(by_phase.sel(phase="fold")) == int(ds.fold_bytes.sum())


def test_a_phase_that_a_round_repeats_is_recorded_each_time():
    graph = genval.graph("er", 60, m=90, seed=3)
    kernel = make_kernel("dst", graph, None, {"root": 0})
    recorded = record(kernel, graph)
    one = graph.repartition(1, None)
    _, log = serial.run(kernel, one.parts)
    assert len(recorded.sent) == len(log)
    unicasts = {
        k: len(what.dst) for k, what in enumerate(recorded.sent) if isinstance(what, UnicastBatch)
    }
    assert unicasts == {k: log["messages"][k] for k in unicasts}
    assert len(set(unicasts.values())) > 2


def test_what_if():
    graph = genval.graph("rmat", 2048)
    traced = scaling.trace("bfs", graph, clusters=[1, 4, 16], root=3)
    found = scaling.what_if(traced, bandwidth=[1e6, 1e9], latency=[0, 1e-3])
    assert found.seconds.dims == ("clusters", "bandwidth", "latency")
    slow, fast = found.seconds.sel(clusters=16, latency=0).values
    assert slow > fast
    assert (found.seconds.sel(latency=1e-3) >= found.seconds.sel(latency=0)).all()
    one = found.seconds.sel(clusters=1)
    assert np.allclose(one, float(traced.compute_seconds.sum()))
    point = scaling.what_if(traced, clusters=4, bandwidth=1e9, latency=0)
    assert point.seconds.ndim == 0


@pytest.fixture(scope="module")
def traced_run(tmp_path_factory):
    """The file of a trace, and the matrices of the same run."""
    path = tmp_path_factory.mktemp("trace") / "bfs.nc"
    graph = genval.graph("rmat", 512).repartition(4)
    dgsuite.run("bfs", graph, root=3, style="serial", trace=path)
    return path, dgsuite.run("bfs", graph, root=3, style="serial", trace=True)


def test_what_if_of_a_trace(traced_run):
    path, ds = traced_run
    traffic = scaling.from_trace(path)
    between = ds.traffic_bytes.values * ~np.eye(4, dtype=bool)
    assert int(traffic.total_bytes.sum()) == between.sum()
    out = np.zeros(len(between), np.int64)  # a round of bfs has one phase that sends bytes
    np.maximum.at(out, traffic["round"].values, traffic.out_bytes.values[0])
    np.testing.assert_array_equal(out, between.sum(2).max(1))
    found = scaling.what_if(traffic, bandwidth=[1e6, 1e9], latency=[0, 1e-3])
    slow, fast = found.transfer.isel(clusters=0).values
    assert slow == pytest.approx(1000 * fast)
    assert (found.seconds.sel(latency=1e-3) > found.seconds.sel(latency=0)).all()
    # on a free network a phase takes what the slowest cluster computes
    free = scaling.what_if(traffic, bandwidth=1e30, latency=0)
    compute = dgsuite.traces.read(path).compute_seconds.max("cluster").sum()
    assert float(free["compute"].item()) == pytest.approx(float(compute))


def test_costs_are_found_again():
    graph = genval.graph("rmat", 2048)
    traced = scaling.trace("bfs", graph, clusters=[1, 2, 4, 8, 16], root=3)
    true = scaling.Machine(2.0, 1e-4, 3e-5, 1e-9, barrier="all")
    rates = np.array([1e5, 1e6, 1e7])
    seconds = scaling.what_if(traced, None, rates, 0, true).seconds
    p, rate = np.meshgrid(traced.clusters.values, rates, indexing="ij")
    fitted = scaling.calibrate(traced, p.ravel(), rate.ravel(), seconds.values.ravel())
    again = scaling.what_if(traced, None, rates, 0, fitted).seconds
    np.testing.assert_allclose(again, seconds, rtol=1e-6)


SMALL = genval.graph("rmat", 64)
TRACED = scaling.trace("bfs", SMALL, clusters=[2, 4], root=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: scaling.what_if(TRACED, clusters=[5]),
            "clusters = 5 was not traced; .* \\[2, 4\\]",
        ),
        (lambda: scaling.what_if(TRACED, bandwidth=0), "bandwidth must be above 0"),
        (lambda: scaling.what_if(TRACED, latency=-1), "latency must be at least 0"),
        (
            lambda: scaling.what_if(dgsuite.run("bfs", SMALL), clusters=4),
            "no counted traffic; make",
        ),
        (
            lambda: scaling.trace("bfs", SMALL, clusters=[0]),
            "clusters must be integers of at least 1",
        ),
    ],
)
def test_bad_what_if(call, message):
    with pytest.raises(dgsuite.InputError, match=message):
        call()
