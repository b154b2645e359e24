"""IMSuite's accounting of a run: communication, mutexes, tasks, joins and barriers.

The paper (Gupta and Nandivada, IMSuite, Figures 7, 8 and 10) counts in the UP model, every node a
place of its own, with the driver on node 0's place:

* a phase that launches a task on every node counts n - 1, n tasks (asyncs) and a join (finish);
  the clocked style launches once a round and counts a barrier for each further phase;
* a message counts one, or more where the original reaches the same place several times to do what
  one message does here;
* the driver counts one for each node it looks at, its own aside.

All of it is derived from the log of a run; kernels count nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.engine.log import Log
from kernels.base import Kernel

STYLES = ("finish_async", "clocked")


class Counts(NamedTuple):
    """The paper's counts, int64, one a round."""

    comm: NDArray[np.int64]
    mutexes: NDArray[np.int64]
    finishes: NDArray[np.int64]
    asyncs: NDArray[np.int64]
    barriers: NDArray[np.int64]


Driver = Callable[[Kernel, Log, int, str], NDArray]
"""What the sequential driver adds to the communication of each round."""


class Spawning(NamedTuple):
    """What the tasks of a recursive kernel count in the original, besides launches.

    For each task spawned ``comm``, ``mutex``, ``asyncs`` and ``joins``; for each finish opened
    ``open_comm``, ``open_mutex`` and ``finishes``, and the same for each that is not empty in
    ``filled``. In the clocked style a finish's further halves are ``barriers``.
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
    """How one kernel of the original counts.

    Attributes
    ----------
    launches
        Phases of the original that one of our phases stands for, where not one.
    clocked
        How many of these the clocked style launches; by default one a round. The others are
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
    places: Callable[[Kernel, int], int] | None = None
    spawning: dict[str, Spawning] = field(default_factory=dict)
    clocked_spawning: dict[str, Spawning] = field(default_factory=dict)


def _bf_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    extra = np.zeros(log.rounds, np.int64)
    extra[0] = kernel.root != 0  # type: ignore[attr-defined]
    return extra


def _lcr_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    # the driver finds the leader and tells everyone; the clocked original counts the search, too
    extra = np.zeros(log.rounds, np.int64)
    extra[-1] = n - 1 if style == "finish_async" else 2 * (n - 1) + 1
    return extra


def _mis_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    # after each round but the last, looks for a node with live neighbours, from node 0 on
    looks = [n - 1 if vote.min is None else vote.min for _, vote in log.replies()]
    return np.array(looks[: log.rounds], np.int64)


def _dst_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    # each search begins with a word to the root, and ends with a look for a node that joined
    extra = np.zeros(log.rounds, np.int64)
    for step, vote in log.replies():
        if step.phase == "refuse":
            extra[step.round] += kernel.root != 0  # type: ignore[attr-defined]
            extra[step.round] += n - 1 if vote.min is None else vote.min
    return extra


def _vc_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    # after each reduction, looks for a node that has more than six colours left
    extra = np.zeros(log.rounds, np.int64)
    for step, vote in log.replies():
        if step.phase == "recolour":
            extra[step.round] += n - 1 if vote.min is None else vote.min
        elif kernel.root != 0:  # type: ignore[attr-defined]
            extra[step.round] += 1
    return extra


def _dp_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    # asks every node after each pulse whether it is done
    return np.full(log.rounds, n - 1, np.int64)


def _hs_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    # the leader tells all by walking half the ring both ways itself
    extra = np.zeros(log.rounds, np.int64)
    extra[-1] = n + 2
    return extra


def _ds_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    # asks every node after each round whether something changed; in the clocked style a node leaves
    # the clock on its own
    return np.full(log.rounds, n - 1 if style == "finish_async" else 0, np.int64)


BY_SURVEY = ("announce_self", "listen", "pass_on", "measure")

MST_LOOPS = ("wake", "report", "turn", "transmit")
MST_REST = ("tell_fragment", "pick", "connect", "attach", "settle")

DS_PHASES = (
    "introduce",
    "look_around",
    "tell_span",
    "relay",
    "activate",
    "support",
    "become_candidate",
    "cover",
    "offer",
    "decide",
    "retire",
    "prune",
)

ACCOUNTING: dict[str, Accounting] = {
    # relax stands for two phases, since the original first moves its inbox aside; wake for none
    "bf": Accounting(launches={"wake": 0, "relax": 2}, driver=_bf_driver),
    # the original first looks through its inbox, and spreads the leader's name without tasks
    "dp": Accounting(
        launches={"tell": 2, "proclaim": 0, "pass_on": 0},
        clocked={"compare": 0, "stop": 0, "proclaim": 0, "pass_on": 0},
        mutex={"proclaim": 0, "pass_on": 0},
        driver=_dp_driver,
    ),
    # the kernel counts what the first g nodes receive
    "by": Accounting(
        launches=dict.fromkeys(BY_SURVEY, 0),
        clocked={**dict.fromkeys(BY_SURVEY, 0), "hear": 0, "hear_more": 0},
        comm=dict.fromkeys((*BY_SURVEY, "say", "forward"), 0),
        mutex=dict.fromkeys((*BY_SURVEY, "say", "forward"), 0),
        places=lambda kernel, n: kernel.first(n),  # type: ignore[attr-defined]
    ),
    # a node that asks for another's list asks for its length first
    "dr": Accounting(launches={"advertise": 0}, comm={"advertise": 2}, mutex={"advertise": 0}),
    # The original reads where we send, which the kernel counts; and winners reach each neighbour twice.
    "ds": Accounting(
        launches={"introduce": 0, "look_around": 0, "relay": 0},
        clocked={**dict.fromkeys(DS_PHASES, 0), "introduce": 1},
        comm={**dict.fromkeys(DS_PHASES, 0), "offer": 1, "decide": 2},
        mutex={**dict.fromkeys(DS_PHASES, 0), "offer": 1, "decide": 1},
        driver=_ds_driver,
    ),
    # a child that joins also enters itself in its parent's list
    "dst": Accounting(
        launches={"start_layer": 2},
        clocked={"refuse": 0},
        comm={"accept": 2},
        mutex={"start_layer": 0, "accept": 2},
        driver=_dst_driver,
    ),
    # relay stands for three phases of the original: decide, send, forget
    "hs": Accounting(
        launches={"relay": 3, "pass_on": 0},
        clocked={"pass_on": 0},
        comm={"proclaim": 0, "pass_on": 0},
        mutex={"launch": 0, "relay": 0, "proclaim": 0, "pass_on": 0},
        driver=_hs_driver,
    ),
    # the original clears its lists in a phase of its own
    "kc": Accounting(
        launches={"collect": 2, "accept": 2},
        clocked={"hear": 0, "collect": 0, "accept": 2},
    ),
    "lcr": Accounting(mutex={"transmit": 0}, driver=_lcr_driver),
    # A winner marks its neighbour, strikes itself off there, and goes there to strike the neighbour
    # off everyone's list: 3 steps, 3 locks. Striking off someone's list locks at both ends.
    "mis": Accounting(
        comm={"compete": 3},
        mutex={"compete": 3, "retire": 2},
        driver=_mis_driver,
    ),
    # The original's launches are counted in batches: ten a phase, three each time a loop is run.
    "mst": Accounting(
        launches={**dict.fromkeys(MST_LOOPS, 3), **dict.fromkeys(MST_REST, 0), "look": 10},
        clocked={**dict.fromkeys(MST_LOOPS, 2), **dict.fromkeys(MST_REST, 0), "look": 5},
        comm={"tell_fragment": 0, "report": 2, "pick": 2, "turn": 2, "transmit": 2},
        mutex={"tell_fragment": 0, "report": 2, "pick": 0, "turn": 0, "transmit": 0},
    ),
    # the original reads, where it needs it, what we send to all children once more
    "vc": Accounting(
        clocked={"recolour": 0, "shift_down": 0},
        comm={"shift_down": 0},
        mutex={"tell": 0, "shift_down": 0},
        driver=_vc_driver,
    ),
}


TEXTBOOK: dict[str, Accounting] = {
    "by": Accounting(clocked={"hear": 0, "hear_more": 0}),
    "ds": Accounting(driver=_ds_driver),
    "mst": Accounting(),
}
"""Kernels that send something else than the original unless they are faithful to it."""


def _first_of_turn(log: Log, launches: NDArray) -> NDArray:
    """One launch for each turn of the program that has any."""
    _, first = np.unique(np.where(launches > 0, log["turn"], -1), return_index=True)
    once = np.zeros_like(launches)
    once[first] = 1
    return np.minimum(once, launches)


def rules_of(kernel: Kernel) -> Accounting:
    if kernel.form == "recursive":
        from dgsuite.accounting.recursive import RECURSIVE

        return RECURSIVE.get(kernel.name, Accounting())
    rules = ACCOUNTING.get(kernel.name, Accounting())
    return rules if kernel.faithful else TEXTBOOK.get(kernel.name, rules)


def count(kernel: Kernel, log: Log, n: int, style: str) -> Counts:
    """Counts of a run as the original in a given style would have made them.

    Parameters
    ----------
    style
        "finish_async" or "clocked"; for "serial", which launches and sends nothing, all are zero.
    """
    zeros = np.zeros(log.rounds, np.int64)
    if style not in STYLES:
        return Counts(zeros, zeros, zeros, zeros, zeros)
    rules = rules_of(kernel)
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
    return Counts(comm, mutexes, finishes, asyncs, barriers)
