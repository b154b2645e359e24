"""What claims are compared with: experiment files, results in a folder, and short runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import dgsuite
from dgsuite import genval
from dgsuite.core import traces
from dgsuite.kernels import KERNELS, RECURSIVE
from dgsuite.studies.experiment import model as config
from dgsuite.studies.experiment import shipped
from dgsuite.studies.experiment.load import load
from dgsuite.studies.report.tables import STYLES

if TYPE_CHECKING:
    import xarray as xr

N = 64
"""Nodes of the inputs whose counts the paper prints."""

RINGS = ("hs", "lcr")
INPUTS = ("Mn", "Mx")
"""The paper's inputs."""

SUITE = ("bf", "dst", "by", "dr", "ds", "kc", "dp", "hs", "lcr", "mis", "mst", "vc")
"""The kernels of IMSuite, as the paper lists them."""

CONFIGS = shipped.FOLDER
"""The experiment files that ship."""


class Evidence:
    """What claims are compared with.

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
        self._experiments: dict[tuple[int, bool, str], config.Config] = {}
        self._points: dict[tuple[int, bool, str], list[config.Point]] = {}

    def file(self, name: str) -> Path | None:
        """An experiment file, if it is there."""
        path = self.configs and self.configs / f"{name}.toml"
        return path if path and path.exists() else None

    def experiment(self, number: int, full: bool = True, study: str = "") -> config.Config | None:
        """The experiment of a figure of IMSuite, or of a study beside it; its full setting, if any."""
        if self.configs is None:
            return None
        key = (number, full, study)
        if key not in self._experiments:
            stem = "-".join(filter(None, (f"figure{number:02}", study)))
            path = str(self.configs / f"{stem}.toml")
            found, _ = load(path)
            self._experiments[key] = load(path, full=True)[0] if full and found.full else found
        return self._experiments[key]

    def points(self, number: int, full: bool = True, study: str = "") -> list[config.Point]:
        """The points of such an experiment; none where there are no files."""
        key = (number, full, study)
        if key not in self._points:
            found = self.experiment(*key)
            self._points[key] = [] if found is None else config.points(found)
        return self._points[key]

    def figure(self, number: int, study: str = "") -> xr.Dataset | None:
        """The results of a figure of IMSuite, or of a study beside it."""
        for ds in self.results.values():
            if (ds.attrs.get("figure"), ds.attrs.get("study", "")) == (number, study):
                return ds
        return None

    def having(self, variable: str, **attrs: Any) -> Iterator[xr.Dataset]:
        """Results with a variable, and with some attributes."""
        for ds in self.results.values():
            if variable in ds and all(ds.attrs.get(k) == v for k, v in attrs.items()):
                yield ds

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

    def total(
        self, variable: str, kernel: str, given: str, style: str = "finish_async",
        form: str = "iterative",
    ) -> int:  # fmt: skip
        """Sum of a count over such a run."""
        return int(self.run(kernel, given, style, form)[variable].sum())

    def trace(self, kernel: str, given: str) -> xr.Dataset:
        """The trace of such a run with a cluster for each node: every message, from node to node."""
        return _trace(kernel, given)

    @cached_property
    def counted(self) -> list[xr.Dataset]:
        """The runs of Figures 7, 8 and 10."""
        found = []
        for form, kernels in (("iterative", KERNELS), ("recursive", RECURSIVE)):
            for kernel in (k for k in SUITE if k in kernels):
                styles = [s for s in STYLES if s == "finish_async" or clocked(kernel, form)]
                found += [self.run(kernel, i, s, form) for s in styles for i in inputs_of(kernel)]
        return found


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
    import xarray as xr

    columns = zip(names, zip(*rows, strict=True), strict=True)
    return xr.Dataset({name: (dim, list(values)) for name, values in columns})


def inputs_of(kernel: str) -> tuple[str, ...]:
    """The inputs that a kernel has: both of a ring are the same."""
    return ("Mx",) if kernel in RINGS else INPUTS


def clocked(kernel: str, form: str = "iterative") -> bool:
    """Whether the paper has a kernel's form with clocks."""
    from dgsuite.studies.report.claims.data import claims

    return bool(claims()["imsuite.sec5.kernel-forms"].table()[kernel][f"{form} X10-FAC"])
