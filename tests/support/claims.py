"""Experiment files and results that claims are compared with, for tests."""

import dgsuite
from dgsuite import genval
from dgsuite.studies.report.results import collect

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
