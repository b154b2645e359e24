"""At how many machines to stop: fits over several sizes, statements and refusals, intervals that cover."""

import json

import numpy as np
import pytest
import xarray as xr

import dgsuite
from dgsuite import genval
from dgsuite.studies import scaling
from dgsuite.studies.experiment.combining import combine
from dgsuite.studies.experiment.model import Scaling
from dgsuite.studies.scaling.analysis import analyse
from dgsuite.studies.scaling.conclusion import (
    LEVEL,
    Statement,
    stop,
    where_gain_ends,
    where_link_is_full,
)
from dgsuite.studies.scaling.ends import Curve, End, Rows
from dgsuite.studies.scaling.figures import draw
from tests.support.mains import scaling as main
from tests.support.paths import DATA
from tests.support.sweeps import paper, run, sweep


def test_runs_of_several_sizes_are_measured_together():
    runs = scaling.measured(sweep(nominal_bandwidth=1e6, processes_per_node=2))
    assert dict(runs.sizes) == {"n": 2, "p": 4, "bandwidth": 3, "repeat": 1}
    assert runs.attrs["nominal_bandwidth"] == 1e6
    assert runs.attrs["processes_per_node"] == 2
    # a size need not be run on all workers, but all its bandwidths must be there
    some = [ds for ds in sweep() if (ds.attrs["n"], ds.attrs["workers"]) != (2**16, 25)]
    assert int(np.isnan(scaling.measured(some).seconds).sum()) == 3
    assert len(analyse(some).seconds()) == 7
    with pytest.raises(
        dgsuite.InputError, match=r"run of n = 65536 on 4 workers at 20 % .* missing"
    ):
        scaling.measured(sweep()[1:])
    with pytest.raises(dgsuite.InputError, match="differ in nominal_bandwidth"):
        scaling.measured(sweep(nominal_bandwidth=1e6) + sweep((2**18,), nominal_bandwidth=2e6))


def test_intervals_at_a_third_size_cover():
    """Data of known form with noise: 95 % of measurements at a size and p left out are in the interval.

    The fit has one coefficient for the size in each term.
    """
    p, n = (a.ravel() for a in np.meshgrid([4, 9, 16], [2**16, 2**17]))
    exact = scaling.choose(p, paper(n, p), size=n)
    assert exact.terms == ("1", "size/p", "size/sqrt(p)")
    assert exact.coef_["size/p"] == pytest.approx(4e-5)
    assert exact.predict(25, 2**20) == pytest.approx(paper(2**20, 25))
    trials, covered = 500, 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        times = paper(n, p) * (1 + 0.03 * rng.standard_normal(len(p)))
        model = scaling.CompletionTime(exact.terms).fit(p, times, n)
        low, high = model.interval(25, size=2**18)
        covered += low <= paper(2**18, 25) * (1 + 0.03 * rng.standard_normal()) <= high
    assert covered >= 0.93 * trials


@pytest.mark.long
def test_two_sizes_of_a_search_predict_a_third_and_more_workers():
    """Breadth-first search, from its counted traffic at 100 kB per second with 2 % of noise: two sizes on 2
    to 6 workers are fitted; the third size, and 8 workers of all, are in the intervals.
    """
    ps, sizes = [2, 3, 4, 6, 8], [2**13, 2**14, 2**15]
    machine = scaling.Machine(compute=0, exchange=0.01, partner=0.002, barrier="all")
    times = {}
    for n in sizes:
        graph = genval.graph("rmat", n)
        root = int(np.argmax(np.diff(graph.to_scipy().indptr)))
        traced = scaling.trace("bfs", graph, clusters=ps, root=root, direction="top-down")
        times[n] = scaling.what_if(traced, None, 1e5, 0, machine).seconds.values
    covered = total = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noisy = {n: row * (1 + 0.02 * rng.standard_normal(len(ps))) for n, row in times.items()}
        runs = [run(n, p, t) for n, row in noisy.items() for p, t in zip(ps, row, strict=True)]
        held = analyse(runs).held_out
        assert set(zip(held.n.values, held.p.values, strict=True)) == {
            *((n, 8) for n in sizes),
            *((2**15, p) for p in ps),
        }
        inside = (held.low <= held.measured) & (held.measured <= held.high)
        assert bool(inside.isel(point=-1))  # neither this size nor this many workers were fitted
        assert float((held.high / held.low).max()) < 1.3
        covered, total = covered + int(inside.sum()), total + inside.size
    assert covered >= 0.93 * total


def test_measured_sweeps_of_two_sizes_predict_a_third_and_more_workers():
    """Recorded runs: 65,536 and 131,072 nodes on 2, 3 and 4 workers predict 262,144 nodes, and 6 workers."""
    lines = (DATA / "scaling-sizes.csv").read_text().splitlines()[1:]
    rows = [(int(n), int(p), float(b), float(t)) for n, p, b, t in (s.split(",") for s in lines)]
    found = analyse([run(n, p, t) for n, p, b, t in rows if b == 100])
    held = found.held_out
    at = list(zip(held.n.values.tolist(), held.p.values.tolist(), strict=True))
    assert at == [(65536, 6), (131072, 6), *((262144, p) for p in (2, 3, 4, 6))]
    assert ((held.low <= held.measured) & (held.measured <= held.high)).all()
    assert float(abs(held.predicted / held.measured - 1).max()) < 0.2
    assert (held.low < held.predicted).all(), (
        "the interval has two sides where coefficients are held at 0"
    )
    assert (held.predicted < held.high).all()
    assert float((held.high / held.low).max()) < 2.5


def test_sizes_are_left_out_when_a_form_is_chosen():
    """A term that only the size tells from the others: three sizes show that it is needed."""
    p, n = (a.ravel().astype(float) for a in np.meshgrid([4, 9, 16, 25], [1e4, 1e5, 1e6]))
    noise = 1 + 0.01 * np.random.default_rng(1).standard_normal(len(p))
    model = scaling.choose(p, noise * (0.01 + 1e-5 * n / p + 2e-7 * n), size=n)
    assert model.terms in (("1", "size/p", "size"), ("1", "size/p", "size*(p-1)/p"))


def test_demand_of_another_size():
    """Demand that grows with the size to a power is found, and predicted at a size left out."""
    bandwidth = np.geomspace(2, 100, 40).round(6)
    sizes, ps = np.array([1e4, 4e4, 9e4]), np.array([4, 9, 16])
    need = 2 * np.sqrt(ps[:, None]) * (sizes[:, None, None] / 1e4) ** 0.25
    # demand at a CTI is in proportion to the need, but for (need / 100)^2
    times = (("n", "p", "bandwidth"), 1 + (need / bandwidth) ** 2)
    data = xr.Dataset({"seconds": times}, {"n": sizes, "p": ps, "bandwidth": bandwidth})
    model = scaling.BandwidthDemand(ctis=[0.4]).fit(data.isel(n=[0, 1]))
    assert model.size_exponent_ == pytest.approx(0.25, abs=0.02)
    assert model.demand_.dims == ("n", "p", "cti")
    assert abs(model.error(data)).max() < 0.5
    assert model.error(data).n.values.tolist() == [9e4] * 3
    with pytest.raises(dgsuite.InputError, match="pass size="):
        model.predict(16, 0.1)
    apart = data.where((data.n > 1e4) == (data.p == 16))
    with pytest.raises(dgsuite.InputError, match="no number of machines was measured with two"):
        scaling.BandwidthDemand(ctis=[0.1]).fit(apart.isel(n=[0, 1], p=[0, 2]))


def made(coefficients, ps, noise=0.01, terms=("1", "1/p", "1/sqrt(p)"), seed=1):
    """A fit to times of these coefficients."""
    rng = np.random.default_rng(seed)
    p = np.asarray(ps, float)
    a = np.stack([p**0, 1 / p, p**-0.5 if "1/sqrt(p)" in terms else p], axis=1)
    times = a @ np.array(coefficients) * (1 + noise * rng.standard_normal(len(p)))
    return scaling.CompletionTime(terms).fit(p, times)


MANY = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]


def said(model, measured, processes=1):
    rows = Rows(model._p, model._seconds)
    curve = Curve(model.terms, rows, model.weights == "relative", model.bounded)
    end = curve.end(0.01, None, processes, LEVEL)
    return where_gain_ends(curve, end, 0.01, measured, processes)


def test_machines_of_two_processes_each_are_half_as_many_and_each_saves_more():
    model = made((1.0, 40.0, 0.05), MANY, 0.01, WITH_P, 0)
    one, two = said(model, (1, 32)), said(model, (1, 32), 2)
    assert one.machines / 2 <= two.machines < one.machines


WITH_P = ("1", "1/p", "p")
FALLS = scaling.CompletionTime(("1", "1/p"))


@pytest.mark.parametrize(
    ("model", "most", "reason"),
    [
        # times that grow, and a form that can only fall
        (lambda: FALLS.fit(MANY, 1 + np.arange(10.0)), 32, "no form fits: times are 5"),
        # from 1 to 1 workers
        (lambda: made((1, 0, 0.5), MANY, 0.01, WITH_P), 32,
         "one more saves less than 1 % already at the fewest that were measured (1)"),
        (lambda: made((1, 8, 0.05), [1, 4, 8, 16], 0, WITH_P), 16, "4 times are too few to show"),
        # repeats agree, and an even number of machines takes a tenth longer
        (lambda: FALLS.fit(
            MANY * 2, (1 + 20 / np.array(MANY * 2)) * np.tile([1, 1.1], 10) * np.repeat([1, 1.001], 10)
         ), 32, "times what repeats explain"),
    ],
)  # fmt: skip
def test_a_bad_fit_makes_no_statement(model, most, reason):
    found = said(model(), (1, most))
    assert reason in found.reason
    assert str(found) == f"no statement: {found.reason}"
    assert np.isnan(found.machines)


LESS = "one more saves less than 1 %"
BEYOND = f"beyond what was measured (25): {LESS} from"


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((20, 4, 101), "no statement: the interval, from 4 on, does not end before 100 machines"),
        ((20, 4, 99), f"stop at 20 machines (between 4 and 99): {LESS}"),
        ((30, 4, 99), f"stop at 30 machines (between 4 and 99), beyond what was measured (25): {LESS}"),
        ((40, 4, 99), f"{BEYOND} somewhere between 4 and 99 machines on, if the curve goes on so"),
        ((30, 26, np.inf), f"{BEYOND} 26 machines on at the earliest"),
        ((np.inf, np.inf, np.inf), "beyond what was measured (25): one more saves 1 % or more from"),
        ((1, 1, 4), f"no statement: {LESS} already at the fewest that were measured (4)"),
    ],
)  # fmt: skip
def test_how_far_and_how_wide_an_interval_may_be(ends, said):
    """Of machines of two processes, measured on 8 to 50 of them."""
    model = made((0.1, 10, 1), [8, 18, 32, 50] * 2)
    curve = Curve(model.terms, Rows(model._p, model._seconds))
    assert str(where_gain_ends(curve, End(*ends), 0.01, (8, 50), 2)).startswith(said)


def demand(ps, ctis, growth=0.5, first=20.0):
    """A fit to times whose demand grows with the number of machines."""
    bandwidth = np.array([5.0, 10, 15, 20, 25, 30, 40, 60, 80, 100])
    times = [1 + first * (p / ps[0]) ** growth * (1 / bandwidth - 0.01) for p in ps]
    coords = {"p": list(ps), "bandwidth": bandwidth}
    return scaling.BandwidthDemand(ctis).fit(
        xr.Dataset({"seconds": (("p", "bandwidth"), times)}, coords)
    )


def test_where_demand_is_the_links():
    """By the paper's law, and with several processes on a link."""
    model = demand([4, 9, 16], [0.3], first=10)
    at = where_link_is_full(model, (4, 16), 0.3, 55)
    assert 16 < at.low <= at.machines <= at.high
    assert model.predict(at.machines, 0.3) >= 55 > model.predict(at.machines - 1, 0.3)
    less = where_link_is_full(model, (4, 16), 0.3, 45)
    assert less.machines < at.machines
    shared = where_link_is_full(model, (4, 16), 0.3, 45, processes=2)
    assert shared.machines == np.ceil(less.machines / 2)


@pytest.mark.parametrize(
    ("model", "cti", "percent", "reason"),
    [
        ({}, 9.0, 100, "does not reach a CTI of 900.0%"),
        ({}, 0.3, 5, "already at the fewest measured (4)"),
        ({"growth": 0.1, "first": 2.0}, 0.1, 100, "4 times the most measured"),
    ],
)
def test_no_statement_on_the_link(model, cti, percent, reason):
    fitted = demand([4, 9, 16], [0.1], **model)
    assert reason in where_link_is_full(fitted, (4, 16), cti, percent).reason


def test_a_demand_that_cannot_be_fitted_says_why():
    full = [ds for ds in sweep() if ds.attrs["bandwidth"] == 100]
    assert "bandwidth was not varied" in analyse(full).link[2**16].reason
    flat = [ds.assign_attrs(seconds=1.0) if ds.attrs["workers"] == 9 else ds for ds in sweep()]
    assert "p = 9 the time does not grow" in analyse(flat).link[2**16].reason


def test_the_earlier_end_counts():
    gain, link, none = Statement(30, 20, 50), Statement(24, 22, 60), Statement(reason="why")
    assert stop(gain, link)[:4] == (24, 20, 50, "")
    assert stop(gain, none) == gain
    assert stop(none, link) == none
    assert str(Statement(1, 1, 2)) == "stop at 1 machine (between 1 and 2)"


def saved(tmp_path, runs, name="made"):
    """Runs as a results file; what an analysis does not read is that of a real run."""
    real = dgsuite.run("bf", genval.graph("ring", 8), style="serial")
    runs = [real.assign_attrs(ds.attrs, workload="") for ds in runs]
    path = tmp_path / f"{name}.nc"
    dgsuite.save(combine(runs), path)
    return path


def test_one_command_says_where_to_stop(tmp_path, capsys):
    """Two files, a size each, fitted together; a third size is asked for."""
    link = {"nominal_bandwidth": 1e6, "processes_per_node": 1}
    paths = [
        saved(tmp_path, sweep((n,), (1, 2, 4, 9, 16, 25), seed=n, **link), f"n{n}")
        for n in (2**16, 2**17)
    ]
    assert main([*map(str, paths), "--size", str(2**18), "--gain", "0.02", "--no-figures"]) == 0
    shown = capsys.readouterr().out
    for n in (2**16, 2**17, 2**18):
        assert f"\nn = {n}: stop at " in shown
    assert "in the interval: 2 of 2" in shown
    stop = xr.open_dataset(tmp_path / "n65536-stop.nc")
    assert stop.n.values.tolist() == [2**16, 2**17, 2**18]
    middle, low, high = stop.stop.values.T
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert (middle[0] <= middle).all()  # larger problems are worth more machines
    assert json.loads(stop.attrs["settings"])["gain"] == 0.02
    # twice the processes on a link of half the size need it four times as soon
    more = ["--processes-per-node", "2", "--link", "500 kB", "--no-figures"]
    assert main([*map(str, paths), *more]) == 0
    assert "reaches a link of 500 kB per second, 2 processes per machine" in capsys.readouterr().out
    other = xr.open_dataset(tmp_path / "n65536-stop.nc")
    both = [
        float(ds.demand.sel(bound="estimate", machines=m)[0]) for ds, m in ((stop, 8), (other, 4))
    ]
    assert both[1] == pytest.approx(4 * both[0])


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--link", "fast"], "link must be a number of bytes per second such as '1.25 GB'"),
        (["--link", "1 MB"], "do not say how many bytes per second were 100 %"),
        (["--cti", "-1"], "cti = -1.0: must be above 0"),
        (["--size", "9"], "needs runs of at least two sizes"),
        (["--full"], "--full and --set change an experiment"),
        (["--processes-per-node", "0"], "processes_per_node = 0"),
    ],
)
def test_wrong_options(tmp_path, capsys, options, message):
    path = saved(tmp_path, sweep((2**16,)))
    assert main([str(path), *options]) == 2
    assert message in capsys.readouterr().err
    assert [f.name for f in tmp_path.iterdir()] == [path.name]


def test_sizes_apart_as_the_paper(tmp_path):
    """Plain least squares without bounds for each size."""
    runs = sweep((2**16,), noise=0)
    settings = Scaling(terms=["1", "1/p", "1/sqrt(p)"], weights="equal", bounded=False)
    found = analyse(runs, settings=settings)
    p = np.array([4.0, 9, 16, 25])
    plain = np.linalg.lstsq(np.stack([p**0, 1 / p, p**-0.5], 1), paper(2**16, p), rcond=None)[0]
    np.testing.assert_allclose(found.chosen.coef_, plain)
    falling = scaling.CompletionTime(("1", "1/p"), "equal", bounded=False).fit([1, 2, 4], [1, 2, 3])
    assert falling.coef_["1/p"] < 0


def test_pictures_and_lines_say_what_was_oversubscribed():
    """Hollow points, dashed curves and words, in each picture of runs on eight processors."""
    real = dgsuite.run("bf", genval.graph("ring", 8), style="serial")
    found = analyse([real.assign_attrs(ds.attrs, processors=8) for ds in sweep(seed=3)])
    assert found.runs.oversubscribed.values.tolist() == [False, True, True, True]
    figures = draw([found])
    low, high = figures["figure2b"].axes[0].get_ylim()
    times = found.seconds()
    assert 0 < low <= times.min() <= times.max() <= high
    for name, figure in figures.items():
        legends = [ax.get_legend() for ax in figure.axes if ax.get_legend()]
        texts = [text for legend in legends for text in legend.texts]
        said = " ".join(t.get_text() for t in (*texts, *(ax.xaxis.label for ax in figure.axes)))
        assert "oversubscribed" in said or "more workers than" in said, name


def test_what_if_covers_further_runs():
    """Split conformal: over seeded noise, 95 % of runs in neither half are in the interval."""
    traced = scaling.trace("bfs", genval.graph("rmat", 1024), clusters=[1, 2, 4, 8, 16], root=3)
    true = scaling.Machine(2.0, 1e-4, 3e-5, 1e-9, barrier="all")
    rates = np.geomspace(1e5, 1e7, 9)
    p, rate = (a.ravel() for a in np.meshgrid(traced.clusters.values, rates, indexing="ij"))
    seconds = scaling.what_if(traced, None, rates, 0, true).seconds.values.ravel()
    number, covered = np.arange(len(p)), 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        noisy, further = seconds * np.exp(0.05 * rng.standard_normal((2, len(seconds))))
        machine = scaling.calibrate(traced, p, rate, noisy, held_out=number % 2 == 1)
        found = scaling.what_if(traced, None, rates, 0, machine)
        assert len(machine.errors) == found.attrs["held_out"] == len(p) // 2
        low, high = found.low.values.ravel(), found.high.values.ravel()
        covered += int(((low <= further) & (further <= high)).sum())
    assert 0.93 * 50 * len(p) <= covered < 50 * len(p)
    # too few runs held out for the level: no interval
    few = scaling.calibrate(traced, p, rate, seconds, held_out=number < 9)
    assert few.factor(0.9) < np.inf
    assert few.factor(0.95) == np.inf
    assert "low" not in scaling.what_if(traced, 4, machine=true)
    with pytest.raises(dgsuite.InputError, match="at least 4 runs are needed, got 3"):
        scaling.calibrate(traced, p, rate, seconds, held_out=number > 2)
