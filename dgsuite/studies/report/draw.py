"""The study's figures, in the forms that the paper has them in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dgsuite.base.tables import Marked
from dgsuite.core.results.plots import LOOKS, styled
from dgsuite.studies.report.forms import Form, forms, title
from dgsuite.studies.report.results import Bar, bars, cells, code
from dgsuite.studies.report.statistics import Interval
from dgsuite.studies.report.tables import INPUTS, STYLES, TEXT, Cell
from dgsuite.studies.statics.counting import Statics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = {"Mn": ("Mn-In", "--", "o"), "Mx": ("Mx-In", "-", "s"), "ring": ("ring", "-", "s")}
"""Name, line and marker of each input."""

PLAIN, MARKED = "white", "#f2dfd9"
"""Ground of a table's cells, and of those where the paper has another number."""


@styled
def draw(figure: xr.Dataset) -> Figure:
    """The picture of a figure's dataset."""
    number = int(figure.attrs["figure"])
    form = forms()[number]
    picture = {"table": _table, "rounds": _rounds, "bars": _bars}[form.kind](figure)
    study = str(figure.attrs.get("study", ""))
    name = f"{number}, {study}" if study else str(number)
    picture.suptitle(f"Figure {name}. {title(number, study)}")
    return picture


def _new(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def _bars(figure: xr.Dataset) -> Figure:
    """A group of bars a kernel, a bar a swept value; a program's base is the line at 1.

    Bars of runs in which threads took turns on the processors are hatched.
    """
    from matplotlib import colormaps
    from matplotlib.patches import Patch

    form = forms()[int(figure.attrs["figure"])]
    found = bars(figure)
    named = list(dict.fromkeys(bar.program for bar in found))
    values = list(dict.fromkeys(bar.value for bar in found))
    if all(isinstance(value, int) for value in values):
        values.sort()
    colours = colormaps["viridis"](np.linspace(0.3, 0.85, len(values)))
    picture = _new(9, 0.9 + 2.6 * len(named))
    axes = picture.subplots(len(named), 1, squeeze=False)[:, 0]
    legend: dict[str, Any] = {}
    for ax, program in zip(axes, named, strict=True):
        here = [bar for bar in found if bar.program == program]
        own = [bar for bar in here if bar.value != bar.base]
        kernels = list(dict.fromkeys(bar.kernel for bar in here))
        shown = [v for v in values if any(bar.value == v for bar in own)]
        width = 0.84 / max(1, len(shown))
        floor = framed(ax, "y", [bar.ratio for bar in here], base=1)
        for i, value in enumerate(shown):
            mine = [bar for bar in own if bar.value == value]
            at = [kernels.index(b.kernel) + (i - (len(shown) - 1) / 2) * width for b in mine]
            heights = [bar.ratio.mean for bar in mine]
            spread = [bar.ratio.half for bar in mine]  # not drawn where there is one run
            colour = colours[values.index(value)]
            hatch = [HATCH if bar.oversubscribed else "" for bar in mine]
            look = {"color": colour, "edgecolor": "white", "linewidth": 0}
            ax.bar(at, np.array(heights) - floor, 0.92 * width, floor, hatch=hatch, **look)
            legend.setdefault(labelled(form, value), Patch(color=colour))
            below = np.minimum(spread, np.array(heights) - ax.get_ylim()[0])
            ax.errorbar(
                at, heights, [below, spread], fmt="none", ecolor="k", elinewidth=0.9, capsize=2
            )
        ax.axhline(1, color="k", linewidth=0.8, linestyle=":")
        ax.set_xticks(range(len(kernels)), [k.upper() for k in kernels])
        ax.set_ylabel(form.axis)
        ax.set_title(f"{program}; dotted: {_base(form, here)}", loc="left")
    look = {"fontsize": 9, "handlelength": 1.2, "columnspacing": 1.2}
    _below(picture, legend, 8, **look)
    if any(bar.oversubscribed for bar in found):
        axes[-1].set_xlabel("hatched: more threads than processors; they took turns")
    return picture


def _below(picture: Figure, legend: Mapping[str, Any], columns: int, **look: Any) -> None:
    """A legend below all panels, with the look of each label."""
    place = "outside lower center"
    picture.legend(legend.values(), legend.keys(), loc=place, ncols=columns, **look)


HATCH = "////"
"""Look of bars whose threads took turns on the processors."""


def _base(form: Form, found: list[Bar]) -> str:
    """What the bars of a program are over, in words."""
    names = [labelled(form, base) for base in dict.fromkeys(bar.base for bar in found)]
    took_turns = any(bar.oversubscribed for bar in found if bar.value == bar.base)
    return " or ".join(names) + (", oversubscribed itself" if took_turns else "")


def framed(ax: Axes, which: str, shown: Sequence[Interval], base: float | None = None) -> float:
    """Have axis "x" or "y" hold all intervals with their caps; return where bars begin.

    It begins at 0; where means differ by more than a factor of ten it is logarithmic, with bars from `base`.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    means, halves = (np.array([getattr(t, name) for t in shown]) for name in ("mean", "half"))
    low, high = (means + way * np.nan_to_num(halves) for way in (-1, 1))
    limit = getattr(ax, f"set_{which}lim")
    if not len(shown) or means.min() <= 0 or means.max() <= 10 * means.min():
        limit(0, 1.08 * max(high.max(initial=0), base or 0) or 1)
        return 0
    getattr(ax, f"set_{which}scale")("log")
    least, most = np.where(low > 0, low, means).min(), high.max()
    if base is not None:
        least, most = min(least, base), max(most, base)
    limit(least / 1.3, most * 1.3)
    axis = getattr(ax, f"{which}axis")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if most / least < 200 else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())
    return base if base is not None else least / 1.3


def labelled(form: Form, value: Any) -> str:
    """A value of what is swept, or a base, as a legend has it."""
    if value in INPUTS:
        return f"{form.unit} {LINES[INPUTS[value]][0]}"
    return f"the {value}" if isinstance(value, str) else f"{form.unit} {value}"


def _rounds(figure: xr.Dataset) -> Figure:
    """A panel a kernel: its communication in each round, by style and input."""
    names = sorted(set(figure["kernel"].values.tolist()))
    columns = 4
    rows = math.ceil(len(names) / columns)
    picture = _new(11, 2.3 * rows + 0.6)
    axes = picture.subplots(rows, columns, squeeze=False).ravel()
    legend: dict[str, Any] = {}
    for ax, name in zip(axes, names, strict=False):
        for i in np.flatnonzero(figure["kernel"].values == name):
            style, kind = str(figure["count_as"].values[i]), str(figure["kind"].values[i])
            count = figure["comm_by_round"].values[i, : int(figure["n_rounds"].values[i])]
            title, line, marker = LINES[INPUTS[kind]]
            label = f"{STYLES[style]}, {title}"
            look: dict[str, Any] = {"color": LOOKS[style][2], "markersize": 3.5, "linewidth": 1.2}
            ax.plot(count, line, marker=marker if len(count) <= 16 else "", **look)
            legend.setdefault(label, ax.lines[-1])
        ax.set_title(name.upper())
        ax.set_ylim(bottom=0)
        ax.set_xlim(-0.3, max(1, ax.dataLim.x1) + 0.3)
        ax.locator_params(axis="x", integer=True)
    for ax in axes[max(0, len(names) - columns) : len(names)]:
        ax.set_xlabel("round")
    for ax in axes[len(names) :]:
        ax.set_visible(False)
    picture.supylabel("communication in each round")
    _below(picture, legend, 6)
    return picture


def _table(figure: xr.Dataset) -> Figure:
    """A row a kernel and input, a column a count; where the paper differs, its number beside ours."""
    columns, rows, at = grid(figure)
    lines = [[at.get((kernel, given, column)) for column in columns] for kernel, given in rows]
    text = code_table(code(figure))
    heights = [len(rows) + 1] + [len(text) + 1] * bool(text)
    picture = _new(1.6 + 1.5 * len(columns), 0.6 + 0.25 * sum(heights))
    axes = picture.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    ground = [
        [MARKED if cell and cell.why is not None else PLAIN for cell in line] for line in lines
    ]
    names = [f"{kernel.upper()} {given}" for kernel, given in rows]
    axes[0].set_axis_off()
    if rows:
        _ruled(axes[0], columns, names, [[both(cell) for cell in line] for line in lines], ground)
    if text:
        kernels = [kernel.upper() for kernel in text]
        _ruled(axes[1], list(CODE), kernels, [list(row) for row in text.values()])
        axes[1].set_title("In the text of our kernels", fontsize=9, loc="left")
    return picture


def _ruled(
    ax: Axes, columns: list[str], rows: list[str], text: list[list[str]], ground: Any = None
) -> None:
    """A table on axes."""
    from matplotlib.transforms import Bbox

    ax.set_axis_off()
    whole = Bbox.from_bounds(0.08, 0, 0.92, 1)
    table = ax.table(text, ground, rowLabels=rows, colLabels=columns, bbox=whole)
    table.auto_set_font_size(False)
    table.set_fontsize(8.5)
    for cell in table.get_celld().values():
        cell.set_edgecolor("0.85")


CODE = ("lines", "FA asyncs", "FA finishes", "FAC finishes", "FAC barriers", "mutexes")
"""Columns of the table of code."""


def code_table(rows: list[Statics]) -> dict[str, tuple[str, ...]]:
    """By kernel, what is in its text: the columns `CODE`."""
    by = {(row.kernel, row.style): row for row in rows}
    found = {}
    for kernel in sorted({row.kernel for row in rows}):
        fa, fac = by[kernel, "finish_async"], by[kernel, "clocked"]
        values = (fa.lines, fa.asyncs, fa.finishes, fac.finishes, fac.barriers, fa.mutexes)
        found[kernel] = tuple(map(str, values))
    return found


def grid(
    figure: xr.Dataset, text: bool = False
) -> tuple[list[str], list[tuple[str, str]], dict[tuple[str, str, str], Cell]]:
    """Columns, rows (kernel and input) and cells of a table's figure.

    Parameters
    ----------
    text
        Whether those about the text of kernels, or those about runs.
    """
    found = [cell for cell in cells(figure) if (cell.input in TEXT.values()) == text]
    columns = list(dict.fromkeys(cell.column for cell in found))
    rows = sorted({(cell.kernel, cell.input) for cell in found})
    return columns, rows, {(c.kernel, c.input, c.column): c for c in found}


def both(cell: Cell | None) -> str:
    """Our number, and the paper's where it is another; marked where there is a reason to look at it."""
    if cell is None:
        return ""
    text = f"{cell.ours} (paper: {cell.paper})" if cell.difference else f"{cell.ours}"
    return text if cell.why is None else Marked(text)
