"""How a program scales: models of its completion time, its demand for bandwidth, and what if.

After Medya, Cherkasova, Magalhaes, Ozonat, Padmanabha, Sarma and Sheikh, Towards Performance and Scalability
Analysis of Distributed Memory Programs on Large-Scale Clusters (ICPE 2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports

if TYPE_CHECKING:
    from dgsuite.studies.scaling.completion_time import CompletionTime, choose
    from dgsuite.studies.scaling.demand import BandwidthDemand
    from dgsuite.studies.scaling.measure import completion, measured
    from dgsuite.studies.scaling.tables import read
    from dgsuite.studies.scaling.traffic import from_trace, trace
    from dgsuite.studies.scaling.whatif import Machine, calibrate, what_if

__all__ = [
    "BandwidthDemand",
    "CompletionTime",
    "Machine",
    "calibrate",
    "choose",
    "completion",
    "from_trace",
    "measured",
    "read",
    "trace",
    "what_if",
]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "BandwidthDemand": "dgsuite.studies.scaling.demand:BandwidthDemand",
        "CompletionTime": "dgsuite.studies.scaling.completion_time:CompletionTime",
        "Machine": "dgsuite.studies.scaling.whatif:Machine",
        "calibrate": "dgsuite.studies.scaling.whatif:calibrate",
        "choose": "dgsuite.studies.scaling.completion_time:choose",
        "completion": "dgsuite.studies.scaling.measure:completion",
        "from_trace": "dgsuite.studies.scaling.traffic:from_trace",
        "measured": "dgsuite.studies.scaling.measure:measured",
        "read": "dgsuite.studies.scaling.tables:read",
        "trace": "dgsuite.studies.scaling.traffic:trace",
        "what_if": "dgsuite.studies.scaling.whatif:what_if",
    },
)
