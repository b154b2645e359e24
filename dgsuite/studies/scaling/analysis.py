"""The whole analysis of measured runs: fits, demand, prediction of what was held out, and what if."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import xarray as xr
from dask.utils import parse_bytes

from dgsuite.base.errors import InputError
from dgsuite.core.results.checking import check_attributes
from dgsuite.core.results.dataset import index
from dgsuite.kernels import KERNELS
from dgsuite.studies.experiment.model import Config, Point, Scaling, points
from dgsuite.studies.scaling import conclusion
from dgsuite.studies.scaling.completion_time import CompletionTime, choose
from dgsuite.studies.scaling.conclusion import Statement
from dgsuite.studies.scaling.demand import BandwidthDemand
from dgsuite.studies.scaling.ends import Curve, Rows, outliers
from dgsuite.studies.scaling.measure import NEEDED, measured
from dgsuite.studies.scaling.terms import MIXTURE, MIXTURE_WITH_SIZE
from dgsuite.studies.scaling.whatif import Machine, calibrate, what_if


@dataclass
class WhatIf:
    """What-if of one problem beside its measured runs.

    Attributes
    ----------
    machine
        Costs of an exchange, calibrated on every other (p, bandwidth), with its errors at those in between.
    check
        Over p and bandwidth: ``measured``, ``predicted`` with its ends ``low`` and ``high``, ``held_out``.
    """

    machine: Machine
    check: xr.Dataset


@dataclass
class Analysis:
    """What was found out about one kernel.

    Attributes
    ----------
    title
        The kernel, and the size where runs of another are analysed apart.
    runs
        ``seconds`` over p, bandwidth and repeat, and n where there are several sizes.
    model, error
        The paper's form, fitted to all but the largest p, and its relative error there; None and NaN
        where there are several sizes.
    chosen, problem
        The form that predicts held-out points best, or the settings' terms, fitted to all; None and the
        reason where none can be fitted.
    held_out
        A form chosen and fitted without the largest p, and without the largest n of three or more, beside
        what was measured there: ``measured``, ``predicted``, ``low``, ``high`` over ``point``, and the form.
    demand, demand_error
        Bandwidth demand from all but these points, and its error there in percentage points; None where
        bandwidth was not varied.
    demand_of_all, demand_problem
        Bandwidth demand from all points; None and the reason where there is none.
    outliers
        Times with all bandwidth, over n, p and repeat, that are too far from the curve of all others; no
        fit has them.
    curve
        The best of all forms together, or of the settings' terms; where to stop is worked out from it.
    next
        By size: the number of workers whose time tells most about where to stop.
    gain, link, stop
        By size: where more machines stop saving time, where demand is what the link carries, and the
        earlier of both.
    what_if
        By size; none without traffic.
    """

    title: str
    kernel: str
    settings: Scaling
    runs: xr.Dataset
    model: CompletionTime | None = None
    error: float = np.nan
    chosen: CompletionTime | None = None
    problem: str = ""
    held_out: xr.Dataset | None = None
    demand: BandwidthDemand | None = None
    demand_error: xr.DataArray | None = None
    demand_of_all: BandwidthDemand | None = None
    demand_problem: str = "bandwidth was not varied on at least two numbers of workers above 1"
    outliers: xr.DataArray | None = None
    curve: Curve | None = None
    next: dict[int, int] = field(default_factory=dict)
    gain: dict[int, Statement] = field(default_factory=dict)
    link: dict[int, Statement] = field(default_factory=dict)
    stop: dict[int, Statement] = field(default_factory=dict)
    what_if: dict[int, WhatIf] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def sizes(self) -> list[int]:
        """Of the problems that were measured."""
        return [int(n) for n in np.atleast_1d(self.runs.n)]

    @property
    def unit(self) -> str:
        """What p counts."""
        return str(self.runs.p.attrs["long_name"])

    @property
    def origin(self) -> str:
        """How the times were found."""
        return "simulated" if "simulated" in self.runs.attrs else "measured"

    def counted(self, p: int) -> str:
        """So many of them."""
        one = {"processes": "process"}.get(self.unit, self.unit.removesuffix("s"))
        return f"{p} {self.unit if p > 1 else one}"

    @property
    def mixture(self) -> tuple[str, ...]:
        """Terms of all forms together."""
        return MIXTURE if len(self.sizes) == 1 else MIXTURE_WITH_SIZE

    @property
    def processes(self) -> int:
        """Of a machine."""
        measured = int(self.runs.attrs.get("processes_per_node", 1))
        return self.settings.processes_per_node or measured

    def size(self, n: float) -> float | None:
        """A size, as the models take it: None where there is only one."""
        return float(n) if len(self.sizes) > 1 else None

    def seconds(self) -> xr.DataArray:
        """Times with all bandwidth, the median of repeats: one point for each n and p that was run."""
        return self._full().median("repeat").stack(point=("n", "p")).dropna("point")

    def rows(self) -> Rows:
        """Each run with all bandwidth."""
        rows = self._full().stack(row=("n", "p", "repeat")).dropna("row")
        size = rows.n.values.astype(float) if len(self.sizes) > 1 else None
        return Rows(rows.p.values.astype(float), rows.values, size)

    def _full(self) -> xr.DataArray:
        full = self.runs.seconds.isel(bandwidth=-1)
        if "n" not in full.dims:
            full = full.expand_dims("n")
        return full if self.outliers is None else full.where(~self.outliers)

    def fitted(self, times: xr.DataArray) -> CompletionTime:
        """The settings' terms, or the form that predicts best, fitted to some points of `seconds`."""
        s = self.settings
        size = times.n if len(self.sizes) > 1 else None
        if s.terms is None:
            return choose(times.p, times, None, size, s.weights, s.bounded)
        return CompletionTime(s.terms, s.weights, s.bounded).fit(times.p, times, size)

    def capacity(self) -> float:
        """What a machine's link carries for each process, in per cent of what was 100 % in the runs.

        All that the processes of a machine send is taken to go over its link, also to each other.

        Raises
        ------
        InputError
            A link is given, and the runs do not say what their bandwidth was.
        """
        attrs = self.runs.attrs
        share = self.processes / int(attrs.get("processes_per_node", 1))
        if self.settings.link is None:
            return 100 / share
        try:
            link = parse_bytes(self.settings.link)
        except ValueError:
            link = 0
        if not link > 0:
            raise InputError(
                f"link must be a number of bytes per second such as '1.25 GB', got {self.settings.link!r}"
            )
        if "nominal_bandwidth" not in attrs:
            raise InputError(
                "link: the runs do not say how many bytes per second were 100 % of bandwidth; measure them "
                "with an experiment's [throttle]"
            )
        return 100 * link / float(attrs["nominal_bandwidth"]) / share

    def share(self, p: int, n: int) -> tuple[float, float, float] | None:
        """What of a machine's link p processes need at the settings' CTI, per cent: estimate, low, high.

        None where the curves do not say it.
        """
        if self.demand_of_all is None:
            return None
        cti, size = self.settings.cti, self.size(n)
        try:
            middle = float(self.demand_of_all.predict(p, cti, size))
        except InputError:
            return None
        low, high = self.demand_of_all.interval(p, cti, size=size)
        part = 100 / self.capacity()
        return middle * part, float(low) * part, float(high) * part


def split(dataset: xr.Dataset) -> list[xr.Dataset]:
    """The runs of an experiment's dataset.

    Raises
    ------
    InputError
        The dataset is none of runs.
    """
    attributes = json.loads(dataset.attrs.get("run_attributes", "[]"))
    if not attributes:
        check_attributes(dataset, NEEDED)
        return [dataset]
    counted = index(dataset)
    return [
        dataset.isel({"run": i, counted: slice(int(dataset.n_rounds[i]))}).assign_attrs(own)
        for i, own in enumerate(attributes)
    ]


def by_kernel(runs: Iterable[xr.Dataset], settings: Scaling) -> dict[str, list[xr.Dataset]]:
    """The runs that are analysed together, by title: those of a kernel, or of a kernel and a size."""
    found: dict[str, list[xr.Dataset]] = {}
    for run in runs:
        size = "" if settings.sizes == "together" else f", n = {int(run.attrs['n'])}"
        found.setdefault(f"{run.attrs['kernel']}{size}", []).append(run)
    return found


def analyse(
    results: Sequence[xr.Dataset] | xr.Dataset,
    traffic: Mapping[int, xr.Dataset] | xr.Dataset | None = None,
    nominal: float | None = None,
    processors: int | None = None,
    settings: Scaling | None = None,
    sizes: Sequence[int] = (),
) -> Analysis:
    """Analyse the runs of one kernel, or of any program.

    Parameters
    ----------
    results
        Datasets of runs on several numbers of workers, and of bandwidths if demand is asked for; or what
        `dgsuite.studies.scaling.tables.read` made of a table.
    traffic
        Counted traffic on these numbers of clusters, of `trace`; by size where there are several.
    nominal
        Bytes per second that are 100 % of a process's bandwidth; needed with traffic.
    processors
        Of the machine that measured; by default what the runs say. See `measured`.
    settings
        Of the fit, the link and the machines; see `dgsuite.studies.experiment.model.Scaling`.
    sizes
        Further sizes to say something about, besides those that were measured.
    """
    settings = settings or Scaling()
    runs = results if isinstance(results, xr.Dataset) else measured(results, processors)
    kernel = str(runs.attrs["kernel"])
    found = Analysis(kernel, kernel, settings, runs)
    if sizes and len(found.sizes) < 2:
        raise InputError("a size to predict needs runs of at least two sizes, fitted together")
    _note_processors(found)
    _leave_out(found)
    _fit_times(found)
    _fit_demand(found)
    _conclude(found, sizes)
    if traffic is not None:
        if nominal is None:
            raise InputError("the nominal bandwidth is needed to check what-if on measured runs")
        if isinstance(traffic, xr.Dataset):
            traffic = dict.fromkeys(found.sizes, traffic)
        for n in found.sizes:
            part = runs.sel(n=n).dropna("p") if len(found.sizes) > 1 else runs
            found.what_if[n] = _checked(part, traffic[n], nominal)
    return found


def _note_processors(found: Analysis) -> None:
    runs = found.runs
    if "processors" not in runs.attrs:  # a table of one's own
        return
    processors = int(runs.attrs["processors"])
    if not processors:
        found.notes.append(
            "the runs do not say how many processors measured them: their times are taken as they are, also "
            f"those of more {found.unit} than there were processors"
        )
    elif runs.oversubscribed.any():
        found.notes.append(
            f"up to {int(runs.p.max())} workers shared {processors} processors (oversubscribed): there the "
            f"time is put together from processor time and the time of exchanges"
        )


def _leave_out(found: Analysis) -> None:
    """Leave outliers out of all fits, and name them in the notes."""
    rows, relative = found.rows(), found.settings.weights == "relative"
    terms = found.mixture
    out = outliers(terms, rows, relative)
    full = found._full()
    found.outliers = xr.zeros_like(full, bool)
    curve = Curve(terms, rows.at(~out), relative)
    for p, seconds, expected in zip(*rows.at(out)[:2], curve.predict(rows.at(out)), strict=True):
        found.outliers |= (full == seconds) & (full.p == p)
        found.notes.append(
            f"outlier, left out: {seconds:.3g} s of {found.counted(int(p))}, {seconds / expected:.2g} times "
            f"what the others say"
        )


def _fit_times(found: Analysis) -> None:
    """Fit the completion time, and predict what was left out."""
    s = found.settings
    times = found.seconds()
    several = len(found.sizes) > 1
    inner = (times.p < times.p.max()).to_numpy()
    if len(found.sizes) > 2:
        inner &= (times.n < times.n.max()).to_numpy()

    if not several:
        if times.p.min() == 1:
            found.notes.append(
                f"{found.counted(1)} sends nothing, which the paper's form does not know"
            )
        try:
            part = times[inner]
            found.model = CompletionTime(weights=s.weights, bounded=s.bounded).fit(part.p, part)
            found.error = found.model.error(times[~inner].p, times[~inner])
        except InputError as problem:
            found.notes.append(f"the paper's form: {problem}")
    try:
        form = found.fitted(times[inner])
        out = times[~inner]
        size = out.n if several else None
        names = ("measured", "predicted", "low", "high")
        said = out.values, form.predict(out.p, size), *form.interval(out.p, size=size)
        found.held_out = xr.Dataset(
            {name: ("point", each, {"units": "s"}) for name, each in zip(names, said, strict=True)},
            {"n": ("point", out.n.values), "p": ("point", out.p.values)},
            {"terms": " + ".join(form.terms), "level": 0.95},
        )
    except InputError as problem:
        found.notes.append(f"predicting what was held out: {problem}")
    try:
        found.chosen = found.fitted(times)
    except InputError as problem:
        found.problem = str(problem)
        return
    bounded = s.bounded or s.terms is None
    found.curve = Curve(s.terms or found.mixture, found.rows(), s.weights == "relative", bounded)


def _fit_demand(found: Analysis) -> None:
    runs = found.runs
    several = runs.sel(p=runs.p[runs.p > 1])  # one machine sends nothing
    if runs.sizes["bandwidth"] < 2:
        return
    inner = several.isel(p=slice(0, -1))
    if len(found.sizes) > 2:
        inner = inner.isel(n=slice(0, -1))
    try:
        if several.sizes["p"] > 2:
            found.demand = BandwidthDemand().fit(inner)
            error = found.demand.error(several)
            if "n" not in error.coords:  # the size is not known
                error = error.assign_coords(n=("p", np.repeat(found.sizes, error.sizes["p"])))
            found.demand_error = error
        if several.sizes["p"] > 1:
            found.demand_of_all = BandwidthDemand().fit(several)
    except InputError as problem:
        found.demand_problem = str(problem)


def _conclude(found: Analysis, sizes: Sequence[int]) -> None:
    s = found.settings
    times = found.seconds()
    measured_on = int(times.p.min()), int(times.p.max())
    senders = [int(p) for p in found.runs.p if p > 1]
    capacity = found.capacity()
    for n in sorted({*found.sizes, *sizes}):
        size = found.size(n)
        if found.curve is None:
            found.gain[n] = Statement(reason=found.problem)
        else:
            end = found.curve.end(s.gain, size, found.processes, conclusion.LEVEL)
            found.gain[n] = conclusion.where_gain_ends(
                found.curve, end, s.gain, measured_on, found.processes
            )
            if not np.isnan(found.gain[n].low):
                may_be = np.unique(np.geomspace(measured_on[0], 2 * measured_on[1], 200).round())
                found.next[n] = found.curve.tells_most(end, may_be, size)
        if found.demand_of_all is None:
            found.link[n] = Statement(reason=found.demand_problem)
        else:
            ends = senders[0], senders[-1]
            found.link[n] = conclusion.where_link_is_full(
                found.demand_of_all, ends, s.cti, capacity, found.processes, size
            )
        found.stop[n] = conclusion.stop(found.gain[n], found.link[n])


def _checked(runs: xr.Dataset, traffic: xr.Dataset, nominal: float) -> WhatIf:
    """Calibrate on every other point of the table, and predict the others."""
    seconds = runs.seconds.median("repeat")
    rates = runs.bandwidth.values / 100 * nominal
    p, rate = np.meshgrid(runs.p.values, rates, indexing="ij")
    i, j = np.indices(seconds.shape)
    out = (i + j) % 2 == 1
    machine = calibrate(
        traffic, p.ravel(), rate.ravel(), seconds.values.ravel(), held_out=out.ravel()
    )
    predicted = what_if(traffic, runs.p.values, rates, 0, machine)
    predicted = predicted.transpose("clusters", "bandwidth", ...)
    check = xr.Dataset(
        {
            "measured": seconds,
            **{
                name: (("p", "bandwidth"), predicted[of].values, predicted[of].attrs)
                for name, of in (("predicted", "seconds"), ("low", "low"), ("high", "high"))
            },
            "held_out": (("p", "bandwidth"), out),
            "oversubscribed": runs.oversubscribed,
        }
    )
    check["error"] = check.predicted / check.measured - 1
    return WhatIf(machine, check)


def check_sweeps(configs: Iterable[Config], settings: Scaling) -> None:
    """Check, before they run, that experiments can be analysed together, whatever their times will be.

    Raises
    ------
    InputError
        Runs of a kernel differ in what they must have in common, or are too few to fit completion times or
        the demand for bandwidth.
    """
    runs = [_run(point) for config in configs for point in points(config)]
    for title, results in by_kernel(runs, settings).items():
        plan = Analysis(title, title, settings, measured(results))
        if plan.runs.sizes["bandwidth"] > 1 and (plan.runs.p > 1).sum() > 1:
            continue
        try:
            plan.fitted(plan.seconds())
        except InputError as problem:
            workers = ", ".join(str(int(p)) for p in plan.runs.p)
            raise InputError(
                f"{title}: {problem}; it is to run on {workers} workers; give more numbers of workers, such "
                "as cluster.workers = [1, 2, 4, 8, 16]"
            ) from None


def _run(point: Point) -> xr.Dataset:
    """A run, with the attributes that it will have, and a time of one second."""
    clusters = point.clusters or point.workers
    parameters = {f.name: f.default for f in fields(KERNELS[point.kernel])}
    parameters |= {"seed": point.seed, **point.params}
    as_given = ("kernel", "form", "style", "kind", "threads", "repeat", "workload")
    attrs = {name: getattr(point, name) for name in as_given} | {
        "counted_as": point.count_as or point.style,
        "parameters": json.dumps(parameters, default=str),
        "n": point.n or 0,
        "clusters": clusters,
        "workers": 0 if point.style == "serial" else min(point.workers, clusters),
        "bandwidth": 100 if point.bandwidth is None else point.bandwidth,
        "seconds": 1.0,
    }
    return xr.Dataset(attrs=attrs)
