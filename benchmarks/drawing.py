"""What the pictures of the page of benchmarks share: figures by condition, and scales."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Documents = dict[str, dict[str, Any]]

OURS, MARKERS = "dgsuite", "sD^vPX"
LIBRARIES = {
    "scipy": "SciPy",
    "graphblas": "GraphBLAS",
    "networkit": "NetworKit",
    "igraph": "igraph",
}
COLORS = {"scipy": "C0", "graphblas": "C3", "networkit": "C2", "igraph": "C4"}
PROCESSORS = 2
"""Of the machines that the results are from."""


def rows(results: Documents, what: str | None = None, unit: str | None = None) -> list[Row]:
    """Figures that are no ratios to others', by what they are and their unit."""
    return [
        row
        for result in results.values()
        for row in result["rows"]
        if "peer" not in row and what in (None, row["what"]) and unit in (None, row["unit"])
    ]


def middle(value: float | Sequence[float]) -> float:
    """A value, or the middle of a range."""
    return value if isinstance(value, int | float) else sum(value) / len(value)


def lined(panel: Axes, names: Sequence[str], label: str) -> None:
    """A logarithmic scale below, and a line for each name."""
    panel.set(xscale="log", xlabel=label, ylim=(-0.6, len(names) - 0.4))
    panel.set_yticks(range(len(names)), names)
    panel.tick_params(axis="y", length=0)
    panel.grid(alpha=0.3)


def curves(found: Iterable[Row], by: str, over: str) -> dict[str, list[tuple[float, float]]]:
    """Lines of figures: for each value of one condition, points over another."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in found:
        on = row["conditions"]
        if by in on and over in on:
            lines.setdefault(str(on[by]), []).append((on[over], middle(row["value"])))
    return lines


def drawn(
    panel: Axes, lines: dict[str, list[tuple[float, float]]], label: str, **names: str
) -> None:
    """Curves on two logarithmic scales."""
    for (name, points), marker in zip(lines.items(), "o" + MARKERS * 2, strict=False):
        panel.plot(*zip(*sorted(points), strict=True), marker=marker, label=names.get(name, name))
    panel.set(xscale="log", yscale="log", xlabel=label)
    panel.grid(alpha=0.3)
    panel.legend()


def counted(panel: Axes, ticks: Iterable[float]) -> None:
    """Numbers of workers below; grey where these are more than processors."""
    ticks = sorted(set(ticks))
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.minorticks_off()
    panel.axvspan(PROCESSORS * 1.2, max(ticks) * 1.2, color="0.93", zorder=0)
