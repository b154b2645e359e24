"""What the scalability paper says beside experiment files and made results."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dgsuite.studies.experiment import model as config
from dgsuite.studies.report.claims import scalability
from dgsuite.studies.report.claims.data import claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.verdicts import CHECKS, compared
from dgsuite.studies.scaling import CompletionTime
from dgsuite.studies.scaling.analysis import Analysis
from dgsuite.studies.scaling.conclusion import Statement


@pytest.mark.parametrize(
    ("claim", "old", "new", "departs"),
    [
        (
            "fig4",
            "workers = [4, 9, 16, 25]",
            "workers = [4, 9, 16, 32]",
            "nodes: 4, 9, 16, 32 instead of",
        ),
        (
            "fig6",
            "workers = [4, 9, 16, 25]",
            "workers = [4, 9, 25]",
            "pairs_per_cti: 1 instead of 3",
        ),
        ("fig4", "percent = [20, 22, 24,", "percent = [20, 25,", "steps: 20, 25, 26, 28"),
        (
            "fig2",
            "workers = [2,",
            "threads = 2\nworkers = [2,",
            "threads_per_process: 2 instead of 1",
        ),
        ("fig2", 'kernel = "bfs2d"', 'kernel = "bfs"', "programs: bfs instead of bfs2d"),
        ("fig2", "25, 32]", "25]", "most_nodes: 25 instead of 32"),
        ("fig4", '"7 GB"', '"6 GB"', "full gbit_per_second: 48 instead of 56"),
        ("fig3", "[134217728, 268435456]", "268435456", "full scale: 28 instead of 27, 28"),
        ("fig3", 'points = "', 'repeats = "', "points: 54 instead of 1000"),
        (
            "fig2",
            'processes_per_node" = 18',
            'processes_per_node" = 9',
            "full processes_per_node: 9",
        ),
        ("fig3", "scale = ", "steps = ", "steps: said to depart, but does not"),
        ("eq1.regression", 'weights = "equal"', 'weights = "relative"', "nothing says why"),
        ("eq1.regression", "bounded = false", "bounded = true", "nothing says why"),
        ("eq1.regression", '"1/sqrt(p)"', '"log(p)"', "nothing says why"),
        ("eq1.regression", '"apart"', '"together"', "nothing says why"),
    ],
)
def test_each_aspect_of_the_scalability_experiment_is_held_to_the_paper(
    configs, claim, old, new, departs
):
    file = "scalability-paper" if claim in ("fig4", "fig6") else "scalability-figure2"
    path = configs / f"{file}.toml"
    name = f"scalability.{claim}" if "." in claim else f"scalability.{claim}.setup"
    claim = claims()[name]
    assert not CHECKS[claim.check](claim, Evidence(configs=configs)).silent
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert departs in CHECKS[claim.check](claim, Evidence(configs=configs)).silent


@pytest.mark.parametrize("shared", [True, False])
def test_a_reason_of_a_fit_counts_where_it_holds(shared):
    results = xr.Dataset({"oversubscribed": ("p", [False, shared])})
    claim = claims()["scalability.fig3.good-fit"]
    found = compared(claim, False, {}, results=results)
    assert (claim.why in found.why, bool(found.silent)) == (shared, not shared)
    assert compared(claim, True, {}, results=results).verdict == "equal"
    assert compared(claim, False, {}).silent  # without results nothing shows that it holds


@pytest.mark.parametrize(
    ("name", "there", "elsewhere"),
    [
        ("fig6.dc", {"machine": "Intel Xeon E5-2683 v3"}, {"machine": "AMD EPYC"}),
        ("fig5.similar", {"workers": [72, 162, 288]}, {"workers": [4, 9, 16, 25]}),
    ],
)
def test_a_reason_of_the_scalability_paper_counts_where_it_holds(name, there, elsewhere):
    claim = claims()[f"scalability.{name}"]
    for values, holds in ((there, False), (elsewhere, True)):
        runs = xr.Dataset({"workers": ("run", values.get("workers", [4]))})
        runs.attrs["machine"] = values.get("machine", "")
        found = compared(claim, False, {}, results=runs)
        assert (found.why == claim.why, bool(found.silent)) == (holds, not holds)


def test_less_bandwidth_is_judged_by_runs(monkeypatch):
    claim = claims()["scalability.sec4.intersense"]
    for slow, verdict in ((2.0, "agrees"), (1.0, "differs")):
        seconds = [[[1.0], [1.0]], [[slow], [1.0]]]
        at = {"p": [1, 2], "bandwidth": [20, 100], "repeat": [0]}
        runs = xr.Dataset({"seconds": (tuple(at), seconds)}, at)
        analysis = Analysis("bfs2d", "bfs2d", config.Scaling(), runs)
        monkeypatch.setattr(scalability, "_analysis", lambda *_, found=analysis: found)
        assert CHECKS["throttle"](claim, Evidence()).verdict == verdict


@pytest.mark.parametrize(
    ("constant", "reason", "expected"),
    [(2.0, "", "agrees"), (0.1, "", "differs"), (2.0, "no end", "not checked")],
)
def test_where_machines_stop_to_pay_communication_is_most(monkeypatch, constant, reason, expected):
    p = np.arange(1, 17)
    runs = xr.Dataset({"seconds": ("p", constant + 8 / p)}, {"p": p})
    model = CompletionTime(("1", "1/p", "1/sqrt(p)"), "equal", False).fit(p, runs.seconds)
    stop = {64: Statement(reason=reason) if reason else Statement(10, 8, 12)}
    analysis = Analysis("bfs2d", "bfs2d", config.Scaling(), runs, chosen=model, stop=stop)
    monkeypatch.setattr(scalability, "_analysis", lambda *_: analysis)
    claim = claims()["scalability.sec4.diminishing-return"]
    found = CHECKS[claim.check](claim, Evidence())
    assert found.verdict == expected
    assert bool(found.silent) == (expected == "differs")
