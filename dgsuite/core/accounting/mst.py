"""How IMSuite counts mst."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import Accounting, Spawning, account, passed_over
from dgsuite.core.engine.log import Log
from dgsuite.kernels.imsuite.spanning_tree.faithful import (
    FaithfulRecursiveSpanningTree,
    FaithfulSpanningTree,
)
from dgsuite.kernels.imsuite.spanning_tree.recursive import RecursiveSpanningTree
from dgsuite.kernels.imsuite.spanning_tree.textbook import SpanningTree

account(SpanningTree, Accounting())

LOOPS = ("wake", "report", "turn", "transmit")
REST = dict.fromkeys(("tell_fragment", "pick", "connect", "attach", "settle"), 0)

# IMSuite's launches are counted in batches: ten per phase, three each time a loop runs.
account(
    FaithfulSpanningTree,
    Accounting(
        launches={**dict.fromkeys(LOOPS, 3), **REST, "look": 10},
        clocked={**dict.fromkeys(LOOPS, 2), **REST, "look": 5},
        comm={"tell_fragment": 0, "report": 2, "pick": 2, "turn": 2, "transmit": 2},
        mutex={"tell_fragment": 0, "report": 2, "pick": 0, "turn": 0, "transmit": 0},
    ),
)


def _driver(kernel: SpanningTree, log: Log, n: int, style: str) -> NDArray:
    # of the nodes that it looks at to find one in another fragment than node 0, counts those before
    extra = np.zeros(log.rounds, np.int64)
    for step, vote in log.replies():
        if step.phase == "compare_first":
            extra[0] += passed_over(vote, n)
    return extra


# Eight launches per phase. A child is told to start and called, and then told to stop and asked; the
# path is reversed with two messages per step; a child is called and told its fragment.
SPAWNING = {
    **dict.fromkeys(("start_find", "find"), Spawning(comm=4, mutex=1, filled=1)),
    **dict.fromkeys(("answer", "compare"), Spawning(comm=0, asyncs=0)),
    **dict.fromkeys(("start_search", "search"), Spawning(joins=1)),
    **dict.fromkeys(("start_turn", "turn"), Spawning(comm=2, asyncs=0)),
    **dict.fromkeys(("start_transmit", "transmit"), Spawning(comm=2, finishes=1)),
}
# Rounds that IMSuite runs within its launches.
WITHIN = dict.fromkeys(("tell_fragment", "connect", "attach"), 0)
# Rounds that the driver runs.
DRIVEN = dict.fromkeys(("name_first", "compare_first"), 0)

account(
    RecursiveSpanningTree,
    Accounting(
        launches={**WITHIN, "look": 8},
        clocked={**WITHIN, "look": 1},
        comm={"tell_fragment": 0},
        mutex={"tell_fragment": 0},
        spawning=SPAWNING,
    ),
)
account(
    FaithfulRecursiveSpanningTree,
    Accounting(
        launches={**WITHIN, **DRIVEN, "look": 8},
        clocked={**WITHIN, **DRIVEN, "look": 1},
        comm={"tell_fragment": 0, "name_first": 0},
        mutex={"tell_fragment": 0, "name_first": 0},
        driver=_driver,
        spawning=SPAWNING,
    ),
)
