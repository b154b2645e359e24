"""Scalability analysis: models against data of known form, traffic against what the engine sends."""

import re

import numpy as np
import pytest
import xarray as xr

import dgsuite
from dgsuite import genval
from dgsuite.experiment import main as run_experiment
from dgsuite.studies import scaling
from dgsuite.studies.experiment.combining import combine
from dgsuite.studies.scaling.analysis import analyse, split
from dgsuite.studies.scaling.terms import value
from tests.support.mains import scaling as main

DATA = {
    "processing": ((0.2, 102.1, 10.3), (4, 8, 16, 32, 48, 64), 0.11),
    "communication": ((0.05, 5, 10.3), (4, 8, 16, 32, 48, 64), 0.053),
    "small": ((0.05, 1, 0.4), (1, 2, 3, 4, 6, 8), 0.076),
}
"""Coefficients, machines, and the median error at 4 times the most of them that plain least squares has."""


def paper(coefficients, p):
    return np.stack([np.ones_like(p), 1 / p, 1 / np.sqrt(p)], axis=1) @ np.array(coefficients)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", DATA)
def test_intervals_cover_and_predictions_hold(name):
    coefficients, ps, bound = DATA[name]
    p, far = np.repeat(ps, 5).astype(float), 4.0 * max(ps)
    truth, target = paper(coefficients, p), paper(coefficients, np.array([far]))[0]
    trials = 500
    covered, observed, errors = np.zeros(3), 0, []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        model = scaling.CompletionTime().fit(p, truth * (1 + 0.03 * rng.standard_normal(len(p))))
        low, high = model.coef_interval(0.95).to_numpy()
        covered += (low <= coefficients) & (coefficients <= high)
        errors.append(abs(model.predict(far) / target - 1))
        low, high = model.interval(far)
        observed += low <= target * (1 + 0.03 * rng.standard_normal()) <= high
        assert (model.coef_ >= 0).all()
    assert (covered >= 0.93 * trials).all()
    assert observed >= 0.93 * trials
    assert np.median(errors) <= bound


def test_intervals_of_coefficients_without_bounds_are_on_both_sides():
    p = np.array([2.0, 3, 4, 5, 6])
    seconds = 1 - 0.5 / p + 0.02 * np.array([1, -1, 1, -1, 1])
    model = scaling.CompletionTime(weights="equal", bounded=False).fit(p, seconds)
    low, high = model.coef_interval().to_numpy()
    assert model.coef_.to_numpy().min() < 0
    np.testing.assert_allclose((low + high) / 2, model.coef_, atol=1e-9)
    assert (low < model.coef_).all()
    held = scaling.CompletionTime(weights="equal").fit(p, seconds)
    assert held.coef_interval().loc["low"].min() == 0


def test_exact_data_is_recovered():
    p = np.array([1, 2, 4, 8, 16])
    model = scaling.CompletionTime().fit(p, paper((0.5, 8, 2), p.astype(float)))
    assert model.coef_["1/p"] == pytest.approx(8)
    assert model.r2_ == pytest.approx(1)
    assert model.predict(64) == pytest.approx(0.5 + 8 / 64 + 2 / 8)
    assert model.held_out() < 1e-6
    assert "8/p" in repr(model)


@pytest.mark.parametrize("rounding", [1e-15, 1e-12])
def test_of_forms_that_predict_equally_well_the_one_with_fewest_terms_is_chosen(rounding):
    """Other processors round other digits: which form comes first by so little must not matter."""
    p = np.array([1, 2, 4, 8, 16])
    first = set()
    for seed in range(6):
        noise = 1 + rounding * np.random.default_rng(seed).uniform(-1, 1, len(p))
        model = scaling.choose(p, (0.5 + 8 / p) * noise)
        assert model.terms == ("1", "1/p")
        first.add(model.scores_.idxmin())
    assert len(first) > 1  # by the errors alone it would vary


def test_the_form_is_chosen_by_what_was_held_out():
    p = np.repeat([2, 4, 8, 16, 32, 64], 3).astype(float)
    rng = np.random.default_rng(1)
    noise = 1 + 0.01 * rng.standard_normal(len(p))
    tree = scaling.choose(p, (0.1 + 20 / p + 0.5 * np.log2(p)) * noise)
    assert tree.terms == ("1", "1/p", "log(p)")
    assert tree.scores_.idxmin() == "1 + 1/p + log(p)"
    returns = tree.diminishing_return(gain=0.05)
    # T falls until d/dp (20 / p + 0.5 log2 p) = 0
    assert returns.no_longer_faster[0] == pytest.approx(20 * np.log(2) / 0.5, abs=3)
    low, high = returns.no_longer_faster.sel(bound=["low", "high"]).values
    assert low <= returns.no_longer_faster[0] <= high


def test_points_of_diminishing_return_of_the_paper():
    p = np.array([4, 9, 16, 25, 32, 64], float)
    model = scaling.CompletionTime().fit(p, paper((0, 102.1, 10.3), p))
    returns = model.diminishing_return(gain=0.01).sel(bound="estimate")
    assert returns.no_longer_faster == np.inf
    k = int(returns.small_gain)
    saved = 1 - model.predict([k + 1.0, k]) / model.predict([k, k - 1.0])
    assert saved[0] < 0.01 <= saved[1]


THREE = ("1", "1/p", "1/sqrt(p)")


@pytest.mark.parametrize(
    ("terms", "p", "seconds", "message"),
    [
        (THREE, [1, 2, 4], [3, 2, 1], "3 terms need at least 4 different configurations, got 3"),
        (THREE, ["a"], [1], "p must be numbers, got ['a']"),
        (THREE, [1], [None, "b"], "seconds must be numbers"),
        (THREE, [1, 1, 2, 2, 4, 4], [3, 3, 2, 2, 1, 1], "got 3"),
        (THREE, [0, 1, 2, 4], [4, 3, 2, 1], "p must be above 0 and finite, got 0"),
        (THREE, [1, 2, 4, 8], [4, 3, np.nan, 1], "seconds must be above 0 and finite, got nan"),
        (THREE, [1, 2, 4, 8], [4, 3, 1], "there are 4 p and 3 seconds"),
        (("1", "cbrt(p)"), [1, 2, 4], [3, 2, 1], "'cbrt(p)' is not understood"),
        (("1", "size/p"), [1, 2, 4], [3, 2, 1], "needs the size"),
        (("1", "1/log(p)"), [1, 2, 4], [3, 2, 1], "is not finite at p = 1"),
    ],
)
def test_bad_points(terms, p, seconds, message):
    with pytest.raises(dgsuite.InputError, match=re.escape(message)):
        scaling.CompletionTime(terms).fit(p, seconds)
    with pytest.raises(dgsuite.InputError, match="not fitted yet"):
        scaling.CompletionTime().predict(4)


def test_terms_are_read():
    """At p = 4 and size = 16."""
    terms = {"1": 1, "1/p": 0.25, "1/sqrt(p)": 0.5, "log(p)/p": 0.5, "size/p^2": 1}
    terms |= {"sqrt(size)*p": 16, "size*(p-1)/p": 12}
    for term, expected in terms.items():
        assert value(term, np.array([4.0]), np.array([16.0]))[0] == expected


def curves(ps=(4, 9, 16, 25), constant=1.0, exponent=0.5):
    """Times whose bandwidth demand grows as p^exponent."""
    bandwidth = np.array([10.0, 20, 24, 28, 32, 36, 40, 60, 80, 100])
    times = []
    for k, p in enumerate(ps):
        need = 5 * p**exponent * constant**k
        times.append(10 / p * (1 + need / bandwidth - need / 100))
    return xr.Dataset(
        {"seconds": (("p", "bandwidth"), times)}, {"p": list(ps), "bandwidth": bandwidth}
    )


def test_demand_of_a_larger_cluster():
    data = curves()
    model = scaling.BandwidthDemand().fit(data.isel(p=slice(0, 3)))
    # CTI = need (1 / b - 1 / 100), so demand is need / (CTI + need / 100)
    need, cti = 5 * np.sqrt(16), 0.4
    assert model.predict(16, cti) == pytest.approx(need / (cti + need / 100), rel=0.03)
    ratio = model.demand_.sel(p=16) / model.demand_.sel(p=4) / 2
    assert 0.8 < float(ratio.mean()) < 1
    errors = model.error(data)
    assert errors.p.values.tolist() == [25]
    low, high = model.interval(25, cti)
    assert low < model.predict(25, cti) < high


def test_the_papers_own_arithmetic():
    # section 6: BW(CTI, 450) = BW(CTI, 288) * DC * sqrt(450) / sqrt(288), DC the mean over pairs
    bandwidth = np.linspace(10, 100, 19)
    demands = {72: 20.0, 162: 26.0, 288: 30.0}
    times = [10 * (1 + d / bandwidth) / (1 + d / 100) for d in demands.values()]
    data = xr.Dataset(
        {"seconds": (("p", "bandwidth"), times)}, {"p": list(demands), "bandwidth": bandwidth}
    )
    model = scaling.BandwidthDemand(ctis=[0.1, 0.2]).fit(data)
    found = model.demand_
    pairs = [(162, 72), (288, 72), (288, 162)]
    each = [found.sel(p=a) / found.sel(p=b) / np.sqrt(a / b) for a, b in pairs]
    assert model.demand_constant_ == pytest.approx(float(np.mean(each)))
    assert model.predict(450, 0.1) == pytest.approx(
        float(found.sel(p=288, cti=0.1)) * model.demand_constant_ * np.sqrt(450 / 288)
    )


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.drop_vars("seconds"), "needs a variable 'seconds'"),
        (lambda d: d.rename(p="machines"), "needs a dim 'p'"),
        (lambda d: d.isel(p=[0]), "at least 2 numbers of machines"),
        (lambda d: d.isel(bandwidth=slice(0, -1)), "no times at 100 per cent"),
        (lambda d: d.assign_coords(bandwidth=d.bandwidth - 10), "bandwidth must be above 0"),
        (lambda d: d.assign_coords(bandwidth=d.bandwidth + 10), "at most 100 per cent, got 110"),
        (lambda d: d.where(d.p != 9), "seconds at p = 9, bandwidth = 10 must be a number above 0"),
        (lambda d: d * 0 + 1, "the time does not grow when bandwidth falls"),
    ],
)
def test_bad_curves(spoil, message):
    with pytest.raises(dgsuite.InputError, match=message):
        scaling.BandwidthDemand().fit(spoil(curves()))
    with pytest.raises(dgsuite.InputError, match="does not reach a CTI of 1000"):
        scaling.BandwidthDemand(ctis=[10]).fit(curves())


SMALL = """
[experiment]
name = "small"
plot = false
[cluster]
workers = [1, 2, 3, 4, 5]
protocol = "throttle+tcp"
[throttle]
nominal = "100 kB"
percent = [20, 50, 100]
scope = "process"
[graph]
generate = "rmat"
[[run]]
kernel = "bfs2d"
style = "clocked"
n = 2048
params.root = 3
"""


@pytest.mark.long
def test_an_experiment_is_analysed(tmp_path, here):
    """Run for real, from its file to pictures."""
    (tmp_path / "small.toml").write_text(SMALL)
    assert here(run_experiment, "small.toml", "--output", "small.nc", "-q").returncode == 0
    results = split(dgsuite.open(tmp_path / "small.nc"))
    assert len(results) == 15
    found = analyse(results)
    seconds = found.runs.seconds.median("repeat")
    slow, fast = seconds.sel(bandwidth=20), seconds.sel(bandwidth=100)
    assert (slow > fast).sel(p=[2, 3, 4, 5]).all()
    wire = {r.attrs["workers"]: int(r.wire_bytes.sum()) for r in results}
    # no worker can be faster than its share of the bytes allows
    for p in (2, 3, 4, 5):
        assert float(slow.sel(p=p)) > 0.9 * wire[p] / p / 20e3
    assert found.demand.demand_constant_ > 0
    with pytest.raises(dgsuite.InputError, match="at 20 % of bandwidth, repeat 0 is missing"):
        scaling.measured(results[1:])
    shown = here(main, "small.nc", "--what-if", "small.toml").stdout
    for text in ("completion time", "demand constant DC", "points held out", "oversubscribed"):
        assert text in shown
    assert re.search(
        r"^(stop at \d+ machines? \(between .*\)|no statement: .*)$", shown, re.MULTILINE
    )
    stop = xr.open_dataset(tmp_path / "small-stop.nc")
    assert str(stop.conclusion[0].item()) in shown
    assert stop.oversubscribed.all()
    pictures = {path.stem for path in tmp_path.glob("*.png")}
    numbers = ("2a", "2b", 3, 4, 5, 6)
    assert pictures >= {f"small-figure{k}" for k in numbers} | {"small-stop", "small-whatif"}


def runs_on_a_ring(**changes):
    """Runs of a kernel, as on 1, 2 and 4 workers, with changes to the attributes of the last."""
    runs = [dgsuite.run("bf", genval.graph("ring", 8), style="serial")] * 3
    found = [ds.assign_attrs(workers=p, clusters=p) for ds, p in zip(runs, (1, 2, 4), strict=True)]
    found[-1] = found[-1].assign_attrs(changes)
    return found


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"m": 9}, "differ in m: m is 8 in one and 9 in another; .* one value"),
        ({"style": "clocked", "form": "recursive"}, "differ in style, form: style is 'serial'"),
        ({"parameters": '{"seed": 7, "faithful": false, "root": 0}'}, "seed is 101 .* and 7"),
        ({"workers": 2}, "clusters is 2 in one and 4 in another"),
        ({"workers": 2, "clusters": 2}, "two runs on 2 workers .* no more workers than .* here 2"),
    ],
)
def test_different_runs_are_not_merged(changes, message):
    with pytest.raises(dgsuite.InputError, match=message):
        scaling.measured(runs_on_a_ring(**changes))
    repeats = [ds.assign_attrs(repeat=i) for i in range(2) for ds in runs_on_a_ring()]
    assert scaling.measured(repeats).sizes == {"p": 3, "bandwidth": 1, "repeat": 2}
    for refuse in (split, lambda ds: scaling.measured([ds])):
        with pytest.raises(dgsuite.InputError, match="without the attribute 'kernel' is not of a"):
            refuse(xr.Dataset({"seconds": ("run", [1.0, 2.0])}))


def test_the_machine_that_measured_decides_what_is_oversubscribed():
    """Not the one that analyses; where the runs do not say, nothing is put together, and a note says so."""
    runs = [ds.assign_attrs(processors=2) for ds in runs_on_a_ring()]
    together = scaling.completion(runs[2], oversubscribed=True)
    plain = scaling.completion(runs[2])
    assert together != plain
    for processors, last in ((2, together), (4, plain)):
        found = scaling.measured([ds.assign_attrs(processors=processors) for ds in runs])
        assert found.attrs["processors"] == processors
        assert found.seconds.values.ravel().tolist() == [plain, plain, last]
    silent = [ds.drop_attrs() for ds in runs]
    silent = [
        s.assign_attrs({k: v for k, v in ds.attrs.items() if k != "processors"})
        for s, ds in zip(silent, runs, strict=True)
    ]
    assert scaling.measured(silent).seconds.values.ravel().tolist() == [plain] * 3
    assert scaling.measured(silent, 2).seconds.values.ravel().tolist() == [plain, plain, together]
    assert any("do not say how many processors" in note for note in analyse(silent).notes)
    assert any("4 workers shared 2 processors" in note for note in analyse(runs).notes)


def test_recursive_runs_are_split():
    runs = [
        dgsuite.run("bf", genval.graph("ring", n), style="serial", form="recursive") for n in (4, 9)
    ]
    found = split(combine(runs))
    assert [ds.sizes["depth"] for ds in found] == [ds.sizes["depth"] for ds in runs]
    assert [int(ds.messages.sum()) for ds in found] == [int(ds.messages.sum()) for ds in runs]
    assert scaling.completion(found[0]) == runs[0].attrs["seconds"]


def test_the_command(here, tmp_path):
    """A kernel whose name is markup is shown; what is wrong is one line."""
    runs = [ds.assign_attrs(kernel="[/b]$x", workload="") for ds in runs_on_a_ring()]
    dgsuite.save(combine(runs), tmp_path / "odd [i].nc")
    done = here(main, "odd [i].nc")
    assert done.returncode == 0
    assert "[/b]$x" in done.stdout
    assert "odd [i]-figure2a.png" in done.stdout
    plain = SMALL.replace('protocol = "throttle+tcp"', "")
    (tmp_path / "plain.toml").write_text(plain)
    for command, arguments, message in (
        (main, ["odd [i].nc", "--output", "no"], "Directory 'no' does not exist"),
        (run_experiment, ["plain.toml", "--dry-run"], "needs a throttled transport"),
    ):
        found = here(command, *arguments)
        assert found.returncode == 2
        (line,) = found.stderr.splitlines()
        assert message in line
