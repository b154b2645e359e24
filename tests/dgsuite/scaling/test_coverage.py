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


def fit(p, seconds, path, capsys):
    """What the command prints of a table."""
    pd.DataFrame({"p": p.astype(int), "seconds": seconds}).to_csv(path, index=False)
    assert main(["fit", str(path), "--no-figures"]) == 0
    return capsys.readouterr().out


def test_the_command_says_the_same_and_more(tmp_path, capsys):
    """Of a table with an outlier: all that a reader needs, within seconds."""
    p, seconds = coverage.DESIGNS[5].table(3)
    at, out = coverage.state(p, seconds)
    said = fit(p, seconds, tmp_path / "own.csv", capsys)
    begin = time.process_time()
    assert analyse(scaling.read(tmp_path / "own.csv")).stop == {1: at}
    assert time.process_time() - begin < 3
    assert f"outlier, left out: {seconds[out][0]:.3g} s of {int(p[out][0])} machine" in said
    assert re.search(r"\n\d+ \(fitted\) +[\d.]+ +\d+ % +[\d.]+\n", said)
    assert re.search(r"\nmeasure \d+ machines next: ", said)
    assert said.splitlines()[-2] == str(at)


def test_laws_have_their_names(tmp_path, capsys):
    for truth, law in (
        (coverage.AMDAHL, "Amdahl's law: serial part 5.0%;"),
        (coverage.USL, "Scalability Law: contention 0.02, coherence 0.0005, fastest at 44;"),
    ):
        table = coverage.Design(truth, coverage.TO_64, 0).table(0)
        said = fit(*table, tmp_path / "own.csv", capsys)
        assert f"{law} misses the times by 0.0%" in said
        assert "communication" not in said


def test_the_page_has_the_table_that_was_measured():
    found = json.loads((ROOT / "benchmarks/results/stop_coverage.json").read_text())
    assert coverage.table(found["rows"]) in (ROOT / "docs/stopping.md").read_text()
