"""How IMSuite counts byzantine."""

from __future__ import annotations

from dgsuite.core.accounting.rules import Accounting, Spawning, account
from dgsuite.kernels.imsuite.byzantine.faithful import FaithfulByzantine
from dgsuite.kernels.imsuite.byzantine.recursive import RecursiveByzantine
from dgsuite.kernels.imsuite.byzantine.textbook import Byzantine

RECEIVE = dict.fromkeys(("hear", "hear_more"), 0)

account(Byzantine, Accounting(clocked=RECEIVE))

SURVEY = dict.fromkeys(("announce_self", "listen", "pass_on", "measure"), 0)
"""Phases that compute the number of rounds, which IMSuite's input says."""

# Only messages that the first g nodes receive count; the kernel counts these.
SEND = SURVEY | dict.fromkeys(("say", "forward"), 0)

account(
    FaithfulByzantine,
    Accounting(
        launches=SURVEY,
        clocked=SURVEY | RECEIVE,
        comm=SEND,
        mutex=SEND,
        places=lambda kernel, n: kernel.first(n),
    ),
)

# A source tells its neighbours from the task that it is launched with. A node that hears of it for the
# first time records it when all tasks that it started have ended.
account(
    RecursiveByzantine,
    Accounting(
        launches={"say": 1},
        clocked={"say": 1},
        spawning={
            "say": Spawning(mutex=1, asyncs=0),
            "relay": Spawning(mutex=1, open_mutex=1, finishes=1),
        },
    ),
)
