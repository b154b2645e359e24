"""Experiment files and results that claims are compared with, for tests."""

import dgsuite
from dgsuite import genval
from dgsuite.studies.report.claims.data import setup_of
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.verdicts import CHECKS
from dgsuite.studies.report.results import collect


def changed(configs, number, old, new):
    path = configs / f"figure{number:02}.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    claim = setup_of(number)
    return CHECKS[claim.check](claim, Evidence(configs=configs))


SPREAD = (0.99, 1.0, 1.01)
"""Of three repeats."""


def timed(number, seconds, spread=SPREAD):
    """A figure's results: times by runtime, style, kernel and what is swept, repeated."""
    graph = genval.graph("mx", 8, family="paper", kernel="bf")
    ran = dgsuite.run("bf", graph, style="serial").assign_attrs(kind="mx", repeat=0)
    usual = {"workers": 1, "threads": 1, "clusters": 8, "n": 8}
    runs = [
        ran.assign_attrs(
            usual
            | {"kernel": k, "runtime": runtime, "style": style, "repeat": repeat}
            | {"seconds": value * factor}
            | swept
        )
        for (runtime, style, k, swept), value in seconds
        for repeat, factor in enumerate(spread)
    ]
    return collect(number, runs)
