"""How IMSuite counts each of its kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.accounting.rules import Spawning, account, looked_at, passed_over
from dgsuite.core.engine.log import Log
from dgsuite.kernels import KERNELS, RECURSIVE
from dgsuite.kernels.bsp import Kernel


def faithful(kernel: type[Kernel]) -> type[Kernel]:
    """The form of a kernel that does as IMSuite's program does, where that differs from the textbook."""
    return type(kernel(faithful=True))


def none(*names: str) -> dict[str, int]:
    """Phases that count nothing."""
    return dict.fromkeys(names, 0)


def only(round_: int, rounds: int, extra: int) -> NDArray[np.int64]:
    """What the driver adds, if that is in one round."""
    found = np.zeros(rounds, np.int64)
    found[round_] = extra
    return found


# bfsBellmanFord


def _bf(kernel: Any, log: Log, n: int, style: str) -> NDArray:
    # looks at the root; in the recursive form also goes there
    return only(0, log.rounds, (kernel.root != 0) * (2 if kernel.form == "recursive" else 1))


# IMSuite first moves its inbox aside, so relax stands for two phases, and wake for none.
account(KERNELS["bf"], launches={"wake": 0, "relax": 2}, driver=_bf)

# A node sets its neighbour's distance, then calls it. The neighbour looks whether it has been reached, and
# if not goes on: two halves, each with a task per neighbour, and a lock each time.
account(
    RECURSIVE["bf"],
    driver=_bf,
    spawning={
        "wake": Spawning(comm=2, mutex=2, asyncs=2, open_mutex=2, finishes=2),
        "arrive": Spawning(comm=2, mutex=2, asyncs=2, open_comm=1, open_mutex=1, finishes=2),
    },
    clocked_spawning={
        "wake": Spawning(comm=2, mutex=2, open_mutex=2, finishes=1, barriers=1),
        "arrive": Spawning(comm=2, mutex=2, open_comm=1, open_mutex=1, finishes=1, barriers=1),
    },
)


# byzantine

RECEIVE = none("hear", "hear_more")

account(KERNELS["by"], clocked=RECEIVE)

SURVEY = none("announce_self", "listen", "pass_on", "measure")
"""Phases that compute the number of rounds, which IMSuite's input says."""

# Only messages that the first g nodes receive count; the kernel counts these.
SEND = SURVEY | none("say", "forward")

account(
    faithful(KERNELS["by"]),
    launches=SURVEY,
    clocked=SURVEY | RECEIVE,
    comm=SEND,
    mutex=SEND,
    places=lambda kernel, n: kernel.first(n),
)

# A source tells its neighbours from the task that it is launched with. A node that hears of it for the
# first time records it when all tasks that it started have ended.
account(
    RECURSIVE["by"],
    launches={"say": 1},
    clocked={"say": 1},
    spawning={
        "say": Spawning(mutex=1, asyncs=0),
        "relay": Spawning(mutex=1, open_mutex=1, finishes=1),
    },
)


# leader_elect_dp


def _dp(kernel: Any, log: Log, n: int, style: str) -> NDArray:
    # asks every node after each pulse whether it is done
    return np.full(log.rounds, n - 1, np.int64)


# IMSuite first looks through its inbox, so tell stands for two phases.
PULSE, BARRIERS = {"tell": 2}, none("compare", "stop")
account(KERNELS["dp"], launches=PULSE, clocked=BARRIERS, driver=_dp)

# It floods the leader's identifier without tasks or locks.
FLOOD = none("proclaim", "pass_on")
account(
    faithful(KERNELS["dp"]),
    launches=PULSE | FLOOD,
    clocked=BARRIERS | FLOOD,
    mutex=FLOOD,
    driver=_dp,
)


# dijkstraRouting

# A node that asks for another's list asks for its length first.
ROUTING = {"launches": {"advertise": 0}, "comm": {"advertise": 2}, "mutex": {"advertise": 0}}
account(KERNELS["dr"], **ROUTING)

# A source tries all its neighbours, and goes to those in its tree. A node there goes back to the source
# for each of its children, which the kernel counts, and the source to each that is no leaf.
account(
    RECURSIVE["dr"],
    **ROUTING,
    spawning={
        "branch": Spawning(asyncs=0, finishes=1),
        "enter": Spawning(comm=0, asyncs=0),
        "visit": Spawning(comm=0),
        "settle": Spawning(asyncs=0, joins=1),
    },
)


# dominatingSet


def _ds(kernel: Any, log: Log, n: int, style: str) -> NDArray:
    # asks every node after each round whether something changed; in the clocked style a node leaves
    # the clock on its own
    return np.full(log.rounds, n - 1 if style == "finish_async" else 0, np.int64)


account(KERNELS["ds"], driver=_ds)

PHASES = none(
    *("introduce", "look_around", "tell_span", "relay", "activate", "support"),
    *("become_candidate", "cover", "offer", "decide", "retire", "prune"),
)

# IMSuite reads where the kernel sends, and the kernel counts the reads; winners reach each neighbour twice.
account(
    faithful(KERNELS["ds"]),
    launches=none("introduce", "look_around", "relay"),
    clocked=PHASES | {"introduce": 1},
    comm=PHASES | {"offer": 1, "decide": 2},
    mutex=PHASES | {"offer": 1, "decide": 1},
    driver=_ds,
)


# bfsDijkstra


def _dst(kernel: Any, log: Log, n: int, style: str) -> NDArray:
    # begins each search with a message to the root, and ends it by looking for a node that joined
    extra = np.zeros(log.rounds, np.int64)
    for step, vote in log.replies():
        if step.phase == "refuse":
            extra[step.round] += (kernel.root != 0) + looked_at(vote, n)
    return extra


# A child that joins also enters itself in its parent's list.
account(
    KERNELS["dst"],
    launches={"start_layer": 2},
    clocked={"refuse": 0},
    comm={"accept": 2},
    mutex={"start_layer": 0, "accept": 2},
    driver=_dst,
)


def _recursive_dst(kernel: Any, log: Log, n: int, style: str) -> NDArray:
    # sends the root a message and goes there, and again for the echo; of the nodes that it looks at to
    # find one that has joined, counts those that have not
    away = sum({"start_layer": 2, "start_echo": 1}.get(step.phase, 0) for step in log.steps)
    looks = sum(passed_over(vote, n) for step, vote in log.replies() if step.phase == "refuse")
    return only(0, log.rounds, (kernel.root != 0) * away + looks)


# One message to a child, and the call.
account(
    RECURSIVE["dst"],
    clocked={"refuse": 0},
    comm={"accept": 2},
    mutex={"accept": 2},
    driver=_recursive_dst,
    spawning={
        **dict.fromkeys(("start_layer", "tell"), Spawning(comm=2, finishes=1)),
        **dict.fromkeys(("start_echo", "ask"), Spawning(filled=1)),
        "answer": Spawning(mutex=1, asyncs=0),
        "hear": Spawning(),
    },
)


# leader_elect_hs


account(KERNELS["hs"], mutex=none("begin", "relay"))

# relay stands for three phases of IMSuite: decide, send, forget.
account(
    faithful(KERNELS["hs"]),
    launches={"relay": 3, "pass_on": 0},
    clocked={"pass_on": 0},
    comm=none("proclaim", "pass_on"),
    mutex=none("launch", "relay", "proclaim", "pass_on"),
    # the leader tells all by walking half the ring both ways itself
    driver=lambda kernel, log, n, style: only(-1, log.rounds, n + 2),
)


# kcommittee

# IMSuite clears its lists in a phase of its own.
account(KERNELS["kc"], launches={"accept": 2}, clocked={"hear": 0, "accept": 2})
account(
    faithful(KERNELS["kc"]),
    launches={"collect": 2, "accept": 2},
    clocked={"hear": 0, "collect": 0, "accept": 2},
)


# leader_elect_lcr


def _lcr(kernel: Any, log: Log, n: int, style: str) -> NDArray:
    # finds the leader and tells everyone; the clocked program counts the search, too
    return only(-1, log.rounds, n - 1 if style == "finish_async" else 2 * (n - 1) + 1)


account(KERNELS["lcr"], mutex=none("begin", "pass_on"))
account(faithful(KERNELS["lcr"]), mutex={"transmit": 0}, driver=_lcr)


# mis


def _mis(kernel: Any, log: Log, n: int, style: str) -> NDArray:
    # after each round but the last, looks for a node with live neighbours, from node 0 on
    looks = [looked_at(vote, n) for _, vote in log.replies()]
    return np.array(looks[: log.rounds], np.int64)


# A winner marks its neighbour, removes itself there, and goes there to remove the neighbour from
# everyone's list: 3 steps, 3 locks. To remove a node from a list locks at both ends.
account(KERNELS["mis"], comm={"compete": 3}, mutex={"compete": 3, "retire": 2}, driver=_mis)


# mst

account(KERNELS["mst"])

LOOPS = ("wake", "report", "turn", "transmit")
REST = none("tell_fragment", "pick", "connect", "attach", "settle")

# IMSuite's launches are counted in batches: ten per phase, three each time a loop runs.
account(
    faithful(KERNELS["mst"]),
    launches={**dict.fromkeys(LOOPS, 3), **REST, "look": 10},
    clocked={**dict.fromkeys(LOOPS, 2), **REST, "look": 5},
    comm={"tell_fragment": 0, "report": 2, "pick": 2, "turn": 2, "transmit": 2},
    mutex={"tell_fragment": 0, "report": 2, "pick": 0, "turn": 0, "transmit": 0},
)


def _mst(kernel: Any, log: Log, n: int, style: str) -> NDArray:
    # of the nodes that it looks at to find one in another fragment than node 0, counts those before
    looks = (passed_over(v, n) for step, v in log.replies() if step.phase == "compare_first")
    return only(0, log.rounds, sum(looks))


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
WITHIN = none("tell_fragment", "connect", "attach")
# Rounds that the driver runs.
DRIVEN = none("name_first", "compare_first")

account(
    RECURSIVE["mst"],
    launches={**WITHIN, "look": 8},
    clocked={**WITHIN, "look": 1},
    comm={"tell_fragment": 0},
    mutex={"tell_fragment": 0},
    spawning=SPAWNING,
)
account(
    faithful(RECURSIVE["mst"]),
    launches={**WITHIN, **DRIVEN, "look": 8},
    clocked={**WITHIN, **DRIVEN, "look": 1},
    comm=none("tell_fragment", "name_first"),
    mutex=none("tell_fragment", "name_first"),
    driver=_mst,
    spawning=SPAWNING,
)


# vertexColoring


def _vc(kernel: Any, log: Log, n: int, style: str) -> NDArray:
    # after each reduction, looks for a node that has more than six colours left
    extra = np.zeros(log.rounds, np.int64)
    for step, vote in log.replies():
        extra[step.round] += looked_at(vote, n) if step.phase == "recolour" else kernel.root != 0
    return extra


# IMSuite reads, where it needs it, what the kernel sends to all children once more.
account(
    KERNELS["vc"],
    clocked=none("recolour", "shift_down"),
    comm={"shift_down": 0},
    mutex=none("tell", "shift_down"),
    driver=_vc,
)
