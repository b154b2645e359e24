"""What papers say of times, on made results: verdicts by intervals, and reasons that are tested."""

import itertools

import numpy as np
import pytest
import xarray as xr

from dgsuite.studies.experiment import model as config
from dgsuite.studies.experiment.load import load
from dgsuite.studies.report.claims import setups, times
from dgsuite.studies.report.claims.data import claims, setup_of
from dgsuite.studies.report.claims.evidence import CONFIGS, Evidence
from dgsuite.studies.report.claims.judge import CHECKS  # all of them, once that module is there
from dgsuite.studies.report.claims.verdicts import CONDITIONS, compared
from tests.support.claims import SPREAD, timed

FA, FAC = "finish_async", "clocked"


@pytest.mark.parametrize(
    ("spread", "verdict", "why"),
    [
        (SPREAD, "agrees", ""),
        ((1.0,), "not checked", "the intervals of 1 repeats leave it open"),
        ((0.3, 1.0, 1.7), "not checked", "the intervals of 3 repeats leave it open"),
    ],
)
def test_times_are_compared_by_their_intervals(spread, verdict, why):
    claim = claims()["imsuite.fig17.grows"]
    given = [(("X10", "clocked", "bf", {"n": n}), s) for n, s in ((8, 1.0), (16, 2.0))]
    found = CHECKS[claim.check](claim, Evidence({"f": timed(17, given, spread)}))
    assert (found.verdict, why in found.why) == (verdict, True)


def differing(number, kernel, swept, seconds, **more):
    """Results of X10-FA and HJ-FA, with other variables."""
    runs = [
        ((runtime, "finish_async", kernel, at), s)
        for runtime in ("X10", "HJ")
        for at, s in zip(swept, seconds, strict=True)
    ]
    ds = timed(number, runs)
    each = {name: values[: len(swept)] for name, values in more.items()}
    return ds.assign({k: ("run", np.repeat([*v, *v], len(SPREAD))) for k, v in each.items()})


THREADS = [{"threads": n, "n": n} for n in (8, 16, 32)]
SIZES = [{"n": 8}, {"n": 64}]
INPUTS = [{"kind": "mn"}, {"kind": "mx"}]


MANY, FEW = {"oversubscribed": [1] * 4}, {"oversubscribed": [0] * 4}
MORE, LESS = {"finishes": [8, 32, 64]}, {"finishes": [64, 32, 8]}


@pytest.mark.parametrize(
    ("name", "kernel", "swept", "seconds", "holds", "fails"),
    [
        ("fig11.improves", "bf", [{"workers": n} for n in (1, 2, 4, 8)], [1, 2, 3, 4], MANY, FEW),
        ("fig11.sixteen", "bf", [{"workers": n} for n in (4, 8, 16, 32)], [4, 3, 2, 1], MANY, FEW),
        ("fig11.hs-dip", "hs", [{"workers": n} for n in (16, 32)], [2, 1], MANY, FEW),
        ("fig13.mst", "mst", [{"threads": n} for n in (16, 32)], [2, 1], MANY, FEW),
        ("fig18.grows", "bf", THREADS, [3, 2, 1], MANY, FEW),
        ("fig14.grows", "bf", SIZES, [1, 0.9], {"finishes": [8, 64]}, {"finishes": [64, 8]}),
        ("fig16.grows", "bf", THREADS, [3, 2, 1], MORE, LESS),
        ("fig17.grows", "bf", SIZES, [1, 0.9], {"finishes": [8, 64]}, {"finishes": [64, 8]}),
        ("fig15.grows", "bf", [{"clusters": n} for n in (1, 2, 4, 8)], [4, 3, 2, 1],
         {"processors": [1] * 4, "workers": [2] * 4}, {"processors": [2] * 4, "workers": [2] * 4}),
        ("fig19.by", "by", INPUTS, [2, 1], {"finishes": [20, 10], "comm": [10, 90]},
         {"finishes": [10, 90], "comm": [20, 10]}),
    ],
)  # fmt: skip
def test_a_reason_counts_where_it_holds(name, kernel, swept, seconds, holds, fails):
    claim = claims()[f"imsuite.{name}"]
    for more, expected in ((holds, True), (fails, False)):
        results = differing(int(name[3:5]), kernel, swept, seconds, **more)
        found = CHECKS[claim.check](claim, Evidence({"f": results}))
        assert found.verdict == "differs"
        assert (claim.why in found.why) == expected
        assert bool(found.silent) != expected


def test_conditions_and_reasons_of_claims():
    """Each reason of times has a condition, and each condition is a claim's."""
    of_times = {n for n, check in CHECKS.items() if check.__module__ == times.__name__}
    reasons = [c for c in claims().values() if c.check in of_times and c.why]
    assert len(reasons) > 10
    assert all("when" in c.data for c in reasons)
    given = [d for c in claims().values() for d in (c.data, *c.data.get("difference", ()))]
    assert {d["when"] for d in given if "when" in d} == CONDITIONS.keys()


STAR = {"chain": [11], "star": [13]}


@pytest.mark.parametrize(
    ("name", "holds", "fails"),
    [
        ("rounds_and_bytes", (STAR | {"rn": [13, 15]}, [True]), (STAR | {"rn": [13, 17]}, [True])),
        (
            "rounds_and_bytes",
            (STAR | {"rn": [13, 15]}, []),
            (STAR | {"rn": [13, 15]}, [True, False]),
        ),
        ("floods_in_each_iteration", {"by time": (0.8, 0.0)}, {"mis time": (0.8, 0.0)}),
        ("floods_in_each_iteration", {"by messages": (2.4, 2.0)}, {"by time": (1.8, 0.0)}),
        (
            "slower_link",
            xr.Dataset({"n": 9}, attrs={"nominal_bandwidth": 1e6}),
            xr.Dataset({"n": 9}),
        ),
        ("so_found", True, False),
    ],
)
def test_conditions_of_other_reasons(name, holds, fails):
    assert CONDITIONS[name](holds)
    assert not CONDITIONS[name](fails)


@pytest.mark.parametrize(("sent", "holds"), [(400, True), (600, False)])
def test_why_the_serial_program_is_behind(sent, holds):
    """Each program that is faster sends less than half its bytes, or one does not."""
    took = {
        ("in_turn", "bf"): 2.0,
        ("clocked", "bf"): 1.0,
        ("in_turn", "kc"): 2.0,
        ("clocked", "kc"): 3.0,
    }
    ds = timed(11, [(("X10", *key, {"hwts": 1}), seconds) for key, seconds in took.items()])
    ds = ds.assign(wire_bytes=("run", np.repeat([1000, sent, 1000, 900], len(SPREAD))))
    assert CONDITIONS["accesses_outweigh"](ds) == holds
    assert not CONDITIONS["accesses_outweigh"](ds.isel(run=ds["style"].values != "in_turn"))


@pytest.mark.parametrize(("two", "holds"), [(0.6, True), (0.4, False)])
def test_why_a_second_place_gains_nothing(two, holds):
    runs = [
        (("X10", "clocked", kernel, {"clusters": clusters}), seconds)
        for kernel in ("bf", "by")
        for clusters, seconds in ((1, 1.0), (2, two))
    ]
    assert CONDITIONS["exchange_outweighs"](timed(15, runs)) == holds


STUDIES = [(11, "mn"), (11, "hjfap"), (19, "factors")]


def test_each_study_is_of_its_claim():
    """An experiment file each, held to the claim; results are found by its name, not as the figure's."""
    found = [c for c in claims().values() if "study" in c.data]
    assert [(c.data["figure"], c.data["study"]) for c in found] == STUDIES
    ds = timed(11, [(("X10", "clocked", "bf", {}), 1.0)])
    evidence = Evidence({"a": ds, "b": ds.assign_attrs(study="mn")})
    assert evidence.figure(11) is evidence.results["a"]
    assert evidence.figure(11, "mn") is evidence.results["b"]
    assert evidence.figure(11, "hjfap") is None
    for claim in found:
        number, study = claim.data["figure"], claim.data["study"]
        full = evidence.points(number, True, study)
        assert setups.departures(claim, setups.planned(full)) == {}
        assert setup_of(number, study) is claim is not setup_of(number)
        work = {"hjfap": "10,000,000", "factors": "0 and 10,000,000"}.get(study)
        assert work is None or f"; {work} operations a task." in setups.described(number, study)
        verdict = CHECKS[claim.check](claim, Evidence())
        assert (verdict.verdict, verdict.silent) == ("not checked", "")


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["mn-similar", "hjfap-similar"])
@pytest.mark.parametrize(
    ("times_of_bf", "verdict"),
    [
        ((0.5, 0.51, 0.5), "agrees"),
        ((0.9, 0.91, 0.9), "differs"),  # BF alone
        ((0.3, 0.9, 0.3), "not checked"),  # not sure of BF, nor of the mean
        ((0.3, 0.31, 0.3), "differs"),
    ],
)
def test_speed_ups_are_alike_by_their_intervals(name, times_of_bf, verdict):
    """On two threads every kernel takes a half of the time, but BF in the other curve."""
    claim = claims()[f"imsuite.fig11.{name}"]
    curves = {
        "mn-similar": [("X10", FAC, "mx"), ("X10", FAC, "mn")],
        "hjfap-similar": [("HJ", FA, "mx"), ("HJ", FAC, "mx")],
    }[name]
    given = []
    for other, kernel, repeat in itertools.product((0, 1), ("bf", "ds", "kc"), range(3)):
        *who, kind = curves[other]
        two = times_of_bf[repeat] if other and kernel == "bf" else 0.5
        for threads, seconds in ((1, 1.0), (2, two)):
            at = {"kind": kind, "repeat": repeat, "threads": threads}
            given.append(((*who, kernel, at), seconds * (1 + repeat / 1000)))
    results = timed(11, given, [1.0]).assign_attrs(study=claim.data["study"])
    found = CHECKS[claim.check](claim, Evidence({"f": results}))
    assert found.verdict == verdict
    assert bool(found.silent) == (verdict == "differs")
    assert ("bf x" in found.ours) == (verdict == "differs")


COSTS = {"asyncs": 1e-3, "comm": 1e-5, "mutexes": 1e-4}


@pytest.mark.parametrize(
    ("without", "verdict"),
    [((), "agrees"), (("mutexes",), "differs"), (("comm",), "differs"), (("asyncs",), "differs"),
     (("comm", "mutexes"), "explained")],
)  # fmt: skip
def test_factors_are_those_that_predict_other_kernels(without, verdict):
    """Times are made of costs of counts; where one costs nothing, they do not depend on it."""
    claim = claims()["imsuite.fig19.factors"]
    rng = np.random.default_rng(7)
    kernels = ("bf", "dst", "by", "dr", "ds", "kc", "dp", "mis", "mst", "vc")
    given = [(("X10", FA, k, {"kind": kind}), 1.0) for k in kernels for kind in ("mn", "mx")]
    ds = timed(19, given, [1.0]).assign_attrs(study="factors")
    most = {"asyncs": 5000, "comm": 500000, "mutexes": 50000}
    counts = {name: rng.integers(n // 100, n, len(given)) for name, n in most.items()}
    seconds = sum(cost * counts[name] for name, cost in COSTS.items() if name not in without)
    counts |= {"finishes": np.zeros(len(given), int), "seconds": seconds}
    ds = ds.assign({name: ("run", values) for name, values in counts.items()})
    found = times.factors(claim, Evidence({"f": ds}))
    assert found.verdict == ("differs" if verdict == "explained" else verdict)
    assert (claim.why in found.why) == (verdict == "explained")
    assert bool(found.silent) == (verdict == "differs")
    few = ds.isel(run=ds.kernel.values == "bf")  # kernels have to differ
    assert times.factors(claim, Evidence({"f": few})).verdict == "not checked"


def test_what_a_result_departs_in():
    """From the runs themselves, whatever their file says."""
    ds = timed(17, [(("X10", "clocked", "bf", {"n": n, "clusters": n}), 1.0) for n in (8, 16)])
    found = setups.settings_of(ds)
    assert found["programs"] == "without X10-FA"
    assert found["sizes"] == "X10-FAC 8, 16 instead of 8, 16, 32, 64"
    assert found["threads"] == "X10-FAC 1 instead of 8"
    assert "places" not in found
    quick = config.points(load(str(CONFIGS / "figure17.toml"), [])[0])
    assert set(setups.departures(setup_of(17), setups.planned(quick))) == {
        *("kernels", "sizes", "threads", "repeats")
    }


@pytest.mark.parametrize("shared", [True, False])
def test_a_reason_of_a_fit_counts_where_it_holds(shared):
    results = xr.Dataset({"oversubscribed": ("p", [False, shared])})
    claim = claims()["scalability.fig3.good-fit"]
    found = compared(claim, False, {}, results=results)
    assert (claim.why in found.why, bool(found.silent)) == (shared, not shared)
    assert compared(claim, True, {}, results=results).verdict == "equal"
    assert compared(claim, False, {}).silent  # without results nothing shows that it holds


@pytest.mark.parametrize(
    ("name", "link", "workers", "holds"),
    [
        ("fig6.dc", 7e9, [4], False),
        ("fig6.dc", 1e6, [4], True),
        ("fig5.similar", 7e9, [72, 162, 288], False),
        ("fig5.similar", 7e9, [4, 9, 16, 25], True),
    ],
)
def test_a_reason_of_the_scalability_paper_counts_where_it_holds(name, link, workers, holds):
    claim = claims()[f"scalability.{name}"]
    runs = xr.Dataset({"workers": ("run", workers), "n": 9}, attrs={"nominal_bandwidth": link})
    found = compared(claim, False, {}, results=runs)
    assert (found.why == claim.why, bool(found.silent)) == (holds, not holds)
