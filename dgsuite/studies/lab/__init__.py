"""A laboratory: executions phase by phase, where two differ, and small ones that break a property."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports

if TYPE_CHECKING:
    from dgsuite.base.wilson import wilson as wilson
    from dgsuite.studies.lab.comparing import Difference as Difference
    from dgsuite.studies.lab.comparing import compare as compare
    from dgsuite.studies.lab.executions import Execution as Execution
    from dgsuite.studies.lab.exploring import Exploration as Exploration
    from dgsuite.studies.lab.exploring import explore as explore
    from dgsuite.studies.lab.histories import arrives_in_order as arrives_in_order
    from dgsuite.studies.lab.histories import clocks as clocks
    from dgsuite.studies.lab.histories import exclusive as exclusive
    from dgsuite.studies.lab.histories import linearizable as linearizable
    from dgsuite.studies.lab.repeating import repeat as repeat
    from dgsuite.studies.lab.schedules import Replay as Replay
    from dgsuite.studies.lab.schedules import RoundRobin as RoundRobin
    from dgsuite.studies.lab.searching import Example as Example
    from dgsuite.studies.lab.searching import search as search
    from dgsuite.studies.lab.stabilising import legitimacy as legitimacy
    from dgsuite.studies.lab.strikes import rushing as rushing


HOMES = {
    "Difference": "dgsuite.studies.lab.comparing:Difference",
    "Example": "dgsuite.studies.lab.searching:Example",
    "Execution": "dgsuite.studies.lab.executions:Execution",
    "Exploration": "dgsuite.studies.lab.exploring:Exploration",
    "Replay": "dgsuite.studies.lab.schedules:Replay",
    "RoundRobin": "dgsuite.studies.lab.schedules:RoundRobin",
    "arrives_in_order": "dgsuite.studies.lab.histories:arrives_in_order",
    "clocks": "dgsuite.studies.lab.histories:clocks",
    "exclusive": "dgsuite.studies.lab.histories:exclusive",
    "linearizable": "dgsuite.studies.lab.histories:linearizable",
    "compare": "dgsuite.studies.lab.comparing:compare",
    "explore": "dgsuite.studies.lab.exploring:explore",
    "legitimacy": "dgsuite.studies.lab.stabilising:legitimacy",
    "repeat": "dgsuite.studies.lab.repeating:repeat",
    "rushing": "dgsuite.studies.lab.strikes:rushing",
    "search": "dgsuite.studies.lab.searching:search",
    "wilson": "dgsuite.base.wilson:wilson",
}
__all__ = [*HOMES]
__getattr__, __dir__ = lazy_imports(__name__, HOMES)
