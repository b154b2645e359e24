"""Completion time against the number of machines: T(p) = C0 + C1/p + C2/sqrt(p), and other forms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy.optimize
import scipy.stats
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.studies.scaling.ends import PASSES, Curve, Rows
from dgsuite.studies.scaling.terms import FORMS, FORMS_WITH_SIZE, design, points

TIE = 1e-9
"""Relative errors that differ by less are equal: the difference comes from rounding in the fits, which varies
by processor, and is below what a clock can tell."""


class CompletionTime:
    """A model of completion time, linear in its terms, by default with coefficients of at least 0.

    Errors are taken to be in proportion to the time, so that a point weighs 1 / T(p)^2; R^2 says little (it
    stays above 0.998 where predictions miss by a quarter), held-out points and intervals say more.

    Parameters
    ----------
    terms
        Of p, the number of machines, and ``size``, that of the problem: products and quotients of 1, p,
        sqrt(p), log(p), p^2, size and so on. By default the paper's: C0 + C1/p + C2/sqrt(p).
    weights
        "relative", or "equal" for plain least squares as in the paper.
    bounded
        Whether coefficients are at least 0; the paper does not bound them.

    Attributes
    ----------
    coef_, stderr_
        Coefficient of each term, and its standard error; by term.
    r2_, mse_
        R^2 and mean square error of the fit, in seconds.
    noise_
        Standard deviation of a point: relative to T, or in seconds with equal weights.
    freedom_
        Degrees of freedom: points less terms.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.studies.scaling import CompletionTime
    >>> p = np.array([1, 2, 4, 8, 16])
    >>> model = CompletionTime().fit(p, 0.5 + 8 / p + 2 / np.sqrt(p))
    >>> model.coef_.round(6).to_dict()
    {'1': 0.5, '1/p': 8.0, '1/sqrt(p)': 2.0}

    >>> round(model.predict(32), 3), round(model.error(32, 1.1), 3)
    (1.104, 0.003)
    >>> low, high = model.interval([32, 64])
    >>> model.coef_interval(0.9).round(3)
            1  1/p  1/sqrt(p)
    low   0.5  8.0        2.0
    high  0.5  8.0        2.0
    >>> round(model.held_out(), 6)
    0.0
    >>> ends = model.diminishing_return(gain=0.01)
    >>> ends.small_gain.sel(bound="estimate").item()
    36.0
    """

    coef_: pd.Series
    stderr_: pd.Series

    def __init__(
        self, terms: Sequence[str] = FORMS[0], weights: str = "relative", bounded: bool = True
    ) -> None:
        self.terms = tuple(terms)
        if not self.terms or len(set(self.terms)) != len(self.terms):
            raise InputError(f"terms must be different, and at least one: got {self.terms}")
        if weights not in ("relative", "equal"):
            raise InputError(f"weights must be 'relative' or 'equal', got {weights!r}")
        self.weights = weights
        self.bounded = bounded

    def __repr__(self) -> str:
        if not hasattr(self, "coef_"):
            return f"CompletionTime(terms={self.terms})"
        parts = [f"{c:.4g}" if t == "1" else f"{c:.4g}*{t}" for t, c in self.coef_.items()]
        return f"<CompletionTime: {' + '.join(parts).replace('*1/', '/')}; R^2 {self.r2_:.4f}>"

    def fit(
        self, p: ArrayLike, seconds: ArrayLike, size: ArrayLike | None = None
    ) -> CompletionTime:
        """Fit to measured points.

        Parameters
        ----------
        p
            Machines of each point, above 0.
        seconds
            Its completion time, above 0.
        size
            Size of its problem, where a term has it.

        Raises
        ------
        InputError
            A value that cannot be, or too few different points for the terms.
        """
        at, sizes = self._points(p, size)
        times = points(seconds, "seconds")
        if len(times) != len(at):
            raise InputError(f"there are {len(at)} p and {len(times)} seconds; must be as many")
        a = design(self.terms, at, sizes)
        different = len(np.unique(a, axis=0))
        if different <= len(self.terms):
            raise InputError(
                f"{len(self.terms)} terms need at least {len(self.terms) + 1} different "
                f"configurations, got {different}"
            )
        self._p, self._size, self._seconds, self._a = at, sizes, times, a
        free, w = self._solve(a, times)
        b = a * w[:, None]
        if np.linalg.matrix_rank(b / np.linalg.norm(b, axis=0)) < len(self.terms):
            raise InputError(f"terms {self.terms} cannot be told apart at p = {np.unique(at)}")
        self.freedom_ = len(times) - len(self.terms)
        residuals = (times - a @ free) * w
        self.noise_ = float(np.sqrt(residuals @ residuals / self.freedom_))
        self._covariance = self.noise_**2 * np.linalg.pinv(b.T @ b)
        self._free = free
        coefficients = self._held(b, times * w, free)
        self._kept: CompletionTime | None = None
        kept = coefficients > 0
        if self.bounded and not kept.all() and len(np.unique(a[:, kept], axis=0)) > kept.sum() > 0:
            terms = [term for term, keep in zip(self.terms, kept, strict=True) if keep]
            self._kept = CompletionTime(terms, self.weights, bounded=False).fit(at, times, sizes)
        self.coef_ = pd.Series(coefficients, self.terms, name="seconds")
        self.stderr_ = pd.Series(np.sqrt(np.diag(self._covariance)), self.terms, name="seconds")
        left = times - a @ coefficients
        self.mse_ = float(np.mean(left**2))
        spread = float(np.sum((times - times.mean()) ** 2))
        self.r2_ = 1 - float(left @ left) / spread if spread else 1.0
        return self

    def _points(self, p: ArrayLike, size: ArrayLike | None) -> tuple[NDArray, NDArray | None]:
        at = points(p)
        if size is None:
            return at, None
        sizes = points(size, "size")
        if len(sizes) not in (1, len(at)):
            raise InputError(
                f"there are {len(at)} p and {len(sizes)} sizes; must be as many, or one"
            )
        return at, np.broadcast_to(sizes, at.shape)

    def _solve(self, a: NDArray, times: NDArray) -> tuple[NDArray, NDArray]:
        """Least squares without bounds, and the square roots of the weights."""
        if self.weights == "equal":
            return np.linalg.lstsq(a, times, rcond=None)[0], np.ones(len(times))
        w = 1 / times
        for _ in range(PASSES):
            free = np.linalg.lstsq(a * w[:, None], times * w, rcond=None)[0]
            fitted = a @ free
            w = 1 / np.where(fitted > 0, fitted, times)
        return free, w

    def _held(self, b: NDArray, z: NDArray, free: NDArray) -> NDArray:
        """Least squares with coefficients of at least 0, unless the fit is without bounds."""
        if not self.bounded:
            return free
        norm = np.linalg.norm(b, axis=0)
        return scipy.optimize.nnls(b / norm, z)[0] / norm  # type: ignore[no-any-return]

    def _fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise InputError("the model is not fitted yet: call fit(p, seconds)")

    def predict(self, p: ArrayLike, size: ArrayLike | None = None) -> NDArray[np.float64] | float:
        """Completion time at some numbers of machines, seconds."""
        self._fitted()
        at, sizes = self._points(p, size)
        out = design(self.terms, at, sizes) @ self.coef_.to_numpy()
        return float(out[0]) if np.ndim(p) == 0 else out

    def interval(
        self, p: ArrayLike, level: float = 0.95, size: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where a further measurement lies with a probability of `level`: lower and upper ends.

        Where coefficients are held at 0, it covers the intervals of two fits: with all terms and no bounds,
        and without the terms that are held.
        """
        self._fitted()
        at, sizes = self._points(p, size)
        a = design(self.terms, at, sizes)
        middle = a @ self._free
        noise = self.noise_ * (np.abs(middle) if self.weights == "relative" else 1)
        spread = np.sqrt(np.einsum("ij,jk,ik->i", a, self._covariance, a) + noise**2)
        width = self._quantile(level) * spread
        fitted = a @ self.coef_.to_numpy()  # where a coefficient is held at 0, not in the middle
        low = np.minimum(np.maximum(middle - width, 0), fitted)
        high = np.maximum(middle + width, fitted)
        if self._kept is not None:
            ends = self._kept.interval(at, level, sizes)
            low, high = np.minimum(low, ends[0]), np.maximum(high, ends[1])
        return (low[0], high[0]) if np.ndim(p) == 0 else (low, high)

    def coef_interval(self, level: float = 0.95) -> pd.DataFrame:
        """Where each coefficient lies with a probability of `level` or more: a column a term, rows "low"
        and "high". The estimate itself is always in it, also where it is held at 0.
        """
        self._fitted()
        width = self._quantile(level) * self.stderr_.to_numpy()
        estimate = self.coef_.to_numpy()
        least = 0 if self.bounded else -np.inf
        low = np.minimum(np.maximum(self._free - width, least), estimate)
        high = np.maximum(self._free + width, estimate)
        return pd.DataFrame([low, high], index=["low", "high"], columns=list(self.terms))

    def _quantile(self, level: float) -> float:
        if not 0 < level < 1:
            raise InputError(f"level must be between 0 and 1, got {level}")
        return float(scipy.stats.t.ppf((1 + level) / 2, self.freedom_))

    def error(self, p: ArrayLike, seconds: ArrayLike, size: ArrayLike | None = None) -> float:
        """Mean relative error at points that it was not fitted to."""
        times = points(seconds, "seconds")
        return float(np.mean(np.abs(np.atleast_1d(self.predict(p, size)) / times - 1)))

    def held_out(self) -> float:
        """Mean relative error at each p from a fit to all others, and at each size where there are three."""
        self._fitted()
        left_out = [self._p == q for q in np.unique(self._p)]
        if self._size is not None and len(sizes := np.unique(self._size)) > 2:
            left_out += [self._size == size for size in sizes]
        rows, errors = Rows(self._p, self._seconds, self._size), []
        for out in left_out:
            part = CompletionTime(self.terms, self.weights, self.bounded).fit(*rows.at(~out))
            errors.append(part.error(*rows.at(out)))
        return float(np.mean(errors))

    def diminishing_return(self, gain: float = 0.01, size: float | None = None) -> xr.Dataset:
        """From which number of machines more of them stop paying.

        Parameters
        ----------
        gain
            Share of T that one more machine must save.
        size
            Of the problem, where a term has it.

        Returns
        -------
        xarray.Dataset
            With dim ``bound`` ("estimate", "low", "high"); the 95 % interval has all numbers at which some
            curve of these terms ends that fits almost as well as the best. Infinite where it does not
            happen up to a million machines: ``no_longer_faster``, from where T does not fall; and
            ``small_gain``, from where one more machine saves less than `gain`.
        """
        self._fitted()
        rows = Rows(self._p, self._seconds, self._size)
        curve = Curve(self.terms, rows, self.weights == "relative", self.bounded)
        bounds = {"bound": ["estimate", "low", "high"]}
        found = xr.Dataset({}, bounds, {"gain": gain, "level": 0.95})
        for name, share, text in (
            ("no_longer_faster", 0, "the time does not fall"),
            ("small_gain", gain, f"one more saves less than {gain:.2%}"),
        ):
            end = curve.end(share, size, 1, 0.95)[:3]
            attrs = {"long_name": f"machines from which {text}", "units": "1"}
            found[name] = "bound", [*end], attrs
        return found

    def _repr_html_(self) -> str:
        if not hasattr(self, "coef_"):
            return f"<pre>{self!r}</pre>"
        table = pd.DataFrame({"coefficient": self.coef_, "standard error": self.stderr_})
        return str(table.join(self.coef_interval().T).to_html(float_format="%.4g"))


def choose(
    p: ArrayLike,
    seconds: ArrayLike,
    forms: Sequence[Sequence[str]] | None = None,
    size: ArrayLike | None = None,
    weights: str = "relative",
    bounded: bool = True,
) -> CompletionTime:
    """The form that predicts held-out points best, fitted to all; the errors of all in ``scores_``.

    Of forms that predict equally well, up to `TIE`, it is the one with the fewest terms, of several the
    first. Each p in turn is left out, and each size where there are three. Forms that have too few points are
    passed over.

    Parameters
    ----------
    forms
        By default those of `terms`: with the size in them where sizes are given.
    p, seconds, size, weights, bounded
        As for `CompletionTime`.

    Raises
    ------
    InputError
        No form can be fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.studies.scaling import choose
    >>> p = np.array([1, 2, 4, 8, 16])
    >>> model = choose(p, 0.5 + 8 / p)
    >>> model.terms
    ('1', '1/p')
    >>> bool(model.scores_["1 + 1/p"] < 1e-9)
    True
    """
    fitted: dict[tuple[str, ...], tuple[float, CompletionTime]] = {}
    problems = []
    for form in forms or (FORMS if size is None else FORMS_WITH_SIZE):
        model = CompletionTime(form, weights, bounded)
        try:
            fitted[tuple(form)] = model.fit(p, seconds, size).held_out(), model
        except InputError as error:
            problems.append(str(error))
    if not fitted:
        raise InputError(f"no form can be fitted: {problems[0]}")
    least = min(score for score, _ in fitted.values())
    equal = [model for score, model in fitted.values() if score <= least + TIE]
    best = min(equal, key=lambda model: len(model.terms))
    best.scores_ = pd.Series(  # type: ignore[attr-defined]
        {" + ".join(form): score for form, (score, _) in fitted.items()}, name="held-out error"
    )
    return best
