"""Figures 2 to 6 of Medya et al. from measured runs, and what-if beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dgsuite.scaling.analysis import Analysis

COLOURS = ("#1f6f8b", "#c8553d", "#7a3b8f", "#4f9d69", "#d4a017", "#555555")


def draw(analyses: Sequence[Analysis]) -> dict[str, Figure]:
    """All figures that the analyses have something for, by name."""
    panels: dict[str, tuple[str, Callable[[Analysis, Axes], bool]]] = {
        "figure2a": ("Completion time", completion_time),
        "figure2b": ("Completion time, logarithmic", completion_time_log),
        "figure3": ("Regression", regression),
        "figure4": ("Impact of bandwidth", bandwidth_impact),
        "figure5": ("Demand for bandwidth", demand_trend),
        "figure6": ("Demand of the cluster that was held out", prediction),
        "whatif": ("What if, at points that were held out", what_if_check),
    }
    figures = {}
    for name, (title, panel) in panels.items():
        figure = Figure(figsize=(4.6 * len(analyses), 3.6), layout="constrained")
        axes = np.ravel(figure.subplots(1, len(analyses), squeeze=False))
        drawn = [panel(found, ax) for found, ax in zip(analyses, axes, strict=True)]
        if any(drawn):
            for found, ax in zip(analyses, axes, strict=True):
                ax.set_title(found.kernel, fontsize=10, parse_math=False)
                for side in ("top", "right"):
                    ax.spines[side].set_visible(False)
            figure.suptitle(title)
            figures[name] = figure
    return figures


def _times(found: Analysis, ax: Axes) -> xr.DataArray:
    full = found.runs.seconds.isel(bandwidth=-1)
    middle = full.median("repeat")
    spread = np.abs(full.quantile([0, 1], "repeat") - middle)
    ax.errorbar(full.p, middle, spread, fmt="o", color=COLOURS[0], markersize=4, label="measured")
    ax.set_xlabel("workers")
    ax.set_ylabel("seconds")
    return full


def completion_time(found: Analysis, ax: Axes) -> bool:
    """Figure 2 (a)."""
    full = _times(found, ax)
    ax.plot(full.p, full.median("repeat"), color=COLOURS[0], linewidth=1)
    ax.set_ylim(bottom=0)
    return True


def completion_time_log(found: Analysis, ax: Axes) -> bool:
    """Figure 2 (b)."""
    completion_time(found, ax)
    ax.set_yscale("log")
    ax.set_xscale("log", base=2)
    ax.set_xticks(found.runs.p.values, [str(p) for p in found.runs.p.values])
    return True


def regression(found: Analysis, ax: Axes) -> bool:
    """Figure 3: the fit, its interval, and the point that it has not seen."""
    if found.model is None:
        return False
    _times(found, ax)
    last = float(found.runs.p.max())
    p = np.geomspace(1, 2 * last, 100)
    low, high = found.model.interval(p)
    ax.plot(p, found.model.predict(p), color=COLOURS[1], label="C0 + C1/p + C2/sqrt(p)")
    ax.fill_between(p, low, high, color=COLOURS[1], alpha=0.15, linewidth=0, label="95 %")
    ax.axvline(last, color="#999999", linewidth=0.8, linestyle=":")
    ax.annotate("held out", (last, 1), xycoords=("data", "axes fraction"), fontsize=8, va="top")
    ax.set_xscale("log", base=2)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize=8)
    return True


def bandwidth_impact(found: Analysis, ax: Axes) -> bool:
    """Figure 4."""
    seconds = found.runs.seconds.median("repeat")
    if seconds.sizes["bandwidth"] < 2:
        return False
    for k, p in enumerate(seconds.p.values):
        ax.plot(
            seconds.bandwidth,
            seconds.sel(p=p),
            "o-",
            markersize=3,
            linewidth=1,
            color=COLOURS[k % len(COLOURS)],
            label=f"{p} workers" if p > 1 else "1 worker",
        )
    ax.set_xlabel("bandwidth, per cent")
    ax.set_ylabel("seconds")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize=8)
    return True


def demand_trend(found: Analysis, ax: Axes) -> bool:
    """Figure 5."""
    if found.demand is None:
        return False
    for k, cti in enumerate(found.demand.ctis_):
        ax.plot(
            found.demand.demand_.p,
            found.demand.demand_.sel(cti=cti),
            "o-",
            markersize=3,
            linewidth=1,
            color=COLOURS[k % len(COLOURS)],
            label=f"CTI {cti:.0%}",
        )
    ax.set_xlabel("workers")
    ax.set_ylabel("bandwidth demand, per cent")
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return True


def prediction(found: Analysis, ax: Axes) -> bool:
    """Figure 6."""
    if found.demand is None or found.demand_error is None:
        return False
    error = found.demand_error.isel(p=-1)
    p = int(error.p)
    predicted = np.atleast_1d(found.demand.predict(p, found.demand.ctis_))
    x = np.arange(len(predicted))
    ax.bar(x - 0.2, predicted - error, 0.38, color=COLOURS[0], label="measured")
    ax.bar(x + 0.2, predicted, 0.38, color=COLOURS[1], label="predicted")
    ax.set_xticks(x, [f"{cti:.0%}" for cti in found.demand.ctis_])
    ax.set_xlabel(f"CTI, {p} workers")
    ax.set_ylabel("bandwidth demand, per cent")
    ax.legend(frameon=False, fontsize=8)
    return True


def what_if_check(found: Analysis, ax: Axes) -> bool:
    """Predicted against measured times."""
    if found.check is None:
        return False
    out = found.check.held_out.values
    both = found.check.measured.values[out], found.check.predicted.values[out]
    ends = np.array([min(map(np.min, both)), max(map(np.max, both))])
    ax.plot(ends, ends, color="#999999", linewidth=0.8)
    ax.fill_between(ends, 0.8 * ends, 1.2 * ends, color="#999999", alpha=0.15, linewidth=0)
    ax.plot(*both, "o", markersize=4, color=COLOURS[1])
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("measured, seconds (band: 20 %)")
    ax.set_ylabel("predicted, seconds")
    return True
