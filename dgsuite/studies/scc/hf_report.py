"""What the paper says of Hartree-Fock beside what came out here, and pictures."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dgsuite.base import tables
from dgsuite.core.results.plots import common_legend, grid, styled
from dgsuite.studies.report.claims.data import claims

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

CLOSE = 0.25
"""Relative difference from the paper's number up to which ours agrees."""

PAPER_PLACES = 48
"""Places that the paper had."""

LABELS = {"none": "no transport", "counted": "no transport, the original's cost of units"}

STEP = 4
"""Places between those whose speed-ups are compared for smoothness."""


def speedup(
    dataset: xr.Dataset, name: str, balance: str, transport: str, base: str | None = None
) -> xr.DataArray:
    """Simulated speed-up of the Fock build over one place of the same balance, or of another."""
    seconds = dataset.simulated.sel(input=name, transport=transport)
    one = float(seconds.sel(balance=base or balance, places=1))
    return one / seconds.sel(balance=balance)


def findings(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """The paper's findings that the study's inputs and balances bear on.

    Returns
    -------
    One entry a finding, with its ``claim``, ``figure``, what it ``says``, and ``ours``: for each transport
    what came out, and whether it agrees.
    """
    found = []
    for claim in claims().values():
        for row in claim.data.get("finding", ()):
            arms = {row["balance"], row.get("base", row["balance"])}
            if row["input"] in dataset.input and arms <= set(dataset.balance.values.tolist()):
                ours = {t: _judge(dataset, row, t) for t in dataset.transport.values.tolist()}
                about = {"claim": claim.id, "figure": claim.id.split(".fig")[1].split(".")[0]}
                found.append({**row, **about, "says": sentence(row), "ours": ours})
    return found


def sentence(row: dict[str, Any]) -> str:
    """What a finding says, in a line."""
    at, arm = row["places"], row["balance"]
    if row["kind"] == "rougher":
        return f"{arm} less smooth than {row['base']} (deviation of what {STEP} more places add)"
    if row["kind"] == "alike":
        return f"{arm} gains like {row['base']} from {row['from']} to {at} places"
    if row["kind"] == "costs":
        how = "more than" if "least" in row else "about as much as"
        return f"{arm} takes {how} {row['base']} at {at} places"
    what = "peak of " if row["kind"] == "peak" else ""
    return f"{arm}, {row['input'].split()[0]}: {what}{row['value']:g}x at {at} places"


def _judge(dataset: xr.Dataset, row: dict[str, Any], transport: str) -> tuple[str, bool]:
    """What came out on a transport, and whether it agrees with the paper."""
    name, balance, at = row["input"], row["balance"], row["places"]
    if row["kind"] == "speedup":
        value = float(speedup(dataset, name, balance, transport, row.get("base")).sel(places=at))
        return f"{value:.1f}x", _close(value, row["value"])
    curve = speedup(dataset, name, balance, transport).sel(places=slice(1, PAPER_PLACES))
    if row["kind"] == "peak":
        place, value = int(curve.places[int(curve.values.argmax())]), float(curve.max())
        there = float(curve.sel(places=at))
        agrees = place == at and _close(value, row["value"])
        return f"{value:.1f}x at {place}, {there:.1f}x at {at}", agrees
    if row["kind"] == "costs":
        seconds = dataset.simulated.sel(input=name, transport=transport, places=at)
        ratio = float(seconds.sel(balance=balance) / seconds.sel(balance=row["base"]))
        return f"{ratio:.2f} of {row['base']}", ratio >= row["least"] if "least" in row else _close(
            ratio, row["value"]
        )
    if row["kind"] == "alike":
        over = dataset.simulated.sel(input=name, transport=transport)
        gains = over.sel(places=row["from"]) / over.sel(places=at)
        here, there = (float(gains.sel(balance=arm)) for arm in (balance, row["base"]))
        return f"x {here:.2f} and {there:.2f}", _close(here, there)
    even = [p for p in dataset.places.values if p % STEP == 0 and p <= at]
    rough = [  # as in the paper's figure both are over one base
        float(np.std(np.diff(speedup(dataset, name, arm, transport, balance).sel(places=even))))
        for arm in (balance, row["base"])
    ]
    return f"{rough[0]:.2f} and {rough[1]:.2f}", rough[0] > rough[1]


def _close(ours: float, theirs: float) -> bool:
    return abs(ours - theirs) <= CLOSE * theirs


def columns(dataset: xr.Dataset) -> list[tuple[str, int, int, float]]:
    """Column arithmetic of the static deal: input, places, common divisor with the shells, speed-up.

    Unit u = a * shells + b goes to place u mod places. Where the two have a common divisor, a place gets some
    of the columns b alone, and small b occur with every a.
    """
    found = []
    if "static" in dataset.balance:
        for name in dataset.input.values.tolist():
            shells = int(dataset.shells.sel(input=name))
            curve = speedup(dataset, name, "static", "none").sel(places=slice(2, PAPER_PLACES))
            found += [
                (name, int(p), math.gcd(int(p), shells), float(curve.sel(places=p)))
                for p in curve.places.values
            ]
    return found


def show(console: Console, dataset: xr.Dataset) -> None:
    """Print measured beside simulated times, column arithmetic, and findings."""

    def table(title: str, heads: list[str], rows: list[list[str]]) -> None:
        if rows:
            console.print(tables.table(heads, rows, left=(0, 1), title=title))
            console.print()

    ran, checks = [p for p in (1, 2) if p in dataset.places], []
    dims, seconds = ("input", "balance", "transport"), ("measured", "processor", "simulated")
    for names in product(*(dataset[dim].values.tolist() for dim in dims)):
        pair = dataset.sel(dict(zip(dims, names, strict=True))).sel(places=ran)
        if pair.measured.notnull().any():
            values = np.concatenate([pair[what].values for what in seconds])
            checks.append([*names, *(f"{v:.3f}" for v in values)])
    heads = [f"{what}, {p}" for what in seconds for p in ran]
    table("Fock build, seconds", ["input", "balance", "transport", *heads], checks)
    table(
        "Static deal: simulated speed-up without transport",
        ["input", "", "places", "gcd with shells", "speed-up"],
        [[name, "", str(p), str(g), f"{s:.1f}"] for name, p, g, s in columns(dataset)],
    )
    transports = dataset.transport.values.tolist()
    table(
        "Findings (ours simulated)",
        ["figure", "the paper says", *(LABELS.get(t, t) for t in transports)],
        [
            [row["figure"], f"{row['says']} ({row['input']})"]
            + [
                f"{text}: {'agrees' if agrees else 'differs'}"
                for text, agrees in (row["ours"][t] for t in transports)
            ]
            for row in findings(dataset)
        ],
    )


@styled
def draw(dataset: xr.Dataset, number: int | None = None) -> Figure:
    """Up to 48 places: the speed-ups of Figure 7, or speed-up and elapsed time.

    Parameters
    ----------
    number
        Of the paper's figure that the result is for, if it is for one.
    """
    return _figure7(dataset) if number == 7 else _overview(dataset)


def _figure7(dataset: xr.Dataset) -> Figure:
    """Speed-up of the first input: (a) dynamic and (b) static on each transport, over the first's time on
    the fewest places, and (c) both on the first, over static's.
    """
    from dgsuite.studies.scc.figures import speedup as panel

    near = dataset.simulated.isel(input=0).sel(places=slice(1, PAPER_PLACES))
    transports = [t for t in dataset.transport.values.tolist() if t not in LABELS]
    native = near.sel(transport=transports[0])
    panels = [
        (
            f"({letter}): {arm}, over {transports[0]}",
            arm,
            {t: near.sel(balance=arm, transport=t) for t in transports},
        )
        for letter, arm in (("a", "dynamic"), ("b", "static"))
    ]
    both = {arm: native.sel(balance=arm) for arm in ("dynamic", "static")}
    panels.append((f"(c): both on {transports[0]}, over static", "static", both))
    figure, axes = grid([f"Figure 7 {title}" for title, *_ in panels])
    for ax, (_, base, lines) in zip(axes, panels, strict=True):
        panel(ax, lines, float(native.sel(balance=base)[0]) * int(near.places[0]))
    return figure


def _overview(dataset: xr.Dataset) -> Figure:
    """Speed-up by balance, and elapsed time."""
    from matplotlib.figure import Figure

    arms = [
        a for a in dataset.balance.values.tolist() if dataset.elapsed.sel(balance=a).notnull().any()
    ]
    names = dataset.input.values.tolist()
    figure = Figure(figsize=(3.4 * (len(arms) + 1), 3 * len(names) + 0.5))
    axes = figure.subplots(len(names), len(arms) + 1, squeeze=False)
    near = dataset.sel(places=slice(1, PAPER_PLACES))
    said = {(row["input"], row["balance"]): row for row in findings(dataset) if "value" in row}
    lines = dict(zip(arms, ("-", "--", ":", "-.") * len(arms), strict=False))
    for row, name in zip(axes, names, strict=True):
        for number, transport in enumerate(dataset.transport.values.tolist()):
            for ax, arm in zip(row, arms, strict=False):
                label, colour = LABELS.get(transport, transport), f"C{number}"
                curve = speedup(near, name, arm, transport)
                ax.plot(curve.places, curve, marker=".", color=colour, label=label)
                ran = near.processor.sel(input=name, balance=arm, transport=transport)
                ran = ran.dropna("places")[1:] / float(ran[0])
                if ran.size:
                    ax.plot(ran.places, 1 / ran, "kx", label="measured, by processor time")
                seconds = near.elapsed.sel(input=name, balance=arm, transport=transport)
                row[-1].plot(seconds.places, seconds, lines[arm], color=colour)
        for ax, arm in zip(row, arms, strict=False):
            paper = said.get((name, arm), {"kind": "costs"})
            if paper["kind"] != "costs":
                ax.plot(
                    paper["places"], paper["value"], "r*", markersize=11, label="the paper's text"
                )
            ax.plot([1, PAPER_PLACES], [1, PAPER_PLACES], ":", color="grey", linewidth=0.8)
            ax.set_title(f"{name}, {arm}")
            ax.set_ylabel("speed-up of Fock build, simulated", fontsize=8)
        row[-1].set_yscale("log")
        row[-1].set_ylabel("seconds of all iterations, simulated", fontsize=8)
        row[-1].set_title(", ".join(f"{arm} {line}" for arm, line in lines.items()), fontsize=8)
    for ax in figure.axes:
        ax.set_xlabel("places")
    common_legend(figure, 4)
    return figure
