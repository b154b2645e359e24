"""What a sweep is going to measure, so that one that cannot be analysed is refused before it runs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields

import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.kernels import KERNELS
from dgsuite.studies.experiment.model import Config, Point, Scaling, points
from dgsuite.studies.scaling.analysis import Analysis, by_kernel
from dgsuite.studies.scaling.measure import measured


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
    attrs = {
        "kernel": point.kernel,
        "form": point.form,
        "style": point.style,
        "counted_as": point.count_as or point.style,
        "parameters": json.dumps(parameters, default=str),
        "kind": point.kind,
        "n": point.n or 0,
        "clusters": clusters,
        "workers": 0 if point.style == "serial" else min(point.workers, clusters),
        "threads": point.threads,
        "bandwidth": 100 if point.bandwidth is None else point.bandwidth,
        "repeat": point.repeat,
        "workload": point.workload,
        "seconds": 1.0,
    }
    return xr.Dataset(attrs=attrs)
