"""What IMSuite counts: a module of rules per kernel, and the counts that they make of a run's log."""

from __future__ import annotations

from dgsuite.core.accounting.counting import Counts, count
from dgsuite.core.accounting.rules import Accounting, Spawning, account, rules_of

__all__ = ["Accounting", "Counts", "Spawning", "account", "count", "rules_of"]
