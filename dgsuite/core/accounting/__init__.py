"""What IMSuite counts: a module of rules per kernel, and the counts that they make of a run's log."""

from __future__ import annotations

from dgsuite.core.accounting import bf, by, dp, dr, ds, dst, hs, kc, lcr, mis, mst, vc
from dgsuite.core.accounting.counting import Counts, count
from dgsuite.core.accounting.rules import Accounting, Spawning, account, rules_of

RULES = (bf, by, dp, dr, ds, dst, hs, kc, lcr, mis, mst, vc)
"""The modules that register the rules of IMSuite's kernels."""

__all__ = ["RULES", "Accounting", "Counts", "Spawning", "account", "count", "rules_of"]
