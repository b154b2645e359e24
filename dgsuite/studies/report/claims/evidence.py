"""What claims are compared with: experiment files, results in a folder, and short runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import xarray as xr

import dgsuite
from dgsuite import genval
from dgsuite.core import traces
from dgsuite.kernels import KERNELS, RECURSIVE
from dgsuite.studies.experiment import model as config
from dgsuite.studies.experiment import shipped
from dgsuite.studies.experiment.load import load
from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.verdicts import needed
from dgsuite.studies.report.tables import STYLES

N = 64
"""Nodes of the inputs whose counts the paper prints."""

RINGS = ("hs", "lcr")
INPUTS = ("Mn", "Mx")
"""The paper's inputs."""

SUITE = ("bf", "dst", "by", "dr", "ds", "kc", "dp", "hs", "lcr", "mis", "mst", "vc")
"""The kernels of IMSuite, as the paper lists them."""

COUNTED = (7, 8, 9, 10)
"""Figures of counts, not of times."""

COUNTS = ("comm", "mutexes", "asyncs", "finishes", "barriers")
"""What these count."""

CONFIGS = shipped.FOLDER
"""The experiment files that ship."""


class Evidence:
    """What claims are compared with. It notes what a check looks for: that is what the verdict rests on.

    Parameters
    ----------
    results
        Datasets by file name.
    configs
        Folder of experiment files, if there is one.
    """

    def __init__(
        self, results: Mapping[str, xr.Dataset] | None = None, configs: Path | None = CONFIGS
    ) -> None:
        self.results = dict(results or {})
        self.configs = configs if configs is not None and configs.is_dir() else None
        self._looked: list[tuple[str, bool]] = []
        self._same: set[tuple[str, ...]] = set()
        self._kept: dict[Any, Any] = {}

    def kept[T](self, key: Any, make: Callable[[], T]) -> T:
        """What a check has made before, or makes now."""
        if key not in self._kept:
            self._kept[key] = make()
        found: T = self._kept[key]
        return found

    def forget(self) -> None:
        """Another check begins."""
        self._looked = []

    def kind(self, decided: bool) -> str:
        """What a verdict rests on: of what its check found or, if it did not decide, of all it looked for."""
        kinds = {kind for kind, there in self._looked if there or not decided}
        return next((kind for kind in verdicts.KINDS if kind in kinds), verdicts.DEFINITION)

    def _look[T](self, found: T, kind: str = verdicts.MEASURED) -> T:
        """Note that a check looks for something, and whether it is there."""
        self._looked.append((kind, found is not None))
        return found

    def file(self, name: str) -> Path | None:
        """An experiment file, if it is there."""
        self._look(self.configs, verdicts.PLANNED)
        path = self.configs and self.configs / f"{name}.toml"
        return path if path and path.exists() else None

    def planned(self, name: str, full: bool = True) -> config.Config | None:
        """An experiment; its full setting, if any."""
        if (path := self.file(name)) is None:
            return None
        found = self.kept((name, False), lambda: load(str(path))[0])
        full = full and bool(found.full)
        return self.kept((name, True), lambda: load(str(path), full=True)[0]) if full else found

    def experiment(self, number: int, full: bool = True, study: str = "") -> config.Config | None:
        """That of a figure of IMSuite, or of a study beside it."""
        return self.planned("-".join(filter(None, (f"figure{number:02}", study))), full)

    def points(self, number: int, full: bool = True, study: str = "") -> list[config.Point]:
        """The points of such an experiment; none where there are no files."""
        key = (number, full, study)
        if (found := self.experiment(*key)) is None:
            return []
        return self.kept(key, lambda: config.points(found))

    def figure(self, number: int, study: str = "") -> xr.Dataset | None:
        """The results of a figure of IMSuite, or of a study beside it."""
        every = self.results.values()
        made = ((ds.attrs.get("figure"), ds.attrs.get("study", ""), ds) for ds in every)
        return self._look(next((ds for n, s, ds in made if (n, s) == (number, study)), None))

    def result(self, name: str) -> xr.Dataset | None:
        """The results of an experiment."""
        return self._look(self.results.get(f"{name}.nc"))

    def machines(self) -> set[str]:
        """The machines that made the results."""
        made = {str(d.attrs["machine"]) for d in self.results.values() if "machine" in d.attrs}
        return self._look(made or None) or set()

    def simulations(self, variable: str, **attrs: Any) -> Iterator[xr.Dataset]:
        """Results of simulated machines with a variable, and with some attributes."""
        self._look(None, verdicts.SIMULATED)
        for ds in self.results.values():
            if variable in ds and all(ds.attrs.get(k) == v for k, v in attrs.items()):
                yield self._look(ds, verdicts.SIMULATED)

    def run(
        self, kernel: str, given: str, style: str = "finish_async", form: str = "iterative"
    ) -> xr.Dataset:
        """A serial run of a kernel on the paper's 64 nodes, counted as a style's.

        Parameters
        ----------
        given
            "Mn" or "Mx"; of rings the same.
        """
        return _run(kernel, given, style, form)

    def counted(
        self, kernel: str, given: str, style: str = "finish_async", form: str = "iterative"
    ) -> xr.Dataset:
        """Such a run, once the results of Figures 7 to 10 are seen to have its counts.

        Raises
        ------
        MissingError
            None of these figures has it.
        ContradictionError
            One of them has other counts.
        """
        made = self.run(kernel, given, style, form)
        figures = {number: self.figure(number) for number in COUNTED}
        if (key := (kernel, given, style, form)) in self._same:
            return made
        wanted = {"kernel": kernel, "kind": made.attrs["kind"], "count_as": style, "form": form}
        wanted["style"] = "serial"
        there = []
        for number, figure in figures.items():
            if figure is None:
                continue
            mine = np.logical_and.reduce([figure[k].values == v for k, v in wanted.items()])
            for row in map(int, np.flatnonzero(mine)):
                there.append(number)
                _same_counts(figure.isel(run=row), made, f"Figure {number}: {kernel} on {given}")
        among = "Figure 10" if form == "recursive" else "Figures 7 to 9"
        needed(there, f"no results of {among} with {kernel}, {style}")
        self._same.add(key)
        return made

    def total(self, variable: str, *how: str) -> int:
        """Sum of a count over such a run; see `counted`."""
        return int(self.counted(*how)[variable].sum())

    def trace(self, kernel: str, given: str) -> xr.Dataset:
        """The trace of such a run with a cluster for each node: every message, from node to node."""
        return _trace(kernel, given)

    @property
    def all_counted(self) -> list[xr.Dataset]:
        """The runs of Figures 7, 8 and 10; see `counted`."""
        found = []
        for form, kernels in (("iterative", KERNELS), ("recursive", RECURSIVE)):
            for kernel in (k for k in SUITE if k in kernels):
                styles = [s for s in STYLES if s == "finish_async" or clocked(kernel, form)]
                found += [
                    self.counted(kernel, i, s, form) for s in styles for i in inputs_of(kernel)
                ]
        return found


def _same_counts(row: xr.Dataset, made: xr.Dataset, what: str) -> None:
    """See that a figure's row has the counts of a run."""
    for name in COUNTS:
        kept, ours = int(row[name]), int(made[name].sum())
        if kept != ours:
            raise verdicts.ContradictionError(
                f"{what}: the results have {kept} {name}, a run here {ours}"
            )
    if "comm_by_round" in row:
        by_round = row["comm_by_round"].values
        if by_round[by_round >= 0].tolist() != made["comm"].values.tolist():
            raise verdicts.ContradictionError(f"{what}: a run here has another comm by round")


@cache
def _run(kernel: str, given: str, style: str, form: str) -> xr.Dataset:
    graph = genval.graph(given.lower(), N, family="paper", kernel=kernel)
    ran = dgsuite.run(kernel, graph, style="serial", count_as=style, form=form, faithful=True)
    ran.attrs["kind"] = "ring" if kernel in RINGS else given.lower()
    return ran


@cache
def _trace(kernel: str, given: str) -> xr.Dataset:
    graph = genval.graph(given.lower(), N, family="paper", kernel=kernel)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.nc"
        dgsuite.run(kernel, graph, style="serial", clusters=N, faithful=True, trace=path)
        return traces.read(path).load()


def dataset(dim: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> xr.Dataset:
    """Rows of what conditions are tested on, with a name for each column."""
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return xr.Dataset({name: (dim, list(values)) for name, values in columns})


def inputs_of(kernel: str) -> tuple[str, ...]:
    """The inputs that a kernel has: both of a ring are the same."""
    return ("Mx",) if kernel in RINGS else INPUTS


def clocked(kernel: str, form: str = "iterative") -> bool:
    """Whether the paper has a kernel's form with clocks."""
    from dgsuite.studies.report.claims.data import claims

    return bool(claims()["imsuite.sec5.kernel-forms"].table()[kernel][f"{form} X10-FAC"])
