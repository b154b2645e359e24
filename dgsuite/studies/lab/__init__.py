"""A laboratory: executions phase by phase, where two differ, and small ones that break a property."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports

if TYPE_CHECKING:
    from dgsuite.base.wilson import wilson
    from dgsuite.studies.lab.comparing import Difference, compare
    from dgsuite.studies.lab.executions import Execution
    from dgsuite.studies.lab.exploring import Exploration, explore
    from dgsuite.studies.lab.histories import arrives_in_order, clocks, exclusive, linearizable
    from dgsuite.studies.lab.repeating import repeat
    from dgsuite.studies.lab.schedules import Replay, RoundRobin
    from dgsuite.studies.lab.searching import Example, search
    from dgsuite.studies.lab.stabilising import legitimacy
    from dgsuite.studies.lab.strikes import rushing

__all__ = [
    "Difference",
    "Example",
    "Execution",
    "Exploration",
    "Replay",
    "RoundRobin",
    "arrives_in_order",
    "clocks",
    "compare",
    "exclusive",
    "explore",
    "legitimacy",
    "linearizable",
    "repeat",
    "rushing",
    "search",
    "wilson",
]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
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
    },
)
