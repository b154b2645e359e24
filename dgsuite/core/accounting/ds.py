"""How IMSuite counts dominatingSet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import Accounting, account
from dgsuite.core.engine.log import Log
from dgsuite.kernels.imsuite.dominating_set.faithful import FaithfulDominatingSet
from dgsuite.kernels.imsuite.dominating_set.textbook import DominatingSet


def _driver(kernel: DominatingSet, log: Log, n: int, style: str) -> NDArray:
    # asks every node after each round whether something changed; in the clocked style a node leaves
    # the clock on its own
    return np.full(log.rounds, n - 1 if style == "finish_async" else 0, np.int64)


account(DominatingSet, Accounting(driver=_driver))

PHASES = dict.fromkeys(
    (
        *("introduce", "look_around", "tell_span", "relay", "activate", "support"),
        *("become_candidate", "cover", "offer", "decide", "retire", "prune"),
    ),
    0,
)

# IMSuite reads where the kernel sends, and the kernel counts the reads; winners reach each neighbour twice.
account(
    FaithfulDominatingSet,
    Accounting(
        launches={"introduce": 0, "look_around": 0, "relay": 0},
        clocked={**PHASES, "introduce": 1},
        comm={**PHASES, "offer": 1, "decide": 2},
        mutex={**PHASES, "offer": 1, "decide": 1},
        driver=_driver,
    ),
)
