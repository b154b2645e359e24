"""What the figures are, and what their runs must have. No heavy imports."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from dgsuite.base.errors import InputError
from dgsuite.studies.report.claims.data import setup_of, text_of
from dgsuite.studies.report.tables import INPUTS, STYLES

if TYPE_CHECKING:
    from dgsuite.studies.experiment.model import Run


class Form(NamedTuple):
    """What a figure is, and how it is drawn; see `paper/study.toml`."""

    title: str
    """The paper's subject, from its claims."""
    kind: str
    """"table", "rounds" or "bars"."""
    over: str = ""
    """Bars: what is swept; "hwts" are hardware threads, workers times threads."""
    unit: str = ""
    """Bars: what a swept value is called."""
    measure: str = ""
    """Bars: "speed-up" (first / this) or "time" (this / first)."""
    axis: str = ""
    """Bars: label of the vertical axis."""


@cache
def forms() -> dict[int, Form]:
    """All figures, by number."""
    found = tomllib.loads(text_of("study.toml"))["figure"]
    return {int(n): Form(title=title(int(n)), **entry) for n, entry in found.items()}


def title(number: int, study: str = "") -> str:
    """What a figure is of, or a study beside it."""
    claim = setup_of(number, study)
    if claim is None:
        raise InputError(f"Figure {number} has no study {study!r}")
    return str(claim.data["title"])


def misfits(number: int, runs: Sequence[Run]) -> Iterator[str]:
    """What is wrong with runs for a figure that looks numbers up by form, input and style."""
    kind = forms()[number].kind
    if kind == "bars":
        return
    form = "recursive" if number == 10 else "iterative"
    for i, run in enumerate(runs):
        if kind == "table" and run.form != [form]:
            yield f"run.{i}.form: figure {number} is of {form} kernels; must be {form!r}"
        if not (run.kind and set(run.kind) <= INPUTS.keys()):
            yield f"run.{i}.kind: figure {number} needs it; must be some of {', '.join(INPUTS)}"
        # of a table serial runs alone are compared
        compared = kind == "rounds" or "serial" in run.style
        if compared and not (run.count_as and set(run.count_as) <= STYLES.keys()):
            yield f"run.{i}.count_as: figure {number} needs it; must be some of {', '.join(STYLES)}"
