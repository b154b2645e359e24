"""How IMSuite counts kcommittee."""

from __future__ import annotations

from dgsuite.core.accounting.rules import Accounting, account
from dgsuite.kernels.imsuite.kcommittee.faithful import FaithfulKCommittee
from dgsuite.kernels.imsuite.kcommittee.textbook import KCommittee

# IMSuite clears its lists in a phase of its own.
account(KCommittee, Accounting(launches={"accept": 2}, clocked={"hear": 0, "accept": 2}))
account(
    FaithfulKCommittee,
    Accounting(
        launches={"collect": 2, "accept": 2},
        clocked={"hear": 0, "collect": 0, "accept": 2},
    ),
)
