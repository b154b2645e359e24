"""Checks of what the papers define fail where it is otherwise."""

import re

import numpy as np
import pytest

import dgsuite
from dgsuite.genval.report import Report
from dgsuite.studies.report.claims import words
from dgsuite.studies.report.claims.data import claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.judge import judge
from dgsuite.studies.report.claims.verdicts import CHECKS
from tests.support.claims import of_counts

NAMES = [name for name, check in CHECKS.items() if check.__module__ == words.__name__]
CLAIMS = [c for c in claims().values() if c.check in NAMES or c.data.get("of") == "runs"]


def verdict(claim, evidence=None):
    return CHECKS[claim.check](claim, evidence or Evidence()).verdict


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_definitions_hold(claim):
    differ = claim.id in ("imsuite.sec4.rounds", "imsuite.sec4.mailbox")
    expected = {"differs"} if differ else {"equal", "agrees"}
    found = CHECKS[claim.check](claim, Evidence())
    assert found.verdict in expected
    assert not found.silent


def test_relations_are_told_in_words_with_their_numbers():
    """Those that hold and those that do not; none has a sign or a name of a formula."""
    (row,) = judge(Evidence(of_counts()), [claims()["imsuite.fig9.fewer-rounds"]])
    shown = (
        "3 of 5 cases. rounds of FAC on Mx < rounds of FAC on Mn: bf 3 < 7, dst 3 < 7 and 1 more"
    )
    assert row.verdict.ours.startswith(f"{shown}; not ds 6 < 3. rounds of FA on Mx < ")
    for row in judge(
        Evidence(of_counts()), [c for c in claims().values() if c.check == "relations"]
    ):
        assert row.verdict.verdict != "not checked"
        assert not re.search("_|==|//|%", row.verdict.ours)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("check", "file", "old", "new"),
    [
        ("places", "figure12.toml", "places = 64", "clusters = 64"),
        ("sizes_together", "scalability-sizes.toml", "n = [65536, 131072, 262144]", "n = [65536]"),
        ("parameters", "figure16.toml", '"run.0.hwts" = "n"', '"run.0.hwts" = [1, 2]'),
        ("parameters", "figure19.toml", 'kind = ["mn", "mx"]', 'kind = "mx"'),
        ("parameters", "figure14.toml", "places = 8", "places = 7"),
    ],
)
def test_other_experiments_differ(check, file, old, new, configs):
    (claim,) = (claim for claim in CLAIMS if claim.check == check)
    text = (configs / file).read_text()
    assert old in text
    (configs / file).write_text(text.replace(old, new))
    assert verdict(claim, Evidence(configs=configs)) == "differs"
    assert verdict(claim, Evidence(configs=configs / "none")) in ("not checked", "equal")


class Otherwise(Evidence):
    """Evidence whose runs are changed."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def run(self, kernel, given, style="finish_async", form="iterative"):
        return self.change(super().run(kernel, given, style, form).copy(deep=True))


@pytest.mark.parametrize(
    ("check", "change"),
    [
        ("sec4.timing", lambda ds: ds.assign(barriers=ds.barriers * 0)),
        ("sec4.timing", lambda ds: ds.assign(barriers=ds.barriers + 1)),
        ("fig6.lcr-code", lambda ds: ds.assign(asyncs=ds.asyncs + 1)),
        ("variables", lambda ds: ds.drop_vars("mutexes")),
    ],
)
def test_other_runs_differ(check, change):
    chosen = [claim for claim in CLAIMS if check in (claim.check, claim.id.partition(".")[2])]
    assert chosen
    assert all(verdict(claim, Otherwise(change)) == "differs" for claim in chosen)


def test_a_round_of_one_phase_has_no_reason_to_differ():
    claim = claims()["imsuite.sec4.rounds"]
    assert verdict(claim, Otherwise(lambda ds: ds.assign(finishes=ds.finishes // 2))) == "equal"
    assert CHECKS[claim.check](claim, Evidence()).why == claim.why


def test_what_is_otherwise_differs(monkeypatch):
    """Scores, traces, and a validator that refuses nothing."""
    run = dgsuite.run

    def wrong(kernel, graph, **how):
        ds = run(kernel, graph, **how)
        name = "betweenness" if kernel == "bc" else "traffic"
        return ds.assign({name: ds[name] + np.ones(1, ds[name].dtype)[0]})

    by_check = {claim.check: claim for claim in CLAIMS}
    monkeypatch.setattr(words.genval, "validate", lambda *given: Report("bf", []))
    assert verdict(by_check["validators"]) == "differs"
    monkeypatch.setattr(dgsuite, "run", wrong)
    for check in ("betweenness", "traces"):
        assert verdict(by_check[check]) == "differs"
