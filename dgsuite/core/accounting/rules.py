"""How IMSuite counts a kernel: what each phase stands for, by kernel.

The paper (Gupta and Nandivada, IMSuite, Figures 7, 8 and 10) counts in the UP model, where every node is
a place of its own and the driver runs on node 0's place:

* a phase that launches a task on every node counts n - 1 communications, n tasks (asyncs) and a join
  (finish); the clocked style launches once per round and counts a barrier for each further phase;
* a message counts one, or more where IMSuite reaches the same place several times to do the same;
* the driver counts one for each node that it looks at, except its own.

Rules are registered with `account`, which refuses names that are no phases of the kernel: to rename a
phase cannot change a count unseen. All counts are derived from the log of a run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.log import Log
from dgsuite.kernels.bsp import Kernel, Vote

Driver = Callable[[Any, Log, int, str], NDArray]
"""What the sequential driver adds to the communication of each round, from the kernel, the log, the
number of nodes and the style."""


class Spawning(NamedTuple):
    """What the tasks of a recursive kernel count in IMSuite, besides launches.

    Per task spawned ``comm``, ``mutex``, ``asyncs`` and ``joins``; per finish opened ``open_comm``,
    ``open_mutex`` and ``finishes``, and per finish that is not empty ``filled``. In the clocked style
    the second half of a finish is ``barriers``.
    """

    comm: int = 1
    mutex: int = 0
    asyncs: int = 1
    joins: int = 0
    open_comm: int = 0
    open_mutex: int = 0
    finishes: int = 0
    filled: int = 0
    barriers: int = 0


@dataclass(frozen=True)
class Accounting:
    """How IMSuite counts one kernel. Phases that are not named count as one launch, and their messages one
    communication and one mutex operation each.

    Attributes
    ----------
    launches
        Phases of IMSuite that one phase of the kernel stands for, where not one.
    clocked
        How many of these the clocked style launches; by default one per round. The others are
        barriers.
    comm, mutex
        What a message of a phase counts, where not one.
    driver
        What the sequential driver adds to the communication of each round.
    places
        On how many nodes a phase is launched, where not on all.
    spawning, clocked_spawning
        What tasks that spawn tasks count, by the task that spawns; the clocked style where it
        differs.
    """

    launches: dict[str, int] = field(default_factory=dict)
    clocked: dict[str, int] | None = None
    comm: dict[str, int] = field(default_factory=dict)
    mutex: dict[str, int] = field(default_factory=dict)
    driver: Driver | None = None
    places: Callable[[Any, int], int] | None = None
    spawning: dict[str, Spawning] = field(default_factory=dict)
    clocked_spawning: dict[str, Spawning] = field(default_factory=dict)


IMSUITE = ("bf", "dp", "by", "dr", "ds", "dst", "hs", "kc", "lcr", "mis", "mst", "vc")
"""The kernels of IMSuite, in the order of its tables. Once there is a run of one,
`dgsuite.core.accounting.imsuite` registers their rules."""

ACCOUNTING: dict[type[Kernel], Accounting] = {}
"""Rules of kernels; those of a class hold for classes derived from it that have none of their own."""


def looked_at(vote: Vote, n: int) -> int:
    """How many remote nodes a search from node 0 on looks at, to the one voted as `min`; all if none is."""
    return n - 1 if vote.min is None else int(vote.min)


def passed_over(vote: Vote, n: int) -> int:
    """As `looked_at`, without the node that is found."""
    return n - 1 if vote.min is None else max(int(vote.min) - 1, 0)


def account(kernel: type[Kernel], **rules: Any) -> None:
    """Register how IMSuite counts a kernel.

    Parameters
    ----------
    rules
        Of an `Accounting`.

    Raises
    ------
    InputError
        The rules name something that is no phase or task of the kernel.
    """
    found = Accounting(**rules)
    by_phase = [given for name, given in rules.items() if name not in ("driver", "places")]
    for name in sorted(set().union(*by_phase)):
        method = getattr(kernel, name, None)
        # a phase takes a cluster, its state and an inbox
        if not callable(method) or [*inspect.signature(method).parameters][3:4] != ["inbox"]:
            raise InputError(
                f"the accounting of {kernel.__name__} names {name!r}, which is no phase of it"
            )
    ACCOUNTING[kernel] = found


def rules_of(kernel: Kernel) -> Accounting | None:
    """The rules that hold for a kernel; None for one that IMSuite does not have."""
    for cls in type(kernel).__mro__:
        if getattr(cls, "name", None) in IMSUITE:
            import_module("dgsuite.core.accounting.imsuite")
        if cls in ACCOUNTING and cls.form == kernel.form:
            return ACCOUNTING[cls]
    return None


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

    each = joined = launched(rules.launches)
    if style == "clocked" and rules.clocked is not None:
        joined = launched(rules.clocked)
    elif style == "clocked":  # one launch for each turn of the program that has any
        _, first = np.unique(np.where(each > 0, log["turn"], -1), return_index=True)
        joined = np.zeros_like(each)
        joined[first] = np.minimum(each[first], 1)
    finishes = log.by_round(joined)
    barriers = log.by_round(each) - finishes
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
