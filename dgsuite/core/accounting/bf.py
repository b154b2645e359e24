"""How IMSuite counts bfsBellmanFord."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import Accounting, Spawning, account
from dgsuite.core.engine.log import Log
from dgsuite.kernels.imsuite.bfs_bellman_ford.recursive import RecursiveBellmanFord
from dgsuite.kernels.imsuite.bfs_bellman_ford.textbook import BellmanFord


def _driver(kernel: BellmanFord, log: Log, n: int, style: str) -> NDArray:
    # looks at the root; in the recursive form also goes there
    extra = np.zeros(log.rounds, np.int64)
    extra[0] = (kernel.root != 0) * (2 if kernel.form == "recursive" else 1)
    return extra


# IMSuite first moves its inbox aside, so relax stands for two phases, and wake for none.
account(BellmanFord, Accounting(launches={"wake": 0, "relax": 2}, driver=_driver))

# A node sets its neighbour's distance, then calls it. The neighbour looks whether it has been reached, and
# if not goes on: two halves, each with a task per neighbour, and a lock each time.
account(
    RecursiveBellmanFord,
    Accounting(
        driver=_driver,
        spawning={
            "wake": Spawning(comm=2, mutex=2, asyncs=2, open_mutex=2, finishes=2),
            "arrive": Spawning(comm=2, mutex=2, asyncs=2, open_comm=1, open_mutex=1, finishes=2),
        },
        clocked_spawning={
            "wake": Spawning(comm=2, mutex=2, open_mutex=2, finishes=1, barriers=1),
            "arrive": Spawning(comm=2, mutex=2, open_comm=1, open_mutex=1, finishes=1, barriers=1),
        },
    ),
)
