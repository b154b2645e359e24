"""Intervals of "stop at" over made tables, whose true ends are known."""

import json
import re
import sys
import time

import pandas as pd
import pytest

from dgsuite import scaling
from dgsuite.studies.scaling.analysis import analyse
from tests.support.mains import scaling as main
from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import stop_coverage as coverage

TABLES = 20
WHATS = [
    f"{what}{of}"
    for of in ("a number", "an interval beyond")
    for what in ("tables with ", "of which cover, ")
]


@pytest.mark.parametrize("design", coverage.DESIGNS, ids=str)
def test_intervals_cover(design):
    """At most a tenth misses, of few numbers one; what the forms do not contain is refused."""
    found = coverage.measure(design, TABLES)
    assert found.numbers - found.covered <= max(0.1 * found.numbers, 1)
    assert found.beyond - found.covered_beyond <= 0.1 * found.beyond
    assert found.named >= 0.9 * TABLES
    if design.truth in (coverage.SQUARE, coverage.STEP):
        assert found.numbers == found.beyond == 0
    elif design == coverage.DESIGNS[0]:
        assert found.numbers >= 0.8 * TABLES


def test_intervals_that_are_too_narrow_are_seen():
    """A third of the width."""

    def narrow(p, seconds):
        at, out = coverage.state(p, seconds)
        low, high = ((2 * at.machines + end) / 3 for end in (at.low, at.high))
        return at._replace(low=low, high=high), out

    found = coverage.measure(coverage.DESIGNS[0], TABLES, narrow)
    assert found.numbers - found.covered > 0.1 * found.numbers


def test_the_command_says_the_same_and_more(tmp_path, capsys):
    """Of a table with an outlier: all that a reader needs, within seconds."""
    p, seconds = coverage.DESIGNS[5].table(3)
    at, out = coverage.state(p, seconds)
    pd.DataFrame({"p": p.astype(int), "seconds": seconds}).to_csv(tmp_path / "own.csv", index=False)
    begin = time.perf_counter()
    found = analyse(scaling.read(tmp_path / "own.csv"))
    assert time.perf_counter() - begin < 3
    assert found.stop == {1: at}
    assert main(["fit", str(tmp_path / "own.csv"), "--no-figures"]) == 0
    said = capsys.readouterr().out
    assert f"outlier, left out: {seconds[out][0]:.3g} s of {int(p[out][0])} machine" in said
    assert re.search(r"\n\d+ \(fitted\) +[\d.]+ +\d+ % +[\d.]+\n", said)
    assert re.search(r"\nmeasure \d+ machines next: ", said)
    assert said.splitlines()[-2] == str(at)


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        (coverage.AMDAHL, r"Amdahl's law: serial part 5\.\d%; misses the times by 0\.0%"),
        (
            coverage.USL,
            r"Scalability Law: contention 0\.02, coherence 0\.0005, fastest at 44; misses",
        ),
    ],
)
def test_laws_have_their_names(truth, said, tmp_path, capsys):
    p, seconds = coverage.Design(truth, coverage.TO_64, 0).table(0)
    pd.DataFrame({"p": p.astype(int), "seconds": seconds}).to_csv(tmp_path / "own.csv", index=False)
    assert main(["fit", str(tmp_path / "own.csv"), "--no-figures"]) == 0
    shown = capsys.readouterr().out
    assert re.search(said, shown)
    assert "communication" not in shown


def test_the_page_has_the_table_that_was_measured():
    rows = json.loads((ROOT / "benchmarks/results/stop_coverage.json").read_text())["rows"]
    frame = pd.DataFrame([row["conditions"] | row for row in rows]).fillna("")
    page = (ROOT / "docs/stopping.md").read_text()
    keys = ["truth", "p", "noise", "repeats", "outlier", "end"]
    for of, group in frame.groupby(keys, sort=False):
        value = group.set_index("what")["value"]
        cells = [value.get(what) for what in WHATS]
        shown = ["" if cell is None else f"{cell:.3g} %" for cell in cells]
        truth, ps, noise, repeats, outlier, end = of
        more = f", {repeats} repeat{'s' * (repeats > 1)}" * (repeats != 3) + ", one time x 3" * (
            outlier > 1
        )
        assert f"| {truth} | {ps}{more} | {noise:.0%} | {end} | {' | '.join(shown)} |" in page
