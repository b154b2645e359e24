"""Pictures show the numbers of their datasets: what is drawn in the axes, compared with the values."""

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr

import dgsuite
from dgsuite import genval
from dgsuite.base.tables import Marked
from dgsuite.core.results import plots
from dgsuite.studies.report import draw as study
from dgsuite.studies.report.results import bars, collect
from dgsuite.studies.report.tables import Cell
from dgsuite.studies.scaling import figures as scaling
from dgsuite.studies.scaling.analysis import analyse
from dgsuite.studies.scc import figures as scc
from dgsuite.studies.scc import hf_report
from dgsuite.studies.transports import figures as transports
from tests.support.sweeps import sweep


def run(kernel, kind, **attrs):
    graph = genval.graph(kind, 16, family="paper", kernel=kernel)
    ds = dgsuite.run(kernel, graph, style="serial", count_as="clocked", faithful=True)
    return ds.assign_attrs(kind=kind, count_as="clocked", repeat=0, threads=1, **attrs)


def lines(ax):
    """The curves of axes by label, each as its points."""
    return {line.get_label(): line.get_xydata().tolist() for line in ax.lines}


def curve(values):
    """The points of a curve over its one dimension."""
    (dim,) = values.dims
    return list(map(list, zip(values[dim].values.tolist(), values.values.tolist(), strict=True)))


def test_bars_have_the_heights_of_their_ratios():
    how = {"runtime": "X10", "style": "clocked"}
    times = ((1, 4.0), (2, 3.0), (2, 1.0), (4, 1.0))
    some = [run("hs", "mx", workers=workers, seconds=seconds, **how) for workers, seconds in times]
    ds = collect(11, [ds.assign_attrs(repeat=i % 2) for i, ds in enumerate(some)])
    own = [bar for bar in bars(ds) if bar.value != bar.base]
    (ax,) = study.draw(ds).axes
    assert [patch.get_height() for patch in ax.patches] == [bar.ratio.mean for bar in own]
    assert {text.get_text() for text in ax.get_xticklabels()} == {"HS"}


def test_a_panel_has_the_counts_of_each_round():
    """Also that of an overview of runs, which has a panel for each."""
    some = [run("bf", "mn"), run("bf", "mx"), run("mis", "mx")]
    picture = study.draw(collect(9, some))
    panels = {ax.get_title(): ax for ax in picture.axes if ax.get_visible()}
    assert panels.keys() == {"BF", "MIS"}
    drawn = [line.get_ydata().tolist() for line in panels["BF"].lines]
    assert drawn == [ds["comm"].values.tolist() for ds in some[:2]]
    picture = plots.overview([ds.assign_attrs(style="clocked") for ds in some])
    for ax, ds in zip(picture.axes, some, strict=True):
        assert [patch.get_height() for patch in ax.patches] == ds.messages.values.tolist()
        assert ax.lines[0].get_ydata().tolist() == ds.comm.values.tolist()


def test_a_table_has_its_cells():
    ds = collect(7, [run("bf", kind) for kind in ("mn", "mx")])
    columns, rows, at = study.grid(ds)
    (table,) = study.draw(ds).axes[0].tables
    text = {place: cell.get_text().get_text() for place, cell in table.get_celld().items()}
    for i, (kernel, given) in enumerate(rows, 1):
        assert text[i, -1] == f"{kernel.upper()} {given}"
        for k, column in enumerate(columns):
            assert text[i, k] == study.both(at.get((kernel, given, column)))
    cell = Cell("bf", "Mn", "FA comm", 3, 4, -1, "a reason")  # one that differs is marked
    assert isinstance(study.both(cell), Marked)
    assert study.both(cell) == "3 (paper: 4)"
    assert not isinstance(study.both(cell._replace(paper=3, difference=0, why=None)), Marked)


def test_times_and_fits_of_scalability():
    found = analyse(sweep((2**16,), (4, 9, 16, 25, 36)))
    pictures = scaling.draw([found])
    (ax,) = pictures["figure2a"].axes
    seconds = found.runs.seconds.isel(bandwidth=-1).median("repeat")
    assert ax.lines[0].get_xydata().tolist() == curve(seconds)
    (ax,) = pictures["figure3"].axes
    fit = lines(ax)["C0 + C1/p + C2/sqrt(p)"]
    workers, times = np.transpose(fit)
    np.testing.assert_allclose(times, found.model.predict(workers))
    (ax,) = pictures["figure6"].axes
    measured, predicted = (box.datavalues for box in ax.containers)
    np.testing.assert_allclose(predicted - measured, found.demand_error.isel(p=-1))


def test_bandwidths_of_transports_and_times_of_kernels():
    sizes, kernels = np.array([8, 64, 512]), [[0.1, 0.2], [0.3, 0.4]]
    rate = np.arange(1.0, 7).reshape(1, 2, 3) * 1e6
    dims = ("pattern", "protocol", "size")
    values = {"median_seconds": (dims, sizes / rate), "bytes_per_second": (dims, rate)}
    values["kernel_median_seconds"] = (("protocol", "kernel"), kernels)
    coords = {"pattern": ["pingpong"], "protocol": ["tcp", "mpb"], "size": sizes}
    ds = xr.Dataset(values, coords | {"kernel": ["bf", "mis"]})
    rates, times = transports.draw(ds).axes
    for k, protocol in enumerate(("tcp", "mpb")):
        assert lines(rates)[protocol] == np.stack([sizes, rate[0, k] / 1e6], 1).tolist()
    heights = [container.datavalues for container in times.containers]
    np.testing.assert_allclose(heights, np.multiply(kernels, 1000))


def test_times_and_speed_ups_of_betweenness():
    seconds = np.array([8.0, 4.0, 0.5, 0.4]) * np.arange(1, 5).reshape(2, 1, 2, 1)
    busy = (("workload", "measured"), np.ones((2, 2)))
    named = {"workload": ["small", "low"], "deal": ["block"], "transport": ["tcp", "mpb"]}
    coords = named | {"places": [1, 2, 64, 128], "measured": [1, 2]}
    simulated = (("workload", "deal", "transport", "places"), seconds)
    values = {"simulated_seconds": simulated, "predicted_busy": busy, "measured_busy": busy}
    ds = xr.Dataset(values, coords)
    low = ds.sel(workload=["low"])
    elapsed, faster = scc.betweenness(low, 9)[""].axes
    near = ds.simulated_seconds.sel(workload="low", deal="block").isel(places=slice(3))
    for transport in ("tcp", "mpb"):
        one = near.sel(transport=transport)
        assert lines(elapsed)[transport] == curve(one)
        assert lines(faster)[transport] == curve(float(near[0, 0]) / one)
    (cluster,) = scc.betweenness(low, 8)[""].axes
    assert lines(cluster) == lines(elapsed)
    on_cluster, on_chip = scc.betweenness(ds, 10)[""].axes
    assert "tcp" in on_cluster.get_title()  # without MPI the first stands for it
    assert "small" in lines(on_chip).keys() - lines(on_cluster).keys()
    assert lines(on_chip)["low"] == lines(faster)["tcp"]
    on_cluster, on_chip = scc.betweenness(ds.assign_coords(transport=["tcp", "mpi"]), 10)[""].axes
    one = near.sel(transport="mpb")
    assert lines(on_cluster)["low"] == curve(float(one[0]) / one)
    assert lines(on_chip)["low"] == lines(faster)["tcp"]
    assert scc.betweenness(ds).keys() == {"deals", "elapsed", "check"}


def hartree_fock(values, **coordinates):
    """A dataset of simulated times, and others."""
    dims = ("input", "balance", "transport", "places")
    coordinates = {"balance": ["static", "dynamic"]} | coordinates
    return xr.Dataset({name: (dims, of) for name, of in values.items()}, coordinates)


def test_speed_ups_over_one_base():
    """Figure 7: (a) and (b) over the native transport's time, (c) over its static time."""
    seconds = np.array([[[80.0, 10, 2], [90, 12, 4]], [[160.0, 20, 4], [170, 24, 8]]])[None]
    named = {"transport": ["none", "mpb", "tcp"], "places": [1, 8, 48]}
    ds = hartree_fock({"simulated": np.insert(seconds, 0, 1.0, axis=2)}, input=["benzene"], **named)
    times = ds.simulated.isel(input=0)
    dynamic, static, both = hf_report.draw(ds, 7).axes
    for ax, base, balance in ((dynamic, 160, "dynamic"), (static, 80, "static")):
        drawn = lines(ax)
        assert "none" not in drawn
        for transport in ("mpb", "tcp"):
            one = times.sel(balance=balance, transport=transport)
            assert drawn[transport] == curve(base / one)
        assert lines(both)[balance] == curve(80 / times.sel(balance=balance, transport="mpb"))


def test_speed_ups_of_hartree_fock():
    seconds = np.array([[[[8.0, 4.0, 1.0]], [[8.0, 2.0, 0.5]]]])
    values = {"simulated": seconds, "elapsed": seconds, "processor": seconds * [1, 1, np.nan]}
    ds = hartree_fock(values, input=["water"], transport=["none"], places=[1, 2, 8])
    static, dynamic, elapsed = hf_report.draw(ds.assign(shells=("input", [5]))).axes
    assert lines(static)["no transport"] == [[1, 1], [2, 2], [8, 8]]
    assert lines(dynamic)["no transport"] == [[1, 1], [2, 4], [8, 16]]
    assert lines(dynamic)["measured, by processor time"] == [[2, 4]]
    assert [line.get_ydata().tolist() for line in elapsed.lines] == seconds[0, :, 0].tolist()


@pytest.mark.parametrize("name", ["axes.spines.top", "legend.frameon"])
def test_the_style_ends_with_the_picture(name):
    """Pictures have one look, and a user's own keep theirs."""
    before = mpl.rcParams[name]
    (ax, *_) = plots.overview([run("bf", "mn")]).axes
    assert not ax.spines["top"].get_visible()
    assert mpl.rcParams[name] == before
