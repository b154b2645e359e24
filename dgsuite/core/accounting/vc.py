"""How IMSuite counts vertexColoring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import Accounting, account, looked_at
from dgsuite.core.engine.log import Log
from dgsuite.kernels.imsuite.vertex_colouring.textbook import VertexColouring


def _driver(kernel: VertexColouring, log: Log, n: int, style: str) -> NDArray:
    # after each reduction, looks for a node that has more than six colours left
    extra = np.zeros(log.rounds, np.int64)
    for step, vote in log.replies():
        if step.phase == "recolour":
            extra[step.round] += looked_at(vote, n)
        elif kernel.root != 0:
            extra[step.round] += 1
    return extra


# IMSuite reads, where it needs it, what the kernel sends to all children once more.
account(
    VertexColouring,
    Accounting(
        clocked={"recolour": 0, "shift_down": 0},
        comm={"shift_down": 0},
        mutex={"tell": 0, "shift_down": 0},
        driver=_driver,
    ),
)
