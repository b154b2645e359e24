"""How IMSuite counts kcommittee."""

from __future__ import annotations

from dgsuite.accounting.rules import Accounting, account
from kernels.imsuite.kcommittee import KCommittee
from kernels.imsuite.kcommittee_faithful import FaithfulKCommittee

# IMSuite clears its lists in a phase of its own.
account(KCommittee, Accounting(launches={"accept": 2}, clocked={"hear": 0, "accept": 2}))
account(
    FaithfulKCommittee,
    Accounting(
        launches={"collect": 2, "accept": 2},
        clocked={"hear": 0, "collect": 0, "accept": 2},
    ),
)
