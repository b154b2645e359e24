"""At how many machines to stop: a number with an interval, or the reason why the data say nothing."""

from __future__ import annotations

import math
from typing import NamedTuple

import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.studies.scaling.completion_time import CompletionTime
from dgsuite.studies.scaling.demand import BandwidthDemand

REACH = 4
"""How many times the most machines measured a statement may be about; `tests/dgsuite/scaling/test_scaling.py`
holds the intervals of predictions to their coverage up to there."""

LEAST_FREEDOM = 2
"""Points beyond the number of terms that a fit needs to show its own error."""


class Statement(NamedTuple):
    """A number of machines and its interval, or the reason why there is none."""

    machines: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reason: str = ""
    """Why there is no statement; "" where there is one."""

    def __str__(self) -> str:
        if self.reason:
            return f"no statement: {self.reason}"
        return f"stop at {_machines(self.machines)} (between {self.low:g} and {self.high:g})"


def _machines(number: float) -> str:
    return f"{number:g} machine{'s' * (number != 1)}"


def where_gain_ends(
    model: CompletionTime, returns: xr.Dataset, measured: tuple[int, int], processes: int = 1
) -> Statement:
    """From how many machines on one more saves too little.

    Parameters
    ----------
    model
        Of the completion time, over processes.
    returns
        Its `diminishing_return`, over machines.
    measured
        The fewest and most processes that it was fitted to.
    processes
        Of a machine.
    """
    if model.r2_ < 0:
        return _none(f"the fit is worse than a constant (R^2 {model.r2_:.2f})")
    if not any(c for term, c in model.coef_.items() if "p" in str(term)):
        return _none("the fitted time does not change with the number of machines")
    gain = returns.attrs["gain"]
    machines, low, high = returns.small_gain.values.tolist()
    fewest, most = (p / processes for p in measured)
    if high <= max(fewest, 1):
        return _none(
            f"one more machine saves less than {gain:.0%} already at the fewest that were measured "
            f"({fewest:g})"
        )
    if machines > REACH * most:
        return _none(
            f"one more machine still saves {gain:.0%} at {REACH * most:g}, {REACH} times the most that were "
            f"measured"
        )
    if low <= fewest and high >= REACH * most:
        return _none(
            f"the interval, {low:g} to {high:g}, is as wide as all that the data could say "
            f"({fewest:g} to {REACH * most:g})"
        )
    if low == high and model.freedom_ < LEAST_FREEDOM:
        return _none(
            f"the interval collapses to {machines:g}: {model.freedom_} point more than terms cannot show "
            f"the error of a fit"
        )
    return Statement(machines, low, high)


def where_link_is_full(
    demand: BandwidthDemand,
    measured: tuple[int, int],
    cti: float,
    percent: float = 100,
    processes: int = 1,
    size: float | None = None,
) -> Statement:
    """From how many machines on the demand for bandwidth is what the link carries.

    Parameters
    ----------
    demand
        Fitted to curves over processes.
    measured
        The fewest and most processes that it was fitted to.
    cti
        The increment of the completion time that is accepted.
    percent
        The link's capacity for a process, in per cent of the bandwidth that was 100 % in the runs.
    """
    try:
        found = demand.reaches(percent, cti, size)
    except InputError as error:
        return _none(str(error))
    machines, low, high = (math.ceil(p / processes) if p < math.inf else p for p in found)
    fewest, most = (p / processes for p in measured)
    if found[0] <= measured[0]:
        return _none(f"demand is the link's capacity already at the fewest measured ({fewest:g})")
    if machines > REACH * most:
        return _none(
            f"the link carries the demand of {REACH * most:g} machines, {REACH} times the most measured"
        )
    if math.isinf(high):
        return _none(f"the interval of where demand is the link's, from {low:g} on, has no end")
    return Statement(machines, low, high)


def stop(gain: Statement, link: Statement) -> Statement:
    """The earlier of two ends. Without a statement on the time there is none.

    Where the link has none, either it carries what was asked for, or its limit is in the times already.
    """
    if gain.reason or link.reason:
        return gain
    machines, low, high = (min(a, b) for a, b in zip(gain[:3], link[:3], strict=True))
    return Statement(machines, low, high)


def _none(reason: str) -> Statement:
    return Statement(reason=reason)
