"""How IMSuite counts mis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import Accounting, account, looked_at
from dgsuite.core.engine.log import Log
from dgsuite.kernels.imsuite.mis.textbook import MIS


def _driver(kernel: MIS, log: Log, n: int, style: str) -> NDArray:
    # after each round but the last, looks for a node with live neighbours, from node 0 on
    looks = [looked_at(vote, n) for _, vote in log.replies()]
    return np.array(looks[: log.rounds], np.int64)


# A winner marks its neighbour, removes itself there, and goes there to remove the neighbour from
# everyone's list: 3 steps, 3 locks. To remove a node from a list locks at both ends.
account(MIS, Accounting(comm={"compete": 3}, mutex={"compete": 3, "retire": 2}, driver=_driver))
