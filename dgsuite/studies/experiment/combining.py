"""The results of an experiment's points as one dataset."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from dgsuite.core.results.dataset import index
from dgsuite.studies.experiment.model import SWEPT


def parameters(dataset: xr.Dataset) -> dict[str, Any]:
    """What was swept, of one run; "" or -1 where a parameter has no value."""
    absent = {"kind": "", "count_as": "", "workload": "", "network": "", "runtime": ""}
    return {name: dataset.attrs.get(name, absent.get(name, -1)) for name in SWEPT}


def combine(results: Sequence[xr.Dataset]) -> xr.Dataset:
    """All points as one dataset.

    One point stays as it is. Several get a dimension ``run``, with what was swept as coordinates;
    where a run has fewer rounds, clusters or nodes than another, or other outputs, counts are filled
    up with -1, flags with False, seconds with NaN, and labels with None. ``n_rounds`` says how many rounds
    each has.
    """
    if len(results) == 1:
        return results[0]
    if len({index(dataset) for dataset in results}) > 1:  # depths stand where rounds do
        results = [r.rename(depth="round") if "depth" in r.dims else r for r in results]
    runs = [r if "run" in r.dims else r.expand_dims("run") for r in results]
    like = {name: variable for part in runs for name, variable in part.data_vars.items()}
    absent = {"f": np.nan, "b": False, "O": None}
    fill = {name: absent.get(v.dtype.kind, -1) for name, v in like.items()}
    parts = []
    for dataset, part in zip(results, runs, strict=True):
        if "node" in part.dims and part["node"].dtype.kind not in "iu":
            # labels of different graphs do not align
            part = part.drop_vars("node", errors="ignore")
        absent_dims = {dim for v in like.values() for dim in v.dims} - set(part.dims)
        part = part.assign_coords({dim: np.empty(0, np.int64) for dim in absent_dims})
        for name in like.keys() - dataset.keys():
            shape = [part.sizes[dim] for dim in like[name].dims]
            nothing = np.full(shape, fill[name], like[name].dtype)
            part = part.assign({name: (like[name].dims, nothing, like[name].attrs)})
        part = part[list(like)]
        parts.append(part.assign(_of_runs(dataset)).assign_coords(_swept(dataset)))
    whole = xr.concat(parts, "run", join="outer", fill_value=fill, combine_attrs="drop_conflicts")
    if not any(whole["params"].values.tolist()):
        whole = whole.drop_vars("params")
    for name in (*SWEPT, "params", "valid", "oversubscribed"):
        whole.attrs.pop(name, None)
    whole.attrs["title"] = f"{len(results)} runs of dgsuite"
    plain = [{k: _plain(v) for k, v in dataset.attrs.items()} for dataset in results]
    whole.attrs["run_attributes"] = json.dumps(plain)
    return whole


def _of_runs(dataset: xr.Dataset) -> dict[str, Any]:
    """What each run of a point has as a number. Trials have no times: they are made together."""
    rounds: Sequence[int] = [dataset.sizes.get(index(dataset), 0)]
    seconds: Sequence[float] = [dataset.attrs["seconds"]]
    if "run" in dataset.dims:
        rounds, seconds = dataset["rounds"].values.tolist(), [np.nan] * dataset.sizes["run"]
    shared = [int(dataset.attrs.get("oversubscribed", 0))] * len(rounds)
    about = "more threads than processors: they took turns"
    found = {
        "n_rounds": ("run", rounds, {"long_name": "rounds", "units": "1"}),
        "seconds": ("run", seconds, {"long_name": "all rounds", "units": "s"}),
        "oversubscribed": ("run", shared, {"long_name": about, "units": "1"}),
    }
    if "network" in dataset.attrs and "run" not in dataset.dims:
        for name, about in OUTCOMES.items():
            happened = [int(dataset.attrs.get(name, -1))]
            found[name] = "run", happened, {"long_name": about, "units": "1"}
    return found


def _swept(dataset: xr.Dataset) -> dict[str, Any]:
    """What was swept, by run; trials count as repeats."""
    times = dataset.sizes.get("run", 1)
    found = {name: ("run", [value] * times) for name, value in parameters(dataset).items()}
    found["params"] = "run", [dataset.attrs.get("params", "")] * times
    if "run" in dataset.dims:
        found["repeat"] = "run", list(range(times))
    return found


OUTCOMES = {
    "valid": "1 if the kernel's rule accepts the result, 0 if not, -1 if not checked",
    "terminated": "1 if the program ended by itself, else 0",
}
"""What several runs on networks with faults have each, and what it is."""


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
