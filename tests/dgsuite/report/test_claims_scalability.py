"""What the scalability paper says beside experiment files and made results."""

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


@pytest.mark.parametrize("shared", [True, False])
def test_a_reason_of_a_fit_counts_where_it_holds(shared):
    results = xr.Dataset({"oversubscribed": ("p", [False, shared])})
    claim = claims()["scalability.fig3.good-fit"]
    found = compared(claim, False, {}, results=results)
    assert (claim.why in found.why, bool(found.silent)) == (shared, not shared)
    assert compared(claim, True, {}, results=results).verdict == "equal"
    assert compared(claim, False, {}).silent  # without results nothing shows that it holds


@pytest.mark.parametrize(
    ("name", "machine", "workers", "holds"),
    [
        ("fig6.dc", "Intel Xeon E5-2683 v3", [4], False),
        ("fig6.dc", "AMD EPYC", [4], True),
        ("fig5.similar", "", [72, 162, 288], False),
        ("fig5.similar", "", [4, 9, 16, 25], True),
    ],
)
def test_a_reason_of_the_scalability_paper_counts_where_it_holds(name, machine, workers, holds):
    claim = claims()[f"scalability.{name}"]
    runs = xr.Dataset({"workers": ("run", workers)}, attrs={"machine": machine})
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
