"""Pictures and tables of docs/howto/theorems.md, of the results in docs/theorems.

    for name in luby floodset synchronisers benor token-ring; do dgsuite run theorem-$name; done
    python docs/theorem_pictures.py results

takes what the page needs of the five results into docs/theorems, writes docs/images/theorem-NAME.png and
prints the tables; without a folder it makes pictures and tables of what is there.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray

import dgsuite
from dgsuite.core.results.plots import styled, write
from dgsuite.studies.report.statistics import interval

DOCS = Path(__file__).parent
NAMES = ("luby", "floodset", "synchronisers", "benor", "token-ring")


KEPT = ("valid", "n_rounds", "legitimate_round", "pulse_time", "messages")
SETTINGS = ("kernel", "n", "kind", "network", "params")
"""Variables that tables and pictures need, and coordinates that tell settings apart."""


def settled(ds: xr.Dataset) -> xr.Dataset:
    """What the page needs of a result, with the dimensions setting and trial in place of run."""
    there = [name for name in SETTINGS if name in ds.coords]
    settings = len(
        {*zip(*(ds[name].values.tolist() for name in there), strict=True)}
    )
    made = {}
    for name in KEPT:
        if name in ds:
            values, dims = ds[name].values, ds[name].dims[1:]
            values = values.reshape(settings, -1, *values.shape[1:])
            made[name] = (
                ("setting", "trial", *dims),
                values.astype(np.int32),
                ds[name].attrs,
            )
    trials = ds.sizes["run"] // settings
    coords = {name: ("setting", ds[name].values[::trials]) for name in there}
    return xr.Dataset(made, coords, ds.attrs)


def read(name: str) -> xr.Dataset:
    """A result that ships."""
    return dgsuite.open(DOCS / "theorems" / f"{name}.nc")


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:]])


def edges(ds: xr.Dataset) -> dict[int, int]:
    """Edges by nodes, of runs on one graph for each number of nodes."""
    return {
        int(run["n"]): int(run["m"])
        for run in json.loads(ds.attrs["run_attributes"])
    }


def mean(values: np.ndarray) -> str:
    """A mean with half its confidence interval, to two decimals."""
    found = interval(values)
    return f"{found.mean:.2f} ± {found.half:.2f}"


def plain(ax: Axes, sizes: Iterable[int], log: bool = False) -> None:
    """Have the axis of nodes show some numbers of them, and perhaps a logarithmic one beside it."""
    ax.set_xscale("log", base=2)
    ax.set_xticks([*map(int, sizes)])
    ax.set_xlabel("nodes")
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.0f}")
    )
    ax.xaxis.set_minor_locator(NullLocator())
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value:,g}")
        )
        ax.yaxis.set_minor_locator(NullLocator())


def means(ax: Axes, samples: Mapping[int, NDArray], count: int) -> None:
    """Draw the mean of each sample with its interval, and the greatest value.

    Parameters
    ----------
    samples
        By place on the x axis, `count` values.
    """
    found = [interval(values) for values in samples.values()]
    ax.errorbar(
        [*samples],
        [f.mean for f in found],
        [f.half for f in found],
        marker="o",
        capsize=3,
        label="mean",
    )
    most = [values.max() for values in samples.values()]
    ax.plot([*samples], most, "^", label=f"most of {count}")


def luby(ds: xr.Dataset) -> tuple[str, Figure]:
    m = edges(ds)
    rounds = dict(zip(m, ds.n_rounds.values, strict=True))
    bounds = {n: math.ceil(math.log2(m[n])) + 2 for n in m}
    rows = [
        [f"{n:,}", f"{m[n]:,}", mean(found), str(found.max()), str(bounds[n])]
        for n, found in rounds.items()
    ]
    figure = Figure(figsize=(6, 3.6))
    ax = figure.subplots()
    means(ax, rounds, 100)
    ax.plot([*m], [*bounds.values()], "k--", label="bound of the mean")
    plain(ax, m)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("rounds")
    ax.legend()
    return table(
        ["n", "m", "mean rounds", "most", "bound of the mean"], rows
    ), figure


def floodset(ds: xr.Dataset) -> tuple[str, Figure]:
    crashes = np.array(
        [
            len(json.loads(text).get("crashes", []))
            for text in ds.network.values
        ]
    )
    rounds = np.array([json.loads(text)["f"] + 1 for text in ds.params.values])
    figure = Figure(figsize=(6, 3.6))
    ax = figure.subplots()
    rows = []
    for number in np.unique(rounds):
        shares = []
        for c in np.unique(crashes):
            (valid,) = ds.valid.values[(rounds == number) & (crashes == c)]
            shares.append(dgsuite.lab.wilson(valid.sum(), len(valid)))
        middle, low, high = np.array(shares).T
        at = np.unique(crashes) + 0.05 * (
            number - 2
        )  # so that intervals do not hide each other
        around = np.maximum([middle - low, high - middle], 0)
        ax.errorbar(
            at,
            middle,
            around,
            marker="o",
            capsize=3,
            label=f"{number} rounds" if number > 1 else "1 round",
        )
        rows.append(
            [
                str(number),
                *(
                    f"{s.share:.2f} ({s.low:.2f} to {s.high:.2f})"
                    for s in shares
                ),
            ]
        )
    ax.set_xlabel("crashes")
    ax.set_ylabel("runs that agree")
    ax.set_ylim(-0.04, 1.04)
    ax.set_xticks(np.unique(crashes))
    ax.legend(loc="lower left")
    return table(
        [
            "rounds",
            *(
                f"{c} crashes" if c != 1 else "1 crash"
                for c in np.unique(crashes)
            ),
        ],
        rows,
    ), figure


def synchronisers(ds: xr.Dataset) -> tuple[str, Figure]:
    figure = Figure(figsize=(8.5, 3.8))
    axes = figure.subplots(1, 2)
    kinds = {"tree": "tree", "grid": "grid", "spmax": "random graph"}
    pulses = ds.sizes["round"]
    ticks = ds.pulse_time.values[:, 0, -1] / pulses
    messages = ds.messages.values[:, 0, -1]
    rows = []
    for i, (kind, name) in enumerate(kinds.items()):
        for kernel, look in (("alpha", "o-"), ("beta", "s--")):
            mine = np.flatnonzero(
                (ds.kernel.values == kernel) & (ds.kind.values == kind)
            )
            for ax, values in zip(
                axes, (ticks, messages / ds.n.values), strict=True
            ):
                ax.plot(
                    ds.n.values[mine],
                    values[mine],
                    look,
                    color=f"C{i}",
                    label=f"{kernel}, {name}",
                    markersize=4,
                )
            cells = [f"{ticks[k]:.1f}" for k in mine]
            rows.append(
                [name, f"`{kernel}`", *cells, f"{messages[mine[-1]]:,}"]
            )
    for ax, said in zip(
        axes,
        ("ticks of a pulse, mean", "messages of a pulse, for each node"),
        strict=True,
    ):
        plain(ax, np.unique(ds.n.values), log=ax is axes[0])
        ax.set_ylabel(said)
    axes[1].set_ylim(bottom=0)
    axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1))
    sizes = [f"n = {n:,}" for n in np.unique(ds.n.values)]
    return table(
        ["graph", "synchroniser", *sizes, f"messages, {sizes[-1]}"], rows
    ), figure


def benor(ds: xr.Dataset) -> tuple[str, Figure]:
    traitors = np.array(
        [
            len(json.loads(t).get("byzantine", {}).get("nodes", []))
            for t in ds.network.values
        ]
    )
    rounds = dict(zip(traitors.tolist(), ds.n_rounds.values, strict=True))
    rows = []
    for (t, found), valid in zip(rounds.items(), ds.valid.values, strict=True):
        share, low, high = dgsuite.lab.wilson(valid.sum(), len(valid))
        rows.append(
            [
                str(t),
                mean(found),
                str(found.max()),
                f"{share:.2f} ({low:.2f} to {high:.2f})",
            ]
        )
    figure = Figure(figsize=(6, 3.6))
    ax = figure.subplots()
    means(ax, rounds, 60)
    ax.set_xticks([*rounds])
    ax.set_ylim(bottom=0)
    ax.set_xlabel("traitors")
    ax.set_ylabel("phases")
    ax.legend(loc="upper left")
    return table(
        ["traitors", "mean phases", "most", "runs that agree"], rows
    ), figure


def token_ring(ds: xr.Dataset) -> tuple[str, Figure]:
    daemons = np.array(
        [json.loads(text)["daemon"] for text in ds.params.values]
    )
    sizes = np.unique(ds.n.values)
    bounds = {
        "synchronous": 2 * sizes - 2,
        "central": 3 * sizes * (sizes - 1) // 2,
    }
    figure = Figure(figsize=(6, 3.6))
    ax = figure.subplots()
    rows = []
    for i, (daemon, bound) in enumerate(bounds.items()):
        steps = [
            ds.legitimate_round.values[
                (daemons == daemon) & (ds.n.values == n)
            ][0]
            for n in sizes
        ]
        found = [interval(values) for values in steps]
        ax.errorbar(
            sizes,
            [f.mean for f in found],
            [f.half for f in found],
            marker="o",
            capsize=3,
            color=f"C{i}",
            label=daemon,
        )
        ax.plot(sizes, bound, "--", color=f"C{i}", label=f"bound, {daemon}")
        rows += [
            [daemon, str(n), mean(values), str(values.max()), f"{most:,}"]
            for n, values, most in zip(sizes, steps, bound, strict=True)
        ]
    plain(ax, sizes, log=True)
    ax.set_ylabel("steps until one privilege")
    ax.legend(loc="upper left")
    return table(["daemon", "n", "mean steps", "most", "bound"], rows), figure


FOUND = dict(
    zip(NAMES, (luby, floodset, synchronisers, benor, token_ring), strict=True)
)


def tables() -> dict[str, str]:
    """The tables of the page, by theorem."""
    return {name: FOUND[name](read(name))[0] for name in NAMES}


@styled
def main(folder: str | None = None) -> None:
    for name in NAMES:
        if folder is not None:
            found = settled(dgsuite.open(Path(folder) / f"theorem-{name}.nc"))
            dgsuite.save(found, DOCS / "theorems" / f"{name}.nc")
        said, figure = FOUND[name](read(name))
        write(figure, str(DOCS / "images" / f"theorem-{name}.png"))
        print(f"{name}\n\n{said}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
