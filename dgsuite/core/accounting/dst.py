"""How IMSuite counts bfsDijkstra."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import Accounting, Spawning, account, looked_at, passed_over
from dgsuite.core.engine.log import Log
from dgsuite.kernels.imsuite.bfs_dijkstra.recursive import RecursiveDijkstra
from dgsuite.kernels.imsuite.bfs_dijkstra.textbook import Dijkstra


def _driver(kernel: Dijkstra, log: Log, n: int, style: str) -> NDArray:
    # begins each search with a message to the root, and ends it by looking for a node that joined
    extra = np.zeros(log.rounds, np.int64)
    for step, vote in log.replies():
        if step.phase == "refuse":
            extra[step.round] += kernel.root != 0
            extra[step.round] += looked_at(vote, n)
    return extra


# A child that joins also enters itself in its parent's list.
account(
    Dijkstra,
    Accounting(
        launches={"start_layer": 2},
        clocked={"refuse": 0},
        comm={"accept": 2},
        mutex={"start_layer": 0, "accept": 2},
        driver=_driver,
    ),
)


def _recursive_driver(kernel: Dijkstra, log: Log, n: int, style: str) -> NDArray:
    # sends the root a message and goes there, and again for the echo; of the nodes that it looks at to
    # find one that has joined, counts those that have not
    extra = np.zeros(log.rounds, np.int64)
    away = kernel.root != 0
    for step, vote in log.replies():
        if step.phase == "refuse":
            extra[0] += passed_over(vote, n)
    for step in log.steps:
        extra[0] += away * {"start_layer": 2, "start_echo": 1}.get(step.phase, 0)
    return extra


# One message to a child, and the call.
account(
    RecursiveDijkstra,
    Accounting(
        clocked={"refuse": 0},
        comm={"accept": 2},
        mutex={"accept": 2},
        driver=_recursive_driver,
        spawning={
            **dict.fromkeys(("start_layer", "tell"), Spawning(comm=2, finishes=1)),
            **dict.fromkeys(("start_echo", "ask"), Spawning(filled=1)),
            "answer": Spawning(mutex=1, asyncs=0),
            "hear": Spawning(),
        },
    ),
)
