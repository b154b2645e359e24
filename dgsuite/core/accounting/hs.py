"""How IMSuite counts leader_elect_hs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import Accounting, account
from dgsuite.core.engine.log import Log
from dgsuite.kernels.imsuite.leader_hs.textbook import HirschbergSinclair


def _driver(kernel: HirschbergSinclair, log: Log, n: int, style: str) -> NDArray:
    # the leader tells all by walking half the ring both ways itself
    extra = np.zeros(log.rounds, np.int64)
    extra[-1] = n + 2
    return extra


# relay stands for three phases of IMSuite: decide, send, forget.
account(
    HirschbergSinclair,
    Accounting(
        launches={"relay": 3, "pass_on": 0},
        clocked={"pass_on": 0},
        comm={"proclaim": 0, "pass_on": 0},
        mutex={"launch": 0, "relay": 0, "proclaim": 0, "pass_on": 0},
        driver=_driver,
    ),
)
