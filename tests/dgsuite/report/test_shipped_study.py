"""The results that ship, in docs/study: what the papers say has a verdict on them, and they make a page.

`make pages` runs these tests.
"""

import asyncio
import json
from hashlib import sha256

import pytest
from markupsafe import escape

from dgsuite.studies.report.claims.data import claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.judge import judge
from dgsuite.studies.report.claims.setups import settings_of
from dgsuite.studies.report.claims.show import silent, summary
from dgsuite.studies.report.claims.verdicts import RESULTS, UNCHECKED
from dgsuite.studies.report.folder import results_in
from dgsuite.studies.report.page import page
from dgsuite.studies.study import NOTES, STEPS
from tests.dgsuite.report.test_perturbed import TRIED
from tests.support.browser import BROWSER, opened
from tests.support.paths import ROOT

pytestmark = pytest.mark.long

STUDY = ROOT / "docs" / "study"

FEW = 32
"""Claims that are not checked, at most: background, machines that cannot be had, results that do not say."""


@pytest.fixture(scope="module")
def results():
    return results_in(STUDY)


@pytest.fixture(scope="module")
def rows(results):
    return judge(Evidence(results))


def test_every_step_of_the_study_ships_and_is_small(results):
    """And names no file of the machine that made it."""
    assert results.keys() == {f"{step.name}.nc" for step in STEPS}
    assert sum(path.stat().st_size for path in STUDY.iterdir()) < 5e6
    assert not any("/" in str(ds.attrs.get("command", "")) for ds in results.values())


def test_results_are_those_that_were_noted():
    for name, note in json.loads((STUDY / NOTES).read_text()).items():
        assert sha256((STUDY / f"{name}.nc").read_bytes()).hexdigest() == note["sha256"], name


def test_every_claim_has_a_verdict(rows):
    """And every difference a reason that holds."""
    assert [row.claim for row in rows] == list(claims().values())
    for row in rows:
        assert row.claim.says
        assert row.verdict.verdict in ("equal", "agrees", "differs", "not checked")
        assert row.verdict.ours or row.verdict.verdict in ("equal", "not checked"), row
        assert row.verdict.why or row.verdict.verdict not in ("differs", "not checked"), row
    assert silent(rows) == []
    assert "; 0 depart without a reason; on the papers' machines, simulated: " in summary(rows)


def test_every_verdict_on_results_is_perturbed(rows):
    on_results = {r.claim.id for r in rows if r.verdict.kind in ("measured", "simulated")}
    assert on_results == {*TRIED}


def test_few_claims_are_not_checked(rows):
    assert len([row for row in rows if row.verdict.verdict == "not checked"]) <= FEW
    assert not [row.claim.id for row in rows if "cannot be compared" in row.verdict.why]


@pytest.mark.parametrize("number", [11, 12, 13, 15, 16, 19])
def test_set_ups_depart_in_what_takes_long_alone(results, number):
    """In processors, repeats, and in kernels and places that the quick setting leaves out."""
    found = settings_of(results[f"figure{number}.nc"])
    assert found.keys() <= {"threads", "repeats", "kernels", "places", "base"}
    assert "without" in found.get("base", "without")


def test_the_page_has_them_all(results, rows):
    text, left_out = page(results, rows)
    assert left_out == {}
    for number in range(7, 20):
        assert f'id="figure{number}"' in text
    for title in (
        "X10 on the SCC, Figure 10.",
        "Scalability on Graph500, Figures 2 to 3",
        "Scalability on Graph500, simulated, Figures 2 to 6",
    ):
        assert title in text
    assert "Not here yet" not in text
    first, _, rest = text.partition("</header>")
    for row in rows:
        told, kind = str(escape(row.verdict.ours)), row.verdict.kind
        assert told in rest
        if row.claim.kind == "finding" and kind in RESULTS and row.verdict.verdict != UNCHECKED:
            assert told in first


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_a_narrow_page_and_its_boxes(results, rows, tmp_path):
    """At 400 px no claim scrolls sideways; boxes hide claims by verdict and by kind."""
    path = tmp_path / "study.html"
    path.write_text(page(results, rows)[0], encoding="utf-8")
    seen = "[...document.querySelectorAll('#claims tr.%s')].filter(r => r.offsetParent).length"
    tables = "[...document.querySelectorAll('.wide:has(.claims)')]"
    wide = f"{tables}.filter(t => t.scrollWidth > t.clientWidth + 1).length"

    async def looked_at():
        async with opened(path) as shown:
            await shown.picture(tmp_path / "narrow.png", width=400)
            assert await shown.ask(wide) == 0
            for name, other in (("differs", "equal"), ("planned", "measured")):
                assert await shown.ask(seen % name) > 0
                await shown.ask(f"document.getElementById('show-{name}').click()")
                assert await shown.ask(seen % name) == 0
                assert await shown.ask(seen % other) > 0

    asyncio.run(looked_at())
