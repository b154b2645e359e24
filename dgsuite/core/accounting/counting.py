"""The paper's counts of a run, from its log and the kernel's rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import rules_of
from dgsuite.core.engine.log import Log
from dgsuite.kernels.bsp import Kernel

STYLES = ("finish_async", "clocked")


class Counts(NamedTuple):
    """The paper's counts per round, int64."""

    finishes: NDArray[np.int64]
    asyncs: NDArray[np.int64]
    barriers: NDArray[np.int64]
    mutexes: NDArray[np.int64]
    comm: NDArray[np.int64]


def count(kernel: Kernel, log: Log, n: int, style: str) -> Counts | None:
    """Counts of a run as IMSuite's program in a given style makes them; None for other kernels.

    Parameters
    ----------
    style
        "finish_async" or "clocked"; for "serial", which launches and sends nothing, all are zero.
    """
    rules = rules_of(kernel)
    if rules is None:
        return None
    if style not in STYLES:
        zeros = np.zeros(log.rounds, np.int64)
        return Counts(zeros, zeros, zeros, zeros, zeros)
    spawning = rules.spawning
    if style == "clocked":
        spawning = {**spawning, **rules.clocked_spawning}
    phases = log.names

    def ruled(rule: Callable[[str], int]) -> NDArray[np.int64]:
        """What a rule says of each phase."""
        return np.array([rule(name) for name in phases], np.int64)[log["phase"]]

    def launched(rule: Mapping[str, int]) -> NDArray[np.int64]:
        return ruled(lambda p: rule.get(p, int(p not in spawning)))

    each = launched(rules.launches)
    launches, finishes = log.by_round(each), log.by_round(each)
    if style == "clocked" and rules.clocked is None:
        finishes = log.by_round(_first_of_turn(log, each))
    elif style == "clocked":
        assert rules.clocked is not None
        finishes = log.by_round(launched(rules.clocked))
    barriers = launches - finishes
    messages = log["messages"] * ruled(lambda p: p not in spawning)
    comm = log.by_round(messages * ruled(lambda p: rules.comm.get(p, 1)) + log["comm"])
    mutexes = log.by_round(messages * ruled(lambda p: rules.mutex.get(p, 1)) + log["mutexes"])
    places = n if rules.places is None else rules.places(kernel, n)
    comm = comm + finishes * (places - 1)
    asyncs = finishes * places + log.by_round(log["asyncs"])
    if rules.driver is not None and log.rounds:
        comm = comm + rules.driver(kernel, log, n, style)
    for name, rule in spawning.items():
        this = ruled(name.__eq__)
        spawned, opened = log.by_round(this * log["messages"]), log.by_round(this * log["opened"])
        filled = log.by_round(this * log["active"])
        comm += spawned * rule.comm + opened * rule.open_comm
        mutexes += spawned * rule.mutex + opened * rule.open_mutex
        asyncs += spawned * rule.asyncs
        finishes += spawned * rule.joins + opened * rule.finishes + filled * rule.filled
        barriers += opened * rule.barriers
    return Counts(finishes, asyncs, barriers, mutexes, comm)


def _first_of_turn(log: Log, launches: NDArray) -> NDArray:
    """One launch for each turn of the program that has any."""
    _, first = np.unique(np.where(launches > 0, log["turn"], -1), return_index=True)
    once = np.zeros_like(launches)
    once[first] = 1
    return np.minimum(once, launches)
