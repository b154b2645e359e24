"""A laboratory: executions phase by phase, where two differ, and small ones that break a property."""

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports, placed

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
    "comparing": ("Difference", "compare"),
    "executions": ("Execution",),
    "exploring": ("Exploration", "explore"),
    "histories": ("arrives_in_order", "clocks", "exclusive", "linearizable"),
    "repeating": ("repeat",),
    "schedules": ("Replay", "RoundRobin"),
    "searching": ("Example", "search"),
    "stabilising": ("legitimacy",),
    "strikes": ("rushing",),
}
PLACES = placed(__name__, HOMES)
PLACES["wilson"] = "dgsuite.base.wilson:wilson"
__all__ = [*PLACES]
__getattr__, __dir__ = lazy_imports(__name__, PLACES)
