"""Figures of "X10 on the SCC": elapsed time and speed-up by places; lines are simulated, crosses measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dgsuite.core.results.plots import styled

MARKS = ("o", "s", "^", "D", "v", "P")
SHOWN = 64
"""Places up to which the paper's figures are redrawn."""


def elapsed(ax: Axes, lines: dict[str, xr.DataArray]) -> None:
    """Seconds by places, a line a name."""
    for k, (name, seconds) in enumerate(lines.items()):
        near = seconds.where(seconds.places <= SHOWN, drop=True)
        ax.plot(near.places, near, color=f"C{k}", marker=MARKS[k % 6], markersize=3, label=name)
    ax.set_yscale("log")
    ax.set_ylabel("seconds, simulated")
    _finish(ax)


def speedup(ax: Axes, lines: dict[str, xr.DataArray], base: float | None = None) -> None:
    """Speed-up by places, of each line's own time at one place or of a common one."""
    most = 1
    for k, (name, seconds) in enumerate(lines.items()):
        near = seconds.where(seconds.places <= SHOWN, drop=True)
        one = float(near.isel(places=0) * near.places[0]) if base is None else base
        ax.plot(
            near.places,
            one / near,
            color=f"C{k}",
            marker=MARKS[k % 6],
            markersize=3,
            label=name,
        )
        most = max(most, int(near.places.max()))
    ax.plot([1, most], [1, most], color="#bbbbbb", linewidth=0.8, linestyle=":")
    ax.set_ylabel("speed-up, simulated")
    _finish(ax)


def _finish(ax: Axes) -> None:
    ax.set_xlabel("places")
    ax.legend()


def grid(titles: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """A figure with a panel a title."""
    figure = Figure(figsize=(4.4 * len(titles), 3.6))
    axes = list(np.ravel(figure.subplots(1, len(titles), squeeze=False)))
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
    return figure, axes


@styled
def betweenness(ds: xr.Dataset) -> dict[str, Figure]:
    """Figures 8, 9 and 10 as far as the dataset has their workloads, and what dealing changes."""
    seconds = ds.simulated_seconds
    names = [str(w) for w in ds.workload.values]
    transports = [str(t) for t in ds.transport.values]
    first = seconds.isel(deal=0)
    found = {}
    large = next((w for w in ("large", "low") if w in names), names[0])
    by_transport = {t: first.sel(workload=large, transport=t) for t in transports}
    figure, (left, right) = grid(
        [f"Figures 8 and 9 (a): {large}, elapsed", f"Figure 9 (b): {large}, speed-up"]
    )
    elapsed(left, by_transport)
    base = float(by_transport[transports[0]].isel(places=0))
    speedup(right, by_transport, base * int(ds.places[0]))
    found["figure9"] = figure
    workloads = {w: first.sel(workload=w).isel(transport=0) for w in names}
    panels = {"Figure 10 (a)": ("low", "high"), "Figure 10 (b)": ("small", "medium", "low")}
    shown = {t: [w for w in ws if w in names] for t, ws in panels.items()}
    shown = {t: ws for t, ws in shown.items() if ws} or {"Speed-up": names}
    figure, axes = grid([f"{title}: by workload" for title in shown])
    for ax, chosen in zip(axes, shown.values(), strict=True):
        speedup(ax, {w: workloads[w] for w in chosen})
    found["figure10"] = figure
    figure, axes = grid([f"{w}: by deal" for w in names])
    for ax, w in zip(axes, names, strict=True):
        deals = [str(d) for d in ds.deal.values]
        speedup(ax, {d: seconds.sel(workload=w, deal=d).isel(transport=0) for d in deals})
    found["deals"] = figure
    figure, axes = grid([f"{w}: elapsed" for w in names])
    for ax, w in zip(axes, names, strict=True):
        elapsed(ax, {t: first.sel(workload=w, transport=t) for t in transports})
    found["elapsed"] = figure
    figure, (ax,) = grid(["At the places that were run"])
    ratio = ds.predicted_busy / ds.measured_busy
    for k, places in enumerate(ds.measured.values):
        values = np.ravel(ratio.sel(measured=places))
        ax.plot(np.full(len(values), places), values, "x", color=f"C{k}")
    ax.axhline(1, color="#bbbbbb", linewidth=0.8)
    ax.set_xlabel("places")
    ax.set_ylabel("busiest place, simulated over measured")
    found["check"] = figure
    return found
