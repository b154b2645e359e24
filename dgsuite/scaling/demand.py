"""How much bandwidth a program needs, and what a larger cluster will need (Medya et al., section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator
from scipy.optimize import isotonic_regression

from dgsuite.scaling.terms import points
from partition.errors import InputError

CTIS = 5
"""How many increments the demand constant is averaged over, unless told which."""


class BandwidthDemand:
    """The bandwidth below which a program slows down too much, by number of machines.

    CTI, the completion time increment, is (T(bandwidth) - T(100 %)) / T(100 %). The demand BW(CTI, p) is the
    percentage of bandwidth with which p machines have that CTI. For p1 > p2 (equation 3 of the paper)
    BW(CTI, p1) / BW(CTI, p2) = DC sqrt(p1 / p2), where the demand constant DC is the mean over all pairs
    and CTIs.

    Parameters
    ----------
    ctis
        Increments to average over; by default five up to what all curves reach.
    law
        "sqrt", the paper's; or "power": BW grows as p^b, where b is fitted instead of 1/2.

    Attributes
    ----------
    demand_constant_
        DC; with the power law the mean factor that is left.
    exponent_
        1/2, or the fitted b.
    """

    demand_constant_: float
    exponent_: float

    def __init__(self, ctis: Sequence[float] | None = None, law: str = "sqrt") -> None:
        if law not in ("sqrt", "power"):
            raise InputError(f"law must be 'sqrt' or 'power', got {law!r}")
        self.ctis = None if ctis is None else points(ctis, "cti")
        self.law = law

    def fit(self, dataset: xr.Dataset) -> BandwidthDemand:
        """Fit to measured curves.

        Parameters
        ----------
        dataset
            With ``seconds`` over dims ``p`` (machines) and ``bandwidth`` (per cent, 100 among them);
            over further dims, such as repeats, the median is taken.

        Raises
        ------
        InputError
            A value that cannot be, no curve at 100 %, or a CTI that a curve does not reach.
        """
        curves = _curves(dataset)
        self._curves = curves
        reach = {p: float(c.cti.max()) for p, c in curves.items()}
        if self.ctis is None:
            most = min(reach.values())
            if not most > 0:
                slow = min(reach, key=lambda p: reach[p])
                raise InputError(
                    f"at p = {slow} the time does not grow when bandwidth falls; measure less bandwidth"
                )
            ctis = most * np.arange(1, CTIS + 1) / CTIS
        else:
            ctis = self.ctis
        if len(curves) < 2:
            raise InputError(f"at least 2 numbers of machines are needed, got {len(curves)}")
        self.ctis_ = ctis
        demand = np.array([[c.demand(x) for x in ctis] for c in curves.values()])
        ps = np.array(list(curves), float)
        self.exponent_ = 0.5
        if self.law == "power":
            x = np.log(ps) - np.log(ps).mean()
            y = np.log(demand) - np.log(demand).mean(axis=0)
            self.exponent_ = float((x @ y).mean() / (x @ x))
        ratios = np.array(
            [
                demand[i] / demand[j] / (ps[i] / ps[j]) ** self.exponent_
                for j, i in combinations(range(len(ps)), 2)
            ]
        )
        self.demand_constant_ = float(ratios.mean())
        self._spread = float(ratios.std(ddof=1)) if ratios.size > 1 else 0.0
        self.demand_ = xr.DataArray(
            demand,
            {"p": ps.astype(int), "cti": ctis},
            ("p", "cti"),
            attrs={"long_name": "bandwidth demand", "units": "percent"},
        )
        return self

    def predict(self, p: float, cti: ArrayLike) -> NDArray[np.float64] | float:
        """Demand of p machines, per cent: from its own curve if it has one, else from the largest one."""
        if not hasattr(self, "demand_constant_"):
            raise InputError("the model is not fitted yet: call fit(dataset)")
        (at,) = points(p)
        wanted = points(cti, "cti")
        if at in self._curves:
            out = np.array([self._curves[at].demand(x) for x in wanted])
        else:
            largest = max(self._curves)
            known = np.array([self._curves[largest].demand(x) for x in wanted])
            out = known * self.demand_constant_ * (at / largest) ** self.exponent_
        return float(out[0]) if np.ndim(cti) == 0 else out

    def interval(
        self, p: float, cti: ArrayLike, width: float = 2
    ) -> tuple[NDArray[np.float64] | float, NDArray[np.float64] | float]:
        """The prediction with DC less and plus `width` standard deviations over pairs and CTIs."""
        middle = self.predict(p, cti)
        share = width * self._spread / self.demand_constant_
        return middle * (1 - share), middle * (1 + share)

    def error(self, dataset: xr.Dataset, cti: ArrayLike | None = None) -> xr.DataArray:
        """Predicted less measured demand of machines that it was not fitted to, percentage points.

        Increments that a curve does not reach are NaN.
        """
        wanted = self.ctis_ if cti is None else points(cti, "cti")
        rows, ps = [], []
        for p, curve in _curves(dataset).items():
            if p in self._curves:
                continue
            ps.append(int(p))
            rows.append(
                [
                    float(self.predict(p, x)) - curve.demand(x) if x <= curve.cti.max() else np.nan
                    for x in wanted
                ]
            )
        if not ps:
            raise InputError("the dataset has no number of machines that was held out")
        attrs = {"long_name": "predicted less measured demand", "units": "percentage points"}
        return xr.DataArray(np.array(rows), {"p": ps, "cti": wanted}, ("p", "cti"), attrs=attrs)


class _Curve:
    """CTI against bandwidth for one number of machines."""

    def __init__(self, p: float, bandwidth: NDArray, seconds: NDArray) -> None:
        self.p = p
        falling = isotonic_regression(seconds, increasing=False).x
        self.bandwidth = bandwidth
        self.cti = falling / falling[-1] - 1

    def demand(self, cti: float) -> float:
        """Bandwidth with which the increment is reached, per cent."""
        if not cti > 0:
            raise InputError(f"cti must be above 0, got {cti}")
        if cti > self.cti.max() * (1 + 1e-12):
            raise InputError(
                f"at p = {self.p:g} the time grows by {self.cti.max():.1%} at most (at "
                f"{self.bandwidth[0]:g} % of bandwidth), which does not reach a CTI of {cti:.1%}; "
                f"measure less bandwidth, or ask for a smaller CTI"
            )
        # where bandwidth changes nothing, the least that suffices counts
        cti_up, at = self.cti[::-1], self.bandwidth[::-1]
        last = np.append(np.diff(cti_up) > 0, True)
        cti_up, at = cti_up[last], at[last]
        return float(PchipInterpolator(cti_up, at)(min(cti, cti_up[-1])))


def _curves(dataset: xr.Dataset) -> dict[float, _Curve]:
    """A curve for each number of machines, ascending."""
    for name in ("p", "bandwidth"):
        if name not in dataset.dims:
            raise InputError(f"the dataset needs a dim {name!r}; it has {tuple(dataset.dims)}")
    if "seconds" not in dataset:
        raise InputError("the dataset needs a variable 'seconds' over p and bandwidth")
    seconds = dataset["seconds"]
    others = [dim for dim in seconds.dims if dim not in ("p", "bandwidth")]
    seconds = (
        seconds.median(others, skipna=False).transpose("p", "bandwidth").sortby(["p", "bandwidth"])
    )
    ps = points(seconds["p"].values)
    bandwidth = points(seconds["bandwidth"].values, "bandwidth")
    if bandwidth.max() > 100:
        raise InputError(f"bandwidth must be at most 100 per cent, got {bandwidth.max():g}")
    if bandwidth[-1] != 100:
        raise InputError(
            "there are no times at 100 per cent of bandwidth, which CTI is relative to"
        )
    if len(bandwidth) < 2:
        raise InputError("at least 2 bandwidths are needed, got 1")
    values = np.asarray(seconds, float)
    if not np.isfinite(values).all() or not (values > 0).all():
        i, j = np.argwhere(~(np.isfinite(values) & (values > 0)))[0]
        raise InputError(
            f"seconds at p = {ps[i]:g}, bandwidth = {bandwidth[j]:g} must be a number above 0, "
            f"got {values[i, j]}"
        )
    return {p: _Curve(p, bandwidth, row) for p, row in zip(ps.tolist(), values, strict=True)}
