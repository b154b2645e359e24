"""How much bandwidth a program needs, and what a larger cluster will need (Medya et al., section 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator
from scipy.optimize import isotonic_regression

from dgsuite.base.errors import InputError
from dgsuite.studies.scaling.terms import points

ONE = 1.0
"""The size of problems that a dataset gives no size of."""

CTIS = 5
"""How many increments the demand constant is averaged over, unless told which."""


class BandwidthDemand:
    """The bandwidth below which a program slows down too much, by number of machines.

    CTI, the completion time increment, is (T(bandwidth) - T(100 %)) / T(100 %). The demand BW(CTI, p) is the
    percentage of bandwidth with which p machines have that CTI. For p1 > p2
    BW(CTI, p1) / BW(CTI, p2) = DC sqrt(p1 / p2), where the demand constant DC is the mean over all pairs
    and CTIs; equation 3 of the paper predicts the demand of more machines with it. Problems of several
    sizes share one DC, and demand grows as size^c, where c is fitted at the machines that several sizes
    were run on.

    Parameters
    ----------
    ctis
        Increments to average over; by default five up to what all curves reach.

    Attributes
    ----------
    demand_constant_
        DC.
    size_exponent_
        The fitted c; 0 with one size.

    Examples
    --------
    Fitted to two and four machines, compared with eight:

    >>> import numpy as np
    >>> import xarray as xr
    >>> from dgsuite.studies.scaling import BandwidthDemand
    >>> p, bandwidth = np.array([2, 4, 8]), np.array([25, 50, 100])
    >>> seconds = 1 + 10 * np.sqrt(p)[:, None] / bandwidth
    >>> runs = xr.Dataset(
    ...     {"seconds": (("p", "bandwidth"), seconds)}, {"p": p, "bandwidth": bandwidth}
    ... )
    >>> model = BandwidthDemand(ctis=[0.05, 0.1]).fit(runs.sel(p=[2, 4]))
    >>> round(model.demand_constant_, 3), round(model.predict(8, 0.1), 1)
    (0.793, 72.5)
    >>> low, high = model.interval(8, 0.1)
    >>> low < model.predict(8, 0.1) < high
    True
    >>> model.reaches(100, 0.1)
    (16.0, 13.0, 19.0)
    >>> model.error(runs, [0.1]).values.round(1)
    array([[0.1]])
    """

    demand_constant_: float
    size_exponent_: float

    def __init__(self, ctis: Sequence[float] | None = None) -> None:
        self.ctis = None if ctis is None else points(ctis, "cti")

    def fit(self, dataset: xr.Dataset) -> BandwidthDemand:
        """Fit to measured curves.

        Parameters
        ----------
        dataset
            With ``seconds`` over dims ``p`` (machines) and ``bandwidth`` (per cent, 100 among them), and
            ``n`` where problems have several sizes; over further dims, such as repeats, the median is
            taken. A pair of p and n that is NaN throughout is left out.

        Raises
        ------
        InputError
            A value that cannot be, no curve at 100 %, or a CTI that a curve does not reach.
        """
        curves = _curves(dataset)
        self._curves = curves
        reach = {at: float(c.cti.max()) for at, c in curves.items()}
        ctis = self.ctis
        if ctis is None:
            most = min(reach.values())
            if not most > 0:
                slow = min(reach, key=lambda at: reach[at])
                raise InputError(
                    f"at {_said(*slow)} the time does not grow when bandwidth falls; measure less bandwidth"
                )
            ctis = most * np.arange(1, CTIS + 1) / CTIS
        if len({p for _, p in curves}) < 2:
            raise InputError("at least 2 numbers of machines are needed, got 1")
        self.ctis_ = ctis
        demand = np.array([[c.demand(x) for x in ctis] for c in curves.values()])
        size, ps = np.array(list(curves)).T
        several = len(np.unique(size)) > 1
        self.size_exponent_ = _slope(size, ps, demand) if several else 0.0
        fewer, more = np.nonzero((ps[:, None] < ps) & (size[:, None] == size))
        ratios = demand[more] / demand[fewer] / np.sqrt(ps[more] / ps[fewer])[:, None]
        if not len(ratios):
            raise InputError("no size of the problem was measured on two numbers of machines")
        self.demand_constant_ = float(ratios.mean())
        self._spread = float(ratios.std(ddof=1)) if ratios.size > 1 else 0.0
        sizes, machines = np.unique(size), np.unique(ps)
        table = np.full((len(sizes), len(machines), len(ctis)), np.nan)
        table[np.searchsorted(sizes, size), np.searchsorted(machines, ps)] = demand
        self.demand_ = xr.DataArray(
            table,
            {"n": sizes, "p": machines.astype(int), "cti": ctis},
            ("n", "p", "cti"),
            attrs={"long_name": "bandwidth demand", "units": "percent"},
        )
        if len(sizes) == 1:
            self.demand_ = self.demand_.isel(n=0, drop=True)
        return self

    def predict(
        self, p: float, cti: ArrayLike, size: float | None = None
    ) -> NDArray[np.float64] | float:
        """Demand of p machines, per cent.

        It is from the curve of as many machines and the nearest size, else from the most machines of the
        nearest size. The size may be left out where all curves have the same.
        """
        self._fitted()
        (at,) = points(p)
        wanted = points(cti, "cti")
        n = self._sized(size)
        base, known = self._nearest(n, at)
        grown = self.demand_constant_ * np.sqrt(at / known) if at != known else 1.0
        demand = np.array([self._curves[base, known].demand(x) for x in wanted])
        out = demand * grown * (n / base) ** self.size_exponent_
        return float(out[0]) if np.ndim(cti) == 0 else out

    def _fitted(self) -> None:
        if not hasattr(self, "demand_constant_"):
            raise InputError("the model is not fitted yet: call fit(dataset)")

    def _sized(self, size: float | None) -> float:
        """A size, or the only one."""
        known = sorted({n for n, _ in self._curves})
        if size is None:
            if len(known) > 1:
                raise InputError(f"curves have the sizes {known}: pass size=")
            return known[0]
        (n,) = points(size, "size")
        if known == [ONE]:
            raise InputError("the curves have no size: their dataset has no dim or coordinate 'n'")
        return float(n)

    def _nearest(self, n: float, p: float) -> tuple[float, float]:
        """The size and machines of the curve that a prediction starts from."""
        known = [at for at in self._curves if at[1] == p] or list(self._curves)
        base = min((size for size, _ in known), key=lambda size: abs(np.log(size / n)))
        return base, max(machines for size, machines in known if size == base)

    def interval(
        self, p: float, cti: ArrayLike, width: float = 2, size: float | None = None
    ) -> tuple[NDArray[np.float64] | float, NDArray[np.float64] | float]:
        """The prediction with DC less and plus `width` standard deviations over pairs and CTIs."""
        middle = self.predict(p, cti, size)
        share = width * self._spread / self.demand_constant_
        return middle * (1 - share), middle * (1 + share)

    def reaches(
        self, percent: float, cti: float, size: float | None = None, width: float = 2
    ) -> tuple[float, float, float]:
        """From which number of machines on the demand is a percentage or more.

        Returns
        -------
        estimate, low, high
            With DC as it is, plus and less `width` standard deviations. Infinite where demand does not
            grow that far.
        """
        self._fitted()
        for p in sorted({p for _, p in self._curves}):
            largest, known = p, float(self.predict(p, cti, size))
            if known >= percent:
                return p, p, p
        found = []
        for constant in self.demand_constant_ + self._spread * np.array([0.0, width, -width]):
            p = largest * (percent / (known * constant)) ** 2 if constant > 0 else np.inf
            found.append(max(float(np.ceil(p)), largest + 1))
        return found[0], found[1], found[2]

    def error(self, dataset: xr.Dataset, cti: ArrayLike | None = None) -> xr.DataArray:
        """Predicted less measured demand of machines and sizes that it was not fitted to, percentage points.

        Increments that a curve does not reach are NaN.
        """
        wanted = self.ctis_ if cti is None else points(cti, "cti")
        rows, at = [], []
        for (n, p), curve in _curves(dataset).items():
            if (n, p) in self._curves:
                continue
            at.append((n, int(p)))
            size = None if n == ONE else n
            row, reached = np.full(len(wanted), np.nan), wanted <= curve.cti.max()
            demand = np.array([curve.demand(x) for x in wanted[reached]])
            row[reached] = self.predict(p, wanted[reached], size) - demand
            rows.append(row)
        if not at:
            raise InputError("the dataset has no number of machines that was held out")
        sizes, ps = zip(*at, strict=True)
        attrs = {"long_name": "predicted less measured demand", "units": "percentage points"}
        found = xr.DataArray(np.array(rows), {"cti": wanted}, ("p", "cti"), attrs=attrs)
        found = found.assign_coords(p=list(ps))
        return found if ONE in sizes else found.assign_coords(n=("p", list(sizes)))


def _slope(x: NDArray, groups: NDArray, demand: NDArray) -> float:
    """Exponent with which demand grows with x, within groups of equal other values."""
    up = down = 0.0
    for group in np.unique(groups):
        at = groups == group
        dx = np.log(x[at]) - np.log(x[at]).mean()
        dy = np.log(demand[at]) - np.log(demand[at]).mean(axis=0)
        up, down = up + float((dx @ dy).mean()), down + float(dx @ dx)
    if not down:
        raise InputError("no number of machines was measured with two sizes of the problem")
    return up / down


def _said(n: float, p: float) -> str:
    return f"p = {p:g}" if n == ONE else f"n = {n:g}, p = {p:g}"


class _Curve:
    """CTI against bandwidth for one number of machines and one size of problem."""

    def __init__(self, where: str, bandwidth: NDArray, seconds: NDArray) -> None:
        self.where = where
        falling = isotonic_regression(seconds, increasing=False).x
        self.bandwidth = bandwidth
        self.cti = falling / falling[-1] - 1

    def demand(self, cti: float) -> float:
        """Bandwidth with which the increment is reached, per cent."""
        if not cti > 0:
            raise InputError(f"cti must be above 0, got {cti}")
        if cti > self.cti.max() * (1 + 1e-12):
            raise InputError(
                f"at {self.where} the time grows by {self.cti.max():.1%} at most (at "
                f"{self.bandwidth[0]:g} % of bandwidth), which does not reach a CTI of {cti:.1%}; "
                f"measure less bandwidth, or ask for a smaller CTI"
            )
        # where bandwidth changes nothing, the least that suffices counts
        cti_up, at = self.cti[::-1], self.bandwidth[::-1]
        last = np.append(np.diff(cti_up) > 0, True)
        cti_up, at = cti_up[last], at[last]
        return float(PchipInterpolator(cti_up, at)(min(cti, cti_up[-1])))


def _curves(dataset: xr.Dataset) -> dict[tuple[float, float], _Curve]:
    """A curve for each size of problem and number of machines, ascending."""
    for name in ("p", "bandwidth"):
        if name not in dataset.dims:
            raise InputError(f"the dataset needs a dim {name!r}; it has {tuple(dataset.dims)}")
    if "seconds" not in dataset:
        raise InputError("the dataset needs a variable 'seconds' over p and bandwidth")
    seconds = dataset["seconds"]
    if "n" not in seconds.coords:
        seconds = seconds.assign_coords(n=ONE)
    if "n" not in seconds.dims:
        seconds = seconds.expand_dims("n")
    dims = ["n", "p", "bandwidth"]
    others = [dim for dim in seconds.dims if dim not in dims]
    seconds = seconds.median(others).transpose(*dims).sortby(dims)
    sizes, ps = points(seconds["n"].values, "n").tolist(), points(seconds["p"].values).tolist()
    bandwidth = points(seconds["bandwidth"].values, "bandwidth")
    if bandwidth.max() > 100:
        raise InputError(f"bandwidth must be at most 100 per cent, got {bandwidth.max():g}")
    if bandwidth[-1] != 100:
        raise InputError(
            "there are no times at 100 per cent of bandwidth, which CTI is relative to"
        )
    if len(bandwidth) < 2:
        raise InputError("at least 2 bandwidths are needed, got 1")
    curves = {}
    for n, table in zip(sizes, np.asarray(seconds, float), strict=True):
        for p, row in zip(ps, table, strict=True):
            if len(sizes) > 1 and np.isnan(row).all():
                continue
            if (bad := ~(np.isfinite(row) & (row > 0))).any():
                k = int(np.argmax(bad))
                raise InputError(
                    f"seconds at {_said(n, p)}, bandwidth = {bandwidth[k]:g} must be a number above 0, "
                    f"got {row[k]}"
                )
            curves[n, p] = _Curve(_said(n, p), bandwidth, row)
    return curves
