"""IMSuite's accounting of its recursive kernels (Figure 10), in the terms of `dgsuite.accounting.rules`.

What is not recursive in them counts as in the iterative kernels; a launch is a join with a task a
node where the original has one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.accounting.rules import Accounting, Spawning
from dgsuite.engine.log import Log
from kernels.base import Kernel, Vote

MST_REST = ("tell_fragment", "connect", "attach", "name_first", "compare_first")
"""Rounds of MST that the original has within its launches, or in its driver."""


def _passed(vote: Vote, n: int) -> int:
    """Nodes from 1 on that the driver looks at before the one it looks for."""
    return n - 1 if vote.min is None else max(int(vote.min) - 1, 0)


def _bf_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    # looks at the root, and goes there
    extra = np.zeros(log.rounds, np.int64)
    extra[0] = 2 * (kernel.root != 0)  # type: ignore[attr-defined]
    return extra


def _dst_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    # sends the root its word and goes there, and again for the echo; of the nodes that it looks at to
    # find one that has joined, counts those that have not
    extra = np.zeros(log.rounds, np.int64)
    away = kernel.root != 0  # type: ignore[attr-defined]
    for step, vote in log.replies():
        if step.phase == "refuse":
            extra[0] += _passed(vote, n)
    for step in log.steps:
        extra[0] += away * {"start_layer": 2, "start_echo": 1}.get(step.phase, 0)
    return extra


def _mst_driver(kernel: Kernel, log: Log, n: int, style: str) -> NDArray:
    # of the nodes that it looks at to find one in another fragment than node 0, counts those before
    extra = np.zeros(log.rounds, np.int64)
    for step, vote in log.replies():
        if step.phase == "compare_first":
            extra[0] += _passed(vote, n)
    return extra


RECURSIVE: dict[str, Accounting] = {
    # A node sets its neighbour's distance, then calls it, which looks whether it has been there, and
    # if not goes there: two halves, each with a task a neighbour, and a lock each time.
    "bf": Accounting(
        driver=_bf_driver,
        spawning={
            "wake": Spawning(comm=2, mutex=2, asyncs=2, open_mutex=2, finishes=2),
            "arrive": Spawning(comm=2, mutex=2, asyncs=2, open_comm=1, open_mutex=1, finishes=2),
        },
        clocked_spawning={
            "wake": Spawning(comm=2, mutex=2, open_mutex=2, finishes=1, barriers=1),
            "arrive": Spawning(comm=2, mutex=2, open_comm=1, open_mutex=1, finishes=1, barriers=1),
        },
    ),
    # one word to a child, and the call
    "dst": Accounting(
        clocked={"refuse": 0},
        comm={"accept": 2},
        mutex={"accept": 2},
        driver=_dst_driver,
        spawning={
            **dict.fromkeys(("start_layer", "tell"), Spawning(comm=2, finishes=1)),
            **dict.fromkeys(("start_echo", "ask"), Spawning(filled=1)),
            "answer": Spawning(mutex=1, asyncs=0),
            "hear": Spawning(),
        },
    ),
    # A source tells its neighbours from the task that it is launched with; who hears of it for the
    # first time writes it down when all that it told have ended.
    "by": Accounting(
        launches={"say": 1},
        clocked={"say": 1},
        spawning={
            "say": Spawning(mutex=1, asyncs=0),
            "relay": Spawning(mutex=1, open_mutex=1, finishes=1),
        },
    ),
    # A source tries all its neighbours, and goes to those in its tree; a node there goes back to the
    # source for each of its children, which the kernel counts, and the source to each that is no leaf.
    "dr": Accounting(
        launches={"advertise": 0},
        comm={"advertise": 2},
        mutex={"advertise": 0},
        spawning={
            "branch": Spawning(asyncs=0, finishes=1),
            "enter": Spawning(comm=0, asyncs=0),
            "visit": Spawning(comm=0),
            "settle": Spawning(asyncs=0, joins=1),
        },
    ),
    # Eight launches a phase. A child is told to start and called, and then told to stop and asked; the
    # path is turned with two words a step; a child is called and told its fragment.
    "mst": Accounting(
        launches={**dict.fromkeys(MST_REST, 0), "look": 8},
        clocked={**dict.fromkeys(MST_REST, 0), "look": 1},
        comm={"tell_fragment": 0, "name_first": 0},
        mutex={"tell_fragment": 0, "name_first": 0},
        driver=_mst_driver,
        spawning={
            **dict.fromkeys(("start_find", "find"), Spawning(comm=4, mutex=1, filled=1)),
            **dict.fromkeys(("answer", "compare"), Spawning(comm=0, asyncs=0)),
            **dict.fromkeys(("start_search", "search"), Spawning(joins=1)),
            **dict.fromkeys(("start_turn", "turn"), Spawning(comm=2, asyncs=0)),
            **dict.fromkeys(("start_transmit", "transmit"), Spawning(comm=2, finishes=1)),
        },
    ),
}
"""Accounting of recursive kernels."""
