"""From the runs of a figure to its dataset, and from the dataset to what is drawn and said."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.core.results.dataset import index, runtime_model
from dgsuite.core.results.provenance import oversubscribed, side_by_side
from dgsuite.studies.experiment.combining import parameters
from dgsuite.studies.report import tables
from dgsuite.studies.report.forms import forms
from dgsuite.studies.report.statistics import Interval, geometric, interval, ratio
from dgsuite.studies.statics.counting import Statics, table

TALLIED = (
    *("messages", "comm", "mutexes", "finishes", "asyncs", "barriers"),
    *("bytes", "wire_bytes", "workload_seconds"),
)
"""Variables whose sums over the rounds are kept."""

BY_ROUND = ("messages", "comm")
"""Variables of which every round is kept, where a figure needs them."""


CODE_OF = {10: "recursive"}
"""Figures that also show counts in the text of kernels, and the form of these kernels."""


MEASURED = (
    ("seconds_per_operation", "processor time of an operation of the workload", "s"),
    ("load", "processors that were busy just before", "1"),
    ("processor_hertz", "frequency of the processors, as the system says", "Hz"),
)
"""Attributes of runs that a figure keeps, with their meanings and units; NaN where a run has none."""


def collect(number: int, results: Sequence[xr.Dataset], **attrs: Any) -> xr.Dataset:
    """One dataset of a figure's runs, with what the figure needs of them.

    Parameters
    ----------
    attrs
        More attributes, such as the command.

    Returns
    -------
    xarray.Dataset
        With dimension ``run``, what was swept as coordinates, and totals of each run; with ``round``
        where the figure is by rounds, ``cell`` where it is a table, and ``code`` where it is about the
        text of kernels, too.
    """
    form = forms()[number]
    variables: dict[str, Any] = {}

    def enter(name: str, values: Any, long_name: str, units: str = "1", dims: Any = "run") -> None:
        variables[name] = (dims, values, {"long_name": long_name, "units": units})

    enter("n_rounds", [r.sizes[index(r)] for r in results], "rounds")
    enter("seconds", [float(r.attrs["seconds"]) for r in results], "all rounds", "s")
    for name, long_name, units in MEASURED:
        enter(name, [float(r.attrs.get(name, np.nan)) for r in results], long_name, units)
    at_once = [side_by_side(r.attrs) for r in results]
    enter("side_by_side", at_once, "threads that compute at once")
    processors = [int(r.attrs.get("processors", 0)) for r in results]
    enter("processors", processors, "processors of the machine that measured; 0: not noted")
    crowded = [int(oversubscribed(r.attrs)) for r in results]
    enter("oversubscribed", crowded, "more threads than processors: they took turns")
    for name in TALLIED:
        like = next((r[name].attrs for r in results if name in r), None)
        if like is not None:
            sums = [r[name].values.sum() if name in r else 0 for r in results]
            variables[name] = ("run", sums, dict(like))
    if form.kind == "rounds":
        longest = max(r.sizes[index(r)] for r in results)
        for name in BY_ROUND:
            padded = np.full((len(results), longest), -1, np.int64)
            for row, r in zip(padded, results, strict=True):
                row[: r.sizes[index(r)]] = r[name].values
            long_name = f"{results[0][name].attrs['long_name']}; -1 after the last round"
            enter(f"{name}_by_round", padded, long_name, dims=("run", "round"))
    if form.kind == "table":
        cells = tables.compare(f"figure{number}", results)
        for field in tables.Cell._fields:
            values = [getattr(cell, field) for cell in cells]
            if field == "why":  # of a cell without a difference ""
                values = ["" if why is None else why or tables.NOTHING for why in values]
            elif field not in ("ours", "difference", "loops"):
                values = list(map(str, values))
            enter(f"cell_{field}", values, field, dims="cell")
    if number in CODE_OF:
        rows = [row for row in table() if row.form == CODE_OF[number]]
        for field in Statics._fields:
            values = [getattr(row, field) for row in rows]
            enter(f"code_{field}", values, f"of the code: {field}", dims="code")
    swept = [parameters(r) for r in results]
    coords = {name: ("run", [one[name] for one in swept]) for name in swept[0]}
    first = results[0].attrs
    common = {
        "title": f"IMSuite, Figure {number}: {form.title}",
        **{name: first[name] for name in ("Conventions", "source", "versions", "machine")},
        "figure": number,
        "workloads": json.dumps(sorted({str(r.attrs.get("workload", "")) for r in results} - {""})),
    }
    return xr.Dataset(variables, coords, {**common, **attrs})


def cells(figure: xr.Dataset) -> list[tables.Cell]:
    """The cells of a table's figure."""
    made = _records(figure, "cell", tables.Cell)
    return [c._replace(why={"": None, tables.NOTHING: ""}.get(str(c.why), c.why)) for c in made]


def code(figure: xr.Dataset) -> list[Statics]:
    """What the figure says of the text of kernels, if anything."""
    return _records(figure, "code", Statics) if "code" in figure.dims else []


def _records[R: (tables.Cell, Statics)](figure: xr.Dataset, dim: str, of: type[R]) -> list[R]:
    columns = [figure[f"{dim}_{field}"].values.tolist() for field in of._fields]
    return [of(*values) for values in zip(*columns, strict=True)]


class Bar(NamedTuple):
    """A ratio of mean times: of a kernel in a program at one value of what is swept, and of its base."""

    kernel: str
    program: str
    value: Any
    ratio: Interval
    seconds: Interval
    base: Any
    """What the ratio is over: a value of what is swept, or words such as "serial program in UP"."""
    oversubscribed: str = ""
    """Where threads took turns, of how many on how many processors."""


def bars(figure: xr.Dataset) -> list[Bar]:
    """The bars of a figure, also those that are 1 by definition."""
    form = forms()[int(figure.attrs["figure"])]
    names, stands = figure["kernel"].values, np.array(variants(figure))
    seconds = figure["seconds"].values
    serial = figure["style"].values == tables.SERIAL
    swept = hardware_threads(figure) if form.over == "hwts" else figure[form.over].values
    found = []
    for name, kernel in itertools.product(
        dict.fromkeys(stands[~serial].tolist()), sorted(set(names.tolist()))
    ):
        mine = (stands == name) & (names == kernel)
        if mine.any():
            values = list(dict.fromkeys(swept[mine].tolist()))
            times = {v: interval(seconds[mine & (swept == v)]) for v in values}
            base, over = times[values[0]], values[0]
            if (same := _serial_base(figure, serial, mine)).any():
                base, over = interval(seconds[same]), _serial_model(figure, same)
            for value, time in times.items():
                pair = (base, time) if form.measure == "speed-up" else (time, base)
                shared = _shared(figure, mine & (swept == value))
                found.append(Bar(kernel, name, value, ratio(*pair), time, over, shared))
    return found


def hardware_threads(figure: xr.Dataset) -> NDArray[np.int64]:
    """Of each run the processors that its processes are bound to, or else its threads."""
    threads = figure["workers"].values * figure["threads"].values
    if "hwts" not in figure.coords:
        return threads
    return np.where(figure["hwts"].values > 0, figure["hwts"].values, threads)


def _serial_base(figure: xr.Dataset, serial: NDArray, mine: NDArray) -> NDArray[np.bool_]:
    """The serial runs that do what some runs of a program do."""
    if not serial.any():
        return serial
    same = serial.copy()
    for name in ("runtime", "kernel", "form", "n", "kind", "workload"):
        same &= figure[name].values == figure[name].values[mine][0]
    return same


def _serial_model(figure: xr.Dataset, runs: NDArray) -> str:
    """Name of a serial base: each worker process is a place."""
    places, n = (int(figure[name].values[runs].min()) for name in ("workers", "n"))
    return f"serial program in {runtime_model(places, n)}"


def _shared(figure: xr.Dataset, runs: NDArray) -> str:
    """How many threads took turns on how many processors; "" where none did."""
    if "oversubscribed" not in figure or not figure["oversubscribed"].values[runs].any():
        return ""
    threads = figure["side_by_side"].values[runs].max()
    return f"{threads} threads on {figure['processors'].values[runs].min()} processors"


def programs(figure: xr.Dataset) -> list[str]:
    """Of each run the paper's program that it stands for, such as "X10-FA"; else its style."""
    runtimes = figure["runtime"].values if "runtime" in figure else [""] * figure.sizes["run"]
    return list(map(tables.program, map(str, runtimes), map(str, figure["style"].values)))


def variants(figure: xr.Dataset) -> list[str]:
    """Of each run its program, and what that has several of that is not swept: "X10-FA on Mn-In"."""
    over = forms()[int(figure.attrs["figure"])].over
    stands = np.array(programs(figure), object)
    named = stands.copy()
    for name, said in (("kind", _on), ("workload", _with)):
        if name != over and name in figure:
            values = figure[name].values
            for mine in (stands == each for each in set(stands)):
                if len(set(values[mine])) > 1:
                    named[mine] += [said(value) for value in values[mine].tolist()]
    return [str(name) for name in named]


def _on(kind: str) -> str:
    return f" on {tables.INPUTS.get(kind, kind)}-In"


def _with(workload: str) -> str:
    work = json.loads(workload or "{}")
    return f" with {work['operations']:,} operations" if "operations" in work else ""


def findings(figure: xr.Dataset) -> list[str]:
    """What the results say, in sentences made from them."""
    form = forms()[int(figure.attrs["figure"])]
    if form.kind == "table":
        given = cells(figure)
        return [tables.summary(given), *_ranges(figure)]
    if form.kind == "rounds":
        return [_peaks(figure)]
    found = bars(figure)
    out = [line] if (line := crowded(figure)) else []
    for name in dict.fromkeys(bar.program for bar in found):
        mine = [bar for bar in found if bar.program == name]
        last = list(dict.fromkeys(bar.value for bar in mine))[-1]
        ends = sorted((b for b in mine if b.value == last), key=lambda b: b.ratio.mean)
        mean = geometric([b.ratio.mean for b in ends])
        least, most = ends[0], ends[-1]
        out.append(
            f"{name}, {form.unit} {last}: {mean:.2f} (geometric mean of "
            f"{len(ends)} kernels), from {least.ratio.mean:.2f} ({least.kernel.upper()}) to "
            f"{most.ratio.mean:.2f} ({most.kernel.upper()})."
        )
    return out


def crowded(figure: xr.Dataset) -> str:
    """Which runs had more threads than processors, in a sentence; "" where none had."""
    if "oversubscribed" not in figure:
        return "The results do not say which runs had more threads than processors."
    here = figure["oversubscribed"].values.astype(bool)
    if not here.any():
        return ""
    least, most = (f(figure["side_by_side"].values[here]) for f in (np.min, np.max))
    threads = str(most) if least == most else f"{least} to {most}"
    return (
        f"Oversubscribed: in {here.sum()} of {len(here)} runs {threads} threads took turns on "
        f"{figure['processors'].values[here].min()} processors, so that their times are no speed-ups of "
        f"as many processors."
    )


def made_by(ds: xr.Dataset) -> str:
    """The machine and the versions that made a result."""
    versions = json.loads(ds.attrs.get("versions", "{}"))
    named = [f"{name} {number}" for name, number in versions.items()]
    machine = (str(ds.attrs.get("machine", "not noted")), surroundings(ds))
    return f"Machine: {'; '.join(filter(None, machine))}. {', '.join(named)}"


def busy(ds: xr.Dataset) -> bool:
    """Whether more than one processor was busy before some run, so that times may be too long."""
    return bool((known(ds, "load") > 1).any())


def surroundings(figure: xr.Dataset) -> str:
    """How busy and how fast the machine was, in a sentence; "" where no run says it."""
    said = []
    if len(loads := known(figure, "load")):
        warned = "these times may be too long, " if busy(figure) else ""
        said.append(
            f"{warned}{loads.min():.1f} to {loads.max():.1f} processors busy before the runs"
        )
    if len(hertz := known(figure, "processor_hertz")):
        said.append(f"processors at {hertz.mean() / 1e9:.2f} GHz")
        if len(seconds := known(figure, "seconds_per_operation")):
            said.append(
                f"an operation of the workload takes {seconds.mean() * 1e9:.2f} ns, "
                f"{seconds.mean() * hertz.mean():.2f} cycles of these"
            )
    return "; ".join(said)


def known(figure: xr.Dataset, name: str) -> NDArray[np.float64]:
    """What runs say of themselves, or a result of all its runs."""
    found = figure[name].values if name in figure else figure.attrs.get(name, np.nan)
    values: NDArray[np.float64] = np.atleast_1d(found)
    return values[~np.isnan(values)]


def _ranges(figure: xr.Dataset) -> list[str]:
    """Counts of runs on workers, where these depend on the order of arrival."""
    free = figure["style"].values != "serial"
    if not free.any():
        return []
    said = []
    for name in ("asyncs", "finishes", "comm"):
        values = figure[name].values[free]
        said.append(f"{values.min()} to {values.max()} {figure[name].attrs['long_name']}")
    kernel, kind = (str(figure[name].values[free][0]) for name in ("kernel", "kind"))
    return [
        f"{kernel.upper()} on {tables.INPUTS[kind]}, {free.sum()} runs on workers: {'; '.join(said)}."
    ]


def _peaks(figure: xr.Dataset) -> str:
    """How much communication varies over the rounds, where there are more than three."""
    comm, rounds = figure["comm_by_round"].values.clip(0), figure["n_rounds"].values
    peak = comm.max(axis=1) * rounds / comm.sum(axis=1).clip(1)
    longer = [i for i in np.argsort(peak, kind="stable") if rounds[i] > 3]
    if not longer:
        return "No run has more than three rounds."
    least, most = (
        f"{figure['kernel'].values[i].upper()} on {figure['kind'].values[i]} in "
        f"{tables.STYLES[str(figure['count_as'].values[i])]} ({peak[i]:.2f} times the mean round)"
        for i in (longer[0], longer[-1])
    )
    return f"Of runs of more than three rounds the most level is {least}, the least {most}."
