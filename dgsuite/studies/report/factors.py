"""What the times of a program depend on: counts of its runs, and what each of them costs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.studies.report.results import programs
from dgsuite.studies.report.tables import SERIAL, program

SERIAL_PROGRAM = program("X10", SERIAL)


class Factors(NamedTuple):
    """What the times of a program's runs may depend on, besides a constant for the start of a run."""

    seconds: NDArray
    kernels: NDArray
    counts: Mapping[str, NDArray]

    def costs(self, names: Sequence[str], runs: NDArray | slice = slice(None)) -> NDArray:
        """Seconds of the start, and that each of some counts costs, at least 0.

        Errors count by their share of the time.
        """
        from scipy.optimize import nnls

        design, seconds = self._design(names)[runs], self.seconds[runs]
        scale = np.maximum(design.max(axis=0), 1)
        costs, _ = nnls(design / scale / seconds[:, None], np.ones(len(seconds)))
        return np.asarray(costs / scale)

    def _design(self, names: Sequence[str]) -> NDArray:
        return np.stack([np.ones(len(self.seconds)), *(self.counts[n] for n in names)], axis=1)

    def predicted(self, names: Sequence[str]) -> NDArray:
        """Seconds of each run by what counts cost in the runs of the other kernels."""
        made = np.empty_like(self.seconds)
        for kernel in np.unique(self.kernels):
            out = self.kernels == kernel
            made[out] = self._design(names)[out] @ self.costs(names, ~out)
        return np.maximum(made, TINY)

    def error(self, names: Sequence[str]) -> float:
        """How far predictions of kernels are off that were left out of the fit, as a factor: 1 is exact."""
        logs = np.log(self.predicted(names) / self.seconds)
        return float(np.exp(np.sqrt(np.mean(logs**2))))

    def share(self, name: str) -> float:
        """Share of the time, but for the computation, that a factor takes in the fit to all."""
        names = list(self.counts)
        taken = self.costs(names)[1:] * self._design(names)[:, 1:].sum(axis=0)
        rest = sum(t for n, t in zip(names, taken, strict=True) if n != COMPUTATION)
        return float(taken[names.index(name)] / rest) if rest else 0.0


TINY = 1e-9
"""Seconds that a prediction has at least."""

COMPUTATION, TASKS, COMMUNICATION = "computation", "tasks", "communication"


def factors_of(figure: xr.Dataset) -> dict[str, Factors]:
    """By program, its runs: a row a run. Counts that are the same for all runs are no factors."""
    work = [json.loads(w)["operations"] if w else 0 for w in figure["workload"].values.tolist()]
    counts = {
        COMPUTATION: figure["asyncs"].values * np.array(work),
        TASKS: figure["asyncs"].values + figure["finishes"].values,
        COMMUNICATION: figure["comm"].values,
        "mutexes": figure["mutexes"].values,
    }
    stands, kernels = np.array(programs(figure)), figure["kernel"].values
    found = {}
    for name in dict.fromkeys(stands.tolist()):
        mine = stands == name
        one_place = name.startswith("HJ")
        kept = {
            what: values[mine].astype(float)
            for what, values in counts.items()
            if np.ptp(values[mine]) and not (one_place and what == COMMUNICATION)
        }
        found[name] = Factors(figure["seconds"].values[mine], kernels[mine], kept)
    return found
