"""Figures of "X10 on the SCC": elapsed time and speed-up by places; lines are simulated, crosses measured."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dgsuite.core.results.plots import grid, styled

MARKS = ("o", "s", "^", "D", "v", "P")
SHOWN = 64
"""Places up to which the paper's figures are redrawn."""


def elapsed(ax: Axes, lines: dict[str, xr.DataArray]) -> None:
    """Seconds by places, a line a name."""
    _plot(ax, _near(lines), "seconds, simulated")
    ax.set_yscale("log")


def speedup(ax: Axes, lines: dict[str, xr.DataArray], base: float | None = None) -> None:
    """Speed-up by places, of each line's own time at one place or of a common one."""
    near = _near(lines)
    own = {name: float(seconds[0] * seconds.places[0]) for name, seconds in near.items()}
    ratios = {name: (base or own[name]) / seconds for name, seconds in near.items()}
    _plot(ax, ratios, "speed-up, simulated")
    most = max((int(seconds.places.max()) for seconds in near.values()), default=1)
    ax.plot([1, most], [1, most], color="#bbbbbb", linewidth=0.8, linestyle=":")


def _near(lines: dict[str, xr.DataArray]) -> dict[str, xr.DataArray]:
    """Lines up to the places that are shown."""
    return {name: line.where(line.places <= SHOWN, drop=True) for name, line in lines.items()}


def _plot(ax: Axes, lines: dict[str, xr.DataArray], what: str) -> None:
    for k, (name, line) in enumerate(lines.items()):
        ax.plot(line.places, line, color=f"C{k}", marker=MARKS[k % 6], markersize=3, label=name)
    ax.set_xlabel("places")
    ax.set_ylabel(what)
    ax.legend()


def figure8(first: xr.DataArray) -> Figure:
    """Elapsed time on the cluster, by transport."""
    workload = str(first.workload.values[0])
    figure, (ax,) = grid([f"Figure 8: {workload}, elapsed"])
    elapsed(ax, _lines(first.sel(workload=workload), "transport"))
    return figure


def figure9(first: xr.DataArray) -> Figure:
    """Elapsed time, and speed-up over the first transport, by transport."""
    workload = str(first.workload.values[0])
    lines = _lines(first.sel(workload=workload), "transport")
    figure, (left, right) = grid(
        [f"Figure 9 (a): {workload}, elapsed", f"Figure 9 (b): {workload}, speed-up"]
    )
    elapsed(left, lines)
    base = float(first.isel(workload=0, transport=0, places=0)) * int(first.places[0])
    speedup(right, lines, base)
    return figure


def figure10(first: xr.DataArray) -> Figure:
    """Speed-up by workload: (a) of the cluster on MPI, (b) of the chip on the first transport."""
    there = first.transport.values.tolist()
    panels = {"a": ("mpi", ("low", "high")), "b": (there[0], ("small", "medium", "low", "large"))}
    shown = {}
    for panel, (wanted, names) in panels.items():
        transport = wanted if wanted in there else there[0]
        chosen = first.sel(
            transport=transport, workload=[w for w in first.workload.values if w in names]
        )
        if chosen.workload.size:
            shown[f"Figure 10 ({panel}): by workload, {transport}"] = chosen
    figure, axes = grid(list(shown))
    for ax, chosen in zip(axes, shown.values(), strict=True):
        speedup(ax, _lines(chosen, "workload"))
    return figure


FIGURES = {8: figure8, 9: figure9, 10: figure10}
"""By number, of seconds under the original's deal."""


def _lines(seconds: xr.DataArray, dim: str) -> dict[str, xr.DataArray]:
    """A line for each name along a dimension."""
    return {str(name): seconds.sel({dim: name}) for name in seconds[dim].values}


@styled
def betweenness(ds: xr.Dataset, number: int | None = None) -> dict[str, Figure]:
    """Figures of a result by name: the paper's, "", or what dealing changes and all elapsed times; and the
    check of what was run.

    Parameters
    ----------
    number
        Of the paper's figure that the result is for, if it is for one.
    """
    first = ds.simulated_seconds.isel(deal=0)
    if number in FIGURES:
        return {"": FIGURES[number](first), "check": _check(ds)}
    names = [str(w) for w in ds.workload.values]
    deals, axes = grid([f"{w}: by deal" for w in names])
    for ax, w in zip(axes, names, strict=True):
        speedup(ax, _lines(ds.simulated_seconds.sel(workload=w).isel(transport=0), "deal"))
    times, axes = grid([f"{w}: elapsed" for w in names])
    for ax, w in zip(axes, names, strict=True):
        elapsed(ax, _lines(first.sel(workload=w), "transport"))
    return {"deals": deals, "elapsed": times, "check": _check(ds)}


def _check(ds: xr.Dataset) -> Figure:
    """Simulated beside measured, at the places that were run."""
    figure, (ax,) = grid(["At the places that were run"])
    ratio = ds.predicted_busy / ds.measured_busy
    for k, places in enumerate(ds.measured.values):
        values = np.ravel(ratio.sel(measured=places))
        ax.plot(np.full(len(values), places), values, "x", color=f"C{k}")
    ax.axhline(1, color="#bbbbbb", linewidth=0.8)
    ax.set_xlabel("places")
    ax.set_ylabel("busiest place, simulated over measured")
    return figure
