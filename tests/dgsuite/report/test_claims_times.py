"""What IMSuite says of times, on made results: verdicts by intervals, and reasons that are tested."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xarray as xr

from dgsuite.studies.experiment import model as config
from dgsuite.studies.experiment.load import load
from dgsuite.studies.report.claims import setups, studies, times
from dgsuite.studies.report.claims.data import claims, setup_of
from dgsuite.studies.report.claims.evidence import CONFIGS, Evidence
from dgsuite.studies.report.claims.judge import CHECKS  # all of them, once that module is there
from dgsuite.studies.report.claims.verdicts import CONDITIONS, Verdict
from tests.support.claims import SPREAD, timed


def test_findings_on_times_follow_the_results():
    """Times that do as the paper says agree with it, and others do not; none are not checked."""
    fa, fac = "finish_async", "clocked"
    claim = claims()["imsuite.fig14.grows"]
    assert times.size_grows(claim, Evidence()).verdict == "not checked"

    def verdict(by):
        given = [
            (("X10", style, k, {"n": n}), n * s)
            for style in (fa, fac)
            for k, s in (("bf", 1.0), ("by", 1.0))
            for n in (8, 64)
        ]
        given = [(key, v * by if key[2:] == ("by", {"n": 64}) else v) for key, v in given]
        return times.size_grows(claim, Evidence({"f": timed(14, given)}))

    assert verdict(2).verdict == "agrees"
    assert "sizes" in verdict(2).why
    assert verdict(0.5).verdict == "differs"
    claim = claims()["imsuite.fig16.grows"]
    for last, expected in ((9.0, "agrees"), (3.0, "differs")):
        given = [(("HJ", fac, "bf", {"n": n}), s) for n, s in ((8, 1.0), (16, 2.0), (32, last))]
        assert times.u_grows(claim, Evidence({"f": timed(16, given)})).verdict == expected
    claim = claims()["imsuite.fig11.hs-dip"]
    for hj, expected in ((0.9, "agrees"), (1.1, "differs")):
        given = [
            (("X10", fa, "hs", {"workers": 16}), 1.0),
            (("X10", fa, "hs", {"workers": 32}), 1.2),
            (("HJ", fa, "hs", {"threads": 16}), 1.0),
            (("HJ", fa, "hs", {"threads": 32}), hj),
        ]
        assert times.hs_dip(claim, Evidence({"f": timed(11, given)})).verdict == expected


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
    found = times.n_grows(claim, Evidence({"f": timed(17, given, spread)}))
    assert (found.verdict, why in found.why) == (verdict, True)


def test_most_curves_hold_where_those_left_open_cannot_change_it():
    claim = claims()["imsuite.fig17.grows"]
    evidence = Evidence({"f": timed(17, [(("X10", "clocked", "bf", {"n": 8}), 1.0)])})

    def verdict(*held):
        return times._share(
            claim, evidence, {(str(i),): h for i, h in enumerate(held)}, of=0.75
        ).verdict

    verdicts = [
        verdict(*held)
        for held in ((True, True, True, None), (True, True, None, None), (False, False, True, None))
    ]
    assert verdicts == ["agrees", "not checked", "differs"]


def differing(number, kernel, swept, seconds, **more):
    """Results of X10-FA and HJ-FA, with other variables."""
    runs = [
        ((runtime, "finish_async", kernel, at), s)
        for runtime in ("X10", "HJ")
        for at, s in zip(swept, seconds, strict=True)
    ]
    ds = timed(number, runs)
    of_runs = {name: np.repeat([*values, *values], len(SPREAD)) for name, values in more.items()}
    return ds.assign({name: ("run", values) for name, values in of_runs.items()})


THREADS = [{"threads": n, "n": n} for n in (8, 16, 32)]
SIZES = [{"n": 8}, {"n": 64}]
INPUTS = [{"kind": "mn"}, {"kind": "mx"}]


@pytest.mark.parametrize(
    ("name", "number", "kernel", "swept", "seconds", "holds", "fails"),
    [
        *(
            (name, number, kernel, swept, seconds, {"oversubscribed": [1] * len(swept)},
             {"oversubscribed": [0] * len(swept)})
            for name, number, kernel, swept, seconds in (
                ("fig11.improves", 11, "bf", [{"workers": n} for n in (1, 2, 4, 8)], [1, 2, 3, 4]),
                ("fig11.sixteen", 11, "bf", [{"workers": n} for n in (4, 8, 16, 32)], [4, 3, 2, 1]),
                ("fig11.hs-dip", 11, "hs", [{"workers": n} for n in (16, 32)], [2, 1]),
                ("fig13.mst", 13, "mst", [{"threads": n} for n in (16, 32)], [2, 1]),
                ("fig18.grows", 18, "bf", THREADS, [3, 2, 1]),
            )
        ),
        ("fig14.grows", 14, "bf", SIZES, [1, 0.9], {"finishes": [8, 64]}, {"finishes": [64, 8]}),
        ("fig16.grows", 16, "bf", THREADS, [3, 2, 1], {"finishes": [8, 32, 64]},
         {"finishes": [64, 32, 8]}),
        ("fig17.grows", 17, "bf", SIZES, [1, 0.9], {"finishes": [8, 64]}, {"finishes": [64, 8]}),
        ("fig15.grows", 15, "bf", [{"clusters": n} for n in (1, 2, 4, 8)], [4, 3, 2, 1],
         {"workers": [1] * 4}, {"workers": [1, 2, 4, 8]}),
        ("fig19.by", 19, "by", INPUTS, [2, 1], {"finishes": [20, 10], "comm": [10, 90]},
         {"finishes": [10, 90], "comm": [20, 10]}),
    ],
)  # fmt: skip
def test_a_reason_counts_where_it_holds(name, number, kernel, swept, seconds, holds, fails):
    claim = claims()[f"imsuite.{name}"]
    for more, expected in ((holds, True), (fails, False)):
        results = differing(number, kernel, swept, seconds, **more)
        found = CHECKS[claim.check](claim, Evidence({"f": results}))
        assert found.verdict == "differs"
        assert (claim.why in found.why) == expected
        assert bool(found.silent) != expected


def test_each_reason_of_times_has_a_condition():
    modules = {module.__name__ for module in (times, studies)}
    of_times = {name for name, check in CHECKS.items() if check.__module__ in modules}
    reasons = [c for c in claims().values() if c.check in of_times and c.why]
    assert len(reasons) > 10
    assert all("when" in c.data for c in reasons)


def test_each_condition_is_a_claims():
    given = [d for c in claims().values() for d in (c.data, *c.data.get("difference", ()))]
    assert {d["when"] for d in given if "when" in d} == CONDITIONS.keys()


@pytest.mark.parametrize(
    ("name", "holds", "fails"),
    [
        ("added_to_a_tree", {"SP-Min": 63, "SP-Max": 383}, {"SP-Min": 63, "SP-Max": 384}),
        (
            "a_round_more",
            {"chain": [11], "rn": [13, 15], "star": [13]},
            {"chain": [11], "rn": [13, 17], "star": [13]},
        ),
        (
            "floods_in_each_iteration",
            {"by time": (0.8, 0.0), "by messages": (2.4, 2.0)},
            {"by time": (0.8, 0.0), "mis time": (0.8, 0.0)},
        ),
        ("floods_in_each_iteration", {"by time": (0.8, 0.0)}, {"by time": (1.8, 0.0)}),
        ("another_machine", ["an abacus"], []),
        ("without_traitors", {"by": {57}}, {"by": {57, 64}}),
        ("without_traitors", {"by": {57}}, {"by": {57}, "kc": {1}}),
        ("shorter", 0.7, 1.1),
        ("refuted", (1, 9), (0, 9)),
        (
            "iterations_of_figure_8",
            {"bf": (7, 3), "dr": (1, 1), "ds": (3, 6)},
            {"bf": (7, 3), "dr": (1, 1), "ds": (4, 6)},
        ),
        ("rounds_have_phases", [2, 2], [1, 2]),
        ("beyond_memory", ([1, 2], [1, 2, 8, 48]), ([1, 2], [1, 2])),
        ("explained", [Verdict("differs", "", "a reason")], [Verdict("differs", silent="none")]),
        ("fits_a_core", 1e6, 1e9),
    ],
)
def test_conditions_of_other_reasons(name, holds, fails):
    assert CONDITIONS[name](holds)
    assert not CONDITIONS[name](fails)


@pytest.mark.parametrize(("cost", "holds"), [(0.01, True), (1e-6, False)])
def test_why_the_serial_program_is_behind(cost, holds):
    """Its accesses to other places take most of its time, or they do not."""
    kernels = ("bf", "by", "kc")
    ds = timed(11, [(("X10", "in_turn", k, {"hwts": 1}), 1.0) for k in kernels])
    sent = np.repeat([10, 100, 1000], len(SPREAD))
    ds = ds.assign(wire_bytes=("run", 1000 * sent), seconds=("run", 0.1 + cost * sent))
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


def test_the_machine_of_the_paper_is_known():
    claim = claims()["imsuite.sec6.machine"]
    for name, verdict in (("2 x Intel E5-2670, 64 processors", "equal"), ("a sundial", "differs")):
        results = {"f": xr.Dataset(attrs={"machine": name})}
        found = CHECKS[claim.check](claim, Evidence(results))
        assert (found.verdict, found.silent) == (verdict, "")


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


@pytest.mark.parametrize(
    ("number", "study", "old", "new", "departs"),
    [
        (11, "mn", 'kind = ["mn", "mx"]', 'kind = "mx"', "inputs: X10-FA Mx instead of Mn, Mx"),
        (11, "hjfap", 'style = "clocked"', 'style = "finish_async"', "programs: without HJ-FAP"),
        (19, "factors", '"run.0.places" = 64', "", "places: X10-FA 4 instead of 64"),
    ],
)
def test_a_wrong_study_is_found(configs, number, study, old, new, departs):
    path = configs / f"figure{number}-{study}.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    claim = setup_of(number, study)
    assert departs in CHECKS[claim.check](claim, Evidence(configs=configs)).silent


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
    given = []
    for other, kernel, repeat in itertools.product((0, 1), ("bf", "ds", "kc"), range(3)):
        if name == "mn-similar":
            who, kind = ("X10", "clocked"), ("mx", "mn")[other]
        else:
            who, kind = ("HJ", ("finish_async", "clocked")[other]), "mx"
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
    given = [
        (("X10", "finish_async", k, {"kind": kind}), 1.0) for k in kernels for kind in ("mn", "mx")
    ]
    ds = timed(19, given, [1.0]).assign_attrs(study="factors")
    counts = {
        "asyncs": rng.integers(50, 5000, len(given)),
        "comm": rng.integers(5000, 500000, len(given)),
        "mutexes": rng.integers(500, 50000, len(given)),
    }
    counts |= {"finishes": np.zeros(len(given), int)}
    ds = ds.assign({name: ("run", values) for name, values in counts.items()})
    seconds = sum(cost * counts[name] for name, cost in COSTS.items() if name not in without)
    found = studies.factors(claim, Evidence({"f": ds.assign(seconds=("run", seconds))}))
    assert found.verdict == ("differs" if verdict == "explained" else verdict)
    assert (claim.why in found.why) == (verdict == "explained")
    assert bool(found.silent) == (verdict == "differs")


def test_factors_need_kernels_that_differ():
    claim = claims()["imsuite.fig19.factors"]
    ds = timed(19, [(("X10", "finish_async", "bf", {"kind": kind}), 1.0) for kind in ("mn", "mx")])
    found = studies.factors(claim, Evidence({"f": ds.assign_attrs(study="factors")}))
    assert found.verdict == "not checked"


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
