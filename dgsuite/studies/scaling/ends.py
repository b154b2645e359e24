"""From which number of machines on more of them stop paying, of all curves that the times allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.optimize
import scipy.stats
from numpy.typing import NDArray

from dgsuite.studies.scaling.terms import design

PASSES = 4
"""Times that the weights are worked out anew from the fit."""

FURTHEST = 2**20
"""Machines up to which an end is looked for."""

STRICT = 1e3
"""Weight of an equation that must hold, among rows of length 1."""

UNLIKELY = 0.001
"""Probability that an outlier is named where there is none, and that no form seems to fit where one does."""

SUSPECTS = 5
"""How many rows, those furthest from the curve of all, are tried as the next outlier."""


class Rows(NamedTuple):
    """Runs: how many processes they had, how long they took, and the sizes of their problems, if several."""

    p: NDArray
    seconds: NDArray
    size: NDArray | None = None

    def at(self, rows: NDArray) -> Rows:
        """Some of them."""
        return Rows(*(None if column is None else column[rows] for column in self))  # type: ignore[arg-type]


class End(NamedTuple):
    """A number of machines, the ends of its interval, and the coefficients of the curves of both ends."""

    machines: float
    low: float
    high: float
    curves: tuple[NDArray, ...] = ()


class Curve:
    """The curve of some terms that fits best, and the interval of machines where it may end.

    Where one more machine saves just 1 %, an equation holds that is linear in the coefficients. So least
    squares also finds the best of all curves that end at a given number of machines. The interval has each
    number at which a curve ends that fits almost as well as the best of all. With the terms of all forms it
    takes the choice of a form into account.

    Parameters
    ----------
    terms
        There may be more than points if `bounded`.
    rows
        What it is fitted to.
    relative
        Whether errors are in proportion to the time.
    bounded
        Whether coefficients are at least 0.
    """

    def __init__(
        self, terms: Sequence[str], rows: Rows, relative: bool = True, bounded: bool = True
    ) -> None:
        self.terms, self.relative, self._bounded = tuple(terms), relative, bounded
        a = design(self.terms, rows.p, rows.size)
        fitted = rows.seconds
        for _ in range(PASSES):
            w = 1 / np.where(fitted > 0, fitted, rows.seconds) if relative else np.ones(len(a))
            norm = np.linalg.norm(a * w[:, None], axis=0)
            self._norm = np.where(norm > 0, norm, 1)
            self._b, self._z = a * w[:, None] / self._norm, rows.seconds * w
            found = self._solve(self._b, self._z)
            self.coefficients = found / self._norm
            fitted = a @ self.coefficients
        self.residuals = self._z - self._b @ found
        self._square = float(self.residuals @ self.residuals)
        self._used = found != 0
        self.freedom = len(a) - int(self._used.sum())
        self.noise = float(np.sqrt(self._square / max(self.freedom, 1)))
        self._point = np.unique(a, axis=0, return_inverse=True)[1].ravel()

    def _solve(self, b: NDArray, z: NDArray) -> NDArray:
        if self._bounded:
            return scipy.optimize.nnls(b, z, maxiter=100 * b.shape[1])[0]  # type: ignore[no-any-return]
        return np.linalg.lstsq(b, z, rcond=None)[0]

    @property
    def misfit(self) -> float:
        """By what factor the curve misses more than repeats differ; 1 where that may be chance."""
        counts = np.bincount(self._point)
        means = np.bincount(self._point, self.residuals) / counts
        away = len(counts) - int(self._used.sum()), len(self._z) - len(counts)
        if min(away) < 1:
            return 1
        within = float(np.sum((self.residuals - means[self._point]) ** 2)) / away[1]
        ratio = float(counts @ means**2) / away[0] / max(within, 1e-18)
        return 1 if scipy.stats.f.sf(ratio, *away) > UNLIKELY else float(np.sqrt(ratio))

    def predict(self, rows: Rows) -> NDArray:
        """Seconds of runs."""
        return design(self.terms, rows.p, rows.size) @ self.coefficients  # type: ignore[no-any-return]

    def surprise(self, rows: Rows) -> float:
        """The probability that a run to which the curve was not fitted is at least as far from it."""
        a = design(self.terms, rows.p, rows.size)[0]
        fitted = float(a @ self.coefficients)
        scale = fitted if self.relative else 1
        used, a = self._b[:, self._used], (a / self._norm)[self._used] / scale
        spread = 1 + a @ np.linalg.pinv(used.T @ used) @ a
        deviation = self.noise * np.sqrt(spread) + 1e-9
        away = abs(float(rows.seconds[0]) - fitted) / scale / deviation
        return 2 * float(scipy.stats.t.sf(away, self.freedom))

    def end(self, gain: float, size: float | None, processes: int, level: float) -> End:
        """From how many machines on one more saves less than a share of the time, with an interval."""

        def equation(logs: NDArray) -> NDArray:
            """A row for each number of machines: times the coefficients positive while one more pays."""
            machines = np.exp(np.append(logs, logs)) + np.repeat([0, 1], len(logs))
            n = None if size is None else np.full(len(machines), size)
            here, more = np.split(design(self.terms, processes * machines, n), 2)
            return (1 - gain) * here - more

        def best(log: float) -> NDArray:
            row = equation(np.array([log]))[0] / self._norm
            row *= STRICT / max(float(np.linalg.norm(row)), 1e-300)
            return self._solve(np.vstack([self._b, row]), np.append(self._z, 0))

        def excess(log: float) -> float:
            """How much worse than allowed the best curve is that ends there."""
            return float(np.sum((self._z - self._b @ best(log)) ** 2)) - limit

        def paying(log: float) -> float:
            return float(equation(np.array([log]))[0] @ self.coefficients)

        freedom = max(self.freedom, 1)
        limit = self._square * (1 + scipy.stats.f.ppf(level, 1, freedom) / freedom)
        limit += 1e-14 * float(self._z @ self._z)  # rounding
        first = 2 if processes == 1 and any("/log(p)" in term for term in self.terms) else 1
        grid = np.linspace(np.log(first), np.log(FURTHEST), 150)
        ended = np.append(equation(grid) @ self.coefficients <= 0, True)
        k = int(np.argmax(ended))
        middle = grid[min(k, len(grid) - 1)]
        if 0 < k < len(grid):
            middle = scipy.optimize.brentq(paying, grid[k - 1], middle)
        low = _edge(excess, middle, grid[grid < middle][::-1])
        high = _edge(excess, middle, grid[grid > middle])
        machines, least, most = (
            float(np.ceil(np.exp(log) - 1e-9)) if log < grid[-1] else np.inf
            for log in (middle, low, high)
        )
        curves = (best(low) / self._norm, best(high) / self._norm)
        # the end is between two machines: no interval is one number
        return End(machines, max(least - 1, first), most, curves)

    def tells_most(self, end: End, p: NDArray, size: float | None) -> int:
        """The number of processes, of some, at which the curves of both ends of an interval differ most."""
        a = design(self.terms, p, None if size is None else np.full(len(p), size))
        low, high = (a @ curve for curve in end.curves)
        return int(p[np.argmax(abs(high - low) / (high + low if self.relative else 1))])


def _edge(excess: Callable[[float], float], inside: float, steps: Iterable[float]) -> float:
    """Where the excess becomes positive, on the way from a point inside the limit."""
    for outside in steps:
        if excess(outside) > 0:
            if excess(inside) >= 0:
                return inside
            return float(scipy.optimize.brentq(excess, inside, outside, xtol=1e-4))
        inside = outside
    return inside


def outliers(terms: Sequence[str], rows: Rows, relative: bool = True) -> NDArray[np.bool_]:
    """Which runs are too far from the curve of all others, one after the other.

    A run of the fewest or most processes without repeats is never one: other runs do not tell its time.
    """
    p, out = rows.p, np.zeros(len(rows.p), bool)
    while True:
        at = np.flatnonzero(~out)
        curve = Curve(terms, rows.at(at), relative)
        known = np.bincount(curve._point)[curve._point] > 1
        known |= (p[at] > p[at].min()) & (p[at] < p[at].max())
        suspects = at[known][np.argsort(-abs(curve.residuals[known]))][:SUSPECTS]
        chances = {}
        for row in suspects:
            others = Curve(terms, rows.at(at[at != row]), relative)
            if others.freedom > 1:
                chances[row] = others.surprise(rows.at(np.array([row])))
        found = min(chances, key=lambda row: chances[row], default=None)
        if found is None or chances[found] > UNLIKELY / len(p):
            return out
        out[found] = True
