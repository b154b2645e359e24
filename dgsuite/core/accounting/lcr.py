"""How IMSuite counts leader_elect_lcr."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import Accounting, account
from dgsuite.core.engine.log import Log
from dgsuite.kernels.imsuite.leader_lcr.textbook import LCR


def _driver(kernel: LCR, log: Log, n: int, style: str) -> NDArray:
    # finds the leader and tells everyone; the clocked program counts the search, too
    extra = np.zeros(log.rounds, np.int64)
    extra[-1] = n - 1 if style == "finish_async" else 2 * (n - 1) + 1
    return extra


account(LCR, Accounting(mutex={"transmit": 0}, driver=_driver))
