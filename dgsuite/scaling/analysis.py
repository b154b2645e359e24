"""The whole analysis of measured runs: fits, demand, prediction of what was held out, and what if."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dgsuite.dataset import index
from dgsuite.scaling.completion_time import CompletionTime, choose
from dgsuite.scaling.demand import BandwidthDemand
from dgsuite.scaling.measure import check_run, measured
from dgsuite.scaling.whatif import Machine, calibrate, what_if
from partition.errors import InputError


@dataclass
class Analysis:
    """What was found out about one kernel.

    Attributes
    ----------
    runs
        ``seconds`` over p, bandwidth and repeat.
    model, error
        The paper's form, fitted to all but the largest p, and its relative error there.
    chosen
        The form that predicts held-out points best, fitted to all.
    demand, demand_error
        Bandwidth demand from all but the largest p, and its error there in percentage points; None where
        bandwidth was not varied.
    machine, check
        Costs of an exchange, calibrated on every other (p, bandwidth), and predicted and measured seconds
        at those in between; None without traffic.
    """

    kernel: str
    runs: xr.Dataset
    model: CompletionTime | None
    error: float
    chosen: CompletionTime | None
    demand: BandwidthDemand | None
    demand_error: xr.DataArray | None
    machine: Machine | None = None
    check: xr.Dataset | None = None
    notes: tuple[str, ...] = ()


def split(dataset: xr.Dataset) -> list[xr.Dataset]:
    """The runs of an experiment's dataset.

    Raises
    ------
    InputError
        The dataset is none of runs.
    """
    attributes = json.loads(dataset.attrs.get("run_attributes", "[]"))
    if not attributes:
        check_run(dataset)
        return [dataset]
    counted = index(dataset)
    return [
        dataset.isel({"run": i, counted: slice(int(dataset.n_rounds[i]))}).assign_attrs(own)
        for i, own in enumerate(attributes)
    ]


def analyse(
    results: Sequence[xr.Dataset],
    traffic: xr.Dataset | None = None,
    nominal: float | None = None,
    processors: int | None = None,
) -> Analysis:
    """Analyse the runs of one kernel.

    Parameters
    ----------
    results
        Datasets of runs on several numbers of workers, and of bandwidths if demand is asked for.
    traffic
        Counted traffic on these numbers of clusters, of `trace`.
    nominal
        Bytes per second that are 100 % of bandwidth; needed with traffic.
    processors
        Of the machine that measured; by default what the runs say. See `measured`.
    """
    runs = measured(results, processors)
    notes = []
    ps = runs.p.values
    processors = int(runs.attrs["processors"])
    if not processors:
        notes.append(
            "the runs do not say how many processors measured them: their times are taken as they are, also "
            "those of more workers than there were processors"
        )
    elif ps.max() > processors:
        notes.append(
            f"up to {ps.max()} workers shared {processors} processors: there the time is put together from "
            f"processor time and the time of exchanges"
        )
    full = runs.seconds.isel(bandwidth=-1)
    model = chosen = None
    error = np.nan
    flat = full.stack(point=("p", "repeat"))
    inner = flat[flat.p < ps.max()]
    if ps.min() == 1:
        notes.append("one worker sends nothing, which the paper's form does not know")
    try:
        model = CompletionTime().fit(inner.p, inner)
        error = model.error([ps.max()], [float(full.sel(p=ps.max()).median())])
    except InputError as problem:
        notes.append(f"the paper's form: {problem}")
    try:
        chosen = choose(flat.p, flat)
    except InputError as problem:
        notes.append(f"choosing a form: {problem}")
    demand = demand_error = None
    several = runs.sel(p=ps[ps > 1])  # one machine has nobody to send to
    if runs.sizes["bandwidth"] > 1 and several.sizes["p"] > 2:
        fitted = BandwidthDemand().fit(several.isel(p=slice(0, -1)))
        demand, demand_error = fitted, fitted.error(several)
    kernel = str(runs.attrs["kernel"])
    found = Analysis(kernel, runs, model, error, chosen, demand, demand_error)
    if traffic is not None:
        if nominal is None:
            raise InputError("the nominal bandwidth is needed to check what-if on measured runs")
        found.machine, found.check = _checked(runs, traffic, nominal)
    found.notes = tuple(notes)
    return found


def _checked(runs: xr.Dataset, traffic: xr.Dataset, nominal: float) -> tuple[Machine, xr.Dataset]:
    """Calibrate on every other point of the table, and predict the others."""
    seconds = runs.seconds.median("repeat")
    rates = runs.bandwidth.values / 100 * nominal
    p, rate = np.meshgrid(runs.p.values, rates, indexing="ij")
    i, j = np.indices(seconds.shape)
    used = (i + j) % 2 == 0
    machine = calibrate(traffic, p[used], rate[used], seconds.values[used])
    predicted = what_if(traffic, runs.p.values, rates, 0, machine).seconds.transpose(
        "clusters", "bandwidth"
    )
    check = xr.Dataset(
        {
            "measured": seconds,
            "predicted": (("p", "bandwidth"), predicted.values, predicted.attrs),
            "held_out": (("p", "bandwidth"), ~used),
        }
    )
    check["error"] = check.predicted / check.measured - 1
    return machine, check
