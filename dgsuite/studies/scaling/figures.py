"""Figures 2 to 6 of Medya et al. from measured or simulated runs, and what-if beside them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dgsuite.core.results.plots import grid, styled
from dgsuite.studies.scaling.analysis import Analysis
from dgsuite.studies.scaling.conclusion import REACH, Statement

MARKS = "osv^Dx"

SHARED = "more workers than processors: put together"
"""Legend of times that were not measured with all workers side by side."""


@styled
def draw(analyses: Sequence[Analysis]) -> dict[str, Figure]:
    """All figures that the analyses have something for, by name."""
    panels: dict[str, tuple[str, Callable[[Analysis, Axes], bool]]] = {
        "figure2a": ("Completion time", completion_time),
        "figure2b": ("Completion time, logarithmic", completion_time_log),
        "figure3": ("Regression", regression),
        "figure4": ("Impact of bandwidth", bandwidth_impact),
        "figure5": ("Demand for bandwidth", demand_trend),
        "figure6": ("Demand of the cluster that was held out", prediction),
        "stop": ("Where more machines stop saving time", where_gain_ends),
        "link": ("Demand for bandwidth and the link", where_link_is_full),
        "whatif": ("What if, at points that were held out", what_if_check),
    }
    figures = {}
    for name, (title, panel) in panels.items():
        figure, axes = grid([found.title for found in analyses], 4.6)
        drawn = [panel(found, ax) for found, ax in zip(analyses, axes, strict=True)]
        if any(drawn):
            figure.suptitle(title)
            figures[name] = figure
    return figures


def _sizes(found: Analysis) -> Iterator[tuple[int, str, str, xr.DataArray]]:
    """Of each size: itself, how a legend calls it, its colour, and the seconds that it was run for."""
    seconds = found.runs.seconds
    for k, n in enumerate(found.sizes):
        one = seconds.sel(n=n) if "n" in seconds.dims else seconds
        label = f"n = {n}" if len(found.sizes) > 1 else found.origin
        yield n, label, f"C{k}", one.dropna("p", how="all")


def _times(found: Analysis, ax: Axes, line: bool = False) -> None:
    """Measured times; hollow where more workers than processors ran."""
    for _, label, colour, seconds in _sizes(found):
        full = seconds.isel(bandwidth=-1)
        middle = full.median("repeat")
        ends = abs(full.quantile([0, 1], "repeat") - middle).values
        if line:
            ax.plot(full.p, middle, color=colour)
        shared = found.runs.oversubscribed.sel(p=full.p).values
        for at, fill in ((~shared, colour), (shared, "white")):
            ax.errorbar(
                full.p[at], middle[at], ends[:, at], fmt="o", color=colour, markerfacecolor=fill
            )
        ax.plot([], [], "o", color=colour, label=label)
    if found.runs.oversubscribed.any():
        ax.plot([], [], "o", color="#555555", markerfacecolor="white", label=SHARED)
    ax.set(xlabel=found.unit, ylabel="seconds")
    ax.legend()


def completion_time(found: Analysis, ax: Axes) -> bool:
    """Figure 2 (a)."""
    _times(found, ax, line=True)
    ax.set_ylim(bottom=0)
    return True


def completion_time_log(found: Analysis, ax: Axes) -> bool:
    """Figure 2 (b)."""
    _times(found, ax, line=True)
    ax.set_yscale("log")
    _workers_log(found, ax)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return True


def _workers_log(found: Analysis, ax: Axes) -> None:
    from matplotlib.ticker import NullLocator

    ax.set_xscale("log", base=2)
    ax.set_xticks(found.runs.p.values, [str(p) for p in found.runs.p.values])
    ax.tick_params("x", rotation=60 * (len(found.runs.p) > 6))
    ax.xaxis.set_minor_locator(NullLocator())


def regression(found: Analysis, ax: Axes) -> bool:
    """Figure 3: the fit, its interval, and the point that it has not seen."""
    if found.model is None:
        return False
    _times(found, ax)
    last = float(found.runs.p.max())
    p = np.geomspace(float(found.runs.p.min()), 2 * last, 100)
    low, high = found.model.interval(p)
    ax.plot(p, found.model.predict(p), color="C1", label="C0 + C1/p + C2/sqrt(p)")
    ax.fill_between(p, low, high, color="C1", alpha=0.15, linewidth=0, label="95 %")
    ax.axvline(last, color="#999999", linewidth=0.8, linestyle=":")
    ax.annotate("held out", (last, 1), xycoords=("data", "axes fraction"), fontsize=8, va="top")
    ax.set_xscale("log", base=2)
    ax.set_ylim(bottom=0)
    ax.legend()
    return True


def where_gain_ends(found: Analysis, ax: Axes) -> bool:
    """The fit to all times, and how many machines it says are enough."""
    if found.chosen is None:
        return False
    _times(found, ax)
    p = np.geomspace(float(found.runs.p.min()), REACH * float(found.runs.p.max()), 100)
    for n, _, colour, _ in _sizes(found):
        size = found.size(n)
        low, high = found.chosen.interval(p, size=size)
        ax.plot(p, found.chosen.predict(p, size), color=colour)
        ax.fill_between(p, low, high, color=colour, alpha=0.15, linewidth=0)
        _mark(found.stop[n], ax, colour, found.processes)
    _workers_log(found, ax)
    ax.set_yscale("log")
    _conclusions(found, ax)
    return True


def where_link_is_full(found: Analysis, ax: Axes) -> bool:
    """Demand for bandwidth of a machine in per cent of its link, against the number of workers."""
    most = float(found.runs.p.max())
    senders = found.runs.p.values[found.runs.p.values > 1]
    p = np.union1d(np.geomspace(2, REACH * most, 60).astype(int), senders)
    drawn = False
    for n, label, colour, _ in _sizes(found):
        shares = [found.share(int(x), n) for x in p]
        known = [share for share in shares if share is not None]
        if len(known) < len(p):
            continue
        drawn = True
        middle, low, high = np.transpose(known)
        measured = np.isin(p, found.runs.p.values)
        beyond = p >= most
        name = label if len(found.sizes) > 1 else f"CTI {found.settings.cti:.0%}"
        ax.plot(p[measured], middle[measured], "o", color=colour, label=name)
        ax.plot(p[beyond], middle[beyond], color=colour)
        ax.fill_between(p[beyond], low[beyond], high[beyond], color=colour, alpha=0.15, linewidth=0)
        _mark(found.link[n], ax, colour, found.processes)
    if not drawn:
        return False
    ax.axhline(100, color="#999999", linewidth=0.8, linestyle=":", label="the link")
    _workers_log(found, ax)
    ax.set_ylim(bottom=0)
    ax.set_xlabel(found.unit + found.runs.oversubscribed.any().item() * f" ({SHARED})", fontsize=8)
    ax.set_ylabel(f"demand at CTI {found.settings.cti:.0%}, per cent of the link")
    ax.legend()
    return True


def _mark(at: Statement, ax: Axes, colour: str, processes: int) -> None:
    """Where to stop, as a line with its interval."""
    if not at.reason:
        ax.axvline(at.machines * processes, color=colour, linewidth=0.8, linestyle="--")
        ax.axvspan(at.low * processes, at.high * processes, color=colour, alpha=0.08, linewidth=0)


def _conclusions(found: Analysis, ax: Axes) -> None:
    lines = []
    for n, at in found.stop.items():
        said = f"n = {n}: {at}" if len(found.sizes) > 1 else str(at)
        lines += textwrap.wrap(said, 56)
    ax.set_xlabel("\n".join([found.unit, *lines]), fontsize=7)


def bandwidth_impact(found: Analysis, ax: Axes) -> bool:
    """Figure 4; dashed where more workers than processors ran."""
    if found.runs.sizes["bandwidth"] < 2:
        return False
    ps, named = found.runs.p.values.tolist(), set()
    for i, (_, _, _, seconds) in enumerate(_sizes(found)):
        for p in seconds.p.values:
            shared = bool(found.runs.oversubscribed.sel(p=p))
            look = MARKS[i % len(MARKS)] + ("--" if shared else "-")
            middle, colour = seconds.sel(p=p).median("repeat"), f"C{ps.index(p)}"
            (line,) = ax.plot(seconds.bandwidth, middle, look, markersize=3, color=colour)
            if p not in named:
                line.set_label(found.counted(p) + ", oversubscribed" * shared)
            named.add(p)
    if len(found.sizes) > 1:
        for i, n in enumerate(found.sizes):
            ax.plot([], [], MARKS[i % len(MARKS)], color="#555555", markersize=3, label=f"n = {n}")
    ax.set(xlabel="bandwidth, per cent", ylabel="seconds")
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return True


def demand_trend(found: Analysis, ax: Axes) -> bool:
    """Figure 5: without the points that were held out."""
    if found.demand is None:
        return False
    table = found.demand.demand_
    for i, n in enumerate(np.atleast_1d(table.n) if "n" in table.dims else [None]):
        for k, cti in enumerate(found.demand.ctis_):
            row = (table if n is None else table.sel(n=n)).sel(cti=cti)
            label = f"CTI {cti:.0%}" if n is None else f"n = {n:g}, CTI {cti:.0%}"
            look = MARKS[i % len(MARKS)] + "-"
            ax.plot(row.p, row, look, markersize=3, color=f"C{k}", label=label)
    shared = bool(found.runs.oversubscribed.sel(p=table.p).any())
    ax.set_xlabel(found.unit + shared * f" ({SHARED})", fontsize=8 if shared else None)
    ax.set_ylabel("bandwidth demand, per cent")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return True


def prediction(found: Analysis, ax: Axes) -> bool:
    """Figure 6."""
    if found.demand is None or found.demand_error is None:
        return False
    error = found.demand_error.isel(p=-1)
    p, n = int(error.p), int(error.n)
    predicted = np.atleast_1d(found.demand.predict(p, found.demand.ctis_, found.size(n)))
    x = np.arange(len(predicted))
    ax.bar(x - 0.2, predicted - error, 0.38, color="C0", label=found.origin)
    ax.bar(x + 0.2, predicted, 0.38, color="C1", label="predicted")
    ax.set_xticks(x, [f"{cti:.0%}" for cti in found.demand.ctis_])
    of = f", n = {n}" if found.size(n) else ""
    shared = ", oversubscribed" * bool(found.runs.oversubscribed.sel(p=p))
    ax.set(xlabel=f"CTI, {found.counted(p)}{of}{shared}", ylabel="bandwidth demand, per cent")
    ax.legend()
    return True


def what_if_check(found: Analysis, ax: Axes) -> bool:
    """Predicted against measured times, with the interval of a further run; hollow: oversubscribed."""
    drawn: list[NDArray] = []
    for k, (n, what) in enumerate(found.what_if.items()):
        check, colour = what.check.transpose("p", "bandwidth"), f"C{k + 1}"
        factor = what.machine.factor()
        shared = check.oversubscribed.broadcast_like(check.measured)
        for choice, fill in ((~shared, colour), (shared, "white")):
            at = (check.held_out & choice).values
            both = [check[v].values[at] for v in ("measured", "predicted")]
            ax.plot(*both, "o", color=colour, markerfacecolor=fill)
            drawn += both
        label = f"n = {n}" if found.size(n) else "held out"
        ax.plot([], [], "o", color=colour, label=label)
        if np.isfinite(factor):
            ends = np.array([np.nanmin(check.measured), np.nanmax(check.measured)])
            ax.fill_between(
                ends, ends / factor, ends * factor, color=colour, alpha=0.15, linewidth=0,
                label=f"a factor of {factor:.2f}: 95 %",
            )  # fmt: skip
    if not drawn:
        return False
    ends = np.array([f(np.concatenate(drawn)) for f in (np.min, np.max)])
    ax.plot(ends, ends, color="#999999", linewidth=0.8)
    hollow = " (hollow: oversubscribed)" * bool(shared.any())
    ax.set(xlabel=f"measured, seconds{hollow}", ylabel="predicted, seconds")
    ax.set(xscale="log", yscale="log")
    ax.legend()
    return True
