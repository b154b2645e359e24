"""What an analysis found, as lines and tables of text, and as a dataset."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.base.tables import table
from dgsuite.studies.scaling.analysis import Analysis
from dgsuite.studies.scaling.completion_time import CompletionTime
from dgsuite.studies.scaling.conclusion import REACH
from dgsuite.studies.scaling.ends import Rows

LAWS = {"Amdahl's law": ("1", "1/p"), "Universal Scalability Law": ("1", "1/p", "p")}
"""Terms of laws. One machine takes T(1), the sum of the coefficients. Amdahl's serial part is C0 / T(1); the
other law's contention is (C0 + C2) / T(1), its coherence C2 / T(1)."""

BOUNDS = ("estimate", "low", "high")


def show(console: Any, found: Analysis) -> None:
    """Print what was found, and at last at how many machines to stop."""
    from rich.markup import escape

    console.print(f"\n[bold]{escape(found.title)}[/bold]")
    for note in found.notes:
        console.print(f"  note: {note}", markup=False)
    chosen = "chosen form" if found.settings.terms is None else "form"
    forms = {"the paper's form, all but the largest": found.model, chosen: found.chosen}
    for title, model in forms.items():
        if model is not None:
            _show_model(console, title, model)
    largest = int(found.runs.p.max())
    if found.model is not None:
        console.print(f"error at the {largest} {found.unit} held out: {found.error:.1%}")
    for n in found.sizes:
        console.print(_efficiency(found, n))
    for line in (
        *_held_out(found),
        *_laws(found),
        *_demand(found),
        *_what_if(found),
        *(
            f"{_of(found, n)}measure {found.counted(p)} next: there the ends of the interval differ most"
            for n, p in found.next.items()
        ),
        *(f"{_of(found, n)}{at}" for n, at in found.stop.items()),
    ):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _show_model(console: Any, title: str, model: CompletionTime) -> None:
    heads = ("term", "seconds", "standard error", "95 % from", "to")
    rows = [
        (term, *(f"{v:.4g}" for v in (model.coef_[term], model.stderr_[term], low, high)))
        for term, (low, high) in model.coef_interval().items()
    ]
    console.print(f"completion time, {title}: R^2 {model.r2_:.4f}, MSE {model.mse_:.3g} s^2")
    console.print(table(heads, rows, wrap=False))


def _held_out(found: Analysis) -> Iterator[str]:
    held = found.held_out
    if held is None:
        return
    yield f"held out, predicted by {held.attrs['terms']}:"
    inside = (held.low <= held.measured) & (held.measured <= held.high)
    for k in range(held.sizes["point"]):
        at = held.isel(point=k)
        size = f"n = {int(at.n)}, " if at.n > 1 else ""
        yield (
            f"  {size}{found.counted(int(at.p))}{_mark(found, int(at.p))}: {found.origin} "
            f"{float(at.measured):.3g} s, predicted {float(at.predicted):.3g} s (95 %: "
            f"{float(at.low):.3g} to {float(at.high):.3g} s{'' if inside[k] else ', missed'})"
        )
    yield f"  in the interval: {int(inside.sum())} of {held.sizes['point']}"


def _mark(found: Analysis, p: int) -> str:
    shared = bool(found.runs.oversubscribed.sel(p=p))
    return " (oversubscribed)" if shared else ""


def _efficiency(found: Analysis, n: int) -> Any:
    """A table of times, efficiency against the fewest machines, and machine-hours."""
    times, stop = found.seconds().sel(n=n), found.gain[n]
    p, seconds = times.p.values.astype(float), times.values
    names = [f"{at:g}" for at in p]
    if found.curve is not None and not stop.reason:
        at = np.array([stop.machines * found.processes])
        size = None if found.size(n) is None else np.array([float(n)])
        p, seconds = np.append(p, at), np.append(seconds, found.curve.predict(Rows(at, at, size)))
        names.append(f"{at[0]:g} (fitted)")
    efficiency = 100 * p[0] * seconds[0] / (p * seconds)
    hours = p / found.processes * seconds / 3600
    cells = [[f"{v:.{digits}g}" for v in values] for values, digits in ((seconds, 4), (hours, 3))]
    heads = (found.unit, "seconds", f"efficiency against {p[0]:g}", "machine-hours")
    rows = zip(names, cells[0], [f"{e:.0f} %" for e in efficiency], cells[1], strict=True)
    return table(heads, rows, title=_of(found, n) or None, wrap=False)


def _laws(found: Analysis) -> Iterator[str]:
    """Laws with names, as far as the times are of one size."""
    rows = found.rows()
    for name, terms in LAWS.items() if rows.size is None else ():
        try:
            model = CompletionTime(terms).fit(*rows[:2])
        except InputError:  # too few runs, which the conclusion says
            continue
        c0, c1, c2 = [*model.coef_, 0.0][:3]
        if len(terms) > 2:
            peak = f", fastest at {np.sqrt(c1 / c2):.0f}" if c2 else ", never slower with more"
            said = f"contention {(c0 + c2) / (c0 + c1 + c2):.3g}, coherence {c2 / (c0 + c1 + c2):.3g}{peak}"
        else:
            said = f"serial part {c0 / (c0 + c1):.1%}"
        yield f"{name}: {said}; misses the times by {model.error(*rows[:2]):.1%} on average"


def _of(found: Analysis, n: int) -> str:
    return "" if found.size(n) is None else f"n = {n}: "


def _demand(found: Analysis) -> Iterator[str]:
    if found.demand is not None and found.demand_error is not None:
        yield f"demand constant DC: {found.demand.demand_constant_:.3f}"
        if len(found.sizes) > 1:
            yield f"demand grows with the size to the power {found.demand.size_exponent_:.2f}"
        last = found.demand_error.isel(p=-1)
        p, n = int(last.p), int(last.n)
        for cti, error in zip(last.cti.values, last.values, strict=True):
            predicted = float(found.demand.predict(p, float(cti), found.size(n)))
            off = (
                f"{error:+.1f} points off"
                if math.isfinite(error)
                else f"{found.origin} times do not reach it"
            )
            yield (
                f"  {_of(found, n)}CTI {cti:6.1%}: demand of {found.counted(p)}{_mark(found, p)} "
                f"{predicted:5.1f} %, {off}"
            )
    if found.runs.sizes["bandwidth"] < 2:
        return
    processes = "process" if found.processes == 1 else "processes"
    link = f"a link of {_rate(found)}, {found.processes} {processes} per machine"
    for n, at in found.link.items():
        text = (
            f"no statement: {at.reason}"
            if at.reason
            else (f"from {at.machines:g} machines on (between {at.low:g} and {at.high:g})")
        )
        yield f"{_of(found, n)}demand at CTI {found.settings.cti:.0%} reaches {link}: {text}"


def _rate(found: Analysis) -> str:
    if found.settings.link is not None:
        return f"{found.settings.link} per second"
    nominal = found.runs.attrs.get("nominal_bandwidth")
    return "the nominal bandwidth" if nominal is None else f"{nominal / 1e6:g} MB per second"


def _what_if(found: Analysis) -> Iterator[str]:
    for n, what in found.what_if.items():
        m = what.machine
        yield (
            f"{_of(found, n)}what if: compute x {m.compute:.3g}, {m.exchange:.3g} s per exchange, "
            f"{m.partner:.3g} s per message, {m.byte:.3g} s per byte"
        )
        out = abs(what.check.error.where(what.check.held_out))
        yield (
            f"  error at {int(what.check.held_out.sum())} points held out: "
            f"median {float(out.median()):.1%}, largest {float(out.max()):.1%}"
        )
        factor = m.factor()
        count = len(m.errors)
        yield (
            f"  a further run is within a factor of {factor:.2f} (95 %, split conformal)"
            if math.isfinite(factor)
            else f"  no statement on a further run: {count} points held out suffice for "
            f"{count / (count + 1):.0%}, not for 95 %"
        )


def summary(analyses: Sequence[Analysis]) -> xr.Dataset:
    """The fits and what follows from them.

    Returns
    -------
    xarray.Dataset
        Over ``case``, a kernel and a size: ``stop``, ``small_gain`` and ``link_full`` (machines) over
        ``bound``, with NaN where there is no statement, and ``conclusion``, a line. ``seconds``, over
        ``case``, ``bound`` and ``machines``: the fitted time and the ends of its 95 % interval, NaN beyond
        four times the most machines measured, and ``demand``, in per cent of the link. ``oversubscribed``:
        the most workers of the case were more than there were processors, so that their times are put
        together.
    """
    from dgsuite import __version__

    most = max(int(found.runs.p.max()) / found.processes for found in analyses)
    machines = np.unique(np.round(np.geomspace(1, max(REACH * most, 2), 60)).astype(int))
    cases = [_case(found, n, machines) for found in analyses for n in found.stop]
    return xr.concat(cases, "case", data_vars="all").assign_attrs(
        title="At how many machines to stop",
        source=f"dgsuite {__version__}",
        settings=json.dumps(analyses[0].settings.model_dump(exclude={"departs"})),
        processors=[int(found.runs.attrs.get("processors", 0)) for found in analyses],
        notes="\n".join(note for found in analyses for note in found.notes),
    )


def _case(found: Analysis, n: int, machines: np.ndarray) -> xr.Dataset:
    nothing = np.full((len(BOUNDS), len(machines)), np.nan)
    seconds, demand = nothing.copy(), nothing.copy()
    p = machines * found.processes
    size = found.size(n)
    within = p <= REACH * int(found.runs.p.max())
    if found.chosen is not None:
        at = p[within]
        low, high = found.chosen.interval(at, size=size)
        seconds[:, within] = [found.chosen.predict(at, size), low, high]
    for k in np.flatnonzero(within & (p > 1)):
        demand[:, k] = found.share(int(p[k]), n) or np.nan
    ends = {"stop": found.stop[n], "small_gain": found.gain[n], "link_full": found.link[n]}
    curve = "bound", "machines"
    return xr.Dataset(
        {
            **{name: ("bound", [*at[:3]], {"units": "1"}) for name, at in ends.items()},
            "seconds": (curve, seconds, {"units": "s"}),
            "demand": (curve, demand, {"units": "percent"}),
            "conclusion": str(found.stop[n]),
            "oversubscribed": bool(found.runs.oversubscribed.any()),
        },
        {
            "kernel": ("case", [found.kernel]),
            "n": ("case", [n]),
            "bound": [*BOUNDS],
            "machines": machines,
        },
    )
