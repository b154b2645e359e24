"""Rows of results: figures with their conditions and bounds."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


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
