"""What the times of a program depend on: counts of its runs, and what each of them costs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.tables import Table
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

    def means(self) -> dict[str, tuple[float, float]]:
        """By kernel, mean seconds: measured, and predicted from the other kernels."""
        made = self.predicted(list(self.counts))
        return {
            str(kernel): (float(self.seconds[mine].mean()), float(made[mine].mean()))
            for kernel in dict.fromkeys(self.kernels.tolist())
            for mine in [self.kernels == kernel]
        }

    def mean(self, name: str, kernel: str) -> float:
        """Of a kernel's runs, the mean of a count; NaN where it is the same for all kernels."""
        counted = self.counts.get(name)
        return np.nan if counted is None else float(counted[self.kernels == kernel].mean())

    def said(self) -> str:
        """What a run and each thing that is counted cost, in words."""
        start, *each = self.costs(list(self.counts))
        costs = [
            f"{name} {1e3 * cost:.3g} ms each" for name, cost in zip(self.counts, each, strict=True)
        ]
        return "; ".join([f"a run {start:.2g} s", *costs])

    def part(self, name: str) -> float:
        """Part of the whole time that a factor takes in the fit to all."""
        names = list(self.counts)
        cost = self.costs(names)[1 + names.index(name)]
        return float(cost * self.counts[name].sum() / self.seconds.sum())

    def share(self, name: str) -> float:
        """Share of the time, but for the computation, that a factor takes in the fit to all."""
        names = list(self.counts)
        taken = self.costs(names)[1:] * self._design(names)[:, 1:].sum(axis=0)
        rest = sum(t for n, t in zip(names, taken, strict=True) if n != COMPUTATION)
        return float(taken[names.index(name)] / rest) if rest else 0.0


TINY = 1e-9
"""Seconds that a prediction has at least."""

COMPUTATION, TASKS, COMMUNICATION = "computation", "tasks", "communication"

SENT = "kB that places send"
"""Data that moves between processes, and what says that there is none."""


def factors_of(figure: xr.Dataset) -> dict[str, Factors]:
    """By program, its runs: a row a run. Counts that are the same for all runs are no factors."""
    work = [json.loads(w)["operations"] if w else 0 for w in figure["workload"].values.tolist()]
    counts = {
        COMPUTATION: figure["asyncs"].values * np.array(work),
        TASKS: figure["asyncs"].values + figure["finishes"].values,
        COMMUNICATION: figure["comm"].values,
        "mutexes": figure["mutexes"].values,
    }
    return _by_program(figure, figure["kernel"].values, counts)


def _by_program(
    runs: xr.Dataset, kernels: NDArray, counts: Mapping[str, NDArray]
) -> dict[str, Factors]:
    stands = np.array(programs(runs))
    found = {}
    for name in dict.fromkeys(stands.tolist()):
        mine = stands == name
        one_place = name.startswith("HJ")
        kept = {
            what: values[mine].astype(float)
            for what, values in counts.items()
            if np.ptp(values[mine]) and not (one_place and what == COMMUNICATION)
        }
        found[name] = Factors(runs["seconds"].values[mine], kernels[mine], kept)
    return found


def at_one_thread(figures: Sequence[xr.Dataset]) -> dict[str, Factors]:
    """By program, the runs of figures on one hardware thread; kernels in another form are others."""
    kept = ["seconds", "asyncs", "finishes", "barriers", "wire_bytes"]
    parts = [f[kept].isel(run=f["hwts"].values == 1) for f in figures if "hwts" in f.coords]
    if not parts:
        return {}
    runs = xr.concat(parts, "run", coords="minimal", compat="override", join="override")
    named = runs["kernel"].to_series() + " " + runs["form"].to_series()
    counts = {
        TASKS: runs["asyncs"].values + runs["finishes"].values,
        "barriers": runs["barriers"].values,
        SENT: runs["wire_bytes"].values / 1e3,
    }
    return _by_program(runs, named.str.removesuffix(" iterative").to_numpy(), counts)


def one_thread(figures: Sequence[xr.Dataset]) -> Table | None:
    """The parallel programs on one hardware thread beside the serial one: measured, and by what counts cost.

    Parameters
    ----------
    figures
        Those over the serial program, 11 and 12.

    Returns
    -------
    A row a kernel and parallel program; None where there are no runs of the serial one on one thread.
    """
    found = {name: one for name, one in at_one_thread(figures).items() if name[:2] != "HJ"}
    serial = found.pop(SERIAL_PROGRAM, None)
    if serial is None:
        return None
    base = serial.means()
    rows = []
    for name, one in found.items():
        for kernel, (measured, predicted) in one.means().items():
            if kernel in base:
                first, worked_out = base[kernel]
                numbers = (
                    *(measured, one.mean(SENT, kernel), first, serial.mean(SENT, kernel)),
                    *(measured / first, predicted / worked_out),
                )
                said = kernel.upper().replace("RECURSIVE", "recursive")
                rows.append(
                    (said, name, *(f"{x:,.0f}" if x >= 1000 else f"{x:.3g}" for x in numbers))
                )
    heads = (
        *("kernel", "program", "s", "kB sent", "s, serial", "kB sent, serial"),
        *("times serial", "worked out"),
    )
    remarks = [f"{name}: {one.said()}." for name, one in {SERIAL_PROGRAM: serial, **found}.items()]
    return Table(heads, sorted(rows), remarks=remarks) if rows else None
