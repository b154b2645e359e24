"""Experiment files and results that claims are compared with, for tests."""

from functools import cache

import dgsuite
from dgsuite import genval
from dgsuite.studies.report.claims.evidence import COUNTED, Evidence
from dgsuite.studies.report.folder import results_in
from dgsuite.studies.report.results import collect
from tests.support.paths import ROOT

SPREAD = (0.99, 1.0, 1.01)
"""Of three repeats."""


@cache
def shipped():
    """The results that ship, by file name."""
    return results_in(ROOT / "docs" / "study")


def of_counts():
    """Those of Figures 7 to 10."""
    return {n: ds for n, ds in shipped().items() if ds.attrs.get("figure") in COUNTED}


class Changed(Evidence):
    """The results that ship, and runs of which something is changed.

    Parameters
    ----------
    change
        Makes another dataset of that of a run, given also the kernel, input, style and form.
    """

    def __init__(self, change=lambda ds, *how: ds):
        super().__init__(shipped())
        self.change = change

    def counted(self, kernel, given, style="finish_async", form="iterative"):
        found = super().counted(kernel, given, style, form)
        return self.change(found.copy(deep=True), kernel, given, style, form)


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
