"""At how many machines to stop: a number with an interval, or the reason why the data say nothing."""

from __future__ import annotations

import math
from typing import NamedTuple

from dgsuite.base.errors import InputError
from dgsuite.studies.scaling.demand import BandwidthDemand
from dgsuite.studies.scaling.ends import Curve, End

REACH = 4
"""How many times the most machines measured a statement may be about; `tests/dgsuite/scaling/test_scaling.py`
holds the intervals of predictions to their coverage up to there."""

FAR = 1.5
"""Up to how many times the most machines measured a number is stated; beyond that, an interval at most."""

LEVEL = 0.98
"""Confidence of the intervals: more than 95 %, since which of them are stated depends on where they lie
(`benchmarks/stop_coverage.py`)."""

NOISY = 0.15
"""Deviation of times from the best curve, relative to them, above which no form fits."""

BEYOND = "beyond what was measured"

LEAST_FREEDOM = 2
"""Points beyond the number of terms that a fit needs to show its own error."""


class Statement(NamedTuple):
    """A number of machines and its interval, or the reason why there is none."""

    machines: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reason: str = ""
    """Why there is no number; "" where there is one."""
    rule: str = ""
    """What holds from there on."""
    most: float = math.inf
    """The most machines that were measured."""

    def __str__(self) -> str:
        if self.reason:
            return self.reason if self.reason.startswith(BEYOND) else f"no statement: {self.reason}"
        said = f"stop at {_machines(self.machines)} (between {self.low:g} and {self.high:g})"
        said += f", {BEYOND} ({self.most:g})" * (self.machines > self.most)
        return f"{said}: {self.rule}" if self.rule else said


def _machines(number: float) -> str:
    return f"{number:g} machine{'s' * (number != 1)}"


def where_gain_ends(
    curve: Curve, end: End, gain: float, measured: tuple[int, int], processes: int = 1
) -> Statement:
    """From how many machines on one more saves too little.

    Parameters
    ----------
    curve
        Of the completion time, over processes.
    end
        Where one more machine saves less than `gain`, over machines.
    measured
        The fewest and most processes that it was fitted to.
    processes
        Of a machine.
    """
    machines, low, high = end[:3]
    fewest, most = (p / processes for p in measured)
    furthest = REACH * most
    rule = f"one more saves less than {100 * gain:.3g} %"
    if curve.freedom < LEAST_FREEDOM:
        return _none(f"{len(curve.residuals)} times are too few to show the error of a fit")
    if curve.relative and curve.noise > NOISY:
        return _none(f"no form fits: times are {curve.noise:.0%} away from the best curve")
    if curve.misfit > 1:
        return _none(
            f"no form fits: the best curve misses {curve.misfit:.1f} times what repeats explain"
        )
    if high <= max(fewest, 1):
        return _none(f"{rule} already at the fewest that were measured ({fewest:g})")
    if machines <= most and high > furthest:
        reason = f"the interval, from {low:g} on, does not end before {furthest:g} machines, "
        reason += f"{REACH} times the most that were measured"
        return Statement(math.nan, low, high, reason)
    if machines <= FAR * most and high <= furthest:
        return Statement(machines, low, high, "", rule, most)
    ends = f"somewhere between {low:g} and {high:g} machines on, if the curve goes on so"
    if math.isinf(low):
        rule, ends = f"one more saves {100 * gain:.3g} % or more", "one machine on, without an end"
    elif high > furthest:
        ends = f"{_machines(low)} on at the earliest"
    return Statement(math.nan, low, high, f"{BEYOND} ({most:g}): {rule} from {ends}")


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
    return Statement(machines, low, high, "", "the link is full", most)


def stop(gain: Statement, link: Statement) -> Statement:
    """The earlier of two ends. Without a statement on the time there is none.

    Where the link has none, either it carries what was asked for, or its limit is in the times already.
    """
    if gain.reason or link.reason:
        return gain
    machines, low, high = (min(a, b) for a, b in zip(gain[:3], link[:3], strict=True))
    return min(gain, link)._replace(machines=machines, low=low, high=high)


def _none(reason: str) -> Statement:
    return Statement(reason=reason)
