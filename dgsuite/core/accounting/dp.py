"""How IMSuite counts leader_elect_dp."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import Accounting, account
from dgsuite.core.engine.log import Log
from dgsuite.kernels.imsuite.leader_dp.faithful import FaithfulPelegLeader
from dgsuite.kernels.imsuite.leader_dp.textbook import PelegLeader


def _driver(kernel: PelegLeader, log: Log, n: int, style: str) -> NDArray:
    # asks every node after each pulse whether it is done
    return np.full(log.rounds, n - 1, np.int64)


# IMSuite first looks through its inbox, so tell stands for two phases.
PULSE = {"tell": 2}
BARRIERS = {"compare": 0, "stop": 0}
account(PelegLeader, Accounting(launches=PULSE, clocked=BARRIERS, driver=_driver))

# It floods the leader's identifier without tasks or locks.
FLOOD = dict.fromkeys(("proclaim", "pass_on"), 0)
account(
    FaithfulPelegLeader,
    Accounting(launches=PULSE | FLOOD, clocked=BARRIERS | FLOOD, mutex=FLOOD, driver=_driver),
)
