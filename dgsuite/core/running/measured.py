"""What was measured of runs like one that is estimated: figures of committed benchmarks."""

from __future__ import annotations

from typing import NamedTuple


class Figure(NamedTuple):
    """A figure, and where it is from.

    Attributes
    ----------
    file
        In benchmarks/results.
    what, conditions
        As the file says.
    value, unit
        The figure; of a range, its larger end.
    text
        What it is.
    """

    file: str
    what: str
    conditions: dict[str, str | int]
    value: float
    unit: str
    text: str


PLACE = "on two processors, AMD EPYC, 24 GiB"


def _gap(ours: str, name: str, scale: int, value: float) -> tuple[str, Figure]:
    what = f"rounds of {ours} on GAP's Kronecker graph of scale {scale}"
    conditions: dict[str, str | int] = {"graph": "kron", "kernel": name}
    return ours, Figure(f"gap-kron{scale}.json", "ours", conditions, value, "ms", what)


RUNS = dict(
    [
        _gap("bfs", "bfs", 23, 401.1),
        _gap("pagerank", "pr", 23, 10220.0),
        _gap("wcc", "cc", 23, 302.7),
    ]
)
"""Of kernels, by their names."""


def beside(kernel: str) -> list[str]:
    """What was measured of a kernel, if something was: a sentence."""
    if kernel not in RUNS:
        return []
    found = RUNS[kernel]
    return [
        f"{found.text}: {found.value:g} {found.unit}, {PLACE} (benchmarks/results/{found.file})"
    ]
