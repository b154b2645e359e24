"""Results of the project's own benchmarks, as files of JSON, and what two of them say about each other.

`benchmarks/common.py` writes the files, `benchmarks/page.py` makes the page of them.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TypedDict

import numpy as np

from dgsuite.base.errors import InputError

FOLDER = "benchmarks/results"
"""Where results are kept, in a clone."""

NOISE = 1.1
"""What may be between two measurements of the same, beside what the fixed loop shows."""


class Row(TypedDict):
    """A figure."""

    what: str
    conditions: dict[str, Any]
    value: float | list[float]
    """A number, or the least and the most of several runs."""
    unit: str
    spread: NotRequired[list[float]]
    """Least and most of the repeats of which the value is the median."""
    most: NotRequired[float]
    """Bound from above."""
    least: NotRequired[float]
    """Bound from below."""
    peer: NotRequired[str]
    """What the value is a ratio to."""
    note: NotRequired[str]


def read(path: str | Path) -> dict[str, Any]:
    """A result.

    Raises
    ------
    InputError
        The file cannot be read, or is not a result of a benchmark.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return _parsed(text, str(path))


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InputError(f"{name}: is not JSON: {error}") from None
    if not (isinstance(found, dict) and {"benchmark", "rows"} <= found.keys()):
        raise InputError(f"{name}: is not a result of a benchmark: it has no benchmark and rows")
    return found


def results(place: str) -> dict[str, dict[str, Any]]:
    """Results by name: those of a file, of a folder, or of a commit of the clone that this is in.

    Raises
    ------
    InputError
        It is none of them, or has no results.
    """
    path = Path(place)
    if path.is_file():
        return {"": read(path)}
    if path.is_dir():
        found = {file.stem: read(file) for file in sorted(path.glob("*.json"))}
    else:
        names = _git(place, "ls-tree", "--name-only", "--full-tree", place, f"{FOLDER}/")
        found = {
            Path(name).stem: _parsed(_git(place, "show", f"{place}:{name}"), f"{place}:{name}")
            for name in names.split()
            if name.endswith(".json")
        }
    if not found:
        raise InputError(f"{place}: there are no results of benchmarks ({FOLDER}/*.json)")
    return found


def _git(place: str, *arguments: str) -> str:
    made = subprocess.run(["git", *arguments], capture_output=True, text=True)
    if made.returncode:
        why = (made.stderr.strip().splitlines() or [""])[0]
        raise InputError(f"{place}: is neither a file, nor a folder, nor a commit here: {why}")
    return made.stdout


def met(row: Row) -> bool | None:
    """Whether a figure is within its bound; None where it has none. The worst of several decides."""
    low, high = _ends(row["value"])
    if "most" in row:
        return high <= row["most"]
    return low >= row["least"] if "least" in row else None


def amount(value: float | list[float], unit: str) -> str:
    """A value or a range, with its unit."""
    low, high = _ends(value)
    shown = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{shown} {unit}".rstrip()


def named(row: Row) -> str:
    """What a figure is, and its conditions, in a line."""
    over = f" over {row['peer']}" if "peer" in row else ""
    on = ", ".join(f"{key} {said(value)}" for key, value in row["conditions"].items())
    return f"{row['what']}{over}" + (f" ({on})" if on else "")


def said(value: Any) -> str:
    """A condition."""
    return f"{value:,}" if isinstance(value, int | float) and value >= 10_000 else str(value)


def _ends(value: float | list[float]) -> tuple[float, float]:
    return (value[0], value[-1]) if isinstance(value, list) else (value, value)


class Change(NamedTuple):
    """A figure that differs between two results by more than noise."""

    row: Row
    before: float | list[float]
    after: float | list[float]
    ratio: float
    """The second over the first."""


class Comparison(NamedTuple):
    """What two results of a benchmark have in common, and what is different."""

    same: int
    """Figures that do not differ by more than noise."""
    changes: list[Change]
    only: tuple[int, int]
    """Figures that one of them has."""
    noise: float
    """The ratio up to which a difference is noise."""


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> Comparison:
    """Compare two results.

    A ratio is noise up to 1.1 times that of the fixed loop's times: of the larger upper quartile to the
    smaller lower one of both results. Whole numbers are counts, and have no noise. Of figures that were
    measured several times, all of one result must be beyond all of the other.
    """
    loops = [some["loop_seconds"] for some in (before, after) if some.get("loop_seconds")]
    quartiles = [np.quantile(some, (0.25, 0.75)) for some in loops]
    noise = float(NOISE * np.max(quartiles) / np.min(quartiles)) if quartiles else NOISE
    old, new = ({_key(row): row for row in some["rows"]} for some in (before, after))
    both = [key for key in old if key in new]
    changes = [
        Change(old[key], old[key]["value"], new[key]["value"], ratio)
        for key in both
        if (ratio := _ratio(old[key], new[key], noise)) is not None
    ]
    only = (len(old) - len(both), len(new) - len(both))
    return Comparison(len(both) - len(changes), changes, only, noise)


def compared(before: str, after: str) -> Iterator[tuple[str, Comparison]]:
    """Compare files, folders or commits; results go together by name.

    Raises
    ------
    InputError
        See `results`; or they have no result in common.
    """
    old, new = results(before), results(after)
    both = [name for name in old if name in new]
    if not both:
        raise InputError(f"{before} and {after} have no result of the same name")
    for name in both:
        yield name or str(old[name]["benchmark"]), compare(old[name], new[name])


def _key(row: Row) -> str:
    return json.dumps(
        [row["what"], row["conditions"], row["unit"], row.get("peer")], sort_keys=True
    )


def _ratio(old: Row, new: Row, noise: float) -> float | None:
    """The second over the first, if that is not noise."""
    if isinstance(old["value"], int) and isinstance(new["value"], int):
        noise = 1
    before, after = (_ends(row.get("spread", row["value"])) for row in (old, new))
    if before[0] / noise <= after[1] and after[0] <= before[1] * noise:
        return None
    middle = [sum(_ends(row["value"])) for row in (old, new)]
    return middle[1] / middle[0] if middle[0] else math.inf
